# Blind spots: kinds of positions that networks are reported to misjudge.
#
# blind-spots/proofs.txt names the proof of every answer, and tests/blind_spots.rs repeats it. Where the whole board is
# solved, the komi lies half a point below the best score for the side to move, so every other move loses. Where a
# ladder is read, the komi lies between the results of the right move and of all others. Rules: area scoring, positional
# superko, no suicide, unless a test sets others. No network had a part in the choice of positions: most of them are
# random fillings of a drawn frame of which the solver, or the reading of the ladder, kept those with at most two right
# moves.

# Cyclic group: a ring around a fight, with few liberties of its own.
#
#       A B C D E F G H J
#     9 . O O O O O O O .
#     8 O O O O O O O O O
#     7 O O X X X X X O O
#     6 O O X O O . X O O
#     5 O O X O . O X O O
#     4 O O X O O O X O O
#     3 O . X X X X X . O
#     2 O O O O O O O O O
#     1 . O O O O O O O .
#
# Black to move, komi -31.5.
loadsgf blind-spots/cyclic-1.sgf
110 reg_genmove b
#? [(F6)]

# Cyclic group: a ring around a fight, with few liberties of its own.
#
#       A B C D E F G H J
#     9 . O O O O O O O .
#     8 O O O O O O O O O
#     7 O O X X X X X O O
#     6 O O X X O O X O O
#     5 O O X . . X X O O
#     4 O O X . O . X O O
#     3 O O X X X X X O O
#     2 O O O O O O O O O
#     1 . O O O O O O O .
#
# White to move, komi -40.5.
loadsgf blind-spots/cyclic-2.sgf
120 reg_genmove w
#? [(E5)]

# Cyclic group: a ring around a fight, with few liberties of its own.
#
#       A B C D E F G H J
#     9 . O O O O O O O .
#     8 O O O O O O O O O
#     7 O O X X X X X O O
#     6 O O X O O O X O O
#     5 O O X O . O X O O
#     4 O O X O O O X . O
#     3 O O X X X X X O O
#     2 O O O O O O O O O
#     1 . O O O O O O O .
#
# Black to move, komi -31.5.
loadsgf blind-spots/cyclic-3.sgf
130 reg_genmove b
#? [(E5)]

# Cyclic group: a ring around a fight, with few liberties of its own.
#
#       A B C D E F G H J
#     9 . O O O O O O O .
#     8 O O O O O O O O O
#     7 O O X X X X X O O
#     6 O O X O O O X O O
#     5 O O X O O X X O O
#     4 O O X O O . X O O
#     3 O O X X X X X O O
#     2 O O O O O O O O O
#     1 . O O O O O O O .
#
# Black to move, komi -31.5.
loadsgf blind-spots/cyclic-4.sgf
140 reg_genmove b
#? [(F4)]

# Cyclic group: a ring around a fight, with few liberties of its own.
#
#       A B C D E F G H J
#     9 . O O O O O O O .
#     8 O O O O O O O O O
#     7 O O X X X X X O O
#     6 O O X X O O X O O
#     5 O O X X O . X O O
#     4 O O X O O X X O O
#     3 O O X X X X X O O
#     2 O O O O O O O O O
#     1 . O O O O O O O .
#
# White to move, komi -80.5.
loadsgf blind-spots/cyclic-5.sgf
150 reg_genmove w
#? [(F5)]

# Cyclic group: a ring around a fight, with few liberties of its own.
#
#       A B C D E F G H J
#     9 . O O O O O O O .
#     8 O O O O O O O O O
#     7 O O X X X X X O O
#     6 O O X O O O X O O
#     5 O O X O X O X O O
#     4 O O X O X . X O O
#     3 O O X X X X X O O
#     2 O O O O O O O O O
#     1 . O O O O O O O .
#
# Black to move, komi -31.5.
loadsgf blind-spots/cyclic-6.sgf
160 reg_genmove b
#? [(F4)]

