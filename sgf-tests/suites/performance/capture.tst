# Capture and escape: ataris, ladders, nets, snapbacks.
#
# Harder or less certain than the suite of this name in ../basics.

# Four stones with two liberties: a ladder catches them. Black's turn.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . X X . . . . .
#    6 . X O O X . . . .
#    5 . X O O . . . . .
#    4 . . X . . . . . .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi 9.5.
loadsgf sgf/capture-01.sgf
10 reg_genmove b
#? [(E5|E4)]*

# Stones at the edge are driven along it.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . X X .
#    7 . . . . . X O O .
#    6 . . . . . . X O .
#    5 . . . . . . . O .
#    4 . . . . . . . X .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi -5.5.
loadsgf sgf/capture-02.sgf
20 reg_genmove b
#? [G5]*

# Three stones in a net.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . . X . . . . .
#    6 . . X . O X . . .
#    5 . . X O O . . . .
#    4 . . . X X . . . .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi -5.5.
loadsgf sgf/capture-03.sgf
30 reg_genmove b
#? [F5]*

# Four stones with two liberties: White's turn, he runs.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . . . . . . . .
#    6 . . . . . . X . .
#    5 . . . . . O O X .
#    4 . . . . X O O X .
#    3 . . . . . X X . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi 0.5.
loadsgf sgf/unsure-capture-01.sgf
40 reg_genmove w
#? [(F7|E6|F6|E5|D5)]

# Three stones between two walls.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . . . O O . . .
#    6 . . . . X . . . .
#    5 . . . . X O . . .
#    4 . . O X X O . . .
#    3 . . . O O . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi -10.5.
loadsgf sgf/unsure-capture-04.sgf
50 reg_genmove w
#? [(C6|D6)]

# Black to move: E4 is worth 6 points more than any other move.
#
#      A B C D E F G
#    7 O O O X . X .
#    6 O O O X X X X
#    5 O O O X X O O
#    4 . O O O . O X
#    3 O O O X X O .
#    2 . O O O O . O
#    1 O O O O O O .
#
# Black to move, komi -25.5.
loadsgf sgf/capture-04.sgf
60 reg_genmove b
#? [E4]

# White to move: D2 is worth 10 points more than any other move.
#
#      A B C D E F G
#    7 O . O . O O O
#    6 O O O O O O O
#    5 O O O O O O O
#    4 O O X O X X X
#    3 O . X X X X .
#    2 O O O . O X X
#    1 . X X X O X .
#
# White to move, komi -15.5.
loadsgf sgf/capture-05.sgf
70 reg_genmove w
#? [D2]
