# Connections and cuts.
#
# Two sides that cannot die, and stones between them. The answers are those of exhaustive search under area
# scoring; the komi lies between the best move and the second best.

# Black to move: A4 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 O O . O . O O
#    6 O O O O O O O
#    5 X . X . O . O
#    4 . O . . X . O
#    3 X O O O O O O
#    2 X X X X X X X
#    1 X . X . X X X
#
# Black to move, komi -16.5.
loadsgf sgf/connection-01.sgf
10 reg_genmove b
#? [A4]

# White to move: D3 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 X X O O O O O
#    6 X X . . . O O
#    5 X X X X O O .
#    4 . X X O . O O
#    3 X X X . X O .
#    2 . X . O . O O
#    1 X X X X . O O
#
# White to move, komi -0.5.
loadsgf sgf/connection-02.sgf
20 reg_genmove w
#? [D3]

# White to move: D4 is worth 8 points more than any other move.
#
#      A B C D E F G
#    7 O X X X X X X
#    6 O X . . X X .
#    5 O O O O O X X
#    4 . O X . X X .
#    3 O O . X O X X
#    2 . O . X O X X
#    1 O O O O O X X
#
# White to move, komi -0.5.
loadsgf sgf/connection-03.sgf
30 reg_genmove w
#? [D4]

# White to move: E5 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X O O
#    5 X X O O . . O
#    4 X X O . X . O
#    3 X X . O X O O
#    2 O O O O O O O
#    1 O O O . O . O
#
# White to move, komi -7.5.
loadsgf sgf/connection-04.sgf
40 reg_genmove w
#? [E5]

# White to move: D3 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X O O
#    5 X X O O O X O
#    4 X . O . X . O
#    3 X X X . X O O
#    2 O O O O O O O
#    1 O O O . O . O
#
# White to move, komi -7.5.
loadsgf sgf/connection-05.sgf
50 reg_genmove w
#? [D3]

# White to move: E5 is worth 10 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O O O
#    5 O O X X . X X
#    4 O . X . O O X
#    3 O . X O . O X
#    2 O O X X X X X
#    1 X X X . X . X
#
# White to move, komi 0.5.
loadsgf sgf/connection-06.sgf
60 reg_genmove w
#? [E5]

# Black to move: F3 is worth 10 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X X X
#    5 O X X X . X X
#    4 O . X O O . X
#    3 O O O X X . X
#    2 O O O O O O O
#    1 O . O . O O O
#
# Black to move, komi 4.5.
loadsgf sgf/connection-07.sgf
70 reg_genmove b
#? [F3]

# White to move: C2 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O X X
#    6 . O O . . X .
#    5 O O . X X X X
#    4 . O X . X X .
#    3 O O X O . X X
#    2 O O . O X X X
#    1 O O X X X X X
#
# White to move, komi 6.5.
loadsgf sgf/connection-08.sgf
80 reg_genmove w
#? [C2]

# Black to move: D4 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 X X O O O O O
#    6 . X O . O O .
#    5 X X O X . O O
#    4 . X X . X O .
#    3 X X . O O O O
#    2 X X X O . O O
#    1 X X X X X O O
#
# Black to move, komi -3.5.
loadsgf sgf/connection-09.sgf
90 reg_genmove b
#? [D4]

# Black to move: E5 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 X X O O O O O
#    6 X X O O X O .
#    5 X X X X . O O
#    4 . X . O X O .
#    3 X X O O O O O
#    2 . X X O O X O
#    1 X X X X X X O
#
# Black to move, komi -0.5.
loadsgf sgf/connection-10.sgf
100 reg_genmove b
#? [E5]

# White to move: E5 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O O O
#    5 O O X X . X X
#    4 O X X . O . X
#    3 O . X O X . X
#    2 O O X X X X X
#    1 X X X . X . X
#
# White to move, komi 4.5.
loadsgf sgf/connection-11.sgf
110 reg_genmove w
#? [E5]

# White to move: E5 is worth 10 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O X X
#    5 O X X X . . X
#    4 O O X . O . X
#    3 O O X O O X X
#    2 X X X X X X X
#    1 X X X . X . X
#
# White to move, komi 10.5.
loadsgf sgf/connection-12.sgf
120 reg_genmove w
#? [E5]

# Black to move: E5 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X O O
#    5 X . . O . . O
#    4 X . O O X . O
#    3 X X O O X O O
#    2 O O O O O O O
#    1 O O O . O . O
#
# Black to move, komi -8.5.
loadsgf sgf/connection-13.sgf
130 reg_genmove b
#? [E5]

# Black to move: E3 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 O X X X X X X
#    6 O X X O X X .
#    5 O O O O O X X
#    4 . O X O . X .
#    3 O O . X . X X
#    2 . O O X O X X
#    1 O O O O O X X
#
# Black to move, komi -1.5.
loadsgf sgf/connection-14.sgf
140 reg_genmove b
#? [E3]

# Black to move: E3 is worth 8 points more than any other move.
#
#      A B C D E F G
#    7 X X O O O O O
#    6 X X O . O O .
#    5 X X X X . O O
#    4 . X X . X O .
#    3 X X O O . O O
#    2 . X X . . X O
#    1 X X X X X X O
#
# Black to move, komi 9.5.
loadsgf sgf/connection-15.sgf
150 reg_genmove b
#? [E3]

# Black to move: E5 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O O O
#    5 O O X . . X X
#    4 O . X . O O X
#    3 O X X O . . X
#    2 O O X X X X X
#    1 X X X . X . X
#
# Black to move, komi 2.5.
loadsgf sgf/connection-16.sgf
160 reg_genmove b
#? [E5]

# White to move: B3 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 X X X . X . X
#    6 X X X X X X X
#    5 X X . X . . O
#    4 X O O O X X O
#    3 X . X X X O O
#    2 O O O O O O O
#    1 O O O . O . O
#
# White to move, komi 6.5.
loadsgf sgf/connection-17.sgf
170 reg_genmove w
#? [B3]

# Black to move: E5 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O X X
#    5 O X X X . X X
#    4 O . X X O O X
#    3 O O . . O X X
#    2 X X X X X X X
#    1 X X X . X . X
#
# Black to move, komi 10.5.
loadsgf sgf/connection-18.sgf
180 reg_genmove b
#? [E5]

# Black to move: E3 is worth 8 points more than any other move.
#
#      A B C D E F G
#    7 X X O O O O O
#    6 X X O . X O .
#    5 X X X X X O O
#    4 . X O . X O .
#    3 X X O O . O O
#    2 . X X . . X O
#    1 X X X X X X O
#
# Black to move, komi 11.5.
loadsgf sgf/connection-19.sgf
190 reg_genmove b
#? [E3]

# Black to move: C3 is worth 8 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X X X
#    5 X X O X . O O
#    4 X . O . X X O
#    3 X . . X X . O
#    2 X X O O O O O
#    1 O O O . O . O
#
# Black to move, komi 11.5.
loadsgf sgf/connection-20.sgf
200 reg_genmove b
#? [C3]

# Black to move: E6 is worth 8 points more than any other move.
#
#      A B C D E F G
#    7 O O O O O X X
#    6 . O O . . X .
#    5 O O X X O X X
#    4 . O X O X X .
#    3 O O O O . X X
#    2 O O . . X X X
#    1 O O X X X X X
#
# Black to move, komi -2.5.
loadsgf sgf/connection-21.sgf
210 reg_genmove b
#? [E6]
