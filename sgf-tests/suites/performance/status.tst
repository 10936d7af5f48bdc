# Dead, alive, in seki: final_status_list.
#
# Harder or less certain than the suite of this name in ../basics.

# A square eye of four points is dead.
#
#      A B C D E F G
#    7 O O O X X X X
#    6 O O O X . . X
#    5 O O O X . . X
#    4 O O O X X X X
#    3 O O O O O O O
#    2 O O O O O O O
#    1 . O . O O O O
#
# Black to move, komi 0.5.
loadsgf sgf/status-01.sgf
10 final_status_list dead
#? [((D7|E7|F7|G7|D6|G6|D5|G5|D4|E4|F4|G4)[ \n]?){12}]
20 final_status_list seki
#? []
30 final_score
#? [W\+49\.5]

# Two points in a row are one eye: dead.
#
#      A B C D E F G
#    7 . X . X X X X
#    6 X X X X X X X
#    5 X X X X X X X
#    4 X X X X X X X
#    3 X X X O O O O
#    2 X X X O . . O
#    1 X X X O O O O
#
# White to move, komi 0.5.
loadsgf sgf/status-02.sgf
40 final_status_list dead
#? [((D3|E3|F3|G3|D2|G2|D1|E1|F1|G1)[ \n]?){10}]
50 final_score
#? [B\+48\.5]

# One stone in the eye of three, on the vital point: dead.
#
#      A B C D E F G
#    7 X X X O O O O
#    6 X . X O O O O
#    5 X O X O O O O
#    4 X . X O O O O
#    3 X X X O O O .
#    2 O O O O O O O
#    1 O O O O O O .
#
# Black to move, komi 0.5.
loadsgf sgf/status-03.sgf
60 final_status_list dead
#? [((A7|B7|C7|A6|C6|A5|C5|A4|C4|A3|B3|C3)[ \n]?){12}]

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
loadsgf sgf/unsure-status-01.sgf
70 final_score
#? [W\+13\.5]

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
loadsgf sgf/unsure-status-03.sgf
80 final_score
#? [W\+19\.5]
