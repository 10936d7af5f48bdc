# Nakade: the vital point inside an eye.
#
# Harder or less certain than the suite of this name in ../basics.

# Two by three at the edge with a white stone on the vital point: Black's turn.
#
#      A B C D E F G
#    7 . X X X X X X
#    6 X X X X X X X
#    5 . X X X O O O
#    4 X X X X O . .
#    3 X X X X O X .
#    2 X X X X O . .
#    1 X X X X O O O
#
# Black to move, komi 38.5.
loadsgf sgf/nakade-01.sgf
10 reg_genmove b
#? [(G4|G3|G2)]

# An eye of seven points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X O . X X
#    8 X X X X X O . . .
#    7 X X X X X O O O .
#    6 X X X X X X X O O
#    5 X X X X X X X X X
#    4 X X X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X . X . X
#
# White to move, komi 67.5.
loadsgf sgf/nakade-02.sgf
20 reg_genmove w
#? [H8]

# An eye of seven points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 X X X X X X X X X
#    5 X X X X X X X X X
#    4 . X X X X X X X X
#    3 X X X X X O O O O
#    2 . X X X O O . . X
#    1 X X X X O . . X .
#
# White to move, komi 67.5.
loadsgf sgf/nakade-03.sgf
30 reg_genmove w
#? [G1]

# An eye of seven points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X . X . X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 X X X X X X X X X
#    5 X X X X X X X X X
#    4 X X X X X X O O O
#    3 X X X X X O O . .
#    2 X X X X X O X X .
#    1 X X X X X O O . .
#
# White to move, komi 66.5.
loadsgf sgf/nakade-04.sgf
40 reg_genmove w
#? [H1]

# An eye of seven points with two stones inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O O O O O O O X X
#    4 . O O O O O X X .
#    3 O O O O O O X . O
#    2 . O O O O O X . O
#    1 O O O O O O X . .
#
# White to move, komi -66.5.
loadsgf sgf/nakade-05.sgf
50 reg_genmove w
#? [H2]

# An eye of seven points with two stones inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O O O O O O O O O
#    4 X X X O O O O O .
#    3 O O X O O O O O O
#    2 . . X X O O O O .
#    1 . . . X O O O O O
#
# White to move, komi -66.5.
loadsgf sgf/nakade-06.sgf
60 reg_genmove w
#? [B2]

# An eye of seven points with a stone inside: White lives.
#
#      A B C D E F G H J
#    9 X . X . X X X X X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 X X X X X X X X X
#    5 X O O O X X X X X
#    4 O O . O O X X X X
#    3 O . . . O X X X X
#    2 O . X . O X X X X
#    1 O O O O O X X X X
#
# White to move, komi 58.5.
loadsgf sgf/nakade-07.sgf
70 reg_genmove w
#? [C3]

# An eye of seven points with a stone inside: Black kills.
#
#      A B C D E F G H J
#    9 O O O O X X X X X
#    8 O . . O O X X X .
#    7 O X . . O X X X X
#    6 O . . O O X X X .
#    5 O O O O X X X X X
#    4 X X X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X X X X X
#
# Black to move, komi 58.5.
loadsgf sgf/nakade-08.sgf
80 reg_genmove b
#? [C7]

# An eye of seven points with a stone inside: Black lives.
#
#      A B C D E F G H J
#    9 . . X O O O O O O
#    8 O . X O O O O O O
#    7 . . X O O O O O O
#    6 . X X O O O O O O
#    5 X X O O O O O O O
#    4 O O O O O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O . O . O O O O O
#
# Black to move, komi -66.5.
loadsgf sgf/nakade-09.sgf
90 reg_genmove b
#? [A7]

# An eye of seven points with a stone inside: Black kills.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 X X X X X X X X X
#    5 O O O X X X X X X
#    4 . . O X X X X X .
#    3 . X O X X X X X X
#    2 . . O X X X X X .
#    1 O . O X X X X X X
#
# Black to move, komi 66.5.
loadsgf sgf/nakade-10.sgf
100 reg_genmove b
#? [B2]

# An eye of six points with two stones inside: Black lives.
#
#      A B C D E F G H J
#    9 O . O . O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O O O O O O O O O
#    4 O O X X X X O O O
#    3 O O X . . X O O O
#    2 O O X O . X O O O
#    1 O O X O . X O O O
#
# Black to move, komi -64.5.
loadsgf sgf/nakade-11.sgf
110 reg_genmove b
#? [E2]

# An eye of six points with two stones inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 X X X X O O O O O
#    5 . . . X O O O O O
#    4 O O . X O O O O .
#    3 X X X X O O O O O
#    2 O O O O O O O O .
#    1 O O O O O O O O O
#
# White to move, komi -64.5.
loadsgf sgf/nakade-12.sgf
120 reg_genmove w
#? [B5]

# An eye of six points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 X X X X O O O O X
#    7 X X X X O . . O X
#    6 X X X X O X . O X
#    5 X X X X O . X O X
#    4 X X X X O O O O X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X . X . X
#
# White to move, komi 61.5.
loadsgf sgf/nakade-13.sgf
130 reg_genmove w
#? [G6]

