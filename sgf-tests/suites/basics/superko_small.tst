# Superko on the smallest boards: repetitions found by random play.
#
# For each board the shortest games that were found in which the rules differ. Every game begins with the empty
# board, its moves are legal under all four rules, and the last question is always about a move that would bring
# an earlier position back.

# 3 columns, 1 row. After B B1, W pass, B C1, W A1: Black at B1 would bring back the position after move 1, in
# which it was Black and White's turn, created by a play of Black; afterwards it would be White's turn.
# The position:
#
#      A B C
#    1 O . .
#
# Under simple ko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b B1
play w pass
play b C1
play w A1
10 is_legal b B1
#? [1]
# Under positional superko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b B1
play w pass
play b C1
play w A1
20 is_legal b B1
#? [0]
# Under situational superko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b B1
play w pass
play b C1
play w A1
30 is_legal b B1
#? [0]
# Under natural situational superko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b B1
play w pass
play b C1
play w A1
40 is_legal b B1
#? [0]

# 3 columns, 1 row. After B C1, W A1, B B1, W A1: Black at C1 would bring back the position after move 2, in
# which it was Black's turn, created by a play of White; afterwards it would be White's turn.
# The position:
#
#      A B C
#    1 O . .
#
# Under simple ko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b C1
play w A1
play b B1
play w A1
50 is_legal b C1
#? [1]
# Under positional superko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b C1
play w A1
play b B1
play w A1
60 is_legal b C1
#? [0]
# Under situational superko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w A1
play b B1
play w A1
70 is_legal b C1
#? [1]
# Under natural situational superko:
rectangular_boardsize 3 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w A1
play b B1
play w A1
80 is_legal b C1
#? [1]

# 4 columns, 1 row. After B C1, W A1, B D1, W B1: Black at C1 would bring back the position after move 1, in
# which it was White's turn, created by a play of Black; afterwards it would be White's turn.
# The position:
#
#      A B C D
#    1 O O . .
#
# Under simple ko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b C1
play w A1
play b D1
play w B1
90 is_legal b C1
#? [1]
# Under positional superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b C1
play w A1
play b D1
play w B1
100 is_legal b C1
#? [0]
# Under situational superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w A1
play b D1
play w B1
110 is_legal b C1
#? [0]
# Under natural situational superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w A1
play b D1
play w B1
120 is_legal b C1
#? [0]

# 4 columns, 1 row. After B A1, W C1, B pass, W D1, B B1, W C1: Black at A1 would bring back the position after
# move 2, in which it was Black and White's turn, created by a play of White; afterwards it would be White's
# turn.
# The position:
#
#      A B C D
#    1 . . O .
#
# Under simple ko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A1
play w C1
play b pass
play w D1
play b B1
play w C1
130 is_legal b A1
#? [1]
# Under positional superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A1
play w C1
play b pass
play w D1
play b B1
play w C1
140 is_legal b A1
#? [0]
# Under situational superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w C1
play b pass
play w D1
play b B1
play w C1
150 is_legal b A1
#? [0]
# Under natural situational superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w C1
play b pass
play w D1
play b B1
play w C1
160 is_legal b A1
#? [1]

# 4 columns, 1 row. After B D1, W A1, B C1, W pass, B B1, W A1: Black at D1 would bring back the position after
# move 2, in which it was Black's turn, created by a play of White; afterwards it would be White's turn.
# The position:
#
#      A B C D
#    1 O . . .
#
# Under simple ko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b D1
play w A1
play b C1
play w pass
play b B1
play w A1
170 is_legal b D1
#? [1]
# Under positional superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b D1
play w A1
play b C1
play w pass
play b B1
play w A1
180 is_legal b D1
#? [0]
# Under situational superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b D1
play w A1
play b C1
play w pass
play b B1
play w A1
190 is_legal b D1
#? [1]
# Under natural situational superko:
rectangular_boardsize 4 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b D1
play w A1
play b C1
play w pass
play b B1
play w A1
200 is_legal b D1
#? [1]

# 2 columns, 2 rows. After B B2, W A2, B pass, W B1, B pass, W A1: Black at B2 would bring back the position
# after move 1, in which it was White's turn, created by a play of Black; afterwards it would be White's turn.
# The position:
#
#      A B
#    2 O .
#    1 O O
#
# Under simple ko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b B2
play w A2
play b pass
play w B1
play b pass
play w A1
210 is_legal b B2
#? [1]
# Under positional superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b B2
play w A2
play b pass
play w B1
play b pass
play w A1
220 is_legal b B2
#? [0]
# Under situational superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b B2
play w A2
play b pass
play w B1
play b pass
play w A1
230 is_legal b B2
#? [0]
# Under natural situational superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b B2
play w A2
play b pass
play w B1
play b pass
play w A1
240 is_legal b B2
#? [0]

