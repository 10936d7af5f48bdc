# Scores of finished positions, under area and territory scoring.
#
# chinese-kgs counts area and japanese counts territory and prisoners, both after dead stones have been removed.
# tromp-taylor counts area with every stone alive. The positions are settled: whoever were to move could change
# nothing, and neutral points come in pairs.

# Two walls, nothing between them.
#
#      A B C D E
#    5 . X O . .
#    4 . X O . .
#    3 . X O . .
#    2 . X O . .
#    1 . X O . .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-01.sgf
kata-set-rules chinese-kgs
10 final_score
#? [W\+5\.5]
kata-set-rules japanese
20 final_score
#? [W\+5\.5]
kata-set-rules tromp-taylor
30 final_score
#? [W\+5\.5]
komi 0
40 final_score
#? [W\+5\.0]
komi -5
# Nobody wins:
50 final_score
#? [0]
komi -7.5
60 final_score
#? [B\+2\.5]
komi 7
70 final_score
#? [W\+12\.0]

# A white stone among Black's points is dead: one point for the point under it and, with territory, one for the
# prisoner. Under Tromp-Taylor rules it makes Black's side neutral.
#
#      A B C D E F
#    6 . . X O . .
#    5 . . X O . .
#    4 . O X O . .
#    3 . . X O . .
#    2 . . X O . .
#    1 . . X O . .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-02.sgf
kata-set-rules chinese-kgs
80 final_score
#? [W\+0\.5]
kata-set-rules japanese
90 final_score
#? [B\+0\.5]
kata-set-rules tromp-taylor
100 final_score
#? [W\+13\.5]

# One dead stone on each side.
#
#      A B C D E F G
#    7 . O X O . . .
#    6 . . X O . X .
#    5 . . X O O . .
#    4 X X X X O O O
#    3 . X . X O . O
#    2 X X X X O O O
#    1 . X . X O . O
#
# Black to move, komi 3.5.
loadsgf sgf/scoring-03.sgf
kata-set-rules chinese-kgs
110 final_score
#? [W\+2\.5]
kata-set-rules japanese
120 final_score
#? [W\+3\.5]
kata-set-rules tromp-taylor
130 final_score
#? [W\+0\.5]

# Two neutral points between the walls count for nobody.
#
#      A B C D E F
#    6 . X . O . .
#    5 . X X O . .
#    4 . X X O . .
#    3 . X . O . .
#    2 . X X O . .
#    1 . X X O . .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-04.sgf
kata-set-rules chinese-kgs
140 final_score
#? [W\+2\.5]
kata-set-rules japanese
150 final_score
#? [W\+6\.5]
kata-set-rules tromp-taylor
160 final_score
#? [W\+2\.5]

# Two neutral points at the edge, and a dead chain of two.
#
#      A B C D E F G
#    7 . X . . O . O
#    6 X X X O O O .
#    5 . X . X O O O
#    4 X X X X O X X
#    3 . X . X O . .
#    2 . X X X O O O
#    1 . X . X O . O
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-05.sgf
kata-set-rules chinese-kgs
170 final_score
#? [B\+2\.5]
kata-set-rules japanese
180 final_score
#? [W\+1\.5]
kata-set-rules tromp-taylor
190 final_score
#? [B\+8\.5]

# A ring of Black's: the whole board is his.
#
#      A B C D E
#    5 . . . . .
#    4 . . X . .
#    3 . X . X .
#    2 . . X . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-06.sgf
kata-set-rules tromp-taylor
200 final_score
#? [B\+24\.5]

# The same stones count the same for White.
#
#      A B C D E
#    5 . . . . .
#    4 . . O . .
#    3 . O . O .
#    2 . . O . .
#    1 . . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-07.sgf
kata-set-rules tromp-taylor
210 final_score
#? [W\+25\.5]

# An empty board: nobody surrounds anything, the komi is all there is.
#
#      A B C
#    3 . . .
#    2 . . .
#    1 . . .
#
# Black to move, komi 7.5.
loadsgf sgf/scoring-08.sgf
kata-set-rules tromp-taylor
220 final_score
#? [W\+7\.5]

