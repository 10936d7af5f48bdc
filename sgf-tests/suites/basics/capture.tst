# Capture and escape: ataris, ladders, nets, snapbacks.
#
# A chain of stones can be caught or saved by the next move. The right moves are all those that a tactical
# reader finds to work against every defence; the komi is such that these stones decide the game.

# A loose net.
#
#      A B C D E F G H J
#    9 . . . . . . . . .
#    8 . . . . . . . . .
#    7 . . O O X X . . .
#    6 . . . X O O X . .
#    5 . . . . . O X . .
#    4 . . . . . . . . .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# Black to move, komi 14.5.
loadsgf sgf/capture-02.sgf
20 reg_genmove b
#? [F4]

# Stones on the second line with no way out but one.
#
#      A B C D E F G H J
#    9 . . O O . . . . .
#    8 . . O X . X O . .
#    7 . . O X X X . . .
#    6 . . . O O O . . .
#    5 . . . . . . . . .
#    4 . . . . . . . . .
#    3 . . . . . . . . .
#    2 . . . . . . . . .
#    1 . . . . . . . . .
#
# White to move, komi 10.5.
loadsgf sgf/capture-03.sgf
30 reg_genmove w
#? [G7]

# Snapback: the stone that is given takes more back. Black's turn.
#
#      A B C D E F G
#    7 O . O X O O X
#    6 . O O X X O X
#    5 O O O X . O X
#    4 O O X X X O X
#    3 O X X O O O X
#    2 O O O X X X X
#    1 O . O X . X .
#
# Black to move, komi -4.5.
loadsgf sgf/capture-05.sgf
50 reg_genmove b
#? [E5]

# Snapback: White's turn, he connects.
#
#      A B C D E F G
#    7 . X X X X X X
#    6 X X O O O O O
#    5 . X O X . X O
#    4 X X O X X X X
#    3 O O X X O O O
#    2 . O X O O O .
#    1 O O O O O . O
#
# White to move, komi -4.5.
loadsgf sgf/capture-06.sgf
60 reg_genmove w
#? [E5]

# Four white stones in the middle hang on one point: Black's turn.
#
#      A B C D E F G
#    7 . X X X O . O
#    6 X X O X O O O
#    5 X . O X X . O
#    4 X X O . X X O
#    3 . X O X X O O
#    2 X X . O O O O
#    1 X . X O O . O
#
# Black to move, komi 10.5.
loadsgf sgf/capture-07.sgf
70 reg_genmove b
#? [C2]

# Four white stones in the middle hang on one point: Black's turn.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 . X X O . X .
#    5 X X O O O X X
#    4 X X O . O O O
#    3 O . X X X X O
#    2 . O O O . O O
#    1 O O . O O O .
#
# Black to move, komi 0.5.
loadsgf sgf/capture-08.sgf
80 reg_genmove b
#? [B3]

# White's stones are short of liberties on the left: Black's turn.
#
#      A B C D E F G
#    7 X X X X X O O
#    6 X O . . X O .
#    5 X O X X X O O
#    4 X O . O X X O
#    3 X X O O . X O
#    2 . X X O O O O
#    1 X . X X X O .
#
# Black to move, komi 10.5.
loadsgf sgf/capture-09.sgf
90 reg_genmove b
#? [C4]

# Black's stones are short of liberties on the left: Black's turn.
#
#      A B C D E F G
#    7 . X X X X . X
#    6 X X O O X X X
#    5 O X . O O O O
#    4 O X X X O . O
#    3 O O X . O . O
#    2 . O O X X X O
#    1 O . O O O O O
#
# Black to move, komi -5.5.
loadsgf sgf/capture-10.sgf
100 reg_genmove b
#? [D3]

# One move threatens on two sides: Black's turn.
#
#      A B C D E F G
#    7 X X X X X X X
#    6 . X X X O O X
#    5 X X . X . O .
#    4 X X O O X X X
#    3 O O X . X O O
#    2 . O X X O . O
#    1 O O O O O O O
#
# Black to move, komi 11.5.
loadsgf sgf/capture-11.sgf
110 reg_genmove b
#? [D3]

# One move threatens on two sides: Black must prevent it.
#
#      A B C D E F G
#    7 X X X O . O O
#    6 X . X O X X O
#    5 X X O O . X O
#    4 X O . X O O O
#    3 X O O X . O O
#    2 X X X O O O O
#    1 X . X O O . O
#
# Black to move, komi -10.5.
loadsgf sgf/capture-12.sgf
120 reg_genmove b
#? [(E7|E5|C4)]
