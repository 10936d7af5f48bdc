// A GTP engine in Node: `node gtp.mjs [MILLISECONDS]` for a move (default 1000).
import { createInterface } from "node:readline";
import { Kosumi } from "./kosumi.js";

const milliseconds = Number(process.argv[2] ?? 1000);
const kosumi = await Kosumi.create({ memory: 64, resign: null });
let settings = { size: 19, rules: "chinese", komi: 7.5 };
const anew = (changes) => {
  kosumi.setPosition({ ...settings, ...changes });
  settings = { ...settings, ...changes };
};

const COMMANDS = {
  protocol_version: () => "2",
  name: () => "Kosumi in WebAssembly",
  version: () => "",
  list_commands: () => Object.keys(COMMANDS).join("\n"),
  known_command: (name) => String(Object.hasOwn(COMMANDS, name)),
  boardsize: (size) => anew({ size: Number(size) }),
  clear_board: () => anew({}),
  komi: (komi) => {
    if (kosumi.position.moves.length) throw new Error("komi must come before the first move");
    anew({ komi: Number(komi) });
  },
  "kata-set-rules": (rules) => anew({ rules }),
  play: (color, vertex) => void kosumi.play(vertex, color),
  undo: () => void kosumi.undo(),
  genmove: async (color) => (await kosumi.genmove({ color, milliseconds })).move,
  showboard: () => `\n${kosumi.position.board.join("\n")}`,
  quit: () => "",
};

for await (const line of createInterface({ input: process.stdin })) {
  const words = line.replace(/#.*/, "").trim().split(/\s+/);
  const id = /^\d+$/.test(words[0]) ? words.shift() : "";
  const [name, ...values] = words;
  if (!name) continue;
  try {
    if (!Object.hasOwn(COMMANDS, name)) throw new Error("unknown command");
    process.stdout.write(`=${id} ${(await COMMANDS[name](...values)) ?? ""}\n\n`);
  } catch (error) {
    process.stdout.write(`?${id} ${error.message.replace(/\s+/g, " ")}\n\n`);
  }
  if (name === "quit") break;
}