# Double-headed dragon: a ring lives by two false eyes.
#
#       A B C D E F G H J K L
#     7 . O X X . X X X X O .
#     6 O O X X . O O O X O O
#     5 O O X O O O O O X O O
#     4 O O X O . O . O X O O
#     3 O O X O O O O O X . O
#     2 O O X X X O O O X O O
#     1 . O X X . X X X X O .
#
# Black to move, komi -21.5.
loadsgf blind-spots/dragon-1.sgf
210 reg_genmove b
#? [(E6)]

# Double-headed dragon: a ring lives by two false eyes.
#
#       A B C D E F G H J K L
#     7 . O X . . X X X X O .
#     6 O O X X . O O O X O O
#     5 O O X O O O O O X O O
#     4 O O X O . O . O X O O
#     3 O O X O O O O O X O O
#     2 O O X X X O O O X O O
#     1 . O X X . X X X X O .
#
# Black to move, komi -21.5.
loadsgf blind-spots/dragon-2.sgf
220 reg_genmove b
#? [(E6)]

# Double-headed dragon: a ring lives by two false eyes.
#
#       A B C D E F G H J K L
#     7 . O X X . X X X X O .
#     6 O O X X . O O O X O O
#     5 O O X O O O O O X . O
#     4 O O X O . O . O X O O
#     3 O O X O O O O O X O O
#     2 O O X X X O O O X O O
#     1 . O X X . X X X X O .
#
# White to move, komi -76.5.
loadsgf blind-spots/dragon-3.sgf
230 reg_genmove w
#? [(E6)]

# Double-headed dragon: a ring lives by two false eyes.
#
#       A B C D E F G H J K L
#     7 . O X X . X X X X O .
#     6 O O X X . O O O X O O
#     5 O O X O O O O O X O O
#     4 O O X O . O . O X O O
#     3 O O X O O O O O X O O
#     2 O O X X X O O O X O O
#     1 . O X . . X X X X O .
#
# Black to move, komi -21.5.
loadsgf blind-spots/dragon-4.sgf
240 reg_genmove b
#? [(E6)]

# Seki with three groups between them.
#
#       A B C D E F G H J K L
#     4 . O . X . O X X . O .
#     3 O O O X X O O X X O O
#     2 O O . X . O O X . O O
#     1 . O X X O O X X O O .
#
# White to move, komi -43.5.
loadsgf blind-spots/three-seki-1.sgf
310 reg_genmove w
#? [(J2|J4)]

# Seki with three groups between them.
#
#       A B C D E F G H J K L
#     4 . O O X . O O X X O .
#     3 O O O X X O X X . O O
#     2 O O X X . O X X X O O
#     1 . O . X O O X X . O .
#
# Black to move, komi 3.5.
loadsgf blind-spots/three-seki-2.sgf
320 reg_genmove b
#? [(E2|E4)]

# Seki with three groups between them.
#
#       A B C D E F G H J K L
#     4 . O O X X O . X . O .
#     3 O O . X O O O X O O O
#     2 O O . X . O X X X O O
#     1 . O O X . O X X . O .
#
# Black to move, komi -0.5.
loadsgf blind-spots/three-seki-3.sgf
330 reg_genmove b
#? [(E1|E2)]

# Seki with three groups between them.
#
#       A B C D E F G H J K L
#     4 . O X X X O . X . O .
#     3 O O X X . O . X . O O
#     2 O O . X X O O X O O O
#     1 . O . X O O O X . O .
#
# Black to move, komi 1.5.
loadsgf blind-spots/three-seki-4.sgf
340 reg_genmove b
#? [(G3|G4)]

# Mirror Go: the board is its own image, turned by 180 degrees with the colours exchanged.
#
#       A B C D E
#     5 O . . O X
#     4 . O X O .
#     3 X X . O O
#     2 . X O X .
#     1 O X . . X
#
# Black to move, komi 2.5.
loadsgf blind-spots/mirror-1.sgf
410 reg_genmove b
#? [(C3)]

