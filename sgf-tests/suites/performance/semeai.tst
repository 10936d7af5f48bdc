# Capturing races.
#
# Harder or less certain than the suite of this name in ../basics.

# Three shared liberties and no eye: seki, if Black keeps out of them.
#
#      A B C D E F G
#    7 O . O O X . X
#    6 . O O O X X .
#    5 O O O X X X X
#    4 O X X O O X X
#    3 O O X . O . X
#    2 O . X . O . X
#    1 O O X . O O X
#
# Black to move, komi -8.5.
loadsgf sgf/semeai-01.sgf
10 reg_genmove b
#? [!(D3|B2|D2|D1|F7|G6)]

# One shared liberty: it is filled last. Black's turn.
#
#      A B C D E F G
#    7 X X X X X . X
#    6 . . . X X X .
#    5 O O O O X X X
#    4 . O O O X O O
#    3 X X X X O O O
#    2 . . . X O O .
#    1 O O O O O . O
#
# Black to move, komi -0.5.
loadsgf sgf/unsure-semeai-07.sgf
20 reg_genmove b
#? [(A6|B6|C6)]*

# One shared liberty: it is filled last. Black's turn.
#
#      A B C D E F G
#    7 X . X X O . O
#    6 . X X X O O .
#    5 X X X O O O O
#    4 X O O X X O O
#    3 X . O X X . O
#    2 X . O X X . O
#    1 X . O . X . O
#
# Black to move, komi -0.5.
loadsgf sgf/unsure-semeai-08.sgf
30 reg_genmove b
#? [(B3|B2|B1)]

# White to move: B4 is worth 14 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X O O
#    6 X X X X X O O
#    5 . X X . O O O
#    4 . . O O O O .
#    3 O X . . X O O
#    2 O X X X X O .
#    1 O O O O O O O
#
# White to move, komi -13.5.
loadsgf sgf/semeai-02.sgf
40 reg_genmove w
#? [B4]

# White to move: D6 is worth 16 points more than any other move.
#
#      A B C D E F G
#    7 X X X O . O O
#    6 X O O . O O .
#    5 X O O X O O O
#    4 X O . X . O .
#    3 X O O X X O O
#    2 X X X X X X X
#    1 X . X . X X X
#
# White to move, komi 11.5.
loadsgf sgf/semeai-03.sgf
50 reg_genmove w
#? [D6]

# Black to move: D3 is worth 14 points more than any other move.
#
#      A B C D E F G
#    7 X . X . X X X
#    6 X X X X X X X
#    5 X O O X X O O
#    4 X O . X . O .
#    3 X O O . O O O
#    2 X O O X O O .
#    1 X X X O . O O
#
# Black to move, komi 14.5.
loadsgf sgf/semeai-04.sgf
60 reg_genmove b
#? [D3]

# White to move: D3 is worth 12 points more than any other move.
#
#      A B C D E F G
#    7 O O O . O . O
#    6 O O O O O O O
#    5 X X O O X X O
#    4 . X X O . X O
#    3 X X X . X X O
#    2 . X X O X X O
#    1 X X O . O O O
#
# White to move, komi -12.5.
loadsgf sgf/semeai-05.sgf
70 reg_genmove w
#? [D3]

# White to move: G4 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 X X X O . O .
#    6 X X X O O O O
#    5 X X X O O O X
#    4 . X O X X X .
#    3 X X O O . O X
#    2 . X O O O X X
#    1 X X X X X X X
#
# White to move, komi 25.5.
loadsgf sgf/semeai-06.sgf
80 reg_genmove w
#? [G4]

# Black to move: F4 is worth 12 points more than any other move.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 . X O O O O X
#    5 X X O . . O X
#    4 . X X X X . .
#    3 X X X X O O X
#    2 X X O O O O O
#    1 X X O . O . O
#
# Black to move, komi 15.5.
loadsgf sgf/semeai-07.sgf
90 reg_genmove b
#? [F4]

# Black to move: C4 is worth 4 points more than any other move.
#
#      A B C D E F G
#    7 X X X O O O O
#    6 X O O . O O .
#    5 X O X O O O O
#    4 X O . X . O .
#    3 X O O X X O O
#    2 X X X X X X X
#    1 X . X . X X X
#
# Black to move, komi 3.5.
loadsgf sgf/semeai-08.sgf
100 reg_genmove b
#? [C4]

# Black to move: D6 is worth 14 points more than any other move.
#
#      A B C D E F G
#    7 X X X . O O O
#    6 X O O . O O .
#    5 X O X X O O O
#    4 X O . X . O .
#    3 X O O X X O O
#    2 X X X X X X X
#    1 X . X . X X X
#
# Black to move, komi 14.5.
loadsgf sgf/semeai-09.sgf
110 reg_genmove b
#? [D6]

# White to move: D2 is worth 12 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O O O
#    5 O X X O O X X
#    4 O X O O X X .
#    3 O X . O X X X
#    2 O X X . X X .
#    1 O O O O . X X
#
# White to move, komi -14.5.
loadsgf sgf/semeai-10.sgf
120 reg_genmove w
#? [D2]
