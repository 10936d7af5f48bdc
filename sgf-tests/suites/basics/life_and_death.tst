# Life and death in corners and at sides.
#
# The group inside lives or dies by the next move; what is outside is settled. The answers are those of
# exhaustive search, and the komi lies between life and death.

# An eye is made by connecting: without the move at the edge the second eye is false.
#
#      A B C D E F G
#    7 O O O O . O .
#    6 O O O O O O O
#    5 O O O O O O O
#    4 X X X O O O O
#    3 X . X X O O O
#    2 X X X . O O O
#    1 . X . X O O O
#
# Black to move, komi -19.5.
loadsgf sgf/life_and_death-01.sgf
10 reg_genmove b
#? [D2]

# The same shape, White first: the throw-in makes the eye false.
#
#      A B C D E F G
#    7 . O . O O O O
#    6 O O O O O O O
#    5 O O O O O O O
#    4 O O O O X X X
#    3 O O O X X . X
#    2 O O O . X X X
#    1 O O O X . X .
#
# White to move, komi -19.5.
loadsgf sgf/life_and_death-02.sgf
20 reg_genmove w
#? [D2]

# Five stones in a row on the second line in the corner: White's turn.
#
#      A B C D E F G
#    7 O O O O O X .
#    6 O O O O O X .
#    5 O O O O O X .
#    4 O O O O O X .
#    3 . O O O O X .
#    2 O O O O O O .
#    1 . O O O O O O
#
# White to move, komi -39.5.
loadsgf sgf/life_and_death-04.sgf
40 reg_genmove w
#? [(G6|G3)]

# Five stones in a row on the second line in the corner: White's turn.
#
#      A B C D E F G
#    7 . . . . . . X
#    6 O O O O O X X
#    5 X X X X X X X
#    4 X X X X X X X
#    3 X X X X X X X
#    2 X X X X X X X
#    1 X X X X . X .
#
# White to move, komi 40.5.
loadsgf sgf/life_and_death-05.sgf
50 reg_genmove w
#? [(E7|B7)]
