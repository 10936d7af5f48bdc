# Superko: who may retake what, and when, under each repetition rule.
#
# Every test asks is_legal after the same moves: 1 is legal, 0 is not. The first four positions and their lists
# of banned moves under simple ko, positional and situational superko were checked by two independent programs;
# tests/rules_ground_truth.rs asks the library the same questions. A sequence stops where a rule forbids it to
# go on. Who created a position that was set up is a matter of opinion, so under natural situational superko
# nothing is asked about bringing back the first one.

# Sending two, returning one, beside a second ko. Under simple ko.
#
#      A B C D E F
#    5 . O . X X O
#    4 O X X X O .
#    3 O . X . O O
#    2 X X . O O .
#    1 O O O O . O
#
# Black to move, komi 0.5.
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b F4
10 is_legal w F5
#? [0]
play w pass
play b D3
play w C5
play b A5
20 is_legal w B5
#? [1]
play w F5
30 is_legal b F4
#? [0]
play b pass
play w B5
40 is_legal b F4
#? [1]
play b pass
play w C5
50 is_legal b F4
#? [1]
60 is_legal b A5
#? [1]

# The same position. Under positional superko.
#
#      A B C D E F
#    5 . O . X X O
#    4 O X X X O .
#    3 O . X . O O
#    2 X X . O O .
#    1 O O O O . O
#
# Black to move, komi 0.5.
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b F4
70 is_legal w F5
#? [0]
play w pass
play b D3
play w C5
play b A5
80 is_legal w B5
#? [0]
play w F5
90 is_legal b F4
#? [0]
play b pass
play w B5
100 is_legal b F4
#? [0]
play b pass
play w C5
110 is_legal b F4
#? [0]
120 is_legal b A5
#? [0]

# The same position. Under situational superko.
#
#      A B C D E F
#    5 . O . X X O
#    4 O X X X O .
#    3 O . X . O O
#    2 X X . O O .
#    1 O O O O . O
#
# Black to move, komi 0.5.
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b F4
130 is_legal w F5
#? [0]
play w pass
play b D3
play w C5
play b A5
140 is_legal w B5
#? [1]
play w F5
150 is_legal b F4
#? [0]
play b pass
play w B5
160 is_legal b F4
#? [0]
play b pass
play w C5
170 is_legal b F4
#? [1]
180 is_legal b A5
#? [0]

# The same position. Under natural situational superko.
#
#      A B C D E F
#    5 . O . X X O
#    4 O X X X O .
#    3 O . X . O O
#    2 X X . O O .
#    1 O O O O . O
#
# Black to move, komi 0.5.
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b F4
play w pass
play b D3
play w C5
play b A5
190 is_legal w B5
#? [1]
play w F5
200 is_legal b F4
#? [0]
play b pass
play w B5
210 is_legal b F4
#? [0]
play b pass
play w C5
220 is_legal b F4
#? [1]
230 is_legal b A5
#? [1]

# Suicide of two stones as a repetition: after it Black has a single stone again where a single stone had been.
# Under simple ko.
#
#      A B C D E F
#    5 . O X O . X
#    4 O X X O O O
#    3 X X . . . .
#    2 . . . . . .
#    1 . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":true}
play b E5
play w pass
240 is_legal b F5
#? [1]
play b E5
play w A5
play b F5
play w B5
play b pass
250 is_legal w A4
#? [1]
play w A5
play b E5
260 is_legal w A4
#? [1]

# The same position. Under positional superko.
#
#      A B C D E F
#    5 . O X O . X
#    4 O X X O O O
#    3 X X . . . .
#    2 . . . . . .
#    1 . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
play b E5
play w pass
270 is_legal b F5
#? [0]
play b E5
play w A5
play b F5
play w B5
play b pass
280 is_legal w A4
#? [0]
play w A5
play b E5
290 is_legal w A4
#? [0]

