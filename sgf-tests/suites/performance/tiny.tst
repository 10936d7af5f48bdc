# The smallest boards, on which perfect play is known.
#
# Harder or less certain than the suite of this name in ../basics.

# 2×3: even, if Black passes.
rectangular_boardsize 3 2
clear_board
komi -0.5
10 reg_genmove b
#? [PASS]*
