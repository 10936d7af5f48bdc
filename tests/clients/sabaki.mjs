// Runs a session with the library through which Sabaki talks to engines: node sabaki.mjs KOSUMI

import assert from "node:assert/strict";
import gtp from "@sabaki/gtp";

const { Controller, ControllerStateTracker } = gtp;
const program = process.argv[2];
const ARGUMENTS = ["gtp", "--no-model", "--threads", "1", "--memory", "16", "--seed", "1"];

// Maximum time to wait for anything, in milliseconds. No other times are checked.
const FORGOTTEN = 120_000;
setTimeout(() => { throw new Error("no answer"); }, FORGOTTEN).unref();

function start(...more) {
  const controller = new Controller(program, [...ARGUMENTS, ...more]);
  controller.sent = [];
  controller.on("command-sent", ({ command }) => controller.sent.push(command.name));
  // The library ignores output that does not belong to a response, so there must be none.
  controller.on("stderr", ({ content }) => assert.fail(`stderr: ${content}`));
  return controller;
}

async function ask(engine, text, listen) {
  const [name, ...args] = text.split(" ");
  const send = engine.queueCommand ? "queueCommand" : "sendCommand";
  const response = await engine[send]({ name, args }, listen);
  assert.ok(!response.error, `${text}: ${response.content}`);
  return response.content.trim();
}

const play = text => {
  const [color, ...vertices] = text.split(" ");
  return color === "handicap"
    ? { name: "set_free_handicap", args: vertices }
    : { name: "play", args: [color, ...vertices] };
};
const history = text => text.split(", ").map(play);
const words = text => text.split(/\s+/).filter(Boolean).sort();

