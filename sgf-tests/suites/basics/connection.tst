# Connect and cut.
#
# A cutting point decides whether stones live or die, or how many points a side keeps. The answers are those of
# exhaustive search; the komi lies between the best moves and the others.

# Two white stones on either side of an opening; Black's stones inside are cut off unless they break through.
#
#      A B C D E F G
#    7 O . O X X . X
#    6 O O O X X X X
#    5 O X X O O X X
#    4 O . X . . X X
#    3 O X X O O X X
#    2 O O O X X X X
#    1 O . O X X . X
#
# Black to move, komi 7.5.
loadsgf sgf/connection-01.sgf
10 reg_genmove b
#? [(D4|E4)]

# The same: White closes the opening.
#
#      A B C D E F G
#    7 O O O O O O O
#    6 . O X . X O .
#    5 O O X X X O O
#    4 X X O . O X X
#    3 X X O . O X X
#    2 . X X X X X .
#    1 X X X X X X X
#
# White to move, komi 7.5.
loadsgf sgf/connection-02.sgf
20 reg_genmove w
#? [D6]

# A diagonal that is not yet a connection: Black's turn.
#
#      A B C D E F G
#    7 O O O O O . O
#    6 O . X X O O O
#    5 O X . X X X O
#    4 O O X X . X O
#    3 O O O . X O O
#    2 X X X X O . O
#    1 . X . X O O O
#
# Black to move, komi -19.5.
loadsgf sgf/connection-03.sgf
30 reg_genmove b
#? [D3]

# A diagonal that is not yet a connection: White cuts.
#
#      A B C D E F G
#    7 O O O O O O O
#    6 O . O X X O .
#    5 O O X . X O O
#    4 X X . X X X O
#    3 . X O X . X O
#    2 X X O O X . O
#    1 . X O O O O O
#
# White to move, komi -21.5.
loadsgf sgf/connection-04.sgf
40 reg_genmove w
#? [C4]

# Black's stones in the middle are caught unless they connect.
#
#      A B C D E F G
#    7 O . O X . X .
#    6 O O O O X X X
#    5 O O X . . X X
#    4 O . X O X X X
#    3 O . . O X . X
#    2 O O O X X X X
#    1 . O O . X X .
#
# Black to move, komi 0.5.
loadsgf sgf/connection-05.sgf
50 reg_genmove b
#? [D5]

# Black catches the stones in the middle.
#
#      A B C D E F G
#    7 . O O . X X .
#    6 O O O O X X X
#    5 O . O X . . X
#    4 O O O X O . X
#    3 O O . . O X X
#    2 O O O X X X X
#    1 . O . O X . X
#
# Black to move, komi 1.5.
loadsgf sgf/connection-06.sgf
60 reg_genmove b
#? [D3]