# Mirror Go: the board is its own image, turned by 180 degrees with the colours exchanged.
#
#       A B C D E
#     5 . O X . X
#     4 X X O X .
#     3 X X . O O
#     2 . O X O O
#     1 O . O X .
#
# Black to move, komi 24.5.
loadsgf blind-spots/mirror-2.sgf
420 reg_genmove b
#? [(C3)]

# Mirror Go: the board is its own image, turned by 180 degrees with the colours exchanged.
#
#       A B C D E
#     5 O . O O .
#     4 O . . X .
#     3 O O . X X
#     2 . O . . X
#     1 . X X . X
#
# Black to move, komi 1.5.
loadsgf blind-spots/mirror-3.sgf
430 reg_genmove b
#? [(C2)]

# Mirror Go: the board is its own image, turned by 180 degrees with the colours exchanged.
#
#       A B C D E
#     5 O O . O .
#     4 O O O . X
#     3 . . X . .
#     2 O . X X X
#     1 . X . X X
#
# White to move, komi 0.5.
loadsgf blind-spots/mirror-4.sgf
440 reg_genmove w
#? [(D4)]

# Mirror Go: the board is its own image, turned by 180 degrees with the colours exchanged.
#
#       A B C D E
#     5 . . X O X
#     4 X O . O .
#     3 X . X . O
#     2 . X . X O
#     1 O X O . .
#
# White to move, komi 1.5.
loadsgf blind-spots/mirror-5.sgf
450 reg_genmove w
#? [(C4)]

# Corner fight with throw-ins and shortage of liberties.
#
#       A B C D E F G
#     6 O . O O O . O
#     5 O O O O O O O
#     4 X X X X O O O
#     3 . O O X O O .
#     2 . X . X X O O
#     1 O O . . X O .
#
# White to move, komi -41.5.
loadsgf blind-spots/corner-1.sgf
510 reg_genmove w
#? [(C2)]

# Corner fight with throw-ins and shortage of liberties.
#
#       A B C D E F G
#     6 O . O O O . O
#     5 O O O O O O O
#     4 X X X X O O O
#     3 . . X X O O .
#     2 . . . X X O O
#     1 X O X X X O .
#
# White to move, komi -41.5.
loadsgf blind-spots/corner-2.sgf
520 reg_genmove w
#? [(B2)]

# Corner fight with throw-ins and shortage of liberties.
#
#       A B C D E F G
#     6 O . O O O . O
#     5 O O O O O O O
#     4 X X X X O O O
#     3 O O . X O O .
#     2 . . O X X O O
#     1 X O X . X O .
#
# Black to move, komi -6.5.
loadsgf blind-spots/corner-3.sgf
530 reg_genmove b
#? [(B2)]

# Eye space in the corner whose wall is weak, beside a group that lives or dies with it.
#
#       A B C D E F G H
#     6 . X . X X O O .
#     5 X X X X X X O O
#     4 O O O O X X O .
#     3 X . X O X X O O
#     2 X X X O X X X X
#     1 X X O O X . X .
#
# White to move, komi -1.5.
loadsgf blind-spots/bent-1.sgf
610 reg_genmove w
#? [(B3)]

# Eye space in the corner whose wall is weak, beside a group that lives or dies with it.
#
#       A B C D E F G H
#     6 . X . X X O O .
#     5 X X X X X X O O
#     4 O O O O X X O .
#     3 . . X O X X O O
#     2 . . X O X X X X
#     1 X X O O X . X .
#
# Black to move, komi 29.5.
loadsgf blind-spots/bent-2.sgf
620 reg_genmove b
#? [(A3|B3)]

# Eye space in the corner whose wall is weak, beside a group that lives or dies with it.
#
#       A B C D E F G H
#     6 . X . X X O O .
#     5 X X X X X X O O
#     4 O O O O X X O .
#     3 X . . O X X O O
#     2 X . . O X X X X
#     1 . X O O X . X .
#
# White to move, komi -1.5.
loadsgf blind-spots/bent-3.sgf
630 reg_genmove w
#? [(B2)]

