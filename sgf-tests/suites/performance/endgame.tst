# The last points.
#
# Harder or less certain than the suite of this name in ../basics.

# Two open places in the middle and one at the edge.
#
#      A B C D E F G
#    7 O O O O O O .
#    6 O . X X X O O
#    5 O X X O O O O
#    4 O O O O . O .
#    3 X X X X . X X
#    2 . X . X X X .
#    1 X X X X X X X
#
# White to move, komi -6.5.
loadsgf sgf/endgame-01.sgf
10 reg_genmove w
#? [(E4|G4)]

# Black to move: B3 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 X X X X . X X
#    6 X X X X X X .
#    5 X . X X . X X
#    4 O O X X X . X
#    3 X . X O O O O
#    2 O O O O . O .
#    1 O O O O O O O
#
# Black to move, komi 8.5.
loadsgf sgf/endgame-02.sgf
20 reg_genmove b
#? [B3]

# White to move: G3 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 . X . X X X O
#    5 X X X X . . O
#    4 X . . X X X O
#    3 O O . O O X .
#    2 . O O O O O O
#    1 O O . O O O O
#
# White to move, komi 4.5.
loadsgf sgf/endgame-03.sgf
30 reg_genmove w
#? [G3]

# Black to move: G3 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O O O
#    6 O . O . O O O
#    5 O O O O O O O
#    4 X X X O X O X
#    3 X X X X X X .
#    2 X X X X X X X
#    1 X . X . X X X
#
# Black to move, komi 1.5.
loadsgf sgf/endgame-04.sgf
40 reg_genmove b
#? [G3]

# White to move: D5 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 X O O O O X .
#    5 X O X . O X X
#    4 . O O X X X .
#    3 O O O . X X X
#    2 O O O O O X X
#    1 O . O . O X X
#
# White to move, komi 2.5.
loadsgf sgf/endgame-05.sgf
50 reg_genmove w
#? [D5]

# Black to move: D3 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O X X
#    6 O O O O O X X
#    5 . O O . X X X
#    4 . O O X X X .
#    3 X O X . O X X
#    2 X O O O O X .
#    1 X X X X X X X
#
# Black to move, komi 4.5.
loadsgf sgf/endgame-06.sgf
60 reg_genmove b
#? [D3]

# White to move: E2 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X . X O O . O
#    6 X X X O O O O
#    5 . X X . O . O
#    4 X X X X O O O
#    3 X X X X X O O
#    2 X X . O . O O
#    1 X X . . O . O
#
# White to move, komi 0.5.
loadsgf sgf/endgame-07.sgf
70 reg_genmove w
#? [E2]

# White to move: C7 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O . . . O X
#    6 O O X X . X X
#    5 O O O X X X X
#    4 O O O X X X X
#    3 . O . X X . X
#    2 O O O . X X X
#    1 O . O . X . X
#
# White to move, komi 8.5.
loadsgf sgf/endgame-08.sgf
80 reg_genmove w
#? [C7]

# Black to move: G4 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O O .
#    6 . O . O O O O
#    5 O O O O O . O
#    4 . X O X X X .
#    3 X X X X . X .
#    2 . X . X X X .
#    1 X X X X X . X
#
# Black to move, komi 4.5.
loadsgf sgf/endgame-09.sgf
90 reg_genmove b
#? [G4]

# Black to move: D5 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O O . O . O
#    6 O O O O O O O
#    5 X X X . X O O
#    4 X . O O X . O
#    3 X O . O . . O
#    2 X X X X X O O
#    1 X . X . X X X
#
# Black to move, komi -3.5.
loadsgf sgf/endgame-10.sgf
100 reg_genmove b
#? [D5]

# White to move: D4 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X X X
#    5 O O . X X X X
#    4 O . X . O O X
#    3 O O . X O . X
#    2 O O O O O O O
#    1 O . O . O O O
#
# White to move, komi -1.5.
loadsgf sgf/endgame-11.sgf
110 reg_genmove w
#? [D4]

# White to move: C5 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O O . O . O
#    6 O O O O O O O
#    5 X X . X . O O
#    4 X . O X X . O
#    3 X X . X . . O
#    2 X X X X X X X
#    1 X X X . X . X
#
# White to move, komi 6.5.
loadsgf sgf/endgame-12.sgf
120 reg_genmove w
#? [C5]