# The same position. Under situational superko.
#
#      A B C D E F
#    5 . O X O . X
#    4 O X X O O O
#    3 X X . . . .
#    2 . . . . . .
#    1 . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":true}
play b E5
play w pass
300 is_legal b F5
#? [1]
play b E5
play w A5
play b F5
play w B5
play b pass
310 is_legal w A4
#? [0]
play w A5
play b E5
320 is_legal w A4
#? [0]

# The same position. Under natural situational superko.
#
#      A B C D E F
#    5 . O X O . X
#    4 O X X O O O
#    3 X X . . . .
#    2 . . . . . .
#    1 . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":true}
play b E5
play w pass
play b E5
play w A5
play b F5
play w B5
play b pass
330 is_legal w A4
#? [1]
play w A5
play b E5
340 is_legal w A4
#? [0]

# Eternal life: Black lets two stones be taken and throws in again; after that all would be as before. Under
# simple ko.
#
#      A B C D E F G H
#    5 . . . . . . . .
#    4 O O O O O O . .
#    3 X X X X X O . .
#    2 X O O O X X O O
#    1 . O . X . O X .
#
# Black to move, komi 0.5.
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b C1
play w E1
play b D1
350 is_legal w F1
#? [1]

# The same position. Under positional superko.
#
#      A B C D E F G H
#    5 . . . . . . . .
#    4 O O O O O O . .
#    3 X X X X X O . .
#    2 X O O O X X O O
#    1 . O . X . O X .
#
# Black to move, komi 0.5.
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b C1
play w E1
play b D1
360 is_legal w F1
#? [0]

# The same position. Under situational superko.
#
#      A B C D E F G H
#    5 . . . . . . . .
#    4 O O O O O O . .
#    3 X X X X X O . .
#    2 X O O O X X O O
#    1 . O . X . O X .
#
# Black to move, komi 0.5.
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w E1
play b D1
370 is_legal w F1
#? [0]

# The same position. Under natural situational superko.
#
#      A B C D E F G H
#    5 . . . . . . . .
#    4 O O O O O O . .
#    3 X X X X X O . .
#    2 X O O O X X O O
#    1 . O . X . O X .
#
# Black to move, komi 0.5.
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b C1
play w E1
play b D1

# Triple ko: after five captures the sixth would bring back the first position. Under simple ko.
#
#      A B C D E F G
#    6 O O O O O O O
#    5 O X O . O . O
#    4 X . X O X O X
#    3 X X X X X X X
#    2 O O O O O O O
#    1 . . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b D5
380 is_legal w D4
#? [0]
play w B4
390 is_legal b B5
#? [0]
play b F5
400 is_legal w F4
#? [0]
play w D4
410 is_legal b D5
#? [0]
play b B5
420 is_legal w B4
#? [0]
430 is_legal w F4
#? [1]

# The same position. Under positional superko.
#
#      A B C D E F G
#    6 O O O O O O O
#    5 O X O . O . O
#    4 X . X O X O X
#    3 X X X X X X X
#    2 O O O O O O O
#    1 . . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b D5
440 is_legal w D4
#? [0]
play w B4
450 is_legal b B5
#? [0]
play b F5
460 is_legal w F4
#? [0]
play w D4
470 is_legal b D5
#? [0]
play b B5
480 is_legal w B4
#? [0]
490 is_legal w F4
#? [0]

# The same position. Under situational superko.
#
#      A B C D E F G
#    6 O O O O O O O
#    5 O X O . O . O
#    4 X . X O X O X
#    3 X X X X X X X
#    2 O O O O O O O
#    1 . . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b D5
500 is_legal w D4
#? [0]
play w B4
510 is_legal b B5
#? [0]
play b F5
520 is_legal w F4
#? [0]
play w D4
530 is_legal b D5
#? [0]
play b B5
540 is_legal w B4
#? [0]
550 is_legal w F4
#? [0]

