# What else counts: handicap, the button, tax on groups, seki.
#
# Compensation for handicap stones, the half point for the first pass (button), and rules under which every
# group pays for its two eyes or for living in seki. No stone is dead here.

# Two handicap stones on an otherwise empty 5×5 board: 25 points for Black, less komi and what the rules give
# White.
boardsize 5
clear_board
komi 7.5
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"whiteHandicapBonus":"0"}
set_free_handicap B2 D4
10 final_score
#? [B\+17\.5]
boardsize 5
clear_board
komi 7.5
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"whiteHandicapBonus":"N"}
set_free_handicap B2 D4
20 final_score
#? [B\+15\.5]
boardsize 5
clear_board
komi 7.5
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"whiteHandicapBonus":"N-1"}
set_free_handicap B2 D4
30 final_score
#? [B\+16\.5]

# Nine handicap stones on 9×9; under territory scoring the stones themselves are no points.
boardsize 9
clear_board
komi 0.5
kata-set-rules chinese
kata-set-rule friendlyPassOk false
fixed_handicap 9
40 final_score
#? [B\+71\.5]
boardsize 9
clear_board
komi 0.5
kata-set-rules aga
kata-set-rule friendlyPassOk false
fixed_handicap 9
50 final_score
#? [B\+72\.5]
boardsize 9
clear_board
komi 0.5
kata-set-rules japanese
kata-set-rule friendlyPassOk false
fixed_handicap 9
60 final_score
#? [B\+71\.5]
boardsize 9
clear_board
komi 0.5
kata-set-rules tromp-taylor
kata-set-rule friendlyPassOk false
fixed_handicap 9
70 final_score
#? [B\+80\.5]

# The button: the first player to pass has half a point. The board is divided evenly.

# The button. Black passes first.
#
#      A B C D E F
#    4 . . X O . .
#    3 . . X O . .
#    2 . . X O . .
#    1 . . X O . .
#
# Black to move, komi 0.
loadsgf sgf/scoring_rules-01.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"hasButton":true}
play b pass
play w pass
80 final_score
#? [B\+0\.5]

# The button. White passes first.
#
#      A B C D E F
#    4 . . X O . .
#    3 . . X O . .
#    2 . . X O . .
#    1 . . X O . .
#
# White to move, komi 0.
loadsgf sgf/scoring_rules-02.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"hasButton":true}
play w pass
play b pass
90 final_score
#? [W\+0\.5]

# The button. Nobody has passed: it is credited to the side to move.
#
#      A B C D E F
#    4 . . X O . .
#    3 . . X O . .
#    2 . . X O . .
#    1 . . X O . .
#
# Black to move, komi 0.
loadsgf sgf/scoring_rules-03.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"hasButton":true}
100 final_score
#? [B\+0\.5]

# The button. Black passes first and again later.
#
#      A B C D E F
#    4 . . X O . .
#    3 . . X O . .
#    2 . . X O . .
#    1 . . X O . .
#
# Black to move, komi 0.
loadsgf sgf/scoring_rules-04.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"hasButton":true}
play b pass
play w E2
play b B2
play w pass
play b pass
110 final_score
#? [B\+0\.5]

# Without a button a pass is worth nothing.
#
#      A B C D E F
#    4 . . X O . .
#    3 . . X O . .
#    2 . . X O . .
#    1 . . X O . .
#
# Black to move, komi 0.
loadsgf sgf/scoring_rules-05.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false}
play b pass
play w pass
120 final_score
#? [0]

# Tax on groups. Black has two groups, White one between them. Without tax Black has 22 points and White 20;
# with it Black pays four points and White two.
#
#      A B C D E F G
#    6 . X . X O . O
#    5 X X X X O O O
#    4 O O O O O . O
#    3 O O O O O O O
#    2 X X X X X X X
#    1 X . X . X X .
#
# Black to move, komi 0.
loadsgf sgf/scoring_rules-06.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"tax":"NONE"}
130 final_score
#? [B\+2\.0]
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"tax":"SEKI"}
140 final_score
#? [B\+2\.0]
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false,"tax":"ALL"}
150 final_score
#? [0]
# The same with territory: five points for Black, two for White, less the tax.
kata-set-rules {"ko":"POSITIONAL","scoring":"TERRITORY","suicide":false,"friendlyPassOk":false,"tax":"NONE"}
160 final_score
#? [B\+3\.0]
kata-set-rules {"ko":"POSITIONAL","scoring":"TERRITORY","suicide":false,"friendlyPassOk":false,"tax":"SEKI"}
170 final_score
#? [B\+3\.0]
kata-set-rules {"ko":"POSITIONAL","scoring":"TERRITORY","suicide":false,"friendlyPassOk":false,"tax":"ALL"}
180 final_score
#? [B\+1\.0]
