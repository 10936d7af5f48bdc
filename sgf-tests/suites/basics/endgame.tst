# The last points.
#
# All groups are alive; what is open is worth a point or two. The answers are the best moves by exhaustive
# search, and the komi lets only those win, so that a single point decides every test.

# Black takes a stone or saves one; which is more?
#
#      A B C D E F G
#    7 . X . X O . O
#    6 X X X X O O O
#    5 X . X X O . O
#    4 X X O . O O O
#    3 . X X O . O O
#    2 X X X X O X O
#    1 . X . X O . .
#
# Black to move, komi 4.5.
loadsgf sgf/endgame-01.sgf
10 reg_genmove b
#? [(D4|F1)]

# White to move in the same position.
#
#      A B C D E F G
#    7 O O O O O O .
#    6 . O . O O X .
#    5 O O O O . O O
#    4 X X X . O X X
#    3 . X X O X X .
#    2 X X . X X X X
#    1 . X X X . X .
#
# White to move, komi 1.5.
loadsgf sgf/endgame-02.sgf
20 reg_genmove w
#? [D4]

# One neutral point and one point that has to be filled: which first?
#
#      A B C D E F G
#    7 . O . O X . X
#    6 O O O X X X X
#    5 O . O O O X .
#    4 O O O X O X X
#    3 O O O . O X X
#    2 O . O O X X X
#    1 . O O . X X .
#
# White to move, komi -8.5.
loadsgf sgf/endgame-03.sgf
30 reg_genmove w
#? [C7]

# Black to move in the same position.
#
#      A B C D E F G
#    7 X X . X X X .
#    6 . X X X X X X
#    5 X X O O O X X
#    4 O X O X . O .
#    3 . O O O O O O
#    2 O O . O O . O
#    1 . O O O O O .
#
# Black to move, komi -7.5.
loadsgf sgf/endgame-04.sgf
40 reg_genmove b
#? [A3]

# The last neutral point is worth one point under area scoring.
#
#      A B C D E F G
#    7 . X . X . X .
#    6 X X X X X X X
#    5 . X X X X X .
#    4 X X X . X X X
#    3 O O O O O O O
#    2 . O . O . O .
#    1 O O O O O O O
#
# Black to move, komi 6.5.
loadsgf sgf/endgame-05.sgf
50 reg_genmove b
#? [D4]

# The last neutral point, for Black.
#
#      A B C D E F G
#    7 X . X O . O .
#    6 X X X O O O O
#    5 X . X O O O .
#    4 X X X . O O O
#    3 X . X O O O .
#    2 X X X O O O O
#    1 X . X O . O .
#
# Black to move, komi -5.5.
loadsgf sgf/endgame-06.sgf
60 reg_genmove b
#? [D4]

# White to move in the same position.
#
#      A B C D E F G
#    7 O . O X X X X
#    6 O O O X O . X
#    5 O . O X O O X
#    4 O O O X X O X
#    3 O O . . X O X
#    2 O O O X X X X
#    1 O . O . X X .
#
# White to move, komi 5.5.
loadsgf sgf/endgame-07.sgf
70 reg_genmove w
#? [(C3|D1)]

# A large corner, and two stones in atari.
#
#      A B C D E F G
#    7 . O . O . . .
#    6 O O O O X X X
#    5 . O O X . X .
#    4 O O O X . X X
#    3 . O O . O O X
#    2 O O O O X X X
#    1 . O . O X . X
#
# White to move, komi -8.5.
loadsgf sgf/endgame-08.sgf
80 reg_genmove w
#? [(E4|D3)]

# Black to move in the same position.
#
#      A B C D E F G
#    7 . X . X X X X
#    6 . X X X O X .
#    5 . X . . O X X
#    4 O O X X . O O
#    3 . O O O O O .
#    2 O O O O O O O
#    1 . O . O . O .
#
# Black to move, komi -3.5.
loadsgf sgf/endgame-09.sgf
90 reg_genmove b
#? [E4]

# Four stones of either side hang on one point.
#
#      A B C D E F G
#    7 X . X O O . O
#    6 . X X X O O O
#    5 X X O O O . O
#    4 X . O X O X O
#    3 X O X X X O O
#    2 X X X X O O O
#    1 . X . X O . O
#
# Black to move, komi 0.5.
loadsgf sgf/endgame-10.sgf
100 reg_genmove b
#? [B4]

# White to move in the same position.
#
#      A B C D E F G
#    7 O O O O O O O
#    6 . O . X O O .
#    5 O O O O X O O
#    4 O X O X X X X
#    3 X X O O X X .
#    2 . X X . O X X
#    1 X . X X X X .
#
# White to move, komi -2.5.
loadsgf sgf/endgame-11.sgf
110 reg_genmove w
#? [D2]

# Three gaps between two living sides; not every point in them is worth the same.
#
#      A B C D E F G
#    7 . O . O . O .
#    6 O O O O O O O
#    5 . O O . O O .
#    4 . X X . X X .
#    3 . X X X X X .
#    2 X X X X . X X
#    1 . X . X X X .
#
# White to move, komi 5.5.
loadsgf sgf/endgame-12.sgf
120 reg_genmove w
#? [(A5|D5|G5|A4|G4)]

# White to move in the same position.
#
#      A B C D E F G
#    7 . O . . . X .
#    6 O O O O X X X
#    5 . O O O X X .
#    4 O O O . . X X
#    3 O . O O X X .
#    2 O O O O X X X
#    1 . O . . . X .
#
# White to move, komi -6.5.
loadsgf sgf/endgame-13.sgf
130 reg_genmove w
#? [(D7|D4|E4|D1)]

# Two gaps between two living sides.
#
#      A B C D E F G
#    7 . X . X X X .
#    6 X X X X X X X
#    5 . X X . X X .
#    4 . O . . . X X
#    3 . O O O O O O
#    2 O O . O O O .
#    1 . O O O . O O
#
# Black to move, komi 0.5.
loadsgf sgf/endgame-14.sgf
140 reg_genmove b
#? [(A5|A4|C4|D4|E4)]

# Black to move in the same position.
#
#      A B C D E F G
#    7 . X . . . O .
#    6 X X X X O O O
#    5 X . X . O O .
#    4 X X X . . O O
#    3 . X X . O O O
#    2 X X X O O O O
#    1 X . X O . O .
#
# Black to move, komi 0.5.
loadsgf sgf/endgame-15.sgf
150 reg_genmove b
#? [(D7|D5|D4|D3)]
