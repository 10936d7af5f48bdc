// A GTP engine in Node: `node gtp.mjs [--threads N] [--visits N] [--milliseconds N]`. The last two limit the search for a
// move (default: one second).
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { Kosumi } from "./kosumi.js";

const options = { threads: { type: "string" }, visits: { type: "string" }, milliseconds: { type: "string" } };
const { values: given } = parseArgs({ options });
const number = (text) => (text === undefined ? undefined : Number(text));
const limits = { visits: number(given.visits), milliseconds: number(given.milliseconds ?? (given.visits ? undefined : 1000)) };
const kosumi = await Kosumi.create({ threads: number(given.threads), memory: 64, resign: null });
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
  genmove: async (color) => (await kosumi.genmove({ color, ...limits })).move,
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
