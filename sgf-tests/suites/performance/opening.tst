# The first moves: corners before sides, sides before the centre, and answers that every player knows.

# an empty board: a corner
boardsize 19
clear_board
10 reg_genmove black
#? [([CDE][345]|[CDE]1[567]|[PQR][345]|[PQR]1[567])]*

# an empty corner
play b Q16
20 reg_genmove white
#? [([CDE][345]|[CDE]1[567]|[PQR][345])]*

# an empty corner
play w D4
30 reg_genmove black
#? [([CDE]1[567]|[PQR][345])]*

# the last corner
play b Q3
40 reg_genmove white
#? [[CDE]1[567]]*

# the last corner
boardsize 19
clear_board
play b D4
play w D16
play b Q4
50 reg_genmove white
#? [[PQR]1[567]]*

# the last corner
boardsize 19
clear_board
play b D4
play w D16
play b Q16
60 reg_genmove white
#? [[PQR][345]]*

# the last corner
boardsize 19
clear_board
play b D16
play w Q4
play b Q16
70 reg_genmove white
#? [[CDE][345]]*

# the last corner
boardsize 19
clear_board
play b D4
play w Q4
play b Q16
80 reg_genmove white
#? [[CDE]1[567]]*

# a smaller board: a corner or the centre
boardsize 13
clear_board
90 reg_genmove black
#? [([CDE][345]|[CDE](9|10|11)|[JKL][345]|[JKL](9|10|11)|G7)]*

# the last corner
boardsize 13
clear_board
play b D4
play w D10
play b K4
100 reg_genmove white
#? [[JKL](9|10|11)]*

# the last corner
boardsize 13
clear_board
play b D10
play w K4
play b K10
110 reg_genmove white
#? [[CDE][345]]*

# 9x9: near the centre
boardsize 9
clear_board
120 reg_genmove black
#? [[C-G][3-7]]

# 9x9: not near the edge
play b E5
130 reg_genmove white
#? [[C-G][3-7]]*

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b D4
play w Q16
play b D16
play w Q4
play w C3
140 reg_genmove black
#? [(C4|D3)]

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b Q4
play w D16
play b Q16
play w D4
play w R3
150 reg_genmove black
#? [(R4|Q3)]*

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b D16
play w Q4
play b D4
play w Q16
play w C17
160 reg_genmove black
#? [(C16|D17)]

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b Q16
play w D4
play b Q4
play w D16
play w R17
170 reg_genmove black
#? [(R16|Q17)]*

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b D4
play w Q16
play b Q4
play w D16
play w C3
180 reg_genmove black
#? [(D3|C4)]*

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b D16
play w Q4
play b Q16
play w D4
play w C17
190 reg_genmove black
#? [(D17|C16)]

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b Q4
play w D16
play b D4
play w Q16
play w R3
200 reg_genmove black
#? [(Q3|R4)]

# the invasion at the 3-3 point is blocked, on one side or the other
boardsize 19
clear_board
play b Q16
play w D4
play b D16
play w Q4
play w R17
210 reg_genmove black
#? [(Q17|R16)]*