// Parses a line of analysis as Sabaki does, in the dialect that belongs to the command.
function readInfo(line, dialect) {
  return line.split(/\s*info\s+/).slice(1).map(segment => {
    const variation = segment.match(/(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*\s*$/);
    assert.ok(variation, `no variation at the end: ${segment}`);
    const tokens = segment.slice(0, variation.index).trim().split(/\s+/);
    assert.equal(tokens.pop(), "pv");
    assert.equal(tokens.length % 2, 0, segment);
    const fields = {};
    for (let i = 0; i < tokens.length; i += 2) fields[tokens[i]] = tokens[i + 1];
    assert.match(fields.move, /^([A-HJ-Z]\d+|pass)$/);
    assert.match(fields.visits, /^\d+$/);
    assert.match(fields.winrate, dialect === "kata" ? /^[01]\.\d+$/ : /^\d+$/);
    const percent = dialect === "kata" ? fields.winrate * 100 : fields.winrate / 100;
    assert.ok(percent >= 0 && percent <= 100, segment);
    return { move: fields.move, visits: +fields.visits, variation: variation[0].split(" ") };
  });
}

async function introduction(controller) {
  // Sends all commands at once, before any response.
  const [name, version, protocol, commands] = await Promise.all(
    ["name", "version", "protocol_version", "list_commands"].map(line => ask(controller, line)));
  assert.equal(name, "Kosumi");
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.equal(protocol, "2");
  const listed = commands.split("\n");
  assert.deepEqual(listed, listed.map(command => command.trim()));
  for (const wanted of ["undo", "set_free_handicap", "rectangular_boardsize", "lz-analyze", "kata-analyze"]) {
    assert.ok(listed.includes(wanted), wanted);
  }
  // Under these names, Sabaki would read fractions as integers.
  for (const unwanted of ["analyze", "genmove_analyze"]) assert.ok(!listed.includes(unwanted), unwanted);
}

async function synchronisation(controller) {
  const tracker = new ControllerStateTracker(controller);
  const stones = async color => words(await ask(tracker, `list_stones ${color}`));
  const sync = async state => { controller.sent.length = 0; await tracker.sync(state); };

  await sync({ komi: 6.5, boardsize: [9, 9], history: history("B E5, W E6, B D6, W pass, B F6") });
  assert.deepEqual(await stones("b"), words("E5 D6 F6"));
  assert.equal(await ask(tracker, "get_komi"), "6.5");

  // For another continuation, moves are undone and the board is not cleared.
  await sync({ komi: 6.5, boardsize: [9, 9], history: history("B E5, W E6, B D6, W C3, B E7") });
  assert.ok(controller.sent.includes("undo") && !controller.sent.includes("clear_board"), controller.sent);
  assert.deepEqual(await stones("b"), words("E5 D6 E7"));
  assert.deepEqual(await stones("w"), words("E6 C3"));

  // Only the komi changes.
  await sync({ komi: -7, boardsize: [9, 9], history: tracker.state.history });
  assert.equal(await ask(tracker, "get_komi"), "-7");
  assert.deepEqual(await stones("w"), words("E6 C3"));

  // A handicap, a rectangular board, and back. The komi stays when the board changes.
  await sync({ komi: 0.5, boardsize: [13, 13], history: history("handicap D4 K10, W K4") });
  assert.deepEqual(await stones("b"), words("D4 K10"));
  await sync({ komi: 0.5, boardsize: [7, 11], history: history("B G11, W A1, B A2, W B2, B B1") });
  assert.ok(controller.sent.includes("rectangular_boardsize"));
  assert.deepEqual(await stones("b"), words("G11 A2 B1"), "A1 is captured");
  assert.equal(await ask(tracker, "get_komi"), "0.5");
  await sync({ komi: 0.5, boardsize: [9, 9], history: [] });
  assert.deepEqual(await stones("b"), []);

  // Set-up stones are sent as moves in any order, even many of one colour in a row.
  await sync({ komi: 0.5, boardsize: [9, 9], history: history("B A1, B B2, B C3, W D4, W E5, B D5, B E4") });
  assert.deepEqual(await stones("b"), words("A1 B2 C3 D5 E4"));

  // A record that repeats a position can be entered, because Sabaki does not know the rules.
  const triple = "B B1, W C1, B A2, W D2, B B3, W C3, B C2, W B2, B pass, W pass, B C2";
  await sync({ komi: 0.5, boardsize: [9, 9], history: history(triple) });

  // A move that cannot be played is refused, and nothing changes.
  const before = await ask(tracker, "move_history");
  const refused = await tracker.queueCommand({ name: "play", args: ["B", "B1"] });
  assert.ok(refused.error);
  assert.equal(await ask(tracker, "move_history"), before);
  return tracker;
}

// Reads some lines of analysis, then interrupts it as Sabaki does.
async function analysis(controller, command, dialect) {
  let lines = 0;
  const running = ask(controller, command, ({ line }) => {
    if (!line.startsWith("info ")) return;
    const moves = readInfo(line, dialect);
    assert.ok(moves.length > 0);
    assert.equal(moves[0].variation[0], moves[0].move);
    lines += 1;
    if (lines === 2) controller.sendCommand({ name: "protocol_version" });
  });
  await running;
  assert.ok(lines >= 2, `${command}: ${lines} lines`);
  assert.equal(await ask(controller, "protocol_version"), "2");
}

async function moves(controller, tracker) {
  await tracker.sync({ komi: 6.5, boardsize: [9, 9], history: history("B E5, W C3") });
  for (const [command, dialect] of [["kata-genmove_analyze B 5", "kata"], ["lz-genmove_analyze W 5", "lz"]]) {
    const seen = [];
    await ask(tracker, command, ({ line }) => {
      if (line.startsWith("info ")) readInfo(line, dialect);
      if (line.startsWith("play ")) seen.push(line.slice(5));
    });
    assert.equal(seen.length, 1, command);
    // The tracking engine gets the move from the line and then agrees with the engine.
    const [color, vertex] = (await ask(tracker, "last_move")).split(" ");
    assert.equal(seen[0].toUpperCase(), vertex);
    assert.deepEqual(tracker.state.history.at(-1), { name: "play", args: [color[0].toUpperCase(), vertex] });
  }
  const answer = await ask(tracker, "genmove B");
  assert.deepEqual(tracker.state.history.at(-1).args, ["B", answer]);
  assert.equal(tracker.state.history.length, 5);
}

// Checks that a move that would take for ever is answered soon after an interruption.
async function interruption() {
  const controller = start("--time", "100000");
  await ask(controller, "boardsize 9");
  const thinking = ask(controller, "genmove b");
  setTimeout(() => controller.process.stdin.write("# interrupt\n"), 300);
  assert.match(await thinking, /^[A-HJ]\d$/);
  // A command that is sent during a search for a move waits for its end, and both are answered in order.
  const [second, name] = [ask(controller, "genmove w"), ask(controller, "name")];
  setTimeout(() => controller.process.stdin.write("# interrupt\n"), 300);
  assert.match(await second, /^[A-HJ]\d$/);
  assert.equal(await name, "Kosumi");
  await controller.stop();
}

const controller = start("--playouts", "300");
await introduction(controller);
const tracker = await synchronisation(controller);
await analysis(controller, "kata-analyze B 5", "kata");
await analysis(controller, "lz-analyze W 5", "lz");
await moves(controller, tracker);
await controller.stop();
assert.equal(controller.process, null);
await interruption();
console.log("all well");
process.exit(0);