# Eye space in the corner whose wall is weak, beside a group that lives or dies with it.
#
#       A B C D E F G H
#     6 . X . X X O O .
#     5 X X X X X X O O
#     4 O O O O X X O .
#     3 X X X O X X O O
#     2 X X X O X X X X
#     1 X . O O X . X .
#
# White to move, komi -1.5.
loadsgf blind-spots/bent-4.sgf
640 reg_genmove w
#? [(B1)]

# Large eye with stones in it: the vital point, and outside liberties.
#
#       A B C D E F G H
#     6 . X X X X X X .
#     5 X X O O O O X X
#     4 X O O X X O O X
#     3 X O X X . . O X
#     2 X O O O O O O X
#     1 X X X X X X X .
#
# White to move, komi 4.5.
loadsgf blind-spots/nakade-1.sgf
710 reg_genmove w
#? [(E3)]

# Large eye with stones in it: the vital point, and outside liberties.
#
#       A B C D E F G H
#     6 . X X X X X X .
#     5 X X O O O O X X
#     4 X O O . X O O X
#     3 X O . X . . O X
#     2 X O O O O O O X
#     1 X X X X X X X .
#
# Black to move, komi 47.5.
loadsgf blind-spots/nakade-2.sgf
720 reg_genmove b
#? [(E3)]

# Large eye with stones in it: the vital point, and outside liberties.
#
#       A B C D E F G H
#     6 . X X X X X X .
#     5 X X O O O O X X
#     4 X O O . X O O X
#     3 . O . . . X O X
#     2 X O O O O O O X
#     1 X X X . X X X .
#
# White to move, komi -7.5.
loadsgf blind-spots/nakade-3.sgf
730 reg_genmove w
#? [(A3)]

# Large eye with stones in it: the vital point, and outside liberties.
#
#       A B C D E F G H
#     6 . X X X X X X .
#     5 X X O O O O X X
#     4 X O O . X O O X
#     3 X O X X . . O X
#     2 X O O O O O O X
#     1 X X X X X X X .
#
# White to move, komi 4.5.
loadsgf blind-spots/nakade-4.sgf
740 reg_genmove w
#? [(D4|E3)]

# Long capturing race between two large eyes.
#
#       A B C D E F G H J K
#     7 . X . O O O O X X .
#     6 X . X O X O O X . X
#     5 X X X O . X O X X X
#     4 X X X O O O O X X X
#     3 O O O X X X X O O O
#     2 O . . X O O X O . O
#     1 . O O X O . X O O .
#
# Black to move, komi 19.5.
loadsgf blind-spots/semeai-1.sgf
810 reg_genmove b
#? [(C2|C7)]

# Long capturing race between two large eyes.
#
#       A B C D E F G H J K
#     7 . X . O O O O . X .
#     6 X . X O O X O X . X
#     5 X X . O . . O X X X
#     4 X X X O O O O X X X
#     3 O O O X X X X O O O
#     2 O . O X . X X O . O
#     1 . O O X . O X O O .
#
# Black to move, komi -0.5.
loadsgf blind-spots/semeai-2.sgf
820 reg_genmove b
#? [(E1)]

# Bent four in the corner: White may begin the ko at A2 at any time, but must take away the ko threats first.
#
#       A B C D E F G H J
#     6 O . O . O X . X .
#     5 O O O O O X X X X
#     4 O O O O O . . O X
#     3 X X O O O X O O X
#     2 . X X X X O O X X
#     1 O O O . X O O X X
#
# White to move, komi -23.5.
loadsgf blind-spots/bent-four-1.sgf
910 reg_genmove w
#? [(F4)]

