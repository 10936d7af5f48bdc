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