# The same position. Under natural situational superko.
#
#      A B C D E F G
#    6 O O O O O O O
#    5 O X O . O . O
#    4 X . X O X O X
#    3 X X X X X X X
#    2 O O O O O O O
#    1 . . . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b D5
play w B4
560 is_legal b B5
#? [0]
play b F5
570 is_legal w F4
#? [0]
play w D4
580 is_legal b D5
#? [0]
play b B5
590 is_legal w B4
#? [0]

# From the empty board of 4×4: White's single stone at B1 would recreate an earlier position, but with the other
# side to move. Positional and situational superko part here.
# Under simple ko:
boardsize 4
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A2
play w B1
play b B2
play w C2
play b B3
play w D1
play b A3
play w A1
play b C1
600 is_legal w B1
#? [1]
# Under positional superko:
boardsize 4
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A2
play w B1
play b B2
play w C2
play b B3
play w D1
play b A3
play w A1
play b C1
610 is_legal w B1
#? [0]
# Under situational superko:
boardsize 4
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A2
play w B1
play b B2
play w C2
play b B3
play w D1
play b A3
play w A1
play b C1
620 is_legal w B1
#? [1]
# Under natural situational superko:
boardsize 4
clear_board
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b A2
play w B1
play b B2
play w C2
play b B3
play w D1
play b A3
play w A1
play b C1
630 is_legal w B1
#? [1]

# Sending two, returning one on the smallest board that has it: Black sends a second stone and takes one, White
# takes two, and that is the position that was set up. Under simple ko.
#
#      A B C
#    1 O . .
#
# Black to move, komi 0.5.
loadsgf sgf/row-of-three.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
640 is_legal b C1
#? [1]
play b C1
650 is_legal w B1
#? [1]
play w pass
660 is_legal b B1
#? [1]
play b B1
670 is_legal w A1
#? [1]
play w A1
680 is_legal b C1
#? [1]
690 is_legal b B1
#? [1]

# The same position. Under positional superko.
#
#      A B C
#    1 O . .
#
# Black to move, komi 0.5.
loadsgf sgf/row-of-three.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
700 is_legal b C1
#? [1]
play b C1
710 is_legal w B1
#? [1]
play w pass
720 is_legal b B1
#? [1]
play b B1
730 is_legal w A1
#? [0]

# The same position. Under situational superko.
#
#      A B C
#    1 O . .
#
# Black to move, komi 0.5.
loadsgf sgf/row-of-three.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
740 is_legal b C1
#? [1]
play b C1
750 is_legal w B1
#? [1]
play w pass
760 is_legal b B1
#? [1]
play b B1
770 is_legal w A1
#? [0]

# The same position. Under natural situational superko.
#
#      A B C
#    1 O . .
#
# Black to move, komi 0.5.
loadsgf sgf/row-of-three.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
780 is_legal b C1
#? [1]
play b C1
790 is_legal w B1
#? [1]
play w pass
800 is_legal b B1
#? [1]
play b B1
play w A1
810 is_legal b C1
#? [0]
820 is_legal b B1
#? [1]

# Two kos. Each side takes one, passes are made, and both are taken back: the last capture brings back the first
# position. Under simple ko.
#
#      A B C D E
#    5 . X O . .
#    4 X . X O .
#    3 . X O . .
#    2 X O . O .
#    1 . X O . .
#
# White to move, komi 0.5.
loadsgf sgf/double-ko.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
830 is_legal w B4
#? [1]
840 is_legal b C2
#? [1]
play w B4
850 is_legal b C4
#? [0]
play b C2
860 is_legal w B2
#? [0]
play w pass
870 is_legal b C4
#? [1]
play b C4
880 is_legal w B4
#? [0]
890 is_legal w B2
#? [1]

# The same position. Under positional superko.
#
#      A B C D E
#    5 . X O . .
#    4 X . X O .
#    3 . X O . .
#    2 X O . O .
#    1 . X O . .
#
# White to move, komi 0.5.
loadsgf sgf/double-ko.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
900 is_legal w B4
#? [1]
910 is_legal b C2
#? [1]
play w B4
920 is_legal b C4
#? [0]
play b C2
930 is_legal w B2
#? [0]
play w pass
940 is_legal b C4
#? [1]
play b C4
950 is_legal w B4
#? [0]
960 is_legal w B2
#? [0]

