# Nakade: the vital point inside an eye.
#
# Eyes of three to six points that are two eyes or one, depending on who takes the vital point. Everything
# around is settled: the attackers have two eyes elsewhere, so the group lives or dies by its eye space. The
# answers are those of exhaustive search; the komi lies between life and death.

# Three in a row: White kills in the middle.
#
#      A B C D E F G
#    7 O O O O . O .
#    6 O O O O O O O
#    5 O O O O O O O
#    4 O O O O O O O
#    3 X X X X X O O
#    2 X . . . X O O
#    1 X X X X X O O
#
# White to move, komi -33.5.
loadsgf sgf/nakade-01.sgf
10 reg_genmove w
#? [C2]

# Three in a row: White makes two eyes in the middle.
#
#      A B C D E F G
#    7 . X . X X X X
#    6 X X X X X X X
#    5 X X X X X X X
#    4 X X X X X X X
#    3 X X O O O O O
#    2 X X O . . . O
#    1 X X O O O O O
#
# White to move, komi 34.5.
loadsgf sgf/nakade-02.sgf
20 reg_genmove w
#? [E2]

# Bent three in the corner: White kills.
#
#      A B C D E F G
#    7 . O . O O O O
#    6 O O O O O O O
#    5 O O O O O O O
#    4 O O O O O O O
#    3 O O O O O X X
#    2 O O O O X X .
#    1 O O O O X . .
#
# White to move, komi -40.5.
loadsgf sgf/nakade-03.sgf
30 reg_genmove w
#? [G1]

# Bent three in the corner: Black lives.
#
#      A B C D E F G
#    7 O O O O X . .
#    6 O O O O X X .
#    5 O O O O O X X
#    4 O O O O O O O
#    3 . O O O O O O
#    2 O O O O O O O
#    1 . O O O O O O
#
# Black to move, komi -40.5.
loadsgf sgf/nakade-04.sgf
40 reg_genmove b
#? [G7]

# Pyramid four: White kills in its middle.
#
#      A B C D E F G
#    7 O O X X X X X
#    6 O O X . . . X
#    5 O O X X . X X
#    4 O O O X X X O
#    3 O O O O O O O
#    2 O O O O O O O
#    1 . O . O O O O
#
# White to move, komi -30.5.
loadsgf sgf/nakade-05.sgf
50 reg_genmove w
#? [E6]

# Pyramid four: White lives in its middle.
#
#      A B C D E F G
#    7 O O O X X X X
#    6 O . O O X X X
#    5 O . . O X X X
#    4 O . O O X X X
#    3 O O O X X X .
#    2 X X X X X X X
#    1 X X X X X X .
#
# White to move, komi 31.5.
loadsgf sgf/nakade-06.sgf
60 reg_genmove w
#? [B5]

# Bulky five: White kills.
#
#      A B C D E F G
#    7 . O O O O O O
#    6 O O O O O O O
#    5 . O O O X X X
#    4 O O O X X . X
#    3 O O O X . . X
#    2 O O O X . . X
#    1 O O O X X X X
#
# White to move, komi -29.5.
loadsgf sgf/nakade-07.sgf
70 reg_genmove w
#? [F3]

# Bulky five: Black lives.
#
#      A B C D E F G
#    7 X X X X X O O
#    6 X . . . X O O
#    5 X . . X X O O
#    4 X X X X O O O
#    3 O O O O O O O
#    2 O O O O O O O
#    1 O O O O . O .
#
# Black to move, komi -29.5.
loadsgf sgf/nakade-08.sgf
80 reg_genmove b
#? [(B6|C6|C5)]

# Crossed five: Black kills in the centre of the cross.
#
#      A B C D E F G
#    7 X X X X . X .
#    6 X X X X X X X
#    5 X O O O X X X
#    4 O O . O O X X
#    3 O . . . O X X
#    2 O O . O O X X
#    1 O O O O O X X
#
# Black to move, komi 26.5.
loadsgf sgf/nakade-09.sgf
90 reg_genmove b
#? [C3]

# Crossed five: Black lives.
#
#      A B C D E F G
#    7 O O O O O O .
#    6 O O O O O O O
#    5 X X X X O O .
#    4 X X . X X O O
#    3 X . . . X O O
#    2 X X . X X O O
#    1 X X X X O O O
#
# Black to move, komi -25.5.
loadsgf sgf/nakade-10.sgf
100 reg_genmove b
#? [C3]

