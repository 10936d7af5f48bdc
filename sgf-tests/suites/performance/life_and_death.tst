# Life and death in corners and at sides.
#
# Harder or less certain than the suite of this name in ../basics.

# Three by three in the corner, the carpenter's square without liberties outside: Black starts in the middle.
#
#      A B C D E F G
#    7 . . . O X X X
#    6 . . . O X X X
#    5 . . . O X X X
#    4 O O O O X X X
#    3 X X X X X X .
#    2 X X X X X X X
#    1 X X X X X X .
#
# Black to move, komi 21.5.
loadsgf sgf/life_and_death-01.sgf
10 reg_genmove b
#? [B6]

# Five stones in a row on the second line, ends open: White's turn, he kills.
#
#      A B C D E F G
#    8 O O O O O O .
#    7 O O O O O O O
#    6 . X O O O O .
#    5 . X O O O O O
#    4 . X O O O O O
#    3 . X O O O O O
#    2 . X O O O O O
#    1 O O O O O O O
#
# White to move, komi -48.5.
loadsgf sgf/unsure-life_and_death-03.sgf
20 reg_genmove w
#? [(A6|A5|A4|A3|A2)]*
