# Seki: who may not play.
#
# Harder or less certain than the suite of this name in ../basics.

# A square of four white stones inside: two liberties are left to both. Black must not play there.
#
#      A B C D E F G
#    7 . O O O O O O
#    6 O O O O O O O
#    5 . O O O X X X
#    4 O O O O X . .
#    3 O O O O X O O
#    2 O O O O X O O
#    1 O O O O X X .
#
# Black to move, komi -39.5.
loadsgf sgf/seki-01.sgf
10 reg_genmove b
#? [!(F4|G4|G1)]
