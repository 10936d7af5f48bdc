# Handicap stones: where they go, who moves, and what they cost.
#
# The points are those of the GTP specification. Answers are lists in any order.

# 9×9.
boardsize 9
clear_board
10 fixed_handicap 2
#? [((C3|G7) ?){2}]
clear_board
20 fixed_handicap 3
#? [((C3|G7|C7) ?){3}]
clear_board
30 fixed_handicap 4
#? [((C3|G7|C7|G3) ?){4}]
clear_board
40 fixed_handicap 5
#? [((C3|G7|C7|G3|E5) ?){5}]
clear_board
50 fixed_handicap 6
#? [((C3|G7|C7|G3|C5|G5) ?){6}]
clear_board
60 fixed_handicap 7
#? [((C3|G7|C7|G3|C5|G5|E5) ?){7}]
clear_board
70 fixed_handicap 8
#? [((C3|G7|C7|G3|C5|G5|E3|E7) ?){8}]
clear_board
80 fixed_handicap 9
#? [((C3|G7|C7|G3|C5|G5|E3|E7|E5) ?){9}]

# 13×13.
boardsize 13
clear_board
90 fixed_handicap 2
#? [((D4|K10) ?){2}]
clear_board
100 fixed_handicap 4
#? [((D4|K10|D10|K4) ?){4}]
clear_board
110 fixed_handicap 5
#? [((D4|K10|D10|K4|G7) ?){5}]
clear_board
120 fixed_handicap 9
#? [((D4|K10|D10|K4|D7|K7|G4|G10|G7) ?){9}]

# 19×19.
boardsize 19
clear_board
130 fixed_handicap 2
#? [((D4|Q16) ?){2}]
clear_board
140 fixed_handicap 3
#? [((D4|Q16|D16) ?){3}]
clear_board
150 fixed_handicap 4
#? [((D4|Q16|D16|Q4) ?){4}]
clear_board
160 fixed_handicap 5
#? [((D4|Q16|D16|Q4|K10) ?){5}]
clear_board
170 fixed_handicap 6
#? [((D4|Q16|D16|Q4|D10|Q10) ?){6}]
clear_board
180 fixed_handicap 7
#? [((D4|Q16|D16|Q4|D10|Q10|K10) ?){7}]
clear_board
190 fixed_handicap 8
#? [((D4|Q16|D16|Q4|D10|Q10|K4|K16) ?){8}]
clear_board
200 fixed_handicap 9
#? [((D4|Q16|D16|Q4|D10|Q10|K4|K16|K10) ?){9}]

# 7×7.
boardsize 7
clear_board
210 fixed_handicap 2
#? [((C3|E5) ?){2}]
clear_board
220 fixed_handicap 4
#? [((C3|E5|C5|E3) ?){4}]

# 8×8.
boardsize 8
clear_board
230 fixed_handicap 4
#? [((C3|F6|C6|F3) ?){4}]

# 10×10.
boardsize 10
clear_board
240 fixed_handicap 4
#? [((C3|H8|C8|H3) ?){4}]

# 14×14.
boardsize 14
clear_board
250 fixed_handicap 4
#? [((D4|L11|D11|L4) ?){4}]

# The stones are on the board, and taking moves back does not remove them.
boardsize 9
clear_board
fixed_handicap 4
260 list_stones b
#? [((C3|G7|C7|G3) ?){4}]
270 list_stones w
#? []
280 get_handicap
#? [4]
play w E5
undo
290 list_stones b
#? [((C3|G7|C7|G3) ?){4}]
300 is_legal w C3
#? [0]
310 is_legal w E5
#? [1]

# Free handicap: as many stones as were asked for, wherever the engine likes; and stones where the controller
# likes.
boardsize 19
clear_board
320 place_free_handicap 6
#? [([A-HJ-T](1[0-9]|[1-9]) ?){6}]
330 get_handicap
#? [6]
clear_board
set_free_handicap C3 D17 R4
340 list_stones b
#? [((C3|D17|R4) ?){3}]
350 get_handicap
#? [3]
clear_board
360 get_handicap
#? [0]
370 list_stones b
#? []