# Rabbity six: White kills.
#
#      A B C D E F G
#    7 X X X X X O O
#    6 X X . . X O O
#    5 X . . . X O O
#    4 X X . X X O O
#    3 X X X X O O .
#    2 O O O O O O O
#    1 O O O O O O .
#
# White to move, komi -24.5.
loadsgf sgf/nakade-11.sgf
110 reg_genmove w
#? [C5]

# Rabbity six: White lives.
#
#      A B C D E F G
#    7 X X X X X X .
#    6 X X X X X X X
#    5 O O O O X X .
#    4 O O . O O X X
#    3 O . . . O X X
#    2 O O . . O X X
#    1 O O O O O X X
#
# White to move, komi 25.5.
loadsgf sgf/nakade-12.sgf
120 reg_genmove w
#? [(C3|D3|C2)]

# White has a stone in a row of four: the point beside it, in the middle, decides. White's turn.
#
#      A B C D E F G
#    7 X X X X X O O
#    6 O . O . X O O
#    5 X X X X X O O
#    4 O O O O O O O
#    3 O O O O O O O
#    2 O O O O O O O
#    1 O O O O . O .
#
# White to move, komi -33.5.
loadsgf sgf/nakade-13.sgf
130 reg_genmove w
#? [B6]

# Black has two stones in a row of four; the third makes the eye a dead one.
#
#      A B C D E F G
#    7 X X X X O O O
#    6 X X X X O X O
#    5 X X X X O X O
#    4 X X X X O . O
#    3 . X X X O . O
#    2 X X X X O O O
#    1 . X X X X X X
#
# Black to move, komi 31.5.
loadsgf sgf/nakade-14.sgf
140 reg_genmove b
#? [F4]

# White has two stones in a row of four; Black takes the point beside them and lives.
#
#      A B C D E F G
#    7 . O . O O O O
#    6 O O O O O O O
#    5 O O O O O O O
#    4 O O O O O O O
#    3 O X X X X X X
#    2 O X . . O O X
#    1 O X X X X X X
#
# Black to move, komi -30.5.
loadsgf sgf/nakade-15.sgf
150 reg_genmove b
#? [D2]

# Two by three at the edge with a white stone on the vital point: Black has one answer.
#
#      A B C D E F G
#    7 X X X O O O O
#    6 . . X O O O O
#    5 . O X O O O O
#    4 . . X O O O O
#    3 X X X O O O .
#    2 O O O O O O O
#    1 O O O O O O .
#
# Black to move, komi -33.5.
loadsgf sgf/nakade-16.sgf
160 reg_genmove b
#? [A5]

# Two eyes of one point each, and one of them is not finished: Black's turn.
#
#      A B C D E F G
#    7 O O O X X X X
#    6 O O O . O . X
#    5 O O O O X X X
#    4 O O O X . X O
#    3 O O O X X X O
#    2 O O O O O O O
#    1 . O . O O O O
#
# Black to move, komi -31.5.
loadsgf sgf/nakade-17.sgf
170 reg_genmove b
#? [D6]

# The same: White's turn.
#
#      A B C D E F G
#    7 O O O O X X X
#    6 O O X X X . X
#    5 O O X . X O X
#    4 O O X X O . X
#    3 . O O O O O O
#    2 O O O O O O O
#    1 . O O O O O O
#
# White to move, komi -31.5.
loadsgf sgf/nakade-18.sgf
180 reg_genmove w
#? [F4]

# Eight points in the corner, three by three less one: Black's turn.
#
#      A B C D E F G
#    7 . X . X X X X
#    6 X X X X X X X
#    5 X X X X X X X
#    4 X X X X O O O
#    3 X X X O . . .
#    2 X X X O . . .
#    1 X X X O O . .
#
# Black to move, komi 34.5.
loadsgf sgf/nakade-19.sgf
190 reg_genmove b
#? [(E3|F3|F2)]

# Eight points in the corner, three by three less one: Black's turn.
#
#      A B C D E F G
#    7 . . . X O O O
#    6 . . . X O O O
#    5 X . . X O O O
#    4 X X X O O O O
#    3 O O O O O O .
#    2 O O O O O O O
#    1 O O O O O O .
#
# Black to move, komi -36.5.
loadsgf sgf/nakade-20.sgf
200 reg_genmove b
#? [(B6|B7|A6|C6|C5)]
