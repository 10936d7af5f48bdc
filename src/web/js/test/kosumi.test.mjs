// Tests of the module in Node: `node --test`. With relaxed SIMD too where this Node supports it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Instance, compiled } from "../instance.js";
import { Kosumi, KosumiError, supportsRelaxedSimd, supportsSimd, supportsThreads } from "../kosumi.js";

// `kosumi bench --signature` prints these numbers.
const BY_PLAYOUTS = 1529216488982968749n;
const BY_NETWORK = 463912263980416396n;

const MODULES = supportsRelaxedSimd() ? [false, true] : [false];
const file = (name) => new URL(`../${name}`, import.meta.url);
const small = await readFile(file("small.bin.gz"));

const create = (options = {}) => Kosumi.create({ network: small, isRelaxed: false, memory: 16, ...options });

test("this Node supports SIMD", () => assert.ok(supportsSimd()));

for (const isRelaxed of MODULES) {
  const name = isRelaxed ? "with relaxed SIMD" : "without relaxed SIMD";

  test(`the signatures are those of the native program, ${name}`, async () => {
    const kosumi = await create({ isRelaxed, memoryLimit: 512 });
    assert.equal(kosumi.signature("playouts"), BY_PLAYOUTS);
    assert.equal(kosumi.signature("network"), BY_NETWORK);
    // Without relaxed SIMD, the vectors compute exactly as the portable kernel.
    if (!isRelaxed) assert.equal(kosumi.signature("kernel"), BY_NETWORK);
  });

  test(`a game is played, ${name}`, async () => {
    const kosumi = await create({ isRelaxed });
    const set = kosumi.setPosition({ size: 9, rules: "chinese", komi: 7, moves: ["E5", "E3"] });
    assert.equal(set.board[4], "....X....");
    assert.equal(set.board[6], "....O....");
    const reports = [];
    const { move, analysis, position } = await kosumi.genmove({ visits: 100, onReport: (it) => reports.push(it) });
    assert.match(move, /^[A-HJ][1-9]$/);
    assert.ok(analysis.visits >= 100);
    assert.ok(reports.length >= 5 && reports.every((it) => it.moves.length > 0));
    assert.deepEqual(position.moves, [["black", "E5"], ["white", "E3"], ["black", move]]);
    const analysed = await kosumi.analyse({ visits: 60, ownership: true });
    assert.equal(analysed.ownership.length, 81);
    assert.ok(analysed.visits >= 60 && analysed.moves[0].variation.length > 0);
    const other = await create({ isRelaxed });
    other.load(kosumi.save());
    assert.deepEqual(other.position.board, position.board);
  });

  test(`8 bits evaluate as 32 bits, ${name}`, async () => {
    const winRate = async (precision) => {
      const kosumi = await create({ isRelaxed, precision });
      kosumi.setPosition({ size: 9, moves: ["E5", "pass", "C3", "pass"] });
      const { winRate, lead } = await kosumi.analyse({ visits: 1 });
      return [winRate, lead];
    };
    const [exact, rounded] = [await winRate("f32"), await winRate("int8")];
    assert.ok(Math.abs(exact[0] - rounded[0]) < 0.05 && Math.abs(exact[1] - rounded[1]) < 2, `${exact} ${rounded}`);
    assert.notDeepEqual(exact, rounded);
  });
}

test("the same visits give the same moves", async () => {
  const play = async () => {
    const kosumi = await create({ seed: 7 });
    kosumi.setPosition({ size: 7 });
    for (let turn = 0; turn < 3; turn += 1) await kosumi.genmove({ visits: 40 });
    return kosumi.position;
  };
  assert.deepEqual(await play(), await play());
});

test("a search with three threads", async () => {
  assert.ok(supportsThreads());
  const kosumi = await create({ threads: 3 });
  kosumi.setPosition({ size: 9, moves: ["E5"] });
  const reports = [];
  const { visits, moves } = await kosumi.analyse({ visits: 300, onReport: (it) => reports.push(it) });
  // Each thread finishes the simulations that it has begun.
  assert.ok(visits >= 300 && visits < 320 && reports.length > 3, `${visits}`);
  assert.ok(moves.reduce((sum, it) => sum + it.visits, 0) >= visits - 1);
  const { position } = await kosumi.genmove({ milliseconds: 200 });
  assert.equal(position.moves.length, 2);
  // A failure: too little memory. The engine that is started anew has threads again.
  assert.throws(() => kosumi.load(`(;GM[1]SZ[9]${";B[aa]".repeat(10000000)})`), { isFatal: true });
  assert.deepEqual(kosumi.position, position);
  assert.ok((await kosumi.analyse({ visits: 100 })).visits >= 100);
  kosumi.close();
  await assert.rejects(create({ threads: 65 }), { message: "threads: must be from 1 to 64" });
  await assert.rejects(create({ threads: 2, now: () => 0 }), /^KosumiError: threads: /);
});

test("threads wait for work until the instance is closed", async () => {
  const module = await compiled("kosumi.wasm");
  const instance = new Instance(module, 128, () => performance.now());
  await instance.startThreads(2);
  while (instance.waitingThreads < 2) await new Promise((resolve) => setImmediate(resolve));
  instance.close();
  // There is no memory for so many stacks.
  const small = new Instance(module, 64, () => performance.now());
  await assert.rejects(small.startThreads(10), { message: "too little memory for a thread" });
  small.close();
});