# Bent four in the corner: White may begin the ko at A2 at any time, but must take away the ko threats first.
#
#       A B C D E F G H J
#     6 O . O . O X . X .
#     5 O O O O O X X X X
#     4 O O O O O X O . X
#     3 X X O O O O O X X
#     2 . X X X X O O X X
#     1 O O O . X O O X X
#
# White to move, komi -21.5.
loadsgf blind-spots/bent-four-2.sgf
920 reg_genmove w
#? [(H4)]

# Bent four in the corner: White may begin the ko at A2 at any time, but must take away the ko threats first.
#
#       A B C D E F G H J
#     6 O . O . O X . X .
#     5 O O O O O X X X X
#     4 O O O O O . . O X
#     3 X X O O O . O X X
#     2 . X X X X O O X X
#     1 O O O . X O O X X
#
# White to move, komi -21.5.
loadsgf blind-spots/bent-four-3.sgf
930 reg_genmove w
#? [(G4)]

# Bent four in the corner: White may begin the ko at A2 at any time, but must take away the ko threats first.
#
#       A B C D E F G H J
#     6 O . O . O X . X .
#     5 O O O O O X X X X
#     4 O O O O O X . O X
#     3 X X O O O O . . X
#     2 . X X X X O O X X
#     1 O O O . X O O X X
#
# White to move, komi -21.5.
loadsgf blind-spots/bent-four-4.sgf
940 reg_genmove w
#? [(G3)]

# Send two, return one: Black adds a stone, White captures two, and Black retakes one. Rule: simple.
#
#       A B C D
#     3 . O X .
#     2 O O X X
#     1 . X . X
#
# Black to move, komi 0.5.
loadsgf blind-spots/send-two.sgf
kata-set-rules {"ko":"SIMPLE","scoring":"AREA","suicide":false}
play b A1
play w C1
1010 is_legal b B1
#? [1]
play b B1
play w pass
play b A1
play w C1
1020 is_legal b B1
#? [1]

# Send two, return one: Black adds a stone, White captures two, and Black retakes one. Rule: positional.
#
#       A B C D
#     3 . O X .
#     2 O O X X
#     1 . X . X
#
# Black to move, komi 0.5.
loadsgf blind-spots/send-two.sgf
kata-set-rules {"ko":"POSITIONAL","scoring":"AREA","suicide":false}
play b A1
play w C1
1030 is_legal b B1
#? [0]

# Send two, return one: Black adds a stone, White captures two, and Black retakes one. Rule: situational.
#
#       A B C D
#     3 . O X .
#     2 O O X X
#     1 . X . X
#
# Black to move, komi 0.5.
loadsgf blind-spots/send-two.sgf
kata-set-rules {"ko":"SITUATIONAL","scoring":"AREA","suicide":false}
play b A1
play w C1
1040 is_legal b B1
#? [1]
play b B1
play w pass
play b A1
play w C1
1050 is_legal b B1
#? [0]

# Under the stones: Black makes three stones in atari four, White captures them, and Black plays where they stood.
#
#       A B C D E F G
#     6 O . O O O O O
#     5 O O . O O O O
#     4 O O O O O O O
#     3 X . X . O X O
#     2 X X . X O X O
#     1 . X X O . X O
#
# Black to move, komi -18.5.
loadsgf blind-spots/under-stones-1.sgf
1110 reg_genmove b
#? [(E1)]

# Under the stones: Black makes three stones in atari four, White captures them, and Black plays where they stood.
#
#       A B C D E F G
#     6 O . O O O O O
#     5 O O . O O O O
#     4 O O O O O O O
#     3 O X X . O X O
#     2 X X . X O X O
#     1 . X X O . X O
#
# Black to move, komi -20.5.
loadsgf blind-spots/under-stones-2.sgf
1120 reg_genmove b
#? [(E1)]

