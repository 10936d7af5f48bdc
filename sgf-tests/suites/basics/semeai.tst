# Capturing races.
#
# Two groups without two eyes fight for liberties; what is around them is settled. The answers are those of
# exhaustive search; the komi lies between winning and losing the race.

# Two liberties each: who starts wins. Black's turn.
#
#      A B C D E F G
#    7 . X . X O . O
#    6 X X X X O O O
#    5 X X X X O O O
#    4 X X O O X O O
#    3 X X O O X O O
#    2 X . O O X . O
#    1 X . O O X . O
#
# Black to move, komi 19.5.
loadsgf sgf/semeai-01.sgf
10 reg_genmove b
#? [(B2|B1)]

# Two liberties each: who starts wins. White's turn.
#
#      A B C D E F G
#    7 X . O O X . O
#    6 X . O O X . O
#    5 X X O O X O O
#    4 X X O O X O O
#    3 X X X X O O O
#    2 X X X X O O O
#    1 . X . X O . O
#
# White to move, komi 19.5.
loadsgf sgf/semeai-02.sgf
20 reg_genmove w
#? [(F7|F6)]

# White has an eye and Black has none; Black must take the eye's other side first. Black's turn.
#
#      A B C D E F G
#    7 O . X O . . X
#    6 O . X O O O X
#    5 O . X O . O X
#    4 O O X O O X X
#    3 O O O X X X X
#    2 O O O X X X X
#    1 O . O X . X .
#
# Black to move, komi 17.5.
loadsgf sgf/semeai-03.sgf
30 reg_genmove b
#? [F7]

# Black has an eye and White has none. Black's turn: the move at the edge makes the eye.
#
#      A B C D E F G
#    7 . O . O X . X
#    6 O O O O X X X
#    5 O O O O X X X
#    4 O O X X O X X
#    3 O X . X O . X
#    2 O X X X O . X
#    1 O . . X O . X
#
# Black to move, komi -18.5.
loadsgf sgf/semeai-04.sgf
40 reg_genmove b
#? [(B1|F3|F2|F1)]

# Liberties between the groups are shared. Black's turn.
#
#      A B C D E F G
#    7 O . O O O . O
#    6 . O O X O O O
#    5 O O O X X X X
#    4 O O X O . . .
#    3 X X X O O O .
#    2 . X X X O O O
#    1 X . X X X X X
#
# Black to move, komi -5.5.
loadsgf sgf/semeai-05.sgf
50 reg_genmove b
#? [(F4|G4)]

# Liberties between the groups are shared. White's turn.
#
#      A B C D E F G
#    7 X . X X X X X
#    6 . X X X O O O
#    5 X X X O O O .
#    4 O O X O . . .
#    3 O O O X X X X
#    2 . O O X O O O
#    1 O . O O O . O
#
# White to move, komi -11.5.
loadsgf sgf/semeai-06.sgf
60 reg_genmove w
#? [G4]