# One stone on an empty board surrounds all of it.
#
#      A B C
#    3 . . .
#    2 . . .
#    1 . . O
#
# Black to move, komi 7.5.
loadsgf sgf/scoring-09.sgf
kata-set-rules tromp-taylor
230 final_score
#? [W\+16\.5]

# A single row: each side has two points and one stone.
#
#      A B C D E F
#    1 . . X O . .
#
# Black to move, komi 0.
loadsgf sgf/scoring-10.sgf
kata-set-rules tromp-taylor
240 final_score
#? [0]

# A single row with a neutral point.
#
#      A B C D E
#    1 . X . O .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-11.sgf
kata-set-rules tromp-taylor
250 final_score
#? [W\+0\.5]

# A single column.
#
#      A
#    9 .
#    8 X
#    7 X
#    6 .
#    5 X
#    4 O
#    3 O
#    2 .
#    1 O
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-12.sgf
kata-set-rules tromp-taylor
260 final_score
#? [B\+0\.5]

# Rectangular: six columns, three rows.
#
#      A B C D E F
#    3 . X . X O .
#    2 X X X X O O
#    1 . X . X O .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-13.sgf
kata-set-rules chinese-kgs
270 final_score
#? [B\+5\.5]
kata-set-rules japanese
280 final_score
#? [B\+1\.5]
kata-set-rules tromp-taylor
290 final_score
#? [B\+5\.5]

# Black captures three stones; they are prisoners under territory scoring.
#
#      A B C D E F G
#    5 . O X . X O .
#    4 O O X . X O O
#    3 X X X X X O .
#    2 . X . X O O O
#    1 X X X X O . O
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-14.sgf
play b A5
play w pass
kata-set-rules chinese-kgs
300 final_score
#? [B\+10\.5]
kata-set-rules japanese
310 final_score
#? [B\+6\.5]
kata-set-rules tromp-taylor
320 final_score
#? [B\+10\.5]

# White captures two stones, and everything else is settled.
#
#      A B C D E F
#    5 X X . O X .
#    4 O O O O X X
#    3 . O . O X .
#    2 O O O O X X
#    1 . O . O X .
#
# White to move, komi 0.5.
loadsgf sgf/scoring-15.sgf
play w C5
play b pass
kata-set-rules chinese-kgs
330 final_score
#? [W\+10\.5]
kata-set-rules japanese
340 final_score
#? [W\+5\.5]
kata-set-rules tromp-taylor
350 final_score
#? [W\+10\.5]

# White's three stones on the left are dead although the black wall around them has an outer liberty less than
# they have: it has two eyes.
#
#      A B C D E F G
#    7 O O . X O . O
#    6 . O . X O O .
#    5 X X X X O . O
#    4 . X . X O O O
#    3 X X X X X O O
#    2 . X . X O . O
#    1 X X X X O O O
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-16.sgf
kata-set-rules chinese-kgs
360 final_score
#? [B\+8\.5]
kata-set-rules japanese
370 final_score
#? [B\+8\.5]
kata-set-rules tromp-taylor
380 final_score
#? [W\+0\.5]

# Black's large corner holds a dead white shape of four stones: a square makes no two eyes.
#
#      A B C D E F G
#    7 . O O . X O .
#    6 . O O . X O O
#    5 . . . . X O .
#    4 X X X X X O O
#    3 . X O O O O .
#    2 X X O O O . O
#    1 . X O . O O .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-17.sgf
kata-set-rules chinese-kgs
390 final_score
#? [B\+2\.5]
kata-set-rules japanese
400 final_score
#? [B\+11\.5]
kata-set-rules tromp-taylor
410 final_score
#? [W\+13\.5]