# 2 columns, 2 rows. After B B1, W B2, B pass, W A2, B A1, W B2, B A2, W B2: Black at B1 would bring back the
# position after move 2, in which it was Black and White's turn, created by a play of White; afterwards it would
# be White's turn.
# The position:
#
#      A B
#    2 . O
#    1 . .
#
# Under simple ko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b B1
play w B2
play b pass
play w A2
play b A1
play w B2
play b A2
play w B2
250 is_legal b B1
#? [1]
# Under positional superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b B1
play w B2
play b pass
play w A2
play b A1
play w B2
play b A2
play w B2
260 is_legal b B1
#? [0]
# Under situational superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b B1
play w B2
play b pass
play w A2
play b A1
play w B2
play b A2
play w B2
270 is_legal b B1
#? [0]
# Under natural situational superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b B1
play w B2
play b pass
play w A2
play b A1
play w B2
play b A2
play w B2
280 is_legal b B1
#? [1]

# 2 columns, 2 rows. After B B1, W A2, B A1, W pass, B B2, W A2: Black at B1 would bring back the position after
# move 2, in which it was Black's turn, created by a play of White; afterwards it would be White's turn.
# The position:
#
#      A B
#    2 O .
#    1 . .
#
# Under simple ko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b B1
play w A2
play b A1
play w pass
play b B2
play w A2
290 is_legal b B1
#? [1]
# Under positional superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b B1
play w A2
play b A1
play w pass
play b B2
play w A2
300 is_legal b B1
#? [0]
# Under situational superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b B1
play w A2
play b A1
play w pass
play b B2
play w A2
310 is_legal b B1
#? [1]
# Under natural situational superko:
rectangular_boardsize 2 2
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b B1
play w A2
play b A1
play w pass
play b B2
play w A2
320 is_legal b B1
#? [1]

# 5 columns, 1 row. After B D1, W C1, B B1, W pass, B A1: White at C1 would bring back the position after move
# 2, in which it was Black's turn, created by a play of White; afterwards it would be Black's turn.
# The position:
#
#      A B C D E
#    1 X X . X .
#
# Under simple ko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b D1
play w C1
play b B1
play w pass
play b A1
330 is_legal w C1
#? [1]
# Under positional superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b D1
play w C1
play b B1
play w pass
play b A1
340 is_legal w C1
#? [0]
# Under situational superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b D1
play w C1
play b B1
play w pass
play b A1
350 is_legal w C1
#? [0]
# Under natural situational superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b D1
play w C1
play b B1
play w pass
play b A1
360 is_legal w C1
#? [0]

# 5 columns, 1 row. After B C1, W B1, B pass, W D1, B pass, W E1: Black at C1 would bring back the position
# after move 2, in which it was Black and White's turn, created by a play of White; afterwards it would be
# White's turn.
# The position:
#
#      A B C D E
#    1 . O . O O
#
# Under simple ko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b C1
play w B1
play b pass
play w D1
play b pass
play w E1
370 is_legal b C1
#? [1]
# Under positional superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b C1
play w B1
play b pass
play w D1
play b pass
play w E1
380 is_legal b C1
#? [0]
# Under situational superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w B1
play b pass
play w D1
play b pass
play w E1
390 is_legal b C1
#? [0]
# Under natural situational superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w B1
play b pass
play w D1
play b pass
play w E1
400 is_legal b C1
#? [1]

# 5 columns, 1 row. After B D1, W B1, B C1, W E1: Black at D1 would bring back the position after move 2, in
# which it was Black's turn, created by a play of White; afterwards it would be White's turn.
# The position:
#
#      A B C D E
#    1 . O . . O
#
# Under simple ko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b D1
play w B1
play b C1
play w E1
410 is_legal b D1
#? [1]
# Under positional superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b D1
play w B1
play b C1
play w E1
420 is_legal b D1
#? [0]
# Under situational superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b D1
play w B1
play b C1
play w E1
430 is_legal b D1
#? [1]
# Under natural situational superko:
rectangular_boardsize 5 1
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b D1
play w B1
play b C1
play w E1
440 is_legal b D1
#? [1]