test("time limits and stops use the host's time and signals", async () => {
  let time = 0;
  const kosumi = await create({ now: () => (time += 1) });
  kosumi.setPosition({ size: 5 });
  const { visits } = await kosumi.analyse({ milliseconds: 200 });
  assert.ok(visits > 0 && visits < 2000, `${visits}`);
  const controller = new AbortController();
  const stop = (report) => report.visits >= visits + 16 && controller.abort();
  const stopped = await kosumi.analyse({ visits: 1000000, signal: controller.signal, onReport: stop });
  assert.ok(stopped.visits >= visits + 16 && stopped.visits < visits + 200);
  const before = kosumi.position;
  await assert.rejects(kosumi.genmove({ visits: 1000000, signal: controller.signal }), { name: "AbortError" });
  assert.deepEqual(kosumi.position, before);
});

test("a record is reviewed", async () => {
  const kosumi = await create();
  const progress = [];
  const page = kosumi.review("(;SZ[5]KM[0.5];B[cc];W[bb];B[bc])", (...done) => progress.push(done));
  assert.match(page, /^<!DOCTYPE html>/);
  assert.deepEqual(progress.at(-1), [progress.length, progress.length]);
});

test("a refused request changes nothing", async () => {
  const kosumi = await create({ network: null });
  kosumi.setPosition({ size: 9, moves: ["E5"] });
  const before = kosumi.position;
  const refused = [
    [() => kosumi.play("E5"), "E5: occupied"],
    [() => kosumi.play("Z9"), "Z9 is not on the board"],
    [() => kosumi.setPosition({ size: 99 }), "a board of 99 by 99 is not supported"],
    [() => kosumi.signature(), "the session has no network"],
  ];
  for (const [request, message] of refused) {
    assert.throws(request, (error) => error instanceof KosumiError && !error.isFatal && error.message === message);
  }
  assert.throws(() => kosumi.load("nothing"), KosumiError);
  await assert.rejects(kosumi.genmove({}), { message: "a search needs a limit: visits or milliseconds" });
  assert.deepEqual(kosumi.position, before);
  const searching = kosumi.analyse({ visits: 2000 });
  assert.throws(() => kosumi.play("A1"), { message: "a search is in progress" });
  await searching;
  await assert.rejects(create({ network: Uint8Array.of(1, 2, 3) }), /^KosumiError: the network cannot be read/);
  await assert.rejects(create({ memory: 0 }), { message: "memory: must be from 1 to 2048 MiB" });
  await assert.rejects(create({ memoryLimit: 16 }), { message: "memoryLimit: must be from 80 MiB, for this memory, to 4096 MiB" });
});

test("a failure is an error, and the game goes on", async () => {
  let disturb = () => {};
  const now = () => {
    disturb();
    return performance.now();
  };
  const kosumi = await create({ memoryLimit: 80, now });
  kosumi.setPosition({ size: 9, rules: "japanese", komi: 5.5, moves: ["E5", "C3", "G7"] });
  const before = kosumi.position;
  const isFatal = (error) => error instanceof KosumiError && error.isFatal && error.message.includes("started anew");
  // There is not enough memory for this record.
  assert.throws(() => kosumi.load(`(;GM[1]SZ[9]${";B[aa]".repeat(10000000)})`), isFatal);
  assert.deepEqual(kosumi.position, before);
  // The clock fails during a search.
  const fail = () => {
    throw new Error("the clock is broken");
  };
  setTimeout(() => (disturb = fail));
  await assert.rejects(kosumi.analyse({ milliseconds: 10000 }), /the clock is broken/);
  disturb = () => {};
  assert.deepEqual(kosumi.position, before);
  // The engine panics, because it is asked something while it answers.
  disturb = () => kosumi.save();
  assert.throws(() => kosumi.score(), (error) => isFatal(error) && error.message.includes("panicked at"));
  disturb = () => {};
  assert.deepEqual(kosumi.position, before);
  assert.ok(kosumi.memoryUsage <= 80 * 1048576);
  const { position } = await kosumi.genmove({ visits: 20 });
  assert.equal(position.moves.length, 4);
});

test("the memory stays within its limit", async () => {
  const kosumi = await create({ memory: 64 });
  kosumi.setPosition({ size: 19 });
  await kosumi.analyse({ visits: 100, ownership: true });
  kosumi.score();
  assert.ok(kosumi.memoryUsage < 300 * 1048576, `${kosumi.memoryUsage}`);
});

test("a finished game is counted", async () => {
  const kosumi = await create();
  const moves = ["B2", "D4", "B4", "D2", "B3", "D3", "B1", "D1", "B5", "D5", "pass", "pass"];
  assert.ok(kosumi.setPosition({ size: 5, rules: "chinese", komi: 0.5, moves }).isOver);
  const { result, owners, dead } = kosumi.score();
  assert.equal(result, "W+0.5");
  assert.deepEqual(owners.slice(0, 5), ["black", "black", null, "white", "white"]);
  assert.deepEqual(dead, []);
});