# Distant ladder: Black must capture K11, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    19 X X X X X X X X X X X X X X X X X X X
#    18 X . . . . . X X X X X X X . . . . . X
#    17 X . O . . . . X X X X X . . . O . . X
#    16 X X . . . . . . X X X . . . . . . X X
#    15 X X X . . . . . . X . . . . . . X X X
#    14 X X X X . . . . X X X . . . . X X X X
#    13 X X X X X . . . O O O . . . X X X X X
#    12 X . X X X X . X X O X X . X X X X . X
#    11 X X X X X X X X X O X X X X X X X X X
#    10 O O O O O O O O O X O O O O O O O O O
#     9 O X X X X X X X X X X X X X X X X X O
#     8 O O O O O . X . O O O O O O O O O O O
#     7 O X X X X X X X X X X X X X X X X X O
#     6 O O O O O O O O O O O O X O O O O O O
#     5 O X X X X X X X X X X X X X X X X X O
#     4 O O O O O O X O O O O O O O O O O O O
#     3 O X X X X X X X X X X X X X X X X X O
#     2 O O O O O O O O O O O O O O O O O O O
#     1 O . O O O O O O O O O O O O O O O . O
#
# Black to move, komi -18.5.
loadsgf blind-spots/ladder-1.sgf
1210 reg_genmove b
#? [(M13)]

# Distant ladder: Black must capture K11, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    19 X X X X X X X X X X X X X X X X X X X
#    18 X . . . . . X X X X X X X . . . . . X
#    17 X . . O . . . X X X X X . . . . O . X
#    16 X X . . . . . . X X X . . . . . . X X
#    15 X X X . . . . . . X . . . . . . X X X
#    14 X X X X . . . . X X X . . . . X X X X
#    13 X X X X X . . . O O O . . . X X X X X
#    12 X . X X X X . X X O X X . X X X X . X
#    11 X X X X X X X X X O X X X X X X X X X
#    10 O O O O O O O O O X O O O O O O O O O
#     9 O X X X X X X X X X X X X X X X X X O
#     8 O O O O O . X . O O O O O O O O O O O
#     7 O X X X X X X X X X X X X X X X X X O
#     6 O O O O O O O O O O O O X O O O O O O
#     5 O X X X X X X X X X X X X X X X X X O
#     4 O O O O O O X O O O O O O O O O O O O
#     3 O X X X X X X X X X X X X X X X X X O
#     2 O O O O O O O O O O O O O O O O O O O
#     1 O . O O O O O O O O O O O O O O O . O
#
# Black to move, komi -18.5.
loadsgf blind-spots/ladder-2.sgf
1220 reg_genmove b
#? [(H13)]

# Distant ladder: White must capture L9, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    17 X X X X X X X X X X O O O O O O O O O
#    16 . X O X O X O X O X O . O O O . . . O
#    15 X X O X O X O X O X O O O O . . . . O
#    14 X X O X O X O X O X O O O . . . . . O
#    13 X X O X O X O . O X O O . . . . X . O
#    12 X X O O O X O O O X O . . . . . . O O
#    11 X X O X O X O . O X O O . . . . O O O
#    10 X X O X O X O X O X O O X O . O O O O
#     9 X X O X O X O X O O X X X O O O O O O
#     8 X X O X O X O X O X O O X O . O O O O
#     7 X X O X O X O X O X O O . . . . O O O
#     6 X X O X O O O X O X O . . . . . . O O
#     5 X X O X O X O X O X O O . . . . . X O
#     4 X X O X O X O X O X O O O . . . . . O
#     3 X X O X O X O X O X O O O O . . . . O
#     2 . X O X O X O X O X O . O O O . . . O
#     1 X X X X X X X X X X O O O O O O O O O
#
# White to move, komi 22.5.
loadsgf blind-spots/ladder-3.sgf
1230 reg_genmove w
#? [(N11)]