# The same position. Under situational superko.
#
#      A B C D E
#    5 . X O . .
#    4 X . X O .
#    3 . X O . .
#    2 X O . O .
#    1 . X O . .
#
# White to move, komi 0.5.
loadsgf sgf/double-ko.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
970 is_legal w B4
#? [1]
980 is_legal b C2
#? [1]
play w B4
990 is_legal b C4
#? [0]
play b C2
1000 is_legal w B2
#? [0]
play w pass
1010 is_legal b C4
#? [1]
play b C4
1020 is_legal w B4
#? [0]
1030 is_legal w B2
#? [1]

# The same position. Under natural situational superko.
#
#      A B C D E
#    5 . X O . .
#    4 X . X O .
#    3 . X O . .
#    2 X O . O .
#    1 . X O . .
#
# White to move, komi 0.5.
loadsgf sgf/double-ko.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
1040 is_legal w B4
#? [1]
1050 is_legal b C2
#? [1]
play w B4
play b C2
1060 is_legal w B2
#? [0]
play w pass
1070 is_legal b C4
#? [1]
play b C4
1080 is_legal w B4
#? [1]

# A ko that nobody has taken yet, and both players pass after it is taken. A pass lifts the ban of simple ko;
# retaking still brings back the first position, which was set up with White to move. Under simple ko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . X O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-and-passes.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
1090 is_legal w B3
#? [1]
play w B3
1100 is_legal b C3
#? [0]
play b pass
play w pass
1110 is_legal b C3
#? [1]
play b E1
1120 is_legal w C3
#? [1]
play w E2
1130 is_legal b C3
#? [1]

# The same position. Under positional superko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . X O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-and-passes.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
1140 is_legal w B3
#? [1]
play w B3
1150 is_legal b C3
#? [0]
play b pass
play w pass
1160 is_legal b C3
#? [0]
play b E1
1170 is_legal w C3
#? [1]
play w E2
1180 is_legal b C3
#? [1]

# The same position. Under situational superko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . X O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-and-passes.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
1190 is_legal w B3
#? [1]
play w B3
1200 is_legal b C3
#? [0]
play b pass
play w pass
1210 is_legal b C3
#? [0]
play b E1
1220 is_legal w C3
#? [1]
play w E2
1230 is_legal b C3
#? [1]

# The same position. Under natural situational superko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . X O . .
#    1 . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/ko-and-passes.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
1240 is_legal w B3
#? [1]
play w B3
play b pass
play w pass
play b E1
1250 is_legal w C3
#? [1]
play w E2
1260 is_legal b C3
#? [1]

# The same ko, now made by moves on the board: the position before the capture was created by Black's play.
# Under simple ko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/ko-by-play.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b B2
play w B3
1270 is_legal b C3
#? [0]
play b pass
play w pass
1280 is_legal b C3
#? [1]
play b pass
1290 is_legal b C3
#? [1]

# The same position. Under positional superko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/ko-by-play.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b B2
play w B3
1300 is_legal b C3
#? [0]
play b pass
play w pass
1310 is_legal b C3
#? [0]
play b pass
1320 is_legal b C3
#? [0]

# The same position. Under situational superko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/ko-by-play.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b B2
play w B3
1330 is_legal b C3
#? [0]
play b pass
play w pass
1340 is_legal b C3
#? [0]
play b pass
1350 is_legal b C3
#? [0]

# The same position. Under natural situational superko.
#
#      A B C D E
#    4 . X O . .
#    3 X . X O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/ko-by-play.sgf
kata-set-rules {"ko":"NATURAL_SITUATIONAL","scoring":"AREA","suicide":false}
play b B2
play w B3
1360 is_legal b C3
#? [0]
play b pass
play w pass
1370 is_legal b C3
#? [0]
play b pass
1380 is_legal b C3
#? [0]
