# Dead, alive, in seki: final_status_list.
#
# The stones of an answer come chain by chain, one chain a line, in any order; an empty answer means none. What
# is dead is dead whoever moves first, and what is alive is alive. The rules are chinese-kgs.

# A straight eye of four points is alive: nothing is dead.
#
#      A B C D E F G
#    7 O O O O . O .
#    6 O O O O O O O
#    5 O O O O O O O
#    4 O O O O O O O
#    3 X X X X X X O
#    2 X . . . . X O
#    1 X X X X X X O
#
# Black to move, komi 0.5.
loadsgf sgf/status-01.sgf
10 final_status_list dead
#? []
20 final_status_list seki
#? []

# Bent four in the middle of a side is alive.
#
#      A B C D E F G
#    7 . O O O O O O
#    6 O O O O O O O
#    5 . O O O X X X
#    4 O O O X X . X
#    3 O O O X . . X
#    2 O O O X . X X
#    1 O O O X X X X
#
# Black to move, komi 0.5.
loadsgf sgf/status-02.sgf
40 final_status_list dead
#? []
50 final_status_list seki
#? []
60 final_score
#? [W\+11\.5]

# Two by three at the side is alive.
#
#      A B C D E F G
#    7 X . . . X O O
#    6 X . . . X O O
#    5 X X X X X O O
#    4 O O O O O O O
#    3 O O O O O O O
#    2 O O O O O O O
#    1 O O O O . O .
#
# Black to move, komi 0.5.
loadsgf sgf/status-03.sgf
70 final_status_list dead
#? []
80 final_status_list seki
#? []

# Four stones on the second line in the corner: dead.
#
#      A B C D E F G
#    7 X X X X X O .
#    6 X X X X X O .
#    5 X X X X X O .
#    4 X X X X X O .
#    3 . X X X X X X
#    2 X X X X X X X
#    1 . X X X X X X
#
# White to move, komi 0.5.
loadsgf sgf/status-04.sgf
100 final_status_list dead
#? [((F7|F6|F5|F4)[ \n]?){4}]
110 final_score
#? [B\+48\.5]

# Two eyes of one point each: alive.
#
#      A B C D E F G
#    7 O O O O O O .
#    6 O O O O O O O
#    5 X X O O O O .
#    4 X . X X O O O
#    3 X X X X O O O
#    2 X X . X O O O
#    1 X X X X O O O
#
# Black to move, komi 0.5.
loadsgf sgf/status-05.sgf
120 final_status_list dead
#? []
130 final_status_list seki
#? []
140 final_score
#? [W\+13\.5]

# Seki with two shared liberties: four chains of it, nothing dead.
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
# Black to move, komi 0.5.
loadsgf sgf/status-06.sgf
150 final_status_list dead
#? []
160 final_status_list seki
#? [((D3|E3|F3|D2|F2|D1|F1)[ \n]?){7}]
170 final_score
#? [B\+10\.5]

# Seki with an eye each.
#
#      A B C D E F G
#    7 . X X X X O .
#    6 X . X X X O O
#    5 X X X X O X .
#    4 O O O O O X X
#    3 . O O O O X .
#    2 O O O O O X X
#    1 O . O O O O O
#
# Black to move, komi 0.5.
loadsgf sgf/status-07.sgf
180 final_status_list dead
#? []
190 final_status_list seki
#? [((F7|F6|G6|F5|F4|G4|F3|F2|G2)[ \n]?){9}]
200 final_score
#? [W\+6\.5]

# A white stone cut off in Black's corner, and a black one in White's: both dead.
#
#      A B C D E F G
#    7 . O X . . X .
#    6 O O X . O X X
#    5 . O X X . X .
#    4 O O O X X X X
#    3 O . O O O O O
#    2 O O O . O X .
#    1 O . O . . . .
#
# Black to move, komi 0.5.
loadsgf sgf/status-08.sgf
210 final_status_list dead
#? [((E6|F2)[ \n]?){2}]
220 final_score
#? [W\+11\.5]

# A chain of three inside the larger of two eyes is dead.
#
#      A B C D E F G
#    7 O O O O O O .
#    6 X X X X X O O
#    5 . O O O X O .
#    4 . . . O X O O
#    3 X X . . X O .
#    2 . X X . X O O
#    1 X X X X X O .
#
# Black to move, komi 0.5.
loadsgf sgf/status-09.sgf
230 final_status_list dead
#? [((B5|C5|D5|D4)[ \n]?){4}]
240 final_score
#? [B\+10\.5]

# Two dead chains inside one territory; the wall has another eye.
#
#      A B C D E F G
#    7 . X . X X X .
#    6 X X X X . X X
#    5 O O O X X X .
#    4 O . O O O X X
#    3 O O O O O X .
#    2 O . . . O X X
#    1 O X . X O X .
#
# White to move, komi 0.5.
loadsgf sgf/status-10.sgf
250 final_status_list dead
#? [((B1|D1)[ \n]?){2}]
260 final_score
#? [B\+2\.5]