# White to move: E6 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X O O
#    6 X X X . . O O
#    5 X X O O X O O
#    4 . X X X X O .
#    3 X X . X . O O
#    2 . X . O O O .
#    1 X X O O O O O
#
# White to move, komi 6.5.
loadsgf sgf/endgame-13.sgf
130 reg_genmove w
#? [E6]

# Black to move: C6 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 . O X X X X X
#    6 O O . X O O X
#    5 . O X X . O X
#    4 O O O X . O X
#    3 X X X O O O X
#    2 X X X X X X X
#    1 X X X . X . X
#
# Black to move, komi 30.5.
loadsgf sgf/endgame-14.sgf
140 reg_genmove b
#? [C6]

# White to move: A3 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 X X X . X . X
#    5 X X X X X X X
#    4 O X . X O . X
#    3 . O O X O O O
#    2 O O O O O O O
#    1 O O O . O . O
#
# White to move, komi 4.5.
loadsgf sgf/endgame-15.sgf
150 reg_genmove w
#? [A3]

# Black to move: G4 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 . X O O O O X
#    5 X X O X O O X
#    4 . X X X . O .
#    3 X X X X O O X
#    2 X X O O O O O
#    1 X X O . O . O
#
# Black to move, komi 6.5.
loadsgf sgf/endgame-16.sgf
160 reg_genmove b
#? [G4]

# Black to move: C4 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O O X
#    6 . O O . . O X
#    5 O O X X X X X
#    4 . O . . O X .
#    3 O O X O X X X
#    2 O O X . . X .
#    1 O O X X X X X
#
# Black to move, komi 6.5.
loadsgf sgf/endgame-17.sgf
170 reg_genmove b
#? [C4]

# Black to move: E5 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X O O
#    6 . X . X X O O
#    5 X X . O . O O
#    4 . X O . . O .
#    3 X X X X X O O
#    2 X O . X O O .
#    1 X O O O O O O
#
# Black to move, komi 4.5.
loadsgf sgf/endgame-18.sgf
180 reg_genmove b
#? [E5]

# White to move: D4 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X X X
#    5 X X O X . O O
#    4 X . O . X . O
#    3 X . O X . . O
#    2 X X O O O O O
#    1 O O O . O . O
#
# White to move, komi 2.5.
loadsgf sgf/endgame-19.sgf
190 reg_genmove w
#? [D4]

# Black to move: E5 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X X . X . X
#    6 X X X X X X X
#    5 O X X O . X X
#    4 O X X O O O X
#    3 O O X O . O X
#    2 O O O O O O O
#    1 O O O . O . O
#
# Black to move, komi -1.5.
loadsgf sgf/endgame-20.sgf
200 reg_genmove b
#? [E5]

# Black to move: C3 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O O O
#    5 X . O O O O O
#    4 X X O X X O O
#    3 X X . O X . O
#    2 X X X X X X X
#    1 X . X . X X X
#
# Black to move, komi 0.5.
loadsgf sgf/endgame-21.sgf
210 reg_genmove b
#? [C3]

# Black to move: E6 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O X X
#    6 . O O X . X .
#    5 O O X X . X X
#    4 . O X . X X .
#    3 O O O O . X X
#    2 O O X X X X X
#    1 O O X X X X X
#
# Black to move, komi 6.5.
loadsgf sgf/endgame-22.sgf
220 reg_genmove b
#? [E6]

# Black to move: E3 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X O O O O O
#    6 . X . . O O .
#    5 X X . X . O O
#    4 . X X . X O .
#    3 X X O O . O O
#    2 X X X X O O O
#    1 X X X X X O O
#
# Black to move, komi 4.5.
loadsgf sgf/endgame-23.sgf
230 reg_genmove b
#? [E3]

# Black to move: E6 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O X X
#    6 O O O . . X X
#    5 O O . X O X X
#    4 . O O . O X .
#    3 O O O O . X X
#    2 . O O . X X .
#    1 O O X X X X X
#
# Black to move, komi -7.5.
loadsgf sgf/endgame-24.sgf
240 reg_genmove b
#? [E6]

# Black to move: C7 is worth 2 points more than any other move.
#
#      A B C D E F G
#    7 X X . X O O O
#    6 X X X O O O O
#    5 X X X X O O O
#    4 . X X O O . O
#    3 X X X O O O O
#    2 . X X X O . O
#    1 X X X . O O O
#
# Black to move, komi -1.5.
loadsgf sgf/endgame-25.sgf
250 reg_genmove b
#? [C7]
