# Superko: who may retake what, and when, under each repetition rule.
#
# Every test asks `is_legal` after the same moves: 1 is legal, 0 is not. The positions and their lists of banned
# moves were checked by two independent programs; tests/rules_ground_truth.rs asks the library the same questions.

# Sending two, returning one, beside a second ko: simple ko
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play B F4
10 is_legal W F5
#? [0]
play W pass
play B D3
play W C5
play B A5
20 is_legal W B5
#? [1]
play W F5
30 is_legal B F4
#? [0]
play B pass
play W B5
40 is_legal B F4
#? [1]
play B pass
play W C5
50 is_legal B F4
#? [1]
60 is_legal B A5
#? [1]

# Sending two, returning one, beside a second ko: positional ko
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play B F4
70 is_legal W F5
#? [0]
play W pass
play B D3
play W C5
play B A5
80 is_legal W B5
#? [0]
play W F5
90 is_legal B F4
#? [0]
play B pass
play W B5
100 is_legal B F4
#? [0]
play B pass
play W C5
110 is_legal B F4
#? [0]
120 is_legal B A5
#? [0]

# Sending two, returning one, beside a second ko: situational ko
loadsgf sgf/sending-two.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play B F4
130 is_legal W F5
#? [0]
play W pass
play B D3
play W C5
play B A5
140 is_legal W B5
#? [1]
play W F5
150 is_legal B F4
#? [0]
play B pass
play W B5
160 is_legal B F4
#? [0]
play B pass
play W C5
170 is_legal B F4
#? [1]
180 is_legal B A5
#? [0]

# Suicide of two as a superko: simple ko
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":true}
play B E5
play W pass
190 is_legal B F5
#? [1]
play B E5
play W A5
play B F5
play W B5
play B pass
200 is_legal W A4
#? [1]
play W A5
play B E5
210 is_legal W A4
#? [1]

# Suicide of two as a superko: positional ko
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":true}
play B E5
play W pass
220 is_legal B F5
#? [0]
play B E5
play W A5
play B F5
play W B5
play B pass
230 is_legal W A4
#? [0]
play W A5
play B E5
240 is_legal W A4
#? [0]

# Suicide of two as a superko: situational ko
loadsgf sgf/suicide.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":true}
play B E5
play W pass
250 is_legal B F5
#? [1]
play B E5
play W A5
play B F5
play W B5
play B pass
260 is_legal W A4
#? [0]
play W A5
play B E5
270 is_legal W A4
#? [0]

# Eternal life: simple ko
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play B C1
play W E1
play B D1
280 is_legal W F1
#? [1]

# Eternal life: positional ko
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play B C1
play W E1
play B D1
290 is_legal W F1
#? [0]

# Eternal life: situational ko
loadsgf sgf/eternal-life.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play B C1
play W E1
play B D1
300 is_legal W F1
#? [0]

# Triple ko: simple ko
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play B D5
310 is_legal W D4
#? [0]
play W B4
320 is_legal B B5
#? [0]
play B F5
330 is_legal W F4
#? [0]
play W D4
340 is_legal B D5
#? [0]
play B B5
350 is_legal W B4
#? [0]
360 is_legal W F4
#? [1]

# Triple ko: positional ko
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play B D5
370 is_legal W D4
#? [0]
play W B4
380 is_legal B B5
#? [0]
play B F5
390 is_legal W F4
#? [0]
play W D4
400 is_legal B D5
#? [0]
play B B5
410 is_legal W B4
#? [0]
420 is_legal W F4
#? [0]

# Triple ko: situational ko
loadsgf sgf/triple-ko.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play B D5
430 is_legal W D4
#? [0]
play W B4
440 is_legal B B5
#? [0]
play B F5
450 is_legal W F4
#? [0]
play W D4
460 is_legal B D5
#? [0]
play B B5
470 is_legal W B4
#? [0]
480 is_legal W F4
#? [0]

# A single stone recreates an earlier position with the other side to move: PSK and SSK part here.
boardsize 4
clear_board
clear_board
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play B a2
play W b1
play B b2
play W c2
play B b3
play W d1
play B a3
play W a1
play B c1
490 is_legal W b1
#? [1]
clear_board
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play B a2
play W b1
play B b2
play W c2
play B b3
play W d1
play B a3
play W a1
play B c1
500 is_legal W b1
#? [0]
clear_board
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play B a2
play W b1
play B b2
play W c2
play B b3
play W d1
play B a3
play W a1
play B c1
510 is_legal W b1
#? [1]
