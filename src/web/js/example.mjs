// Plays a game of 9 by 9 against itself and prints it: `node example.mjs`.
import { Kosumi } from "kosumi";

const kosumi = await Kosumi.create({ memory: 32 });
kosumi.setPosition({ size: 9, rules: "japanese" });
while (!kosumi.position.isOver && kosumi.position.moves.length < 200) {
  const { move, analysis } = await kosumi.genmove({ visits: 100 });
  if (move === "resign") break;
  const winRate = analysis ? `${(100 * analysis.winRate).toFixed(1)} %` : "";
  console.log(`${kosumi.position.moves.length}. ${move} ${winRate}`);
}
console.log(kosumi.position.board.join("\n"));
console.log(kosumi.position.result ?? kosumi.score().result);
console.log(kosumi.save());