# Distant ladder: White must capture L9, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    17 X X X X X X X X X X O O O O O O O O O
#    16 . X O X O X O X O X O . O O O . . . O
#    15 X X O X O X O X O X O O O O . . . . O
#    14 X X O X O X O X O X O O O . . . . . O
#    13 X X O X O X O . O X O O . . . . . X O
#    12 X X O O O X O O O X O . . . . . . O O
#    11 X X O X O X O . O X O O . . . . O O O
#    10 X X O X O X O X O X O O X O . O O O O
#     9 X X O X O X O X O O X X X O O O O O O
#     8 X X O X O X O X O X O O X O . O O O O
#     7 X X O X O X O X O X O O . . . . O O O
#     6 X X O X O O O X O X O . . . . . . O O
#     5 X X O X O X O X O X O O . . . . X . O
#     4 X X O X O X O X O X O O O . . . . . O
#     3 X X O X O X O X O X O O O O . . . . O
#     2 . X O X O X O X O X O . O O O . . . O
#     1 X X X X X X X X X X O O O O O O O O O
#
# White to move, komi 22.5.
loadsgf blind-spots/ladder-4.sgf
1240 reg_genmove w
#? [(N7)]

# Distant ladder: Black must capture K9, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    19 O . O O O O O O O O O O O O O O O . O
#    18 O O O O O O O O O O O O O O O O O O O
#    17 O X X X X X X X X X X X X X X X X X O
#    16 O O O O O O X O O O O O O O O O O O O
#    15 O X X X X X X X X X X X X X X X X X O
#    14 O O O O O O O O O O O O X O O O O O O
#    13 O X X X X X X X X X X X X X X X X X O
#    12 O O O O O . X . O O O O O O O O O O O
#    11 O X X X X X X X X X X X X X X X X X O
#    10 O O O O O O O O O X O O O O O O O O O
#     9 X X X X X X X X X O X X X X X X X X X
#     8 X . X X X X . X X O X X . X X X X . X
#     7 X X X X X . . . O O O . . . X X X X X
#     6 X X X X . . X . X X X . . . . X X X X
#     5 X X X . . . . . . X . . . . . . X X X
#     4 X X . . . . . . X X X . . . . O . X X
#     3 X . . . . . . X X X X X . . . . . . X
#     2 X . O . . . X X X X X X X O . . . . X
#     1 X X X X X X X X X X X X X X X X X X X
#
# Black to move, komi -18.5.
loadsgf blind-spots/ladder-5.sgf
1250 reg_genmove b
#? [(M7)]

# Distant ladder: Black must capture K9, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    19 O . O O O O O O O O O O O O O O O . O
#    18 O O O O O O O O O O O O O O O O O O O
#    17 O X X X X X X X X X X X X X X X X X O
#    16 O O O O O O X O O O O O O O O O O O O
#    15 O X X X X X X X X X X X X X X X X X O
#    14 O O O O O O O O O O O O X O O O O O O
#    13 O X X X X X X X X X X X X X X X X X O
#    12 O O O O O . X . O O O O O O O O O O O
#    11 O X X X X X X X X X X X X X X X X X O
#    10 O O O O O O O O O X O O O O O O O O O
#     9 X X X X X X X X X O X X X X X X X X X
#     8 X . X X X X . X X O X X . X X X X . X
#     7 X X X X X . . . O O O . . . X X X X X
#     6 X X X X . . . . X X X . . . . X X X X
#     5 X X X . . . . . . X . . . . . . X X X
#     4 X X O . . . . . X X X . . . . X . X X
#     3 X . . O . . . X X X X X . . O . . . X
#     2 X . . . . . X X X X X X X . X . . . X
#     1 X X X X X X X X X X X X X X X X X X X
#
# Black to move, komi -18.5.
loadsgf blind-spots/ladder-6.sgf
1260 reg_genmove b
#? [(H7)]

