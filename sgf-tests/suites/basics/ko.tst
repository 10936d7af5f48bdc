# Simple ko: what is one, what is none.
#
# The ban of an immediate recapture is the same under every rule; here it is asked under positional superko, the
# default.

# A ko in the middle. White takes; Black may not take back before another move has been made by each side.
#
#      A B C D E
#    5 . . . . .
#    4 . X O . .
#    3 X . X O .
#    2 . X O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-01.sgf
kata-set-rules chinese-kgs
10 is_legal w B3
#? [1]
20 is_legal b B3
#? [1]
play w B3
30 is_legal b C3
#? [0]
40 is_legal w C3
#? [1]
play b E5
50 is_legal w C3
#? [1]
play w E1
60 is_legal b C3
#? [1]
play b C3
70 is_legal w B3
#? [0]
play w A5
play b A1
80 is_legal w B3
#? [1]

# A ko at the edge.
#
#      A B C D E
#    5 . . . . .
#    4 . . . . .
#    3 . . . . .
#    2 . X O . .
#    1 X . X O .
#
# White to move, komi 0.5.
loadsgf sgf/ko-02.sgf
kata-set-rules chinese-kgs
90 is_legal w B1
#? [1]
play w B1
100 is_legal b C1
#? [0]
play b E5
play w E4
110 is_legal b C1
#? [1]

# A ko in the corner: Black takes the stone at A1 from B1, White may not take back at once.
#
#      A B C D E
#    5 . . . . .
#    4 . . . . .
#    3 . . . . .
#    2 X O . . .
#    1 O . O . .
#
# Black to move, komi 0.5.
loadsgf sgf/ko-03.sgf
kata-set-rules chinese-kgs
120 is_legal b B1
#? [1]
130 is_legal w B1
#? [1]
play b B1
140 is_legal w A1
#? [0]
play w E5
play b D5
150 is_legal w A1
#? [1]

# White takes two stones with one; Black may take that one back at once, because the board is then another one.
#
#      A B C D E
#    5 . . . . .
#    4 . X O O .
#    3 X . X X O
#    2 . X O O .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-04.sgf
kata-set-rules chinese-kgs
160 is_legal w B3
#? [1]
play w B3
170 is_legal b C3
#? [1]
180 is_legal b D3
#? [1]
play b C3
190 is_legal w B3
#? [0]
200 is_legal w D3
#? [1]

# Black takes one stone and has two stones in atari afterwards. White takes the two back at once: no ko. Then
# Black takes the one.
#
#      A B C D E
#    5 . . . . .
#    4 . X O O .
#    3 X O . X O
#    2 . X O O .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/ko-05.sgf
kata-set-rules chinese-kgs
210 is_legal b C3
#? [1]
play b C3
220 is_legal w B3
#? [1]
play w B3
230 is_legal b C3
#? [1]

# White takes one stone, and the stone that took has a second liberty. Black's C3 is no ko but suicide; after B2
# it is a capture.
#
#      A B C D E
#    5 . . . . .
#    4 . X O . .
#    3 X . X O .
#    2 . . O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-06.sgf
kata-set-rules chinese-kgs
play w B3
240 is_legal b C3
#? [0]
250 is_legal b B2
#? [1]
play b B2
260 is_legal w C3
#? [1]
play w E5
270 is_legal b C3
#? [1]

# White takes two single stones with one move. Neither can be taken back: both points are suicide.
#
#      A B C D E
#    5 . . . . .
#    4 . O X O .
#    3 O X . X O
#    2 . O X O .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-07.sgf
kata-set-rules chinese-kgs
280 is_legal w C3
#? [1]
290 is_legal b C3
#? [1]
play w C3
300 is_legal b B3
#? [0]
310 is_legal b D3
#? [0]

# The board is small enough for the ko to be the whole game: after the capture only filling or passing remains.
#
#      A B C
#    3 X O .
#    2 . X O
#    1 X O .
#
# White to move, komi 0.5.
loadsgf sgf/ko-08.sgf
kata-set-rules chinese-kgs
320 is_legal w A2
#? [1]
play w A2
330 is_legal b B2
#? [0]
play b pass
play w pass
340 is_legal b B2
#? [0]

# Taking the ko back by undo is no repetition, and the ban goes with it.
#
#      A B C D E
#    5 . . . . .
#    4 . X O . .
#    3 X . X O .
#    2 . X O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-09.sgf
kata-set-rules chinese-kgs
play w B3
350 is_legal b C3
#? [0]
undo
360 is_legal w B3
#? [1]
370 is_legal b B3
#? [1]
play w B3
380 is_legal b C3
#? [0]
play b E5
play w E1
play b C3
390 is_legal w B3
#? [0]
undo
400 is_legal b C3
#? [1]