# An eye of six points with two stones inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O X X X X X O O O
#    4 O X . O . X O O .
#    3 O X . . O X O O O
#    2 O X X X X X O O .
#    1 O O O O O O O O O
#
# White to move, komi -60.5.
loadsgf sgf/nakade-14.sgf
140 reg_genmove w
#? [D3]

# An eye of six points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 O O O X X X X X .
#    7 . . O O X X X X X
#    6 . X . O X X X X .
#    5 X O O O X X X X X
#    4 O O X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X X X X X
#
# White to move, komi 64.5.
loadsgf sgf/nakade-15.sgf
150 reg_genmove w
#? [(A6|A7)]*

# An eye of six points with two stones inside: Black lives.
#
#      A B C D E F G H J
#    9 . O . X O O O O O
#    8 . O X X O O O O .
#    7 . X X O O O O O O
#    6 X X O O O O O O .
#    5 O O O O O O O O O
#    4 O O O O O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O O O O O O O O O
#
# Black to move, komi -67.5.
loadsgf sgf/nakade-16.sgf
160 reg_genmove b
#? [A8]

# An eye of six points with two stones inside: Black kills.
#
#      A B C D E F G H J
#    9 X X X X X O . . .
#    8 X X X X X O O X X
#    7 X X X X X X O O .
#    6 X X X X X X X O O
#    5 X X X X X X X X X
#    4 X X X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X . X . X
#
# Black to move, komi 68.5.
loadsgf sgf/nakade-17.sgf
170 reg_genmove b
#? [(H9|J7)]

# An eye of six points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X X O O O
#    8 . X X X X X O . X
#    7 X X X X X X O . .
#    6 . X X X X X O O X
#    5 X X X X X X X O .
#    4 X X X X X X X O O
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X X X X X
#
# White to move, komi 65.5.
loadsgf sgf/nakade-18.sgf
180 reg_genmove w
#? [H7]

# An eye of six points with two stones inside: Black kills.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 O O X X X X X X X
#    5 . O X X X X X X X
#    4 X O O X X X X X .
#    3 . . O X X X X X X
#    2 X . O X X X X X .
#    1 O O O X X X X X X
#
# Black to move, komi 65.5.
loadsgf sgf/nakade-19.sgf
190 reg_genmove b
#? [B3]

# An eye of six points with two stones inside: Black lives.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O O O O O O O O O
#    4 X X O O O O O O .
#    3 . X O O O O O O O
#    2 O X X X X O O O .
#    1 . . O . X O O O O
#
# Black to move, komi -66.5.
loadsgf sgf/nakade-20.sgf
200 reg_genmove b
#? [B1]*

# An eye of six points with two stones inside: Black lives.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O O O O O O O O O
#    4 X X X O O O O O .
#    3 X . X O O O O O O
#    2 O . X X O O O O .
#    1 O . . X O O O O O
#
# Black to move, komi -66.5.
loadsgf sgf/nakade-21.sgf
210 reg_genmove b
#? [(B1|B2)]

# An eye of six points with two stones inside: Black kills.
#
#      A B C D E F G H J
#    9 X X X X X X O X .
#    8 X X X X X X O . .
#    7 X X X X X X O . .
#    6 X X X X X X O O O
#    5 X X X X X X X X X
#    4 X X X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X . X . X
#
# Black to move, komi 69.5.
loadsgf sgf/nakade-22.sgf
220 reg_genmove b
#? [H8]

# An eye of six points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 X X X X X X X X X
#    5 X X X X X X X X X
#    4 O O O O X X X X .
#    3 . . . O X X X X X
#    2 X O O O X X X X .
#    1 . X O X X X X X X
#
# White to move, komi 66.5.
loadsgf sgf/nakade-23.sgf
230 reg_genmove w
#? [(A3|B3)]*

# An eye of six points with two stones inside: White lives.
#
#      A B C D E F G H J
#    9 O X . X . O X X X
#    8 O O . . O O X X X
#    7 X O O O O X X X X
#    6 X X X X X X X X X
#    5 X X X X X X X X X
#    4 X X X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X . X . X X X X X
#
# White to move, komi 65.5.
loadsgf sgf/nakade-24.sgf
240 reg_genmove w
#? [(C8|C9)]*

# An eye of six points with two stones inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 X X O O O O O O O
#    6 . X X O O O O O O
#    5 O O X O O O O O O
#    4 . . X O O O O O .
#    3 . X X O O O O O O
#    2 X X O O O O O O .
#    1 O O O O O O O O O
#
# White to move, komi -64.5.
loadsgf sgf/nakade-25.sgf
250 reg_genmove w
#? [A4]*

# An eye of six points with a stone inside: Black kills.
#
#      A B C D E F G H J
#    9 X . X . X X X X X
#    8 X X X X X X X X X
#    7 X X X X X X X X X
#    6 X X O O O X X X X
#    5 X X O . O O X X X
#    4 X O O X . O X X X
#    3 X O . . . O X X X
#    2 X O O O O O X X X
#    1 X X X X X X X X X
#
# Black to move, komi 59.5.
loadsgf sgf/nakade-26.sgf
260 reg_genmove b
#? [D3]

