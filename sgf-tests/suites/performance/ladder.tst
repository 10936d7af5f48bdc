# Ladders on a board of 13: stones far away decide.
#
# That they work or not has been read to the end: every atari, every way out of it. To run out of a ladder that works and
# to begin one that does not are both wrong; which other move is best is not asked.

# The ladder works: White does not run.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . . O . . . . . . . .
#   10 . . . . . . . . . O . . .
#    9 . . . . . . . . . . . . .
#    8 . . . . . . X . . . . . .
#    7 . . . . . . . . . . . . .
#    6 . . . . . . . . . . . . .
#    5 . . . . . . . . . X . . .
#    4 . . . X . . . . . O X . .
#    3 . . . . . . . . X X . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# White to move, komi 6.5.
loadsgf sgf/ladder-01.sgf
10 reg_genmove w
#? [!(J4)]

# The ladder works: White does not run.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . X . . . . X X . . .
#   10 . . . O . . . . . O X . .
#    9 . . . . . . . . . X . . .
#    8 . . . . . . . . . . . . .
#    7 . . . . . . . X . . . . .
#    6 . . . . . . . . . . . . .
#    5 . . . . . . . . . . . . .
#    4 . . . . . . . . . O . . .
#    3 . . . . . . . . . . . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# White to move, komi 6.5.
loadsgf sgf/ladder-02.sgf
20 reg_genmove w
#? [!(J10)]

# The ladder is broken: White does not begin it.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . . . . . . . . . . .
#   10 . . . O X . . . . X . . .
#    9 . . . . . . . . . . . . .
#    8 . . . . . . . . . . . . .
#    7 . . . . . . . . . . . . .
#    6 . . . . . . . . . . . . .
#    5 . . . . . . . . . . . . .
#    4 . . . O . . . . . X O . .
#    3 . . . . . . . . O O . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# White to move, komi 6.5.
loadsgf sgf/ladder-03.sgf
30 reg_genmove w
#? [!(J4|K5)]

# The ladder works: Black does not run.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . X . . . . . O . . .
#   10 . . . X . . . . O X O . .
#    9 . . . . . . . . . . O . .
#    8 . . . . . . . . . . . . .
#    7 . . . . . . . . . . . . .
#    6 . . . O . . . . . . . . .
#    5 . . . . . . . . . . . . .
#    4 . . . . . . . . . O . . .
#    3 . . . . . . . . . . . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# Black to move, komi 6.5.
loadsgf sgf/ladder-04.sgf
40 reg_genmove b
#? [!(K9)]

# The ladder is broken: White does not begin it.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . O O . . . . O . . .
#   10 . . O X . . . . . O . . .
#    9 . . . . . . . . . . . . .
#    8 . . . . . . . . . . . . .
#    7 . . . . . . . . . . . . .
#    6 . . . . . . . . . . . . .
#    5 . . . . . . . . . X . . .
#    4 . . . X . . . . . . . . .
#    3 . . . . . . . . . . . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# White to move, komi 6.5.
loadsgf sgf/ladder-05.sgf
50 reg_genmove w
#? [!(D9|E10)]

# The ladder is broken: Black does not begin it.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . . O . . . . . . . .
#   10 . . . . . . . . . X . . .
#    9 . . X . . . . . . . . . .
#    8 . . . . . . . . . . . . .
#    7 . . . . . . . . . . . . .
#    6 . . . . . . . . . . . . .
#    5 . . . . . . . . . . X . .
#    4 . . . O . . . . . O X . .
#    3 . . . . . . . . . X . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# Black to move, komi 6.5.
loadsgf sgf/ladder-06.sgf
60 reg_genmove b
#? [!(J4|K5)]

# The ladder works: Black does not run.
#
#      A B C D E F G H J K L M N
#   13 . . . . . . . . . . . . .
#   12 . . . . . . . . . . . . .
#   11 . . . O . . . . . . . . .
#   10 . X . . . . . . . X . . .
#    9 . . . . . . . . . . . . .
#    8 . . . . . . . . . . . . .
#    7 . . . . . . . . . . . . .
#    6 . . . . . . . . . . . . .
#    5 . . . . . . . . . O . . .
#    4 . . . O . . . . . X O . .
#    3 . . . . . . . . O O . . .
#    2 . . . . . . . . . . . . .
#    1 . . . . . . . . . . . . .
#
# Black to move, komi 6.5.
loadsgf sgf/ladder-07.sgf
70 reg_genmove b
#? [!(J4)]
