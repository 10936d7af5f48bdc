# Capturing races.
#
# Harder or less certain than the suite of this name in ../basics.

# Three shared liberties and no eye: seki, if Black keeps out of them.
#
#      A B C D E F G
#    7 O . O O X . X
#    6 . O O O X X .
#    5 O O O X X X X
#    4 O X X O O X X
#    3 O O X . O . X
#    2 O . X . O . X
#    1 O O X . O O X
#
# Black to move, komi -8.5.
loadsgf sgf/semeai-01.sgf
10 reg_genmove b
#? [!(D3|B2|D2|D1|F7|G6)]

# One shared liberty: it is filled last. Black's turn.
#
#      A B C D E F G
#    7 X X X X X . X
#    6 . . . X X X .
#    5 O O O O X X X
#    4 . O O O X O O
#    3 X X X X O O O
#    2 . . . X O O .
#    1 O O O O O . O
#
# Black to move, komi -0.5.
loadsgf sgf/unsure-semeai-07.sgf
20 reg_genmove b
#? [(A6|B6|C6)]*

# One shared liberty: it is filled last. Black's turn.
#
#      A B C D E F G
#    7 X . X X O . O
#    6 . X X X O O .
#    5 X X X O O O O
#    4 X O O X X O O
#    3 X . O X X . O
#    2 X . O X X . O
#    1 X . O . X . O
#
# Black to move, komi -0.5.
loadsgf sgf/unsure-semeai-08.sgf
30 reg_genmove b
#? [(B3|B2|B1)]
