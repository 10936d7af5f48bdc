# Suicide: which moves take their own stones off the board, and when that is allowed.
#
# Each position is asked twice, first without suicide, then with suicide of two or more stones allowed. The
# suicide of a single stone leaves the board as it was and is never legal.

# A single stone in the middle. Suicide is not allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . . O . .
#    3 . O . O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-01.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
10 is_legal b C3
#? [0]
20 is_legal w C3
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . . O . .
#    3 . O . O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-01.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
30 is_legal b C3
#? [0]
40 is_legal w C3
#? [1]

# A single stone in the corner. Suicide is not allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . . . . .
#    3 . . . . .
#    2 O . . . .
#    1 . O . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-02.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
50 is_legal b A1
#? [0]
60 is_legal w A1
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . . . . .
#    3 . . . . .
#    2 O . . . .
#    1 . O . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-02.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
70 is_legal b A1
#? [0]
80 is_legal w A1
#? [1]

# Two stones at the edge. Suicide is not allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . . . . .
#    3 . . . . .
#    2 O O . . .
#    1 X . O . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-03.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
90 is_legal b B1
#? [0]
100 is_legal w B1
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . . . . .
#    3 . . . . .
#    2 O O . . .
#    1 X . O . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-03.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
110 is_legal b B1
#? [1]
120 is_legal w B1
#? [1]
play b B1
130 is_legal w A1
#? [1]
140 is_legal b B1
#? [1]
150 is_legal b A1
#? [0]

# Two chains of two; B3 is the last liberty of both. Suicide is not allowed.
#
#      A B C D E
#    5 . O O . .
#    4 O X X O .
#    3 O . O O .
#    2 O X X O .
#    1 . O O . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-04.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
160 is_legal b B3
#? [0]
170 is_legal w B3
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . O O . .
#    4 O X X O .
#    3 O . O O .
#    2 O X X O .
#    1 . O O . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-04.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
180 is_legal b B3
#? [1]
190 is_legal w B3
#? [1]
play b B3
200 is_legal b B4
#? [1]
210 is_legal b B3
#? [1]

# The move fills the last liberty of its own chain but captures: no suicide. Suicide is not allowed.
#
#      A B C D E
#    5 . . . . .
#    4 O O O . .
#    3 X X X O .
#    2 O . X O .
#    1 O X X O .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-05.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
220 is_legal b B2
#? [1]
230 is_legal w B2
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . . . . .
#    4 O O O . .
#    3 X X X O .
#    2 O . X O .
#    1 O X X O .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-05.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
240 is_legal b B2
#? [1]
250 is_legal w B2
#? [1]

# The last outer liberty is gone, but the chain has two eyes: Black may fill one, White neither. Suicide is not
# allowed.
#
#      A B C D E
#    5 X X . X O
#    4 X . X X O
#    3 X X X O O
#    2 O O O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-06.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
260 is_legal w B4
#? [0]
270 is_legal w C5
#? [0]
280 is_legal b B4
#? [1]
290 is_legal b C5
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 X X . X O
#    4 X . X X O
#    3 X X X O O
#    2 O O O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-06.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
300 is_legal w B4
#? [0]
310 is_legal w C5
#? [0]
320 is_legal b B4
#? [1]
330 is_legal b C5
#? [1]

# One eye only: for Black to fill it is suicide of seven stones, for White to play there captures them. Suicide
# is not allowed.
#
#      A B C D E
#    5 . . . . .
#    4 O O O O .
#    3 X X X O .
#    2 X . X O .
#    1 X X O . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-07.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
340 is_legal b B2
#? [0]
350 is_legal w B2
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . . . . .
#    4 O O O O .
#    3 X X X O .
#    2 X . X O .
#    1 X X O . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-07.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
360 is_legal b B2
#? [1]
370 is_legal w B2
#? [1]
play b B2
380 is_legal w A1
#? [1]
390 is_legal b B2
#? [1]
400 is_legal w B2
#? [1]

# The whole board is one chain with one liberty left. Suicide is not allowed.
#
#      A B C
#    3 X X X
#    2 X . X
#    1 X X X
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-08.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
410 is_legal b B2
#? [0]
420 is_legal w B2
#? [1]

# The same position; suicide is allowed.
#
#      A B C
#    3 X X X
#    2 X . X
#    1 X X X
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-08.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
430 is_legal b B2
#? [1]
440 is_legal w B2
#? [1]

# The whole board is one row. Filling it takes all four stones away; with suicide that is legal, because the
# empty board has not been there before. Suicide is not allowed.
#
#      A B C D E
#    1 X X X . X
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-09.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
450 is_legal b D1
#? [0]
460 is_legal w D1
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    1 X X X . X
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-09.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
470 is_legal b D1
#? [1]
480 is_legal w D1
#? [1]

# A stone that joins a chain with liberties is no suicide. Suicide is not allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . O O O .
#    3 . O . X X
#    2 . O O O .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-10.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
490 is_legal b C3
#? [1]
500 is_legal w C3
#? [1]

# The same position; suicide is allowed.
#
#      A B C D E
#    5 . . . . .
#    4 . O O O .
#    3 . O . X X
#    2 . O O O .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide-10.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
510 is_legal b C3
#? [1]
520 is_legal w C3
#? [1]
