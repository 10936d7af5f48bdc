"""Plays a game with KaTrain's own engine, game and players, without its window and with Kosumi as its KataGo.

Usage: katrain_game.py ENGINE MODEL MOVES. Plays this number of moves on 9x9, each by KaTrain's usual player, waits for
the analysis of all positions, and prints what KaTrain then knows about each: the move, visits, win rate, score.
"""

import os
import sys
import time

os.environ["KIVY_NO_ARGS"] = "1"
os.environ["KIVY_NO_CONSOLELOG"] = "1"

from katrain.core.ai import generate_ai_move  # noqa: E402
from katrain.core.base_katrain import KaTrainBase  # noqa: E402
from katrain.core.constants import AI_DEFAULT  # noqa: E402
from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game import Game  # noqa: E402

engine_path, model, moves = sys.argv[1], sys.argv[2], int(sys.argv[3])
katrain = KaTrainBase(force_package_config=True, debug_level=0)
config = {
    **katrain.config("engine"),
    "backend": "local",
    "katago": engine_path,
    "model": model,
    "humanlike_model": "",
    "altcommand": "",
    "max_visits": 20,
    "fast_visits": 5,
}
katrain._config["engine"] = config
engine = KataGoEngine(katrain, config)
game = Game(katrain, engine, game_properties={"SZ": "9"})
for _ in range(moves):
    generate_ai_move(game, AI_DEFAULT, {})
node = game.current_node
path = []
while node.parent:
    path.insert(0, node)
    node = node.parent
deadline = time.time() + 120
while not all(node.analysis_complete for node in path):
    if time.time() > deadline or engine.katago_process is None or engine.katago_process.poll() is not None:
        sys.exit("KaTrain waits for an analysis that does not come")
    time.sleep(0.05)
for node in path:
    root = node.analysis["root"]
    assert len(node.analysis["policy"]) == 82 and len(node.ownership) == 81
    assert node.candidate_moves and -81 < node.score < 81
    print(node.move.gtp(), root["visits"], round(root["winrate"], 4), round(node.score, 2))
engine.shutdown(finish=False)