# 3 columns, 2 rows. After B A2, W A1, B B1, W B2, B A1, W C1, B A2, W C2: Black at B1 would bring back the
# position after move 3, in which it was White's turn, created by a play of Black; afterwards it would be
# White's turn.
# The position:
#
#      A B C
#    2 X O O
#    1 . . O
#
# Under simple ko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A2
play w A1
play b B1
play w B2
play b A1
play w C1
play b A2
play w C2
450 is_legal b B1
#? [1]
# Under positional superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A2
play w A1
play b B1
play w B2
play b A1
play w C1
play b A2
play w C2
460 is_legal b B1
#? [0]
# Under situational superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A2
play w A1
play b B1
play w B2
play b A1
play w C1
play b A2
play w C2
470 is_legal b B1
#? [0]
# Under natural situational superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A2
play w A1
play b B1
play w B2
play b A1
play w C1
play b A2
play w C2
480 is_legal b B1
#? [0]

# 3 columns, 2 rows. After B A1, W C2, B B2, W pass, B A2, W B1, B B2, W C1, B A1: White at C2 would bring back
# the position after move 3, in which it was Black and White's turn, created by a play of Black; afterwards it
# would be Black's turn.
# The position:
#
#      A B C
#    2 . X .
#    1 X . .
#
# Under simple ko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A1
play w C2
play b B2
play w pass
play b A2
play w B1
play b B2
play w C1
play b A1
490 is_legal w C2
#? [1]
# Under positional superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A1
play w C2
play b B2
play w pass
play b A2
play w B1
play b B2
play w C1
play b A1
500 is_legal w C2
#? [0]
# Under situational superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w C2
play b B2
play w pass
play b A2
play w B1
play b B2
play w C1
play b A1
510 is_legal w C2
#? [0]
# Under natural situational superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w C2
play b B2
play w pass
play b A2
play w B1
play b B2
play w C1
play b A1
520 is_legal w C2
#? [1]

# 3 columns, 2 rows. After B A1, W B1, B A2, W C1, B C2, W B2, B A2, W C2, B A1: White at B1 would bring back
# the position after move 3, in which it was White's turn, created by a play of Black; afterwards it would be
# Black's turn.
# The position:
#
#      A B C
#    2 X . .
#    1 X . .
#
# Under simple ko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A1
play w B1
play b A2
play w C1
play b C2
play w B2
play b A2
play w C2
play b A1
530 is_legal w B1
#? [1]
# Under positional superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A1
play w B1
play b A2
play w C1
play b C2
play w B2
play b A2
play w C2
play b A1
540 is_legal w B1
#? [0]
# Under situational superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w B1
play b A2
play w C1
play b C2
play w B2
play b A2
play w C2
play b A1
550 is_legal w B1
#? [1]
# Under natural situational superko:
rectangular_boardsize 3 2
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w B1
play b A2
play w C1
play b C2
play w B2
play b A2
play w C2
play b A1
560 is_legal w B1
#? [1]

# 3 columns, 3 rows. After B A1, W A2, B B3, W C2, B B2, W B1, B pass, W C3, B C1: White at C2 would bring back
# the position after move 6, in which it was Black and White's turn, created by a play of White; afterwards it
# would be Black's turn.
# The position:
#
#      A B C
#    3 . X .
#    2 O X .
#    1 . O X
#
# Under simple ko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A1
play w A2
play b B3
play w C2
play b B2
play w B1
play b pass
play w C3
play b C1
570 is_legal w C2
#? [1]
# Under positional superko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A1
play w A2
play b B3
play w C2
play b B2
play w B1
play b pass
play w C3
play b C1
580 is_legal w C2
#? [0]
# Under situational superko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w A2
play b B3
play w C2
play b B2
play w B1
play b pass
play w C3
play b C1
590 is_legal w C2
#? [0]
# Under natural situational superko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w A2
play b B3
play w C2
play b B2
play w B1
play b pass
play w C3
play b C1
600 is_legal w C2
#? [0]

# 3 columns, 3 rows. After B A2, W C2, B B3, W B2, B C3, W A3: Black at B3 would bring back the position after
# move 4, in which it was Black's turn, created by a play of White; afterwards it would be White's turn.
# The position:
#
#      A B C
#    3 O . .
#    2 X O O
#    1 . . .
#
# Under simple ko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A2
play w C2
play b B3
play w B2
play b C3
play w A3
610 is_legal b B3
#? [1]
# Under positional superko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A2
play w C2
play b B3
play w B2
play b C3
play w A3
620 is_legal b B3
#? [0]
# Under situational superko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A2
play w C2
play b B3
play w B2
play b C3
play w A3
630 is_legal b B3
#? [1]
# Under natural situational superko:
rectangular_boardsize 3 3
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A2
play w C2
play b B3
play w B2
play b C3
play w A3
640 is_legal b B3
#? [1]