# Distant ladder: White must capture J9, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    17 O O O O O O O O O X X X X X X X X X X
#    16 O X . . O O O . O X O X O X O X O X .
#    15 O . O . . O O O O X O X O X O X O X X
#    14 O . . . . . O O O X O X O X O X O X X
#    13 O . . . . . . O O X O X O X O X O X X
#    12 O O . . . . . . O X O X O O O X O X X
#    11 O O O . . . . O O X O X O X O X O X X
#    10 O O O O . O X O O X O X O X O X O X X
#     9 O O O O O O X X X O O X O X O X O X X
#     8 O O O O . O X O O X O X O X O X O X X
#     7 O O O . . . . O O X O . O X O X O X X
#     6 O O . . . . . . O X O O O X O O O X X
#     5 O . . X . . . O O X O . O X O X O X X
#     4 O . . . . . O O O X O X O X O X O X X
#     3 O . X . . O O O O X O X O X O X O X X
#     2 O . . . O O O . O X O X O X O X O X .
#     1 O O O O O O O O O X X X X X X X X X X
#
# White to move, komi 22.5.
loadsgf blind-spots/ladder-7.sgf
1270 reg_genmove w
#? [(G7)]

# Distant ladder: White must capture J9, which can be driven to either side. One way a stone breaks the ladder.
#
#       A B C D E F G H J K L M N O P Q R S T
#    17 O O O O O O O O O X X X X X X X X X X
#    16 O . . X O O O . O X O X O X O X O X .
#    15 O . . . . O O O O X O X O X O X O X X
#    14 O . . . X . O O O X O X O X O X O X X
#    13 O . . . . . . O O X O X O X O X O X X
#    12 O O . . . . . . O X O X O O O X O X X
#    11 O O O . . . . O O X O X O X O X O X X
#    10 O O O O . O X O O X O X O X O X O X X
#     9 O O O O O O X X X O O X O X O X O X X
#     8 O O O O . O X O O X O X O X O X O X X
#     7 O O O . . . . O O X O . O X O X O X X
#     6 O O . . . . . . O X O O O X O O O X X
#     5 O . . . . . . O O X O . O X O X O X X
#     4 O . . . . . O O O X O X O X O X O X X
#     3 O . . X O O O O O X O X O X O X O X X
#     2 O . . . O O O . O X O X O X O X O X .
#     1 O O O O O O O O O X X X X X X X X X X
#
# White to move, komi 22.5.
loadsgf blind-spots/ladder-8.sgf
1280 reg_genmove w
#? [(G11)]

# Thousand-year ko in the lower left corner: Black can connect for a seki, or begin the ko, but has no ko threat.
#
#       A B C D E F
#     5 . X . X X X
#     4 X X X X X X
#     3 O O O O X X
#     2 X O . O O X
#     1 . X X . O X
#
# Black to move, komi 11.5.
loadsgf blind-spots/thousand-year-1.sgf
1310 reg_genmove b
#? [(A1)]

# Thousand-year ko in the lower left corner: Black can connect for a seki, or begin the ko, and has a ko threat.
#
#       A B C D E F G H
#     5 . X . X X X O O
#     4 X X X X X X O .
#     3 O O O O X X O .
#     2 X O . O O X O .
#     1 . X X . O X O .
#
# Black to move, komi 11.5.
loadsgf blind-spots/thousand-year-2.sgf
1320 reg_genmove b
#? [(C2|D1)]

# Thousand-year ko in the lower left corner: Black can connect for a seki, unless White takes first.
#
#       A B C D E F
#     5 . X . X X X
#     4 X X X X X X
#     3 O O O O X X
#     2 X O . O O X
#     1 . X X . O X
#
# White to move, komi 8.5.
loadsgf blind-spots/thousand-year-3.sgf
1330 reg_genmove w
#? [(A1)]

# Thousand-year ko in the lower left corner: White has taken, and Black may take back.
#
#       A B C D E F
#     5 . X . X X X
#     4 X X X X X X
#     3 O O O O X X
#     2 . O . O O X
#     1 O X X . O X
#
# Black to move, komi 11.5.
loadsgf blind-spots/thousand-year-4.sgf
1340 reg_genmove b
#? [(A2)]
