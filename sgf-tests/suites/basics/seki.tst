# Seki: who may not play.
#
# Neither side may approach; whoever does is captured. The right answer is to pass or to play where it does no
# harm, so most tests name the moves that are wrong. The answers are those of exhaustive search.

# Two shared liberties, no eyes. Black must not play there.
#
#      A B C D E F G
#    7 X . X X O . O
#    6 . X X X O O O
#    5 X X X X O . O
#    4 X X X X O O O
#    3 . . X O X X O
#    2 . . X O . X O
#    1 . . X O . X O
#
# Black to move, komi 6.5.
loadsgf sgf/seki-01.sgf
10 reg_genmove b
#? [!(E2|E1)]

# Two shared liberties, no eyes. White must not play there.
#
#      A B C D E F G
#    7 X . X X . . .
#    6 . X X X . . .
#    5 X X X X X X X
#    4 X X X X O O O
#    3 O O O O X . .
#    2 . O . O X X X
#    1 O O O O O O O
#
# White to move, komi 15.5.
loadsgf sgf/seki-02.sgf
20 reg_genmove w
#? [!(F3|G3)]

# One eye each and one shared liberty. Black must not play there.
#
#      A B C D E F G
#    7 O X . X . O .
#    6 O X X X X O O
#    5 O O O O O X X
#    4 O O O O X X X
#    3 O O O O X X X
#    2 . O O O X . X
#    1 O O . O X X .
#
# Black to move, komi -13.5.
loadsgf sgf/seki-03.sgf
30 reg_genmove b
#? [!E7]

# One eye each and one shared liberty. Black must not play there.
#
#      A B C D E F G
#    7 X X . X O O .
#    6 . X X X O . O
#    5 X X X X O O O
#    4 X X X X O O O
#    3 X X X X X O O
#    2 X O O O O X X
#    1 X O . O . X .
#
# Black to move, komi 1.5.
loadsgf sgf/seki-04.sgf
40 reg_genmove b
#? [!E1]

# Black makes more than a seki: he takes the race.
#
#      A B C D E F G
#    7 O . O X X . X
#    6 O O O X X X .
#    5 O . O X X X X
#    4 O O O X X X X
#    3 O X X O X . .
#    2 O . . O X . .
#    1 O X . O X . .
#
# Black to move, komi 6.5.
loadsgf sgf/seki-05.sgf
50 reg_genmove b
#? [(C2|C1|B2)]

# White makes a seki where he would lose the race.
#
#      A B C D E F G
#    7 . . X O . X O
#    6 . . X O . . O
#    5 . . X O X X O
#    4 X X X X O O O
#    3 X X X X O . O
#    2 . X X X O O O
#    1 X . X X O . O
#
# White to move, komi 9.5.
loadsgf sgf/seki-06.sgf
60 reg_genmove w
#? [(E6|F6)]

# Three liberties between two groups without eyes, one of them with outside liberties: White must keep out.
#
#      A B C D E F G
#    7 O X X . O X X
#    6 O . X . O . X
#    5 O . X . O X X
#    4 O O X X O O X
#    3 O O O O X X X
#    2 . O O X X X .
#    1 O . O X X . X
#
# White to move, komi 9.5.
loadsgf sgf/seki-07.sgf
70 reg_genmove w
#? [!(D7|D6|F6|D5|A2|B1)]
