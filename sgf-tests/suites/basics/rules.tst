# Rules by name, as JSON and one by one.
#
# What was set is what is asked for, and neither the komi nor the position changes with the rules.
boardsize 5
clear_board
komi 3.5
play b C3
kata-set-rules tromp-taylor
10 kata-get-rules
#? [.*"ko": ?"POSITIONAL".*]
20 kata-get-rules
#? [.*"scoring": ?"AREA".*]
30 kata-get-rules
#? [.*"suicide": ?true.*]
40 kata-get-rules
#? [.*"friendlyPassOk": ?false.*]
kata-set-rules cgos
50 kata-get-rules
#? [.*"suicide": ?false.*]
60 kata-get-rules
#? [.*"friendlyPassOk": ?false.*]
70 kata-get-rules
#? [.*"ko": ?"POSITIONAL".*]
kata-set-rules chinese
80 kata-get-rules
#? [.*"ko": ?"SIMPLE".*]
90 kata-get-rules
#? [.*"scoring": ?"AREA".*]
100 kata-get-rules
#? [.*"whiteHandicapBonus": ?"N".*]
kata-set-rules japanese
110 kata-get-rules
#? [.*"ko": ?"SIMPLE".*]
120 kata-get-rules
#? [.*"scoring": ?"TERRITORY".*]
130 kata-get-rules
#? [.*"tax": ?"SEKI".*]
kata-set-rules aga
140 kata-get-rules
#? [.*"ko": ?"SITUATIONAL".*]
150 kata-get-rules
#? [.*"whiteHandicapBonus": ?"N-1".*]
kata-set-rules new-zealand
160 kata-get-rules
#? [.*"ko": ?"SITUATIONAL".*]
170 kata-get-rules
#? [.*"suicide": ?true.*]
kata-set-rule ko NATURAL_SITUATIONAL
180 kata-get-rules
#? [.*"ko": ?"NATURAL_SITUATIONAL".*]
kata-set-rule suicide false
190 kata-get-rules
#? [.*"suicide": ?false.*]
200 get_komi
#? [3.5]
210 list_stones b
#? [C3]
kgs-rules chinese
220 kata-get-rules
#? [.*"ko": ?"POSITIONAL".*]
