# Records: what is on the board and who is to move after loadsgf.
#
# The answer of loadsgf is the player on turn, as GNU Go has it. A number names the move before which to stop.

# Eight moves, of which the last two are passes.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . O . O . O . .
#    6 . . . . . . . . .
#    5 . . . . X . . . .
#    4 . . . . . . . . .
#    3 . . X . . . X . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi 6.5.
10 loadsgf sgf/records-moves.sgf
#? [black]
20 list_stones b
#? [((E5|G3|C3) ?){3}]
30 list_stones w
#? [((C7|G7|E7) ?){3}]

# Eight moves, of which the last two are passes; the position before move 1.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . . . . . . . .
#    6 . . . . . . . . .
#    5 . . . . . . . . .
#    4 . . . . . . . . .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi 6.5.
40 loadsgf sgf/records-moves.sgf 1
#? [black]
50 list_stones b
#? []
60 list_stones w
#? []

# Eight moves, of which the last two are passes; the position before move 2.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . . . . . . . .
#    6 . . . . . . . . .
#    5 . . . . X . . . .
#    4 . . . . . . . . .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi 6.5.
70 loadsgf sgf/records-moves.sgf 2
#? [white]
80 list_stones b
#? [E5]
90 list_stones w
#? []

# Eight moves, of which the last two are passes; the position before move 4.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . O . . . . . .
#    6 . . . . . . . . .
#    5 . . . . X . . . .
#    4 . . . . . . . . .
#    3 . . . . . . X . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi 6.5.
100 loadsgf sgf/records-moves.sgf 4
#? [white]
110 list_stones b
#? [((E5|G3) ?){2}]
120 list_stones w
#? [C7]

# Eight moves, of which the last two are passes; the position before move 6.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . O . . . O . .
#    6 . . . . . . . . .
#    5 . . . . X . . . .
#    4 . . . . . . . . .
#    3 . . X . . . X . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi 6.5.
130 loadsgf sgf/records-moves.sgf 6
#? [white]
140 list_stones b
#? [((E5|G3|C3) ?){3}]
150 list_stones w
#? [((C7|G7) ?){2}]

# Eight moves, of which the last two are passes; the position before move 7.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . O . O . O . .
#    6 . . . . . . . . .
#    5 . . . . X . . . .
#    4 . . . . . . . . .
#    3 . . X . . . X . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi 6.5.
160 loadsgf sgf/records-moves.sgf 7
#? [black]
170 list_stones b
#? [((E5|G3|C3) ?){3}]
180 list_stones w
#? [((C7|G7|E7) ?){3}]

# Eight moves, of which the last two are passes; the position before move 100.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . O . O . O . .
#    6 . . . . . . . . .
#    5 . . . . X . . . .
#    4 . . . . . . . . .
#    3 . . X . . . X . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi 6.5.
190 loadsgf sgf/records-moves.sgf 100
#? [black]
200 list_stones b
#? [((E5|G3|C3) ?){3}]
210 list_stones w
#? [((C7|G7|E7) ?){3}]
220 get_komi
#? [6.5]

# A rectangular board, stones set up, White to move.
#
#      A B C D E
#    4 . X O . .
#    3 O X O . .
#    2 . O X . .
#    1 . . . . .
#
# White to move, komi 0.
230 loadsgf sgf/records-captures.sgf 1
#? [white]
240 list_stones b
#? [((B4|B3|C2) ?){3}]
250 list_stones w
#? [((A3|C4|C3|B2) ?){4}]

# White has taken two stones.
#
#      A B C D E
#    4 O . O . .
#    3 O . O . .
#    2 . O X . .
#    1 . . . . .
#
# Black to move, komi 0.
260 loadsgf sgf/records-captures.sgf 2
#? [black]
270 list_stones b
#? [C2]
280 list_stones w
#? [((A4|A3|C4|C3|B2) ?){5}]
290 is_legal b B4
#? [1]
300 is_legal w B3
#? [1]

# The end of the record.
#
#      A B C D E
#    4 O . O . .
#    3 O . O . .
#    2 . O X X .
#    1 . O . . .
#
# Black to move, komi 0.
310 loadsgf sgf/records-captures.sgf
#? [black]
320 list_stones b
#? [((C2|D2) ?){2}]
330 list_stones w
#? [((A4|A3|C4|C3|B2|B1) ?){6}]

# Variations: the main line is the first variation everywhere.
#
#      A B C D E
#    5 . . . O .
#    4 . . O X .
#    3 . . X . .
#    2 . . . . .
#    1 . . . . .
#
# Black to move, komi 0.5.
340 loadsgf sgf/records-variations.sgf
#? [black]
350 list_stones b
#? [((D4|C3) ?){2}]
360 list_stones w
#? [((D5|C4) ?){2}]

# Setup: a rectangle of points, and stones that are changed later.
#
#      A B C D E
#    5 . . . . .
#    4 . . X . .
#    3 . X O . .
#    2 . . . O .
#    1 . . . . .
#
# Black to move, komi 0.5.
370 loadsgf sgf/records-edits.sgf
#? [black]
380 list_stones b
#? [((C4|B3) ?){2}]
390 list_stones w
#? [((C3|D2) ?){2}]

# A handicap: White moves first.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . X . . . X . .
#    6 . . . . . . . . .
#    5 . . . . . . . . .
#    4 . . . . . . . . .
#    3 . . X . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi 0.5.
400 loadsgf sgf/records-handicap.sgf 1
#? [white]
410 get_handicap
#? [3]
420 list_stones b
#? [((C3|G7|C7) ?){3}]