# 9×9, a finished game: a black stone in White's corner and a white stone in Black's are dead.
#
#      A B C D E F G H J
#    9 . . X O . O . . .
#    8 . . X O O O . O .
#    7 . . X X O . . X O
#    6 . X . X O O O O O
#    5 . . X X X X X X O
#    4 X X . . . X . X X
#    3 . O . X . X X X .
#    2 . . X X . X . . X
#    1 . X . . X . . X .
#
# Black to move, komi 7.5.
loadsgf sgf/scoring-18.sgf
kata-set-rules chinese-kgs
420 final_score
#? [B\+27\.5]
kata-set-rules japanese
430 final_score
#? [B\+13\.5]
kata-set-rules tromp-taylor
440 final_score
#? [B\+24\.5]

# 9×9. Black has two corners, White two, and White's two stones on the right side are dead.
#
#      A B C D E F G H J
#    9 . X . X O . O . O
#    8 X X X X O O O O .
#    7 . X . X O . O O O
#    6 X X X X O O X X X
#    5 O O O O X X X . O
#    4 . O . O X . X . O
#    3 O O O O X X X X X
#    2 . O . O X . X . X
#    1 O . O O X . X X .
#
# Black to move, komi 0.5.
loadsgf sgf/scoring-19.sgf
kata-set-rules chinese-kgs
450 final_score
#? [B\+6\.5]
kata-set-rules japanese
460 final_score
#? [B\+5\.5]
kata-set-rules tromp-taylor
470 final_score
#? [B\+0\.5]

# 13×13, a finished game: both sides have one dead stone.
#
#      A B C D E F G H J K L M N
#   13 . . X . . X O . . O . . .
#   12 . X . X . X O . O . O . .
#   11 . . X . X X O O . O . O .
#   10 X X . X . X O . O . O . O
#    9 . X X . X X O . . O O O .
#    8 X . . X . X O O O . . O O
#    7 . X X . X X X X O O . . O
#    6 O . X . X . X O O . O X .
#    5 . . X X . X X O . O . O O
#    4 X X . . X . X O O O . O .
#    3 . X . X X . X O . . O O .
#    2 X . X . . X X O O O . O .
#    1 . X . X X . X O . . O . O
#
# Black to move, komi 7.5.
loadsgf sgf/scoring-20.sgf
kata-set-rules chinese-kgs
480 final_score
#? [W\+4\.5]
kata-set-rules japanese
490 final_score
#? [W\+6\.5]
kata-set-rules tromp-taylor
500 final_score
#? [W\+3\.5]

# 19×19: White's half is one column smaller. Stones on a lattice leave no room for an invasion.
#
#      A B C D E F G H J K L M N O P Q R S T
#   19 . . . . . . . . . X O . . . . . . . .
#   18 . . X . . X . . X X O O . . O . . O .
#   17 . . . . . . . . . X O . . . . . . . .
#   16 . . . . . . . . . X O . . . . . . . .
#   15 . . X . . X . . X X O O . . O . . O .
#   14 . . . . . . . . . X O . . . . . . . .
#   13 . . . . . . . . . X O . . . . . . . .
#   12 . . X . . X . . X X O O . . O . . O .
#   11 . . . . . . . . . X O . . . . . . . .
#   10 . . . . . . . . . X O . . . . . . . .
#    9 . . X . . X . . X X O O . . O . . O .
#    8 . . . . . . . . . X O . . . . . . . .
#    7 . . . . . . . . . X O . . . . . . . .
#    6 . . X . . X . . X X O O . . O . . O .
#    5 . . . . . . . . . X O . . . . . . . .
#    4 . . . . . . . . . X O . . . . . . . .
#    3 . . X . . X . . X X O O . . O . . O .
#    2 . . . . . . . . . X O . . . . . . . .
#    1 . . . . . . . . . X O . . . . . . . .
#
# Black to move, komi 6.5.
loadsgf sgf/scoring-21.sgf
kata-set-rules chinese-kgs
510 final_score
#? [B\+12\.5]
kata-set-rules japanese
520 final_score
#? [B\+12\.5]
kata-set-rules tromp-taylor
530 final_score
#? [B\+12\.5]
