# Legality apart from repetition and suicide.
#
# Occupied points, points off the board, passes, captures of several chains at once, points that open up.

# Occupied points are closed to both, passing is open to both.
#
#      A B C D E
#    5 . . . . .
#    4 . . X . .
#    3 . X O X .
#    2 . . . . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/legality-01.sgf
kata-set-rules chinese-kgs
10 is_legal b C4
#? [0]
20 is_legal w C4
#? [0]
30 is_legal b C3
#? [0]
40 is_legal w C3
#? [0]
50 is_legal b pass
#? [1]
60 is_legal w pass
#? [1]
70 is_legal b A1
#? [1]
80 is_legal w E5
#? [1]

# Points off the board.
#
#      A B C
#    2 . . X
#    1 . . .
#
# White to move, komi 0.5.
loadsgf sgf/legality-02.sgf
kata-set-rules chinese-kgs
90 is_legal w D1
#? [0]
100 is_legal w A3
#? [0]
110 is_legal w C1
#? [1]
120 is_legal w T19
#? [0]
130 is_legal b C2
#? [0]

# One move captures four chains at once; afterwards all five points are open to Black, and none of the four to
# White's single stones.
#
#      A B C D E
#    5 . . X . .
#    4 . X O X .
#    3 X O . O X
#    2 . X O X .
#    1 . . X . .
#
# Black to move, komi 0.5.
loadsgf sgf/legality-03.sgf
kata-set-rules chinese-kgs
140 is_legal w C3
#? [0]
150 is_legal b C3
#? [1]
play b C3
160 is_legal w C4
#? [0]
170 is_legal w B3
#? [0]
180 is_legal b B3
#? [1]
190 is_legal w D3
#? [0]
200 is_legal w C2
#? [0]

# Black's stone in the corner lives by capturing: the move has no liberty until the two white stones are gone.
#
#      A B C
#    3 . . .
#    2 X X .
#    1 O O .
#
# Black to move, komi 0.5.
loadsgf sgf/legality-04.sgf
kata-set-rules chinese-kgs
210 is_legal b C1
#? [1]
220 is_legal w C1
#? [1]
play b C1
230 is_legal w A1
#? [1]
240 is_legal w B1
#? [1]

# All points of an empty board are open to both.
#
#      A B
#    2 . .
#    1 . .
#
# Black to move, komi 0.5.
loadsgf sgf/legality-05.sgf
kata-set-rules chinese-kgs
250 is_legal b A1
#? [1]
260 is_legal w A1
#? [1]
270 is_legal b B2
#? [1]
280 is_legal w B2
#? [1]
