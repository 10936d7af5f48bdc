// Tests the engine of `scripts/web` in a browser: node web.mjs CHROMIUM FOLDER
//
// The engine runs in a worker, from a server of static files. Its signatures must be those of the native program.

import { browse, check, equal, finish, watch } from "./browser.mjs";
import { startEngine } from "./engine_worker.mjs";
import { serve } from "./static_server.mjs";

const [chromium, folder] = process.argv.slice(2);
const server = await serve(folder, { isIsolated: true, change: (name, file) => name === "index.html" ? '<!doctype html><link rel="icon" href="data:,"><title>Kosumi</title>' : file });
const { url } = server;

await browse(chromium, {}, async context => {
  const page = context.pages()[0];
  watch(page);
  await page.goto(url);
  const ask = await startEngine(page);
  for (const isRelaxed of [false, true]) {
    const name = isRelaxed ? "with relaxed SIMD" : "without relaxed SIMD";
    const started = await ask("create", { isRelaxed, memory: 64, memoryLimit: 512 });
    equal(started.size, [19, 19], `${name}: the first board`);
    const signatures = await page.evaluate(async () => {
      const both = [await window.ask("signature", "playouts"), await window.ask("signature", "network")];
      return both.map(String);
    });
    equal(signatures, ["1529216488982968749", "463912263980416396"], `${name}: the signatures`);
    await ask("setPosition", { size: 9, rules: "japanese" });
    const { move, position } = await ask("genmove", { visits: 100 });
    equal(position.moves, [["black", move]], `${name}: the move is played`);
    check(await page.evaluate(() => window.reports) > 3, `${name}: reports`);
    // A search that would take very long is stopped.
    const stopped = await page.evaluate(async () => {
      const searching = window.ask("analyse", { visits: 1e9 });
      const before = window.reports;
      while (window.reports < before + 2) await new Promise(resolve => setTimeout(resolve, 10));
      await window.ask("stop");
      return searching;
    });
    check(stopped.visits > 0 && stopped.moves.length > 0, `${name}: a stopped search has a result`);
    const refusal = await ask("play", move).catch(error => error.message);
    check(refusal.includes(`${move}: occupied`), `${name}: ${refusal}`);
    const speed = await ask("speed", { size: 19, milliseconds: 500 });
    console.log(`Chromium, ${speed.arithmetic}, 19x19: ${speed.evaluationsPerSecond.toFixed(1)} evaluations/s`);
    for (const threads of [1, 2]) {
      await ask("create", { isRelaxed, threads });
      await ask("analyse", { visits: 32, reports: false });
      const began = Date.now();
      const { visits } = await ask("analyse", { visits: 200, reports: false });
      console.log(`Chromium, ${threads} threads, 19x19: ${(1000 * (visits - 32) / (Date.now() - began)).toFixed(0)} simulations/s`);
      check(visits >= 200 && visits < 216, `${name}: ${visits} visits with ${threads} threads`);
    }
  }
});
await server.close();
await finish();
