"""Board sizes and rules of the positions for training.

A list of sizes has the form of `kosumi selfplay --sizes`: sizes, each with an optional weight.
"""

# Games played by the network's policy without a search, on all sizes. Common sizes have more weight.
POLICY_SIZES = "7:6,8:5,9:40,10:5,11:6,12:4,13:20,14:2,15:3,16:2,17:2,18:2,19:2,21,9x13:2,7x11:2,13x9,19x11"
# Games played with a search. Positions inside searches differ most from positions of games on large boards.
SEARCH_SIZES = "7:2,8:2,9:25,10:2,11:2,12:2,13:20,14,15:2,16,17:2,18,19:40,9x13,13x9"
# Games played with a search for distillation, up to the largest board.
DISTIL_SIZES = "7:2,8:2,9:40,10:2,11:2,12:2,13:20,14,15:2,16,17:2,18,19:12,9x13,13x9,21,25"
# Board size whose share of the training is an option of its own.
FULL_SIZE = (19, 19)

# Rules under which positions of game records are evaluated, and rules of the records themselves.
SHOWN_RULES = ("japanese", "chinese", "chinese-kgs", "tromp-taylor", "aga")
RECORDED_RULES = "japanese"
# Rules of the games played with a search for distillation.
DISTIL_RULES = "tromp-taylor,chinese,japanese,aga,aga-button,stone-scoring"
