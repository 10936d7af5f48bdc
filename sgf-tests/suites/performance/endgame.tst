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