# An eye of six points with a stone inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O X X X
#    8 . O O O O X X . .
#    7 O O O O O X . . O
#    6 . O O O O X X X .
#    5 O O O O O O O X X
#    4 O O O O O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O O O O O O O O O
#
# White to move, komi -63.5.
loadsgf sgf/nakade-27.sgf
270 reg_genmove w
#? [H7]

# An eye of six points with a stone inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 X X X X O O O O O
#    5 X . . X X O O O O
#    4 X O . . X O O O .
#    3 X X . X X O O O O
#    2 O X X X O O O O .
#    1 O O O O O O O O O
#
# White to move, komi -58.5.
loadsgf sgf/nakade-28.sgf
280 reg_genmove w
#? [C4]

# An eye of five points with a stone inside: Black lives.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 . O O O O O X X X
#    7 O O O O O O X . O
#    6 . O O O O O X . .
#    5 O O O O O O X X .
#    4 O O O O O O O X X
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O O O O O O O O O
#
# Black to move, komi -66.5.
loadsgf sgf/nakade-29.sgf
290 reg_genmove b
#? [J6]

# An eye of five points with a stone inside: White kills.
#
#      A B C D E F G H J
#    9 O X O . . X O O O
#    8 O X . . X X O O O
#    7 O X X X X O O O O
#    6 O O O O O O O O O
#    5 O O O O O O O O O
#    4 O O O O O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O . O . O O O O O
#
# White to move, komi -66.5.
loadsgf sgf/nakade-30.sgf
300 reg_genmove w
#? [D9]

# An eye of five points with a stone inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X O . . .
#    8 X X X X X O O . X
#    7 X X X X X X O O O
#    6 X X X X X X X X X
#    5 X X X X X X X X X
#    4 X X X X X X X X X
#    3 X X X X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X . X . X
#
# White to move, komi 70.5.
loadsgf sgf/nakade-31.sgf
310 reg_genmove w
#? [H9]*

# An eye of five points with a stone inside: White kills.
#
#      A B C D E F G H J
#    9 O O O O O X . . .
#    8 O O O O O X X . O
#    7 O O O O O O X X X
#    6 O O O O O O O O O
#    5 O O O O O O O O O
#    4 O O O O O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O O O O O . O . O
#
# White to move, komi -69.5.
loadsgf sgf/nakade-32.sgf
320 reg_genmove w
#? [(H8|H9)]

# An eye of five points with a stone inside: White lives.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 . X X X X X X X X
#    7 X X X X X O O O O
#    6 . X X X X O . X O
#    5 X X X X X O . . O
#    4 X X X X X O O . O
#    3 X X X X X X O O O
#    2 X X X X X X X X X
#    1 X X X X X X X X X
#
# White to move, komi 62.5.
loadsgf sgf/nakade-33.sgf
330 reg_genmove w
#? [H5]

# An eye of five points with a stone inside: Black kills.
#
#      A B C D E F G H J
#    9 X X X X X X X X X
#    8 X X X X X X X X .
#    7 O O O O X X X X X
#    6 O X . O X X X X .
#    5 O . . O X X X X X
#    4 O . O O X X X X X
#    3 O O O X X X X X X
#    2 X X X X X X X X X
#    1 X X X X X X X X X
#
# Black to move, komi 62.5.
loadsgf sgf/nakade-34.sgf
340 reg_genmove b
#? [B5]

# An eye of five points with a stone inside: Black lives.
#
#      A B C D E F G H J
#    9 O O O O O O O O O
#    8 O O O O O O O O .
#    7 X X X X O O O O O
#    6 . . O X O O O O .
#    5 X . . X O O O O O
#    4 X X X X O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O O O O O O O O O
#
# Black to move, komi -64.5.
loadsgf sgf/nakade-35.sgf
350 reg_genmove b
#? [B6]

# An eye of five points with a stone inside: White kills.
#
#      A B C D E F G H J
#    9 O O O X X . X O O
#    8 O O O X . . X O O
#    7 O O O X . O X O O
#    6 O O O X X X X O O
#    5 O O O O O O O O O
#    4 O O O O O O O O O
#    3 O O O O O O O O O
#    2 O O O O O O O O O
#    1 O O O O O . O . O
#
# White to move, komi -64.5.
loadsgf sgf/nakade-36.sgf
360 reg_genmove w
#? [F8]

# An eye of five points with a stone inside: Black lives.
#
#      A B C D E F G H J
#    9 O O O O O . O . O
#    8 O O O O O O O O O
#    7 O O O O O O O O O
#    6 O O O O O O O O O
#    5 O O O O X X X O O
#    4 O O O O X . X X O
#    3 O O O O X . O X O
#    2 O O O O X . . X O
#    1 O O O O X X X X O
#
# Black to move, komi -61.5.
loadsgf sgf/nakade-37.sgf
370 reg_genmove b
#? [F3]
