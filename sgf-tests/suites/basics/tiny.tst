# The smallest boards, on which perfect play is known.
#
# The values are those of exhaustive search (Drange's table and van der Werf 2003 and 2009 for the empty boards,
# an exact solver under positional superko for them and for the rest). The komi lies between the value of the
# right moves and that of all others, so that only the right ones win.

# One point: there is nothing to play.
boardsize 1
clear_board
komi 0.5
10 reg_genmove b
#? [PASS]

# 1×2: whoever plays first loses both points; passing keeps the board even.
rectangular_boardsize 2 1
clear_board
komi -0.5
20 reg_genmove b
#? [PASS]

# The same, upright.
rectangular_boardsize 1 2
clear_board
komi -0.5
30 reg_genmove b
#? [PASS]

# 1×3: +3 in the middle, −3 elsewhere.
rectangular_boardsize 3 1
clear_board
komi 0.5
40 reg_genmove b
#? [B1]

# The same, upright.
rectangular_boardsize 1 3
clear_board
komi 0.5
50 reg_genmove b
#? [A2]

# 1×4: +4 for either middle point.
rectangular_boardsize 4 1
clear_board
komi 0.5
60 reg_genmove b
#? [(B1|C1)]

# 1×6: +1, beside either end.
rectangular_boardsize 6 1
clear_board
komi 0.5
70 reg_genmove b
#? [(B1|E1)]

# The same, upright.
rectangular_boardsize 1 6
clear_board
komi 0.5
80 reg_genmove b
#? [(A2|A5)]

# 1×7: +2 beside either end and in the middle.
rectangular_boardsize 7 1
clear_board
komi 0.5
90 reg_genmove b
#? [(B1|D1|F1)]

# 2×2: +1 for any point, −1 for a pass.
boardsize 2
clear_board
komi 0.5
100 reg_genmove b
#? [!PASS]

# 2×4: all eight points, from any point in the middle.
rectangular_boardsize 4 2
clear_board
komi 0.5
110 reg_genmove b
#? [(B1|B2|C1|C2)]

# The same, upright.
rectangular_boardsize 2 4
clear_board
komi 0.5
120 reg_genmove b
#? [(A2|B2|A3|B3)]

# 2×5: all ten points, unless Black starts at an end.
rectangular_boardsize 5 2
clear_board
komi 0.5
130 reg_genmove b
#? [([BCD][12])]

# 2×6: all twelve points, unless Black starts at an end.
rectangular_boardsize 6 2
clear_board
komi 0.5
140 reg_genmove b
#? [([BCDE][12])]

# 3×3: all nine points from the middle, three from a side, none from a corner.
boardsize 3
clear_board
komi 8.5
150 reg_genmove b
#? [B2]

# 3×4: +4 for the two middle points, +3 above and below them.
rectangular_boardsize 4 3
clear_board
komi 2.5
160 reg_genmove b
#? [([BC][123])]

# 3×4 again, with a komi that leaves only the two middle points.
rectangular_boardsize 4 3
clear_board
komi 3.5
170 reg_genmove b
#? [([BC]2)]

# The same, upright.
rectangular_boardsize 3 4
clear_board
komi 3.5
180 reg_genmove b
#? [(B[23])]

# 3×5: all fifteen points.
rectangular_boardsize 5 3
clear_board
komi 8.5
190 reg_genmove b
#? [([BCD]2)]

# 5×5: all 25 points from the centre; +3 and −1 from the next best points.
boardsize 5
clear_board
komi 10.5
200 reg_genmove b
#? [C3]
