// Tests the page of `kosumi play`: node play.mjs CHROMIUM KOSUMI FOLDER [figures]
//
// With `figures`, only times are measured. Otherwise the script tests whole games, keys, two windows, records, a server
// that is killed, and an engine that is killed. Pictures and times are written to FOLDER.

import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { browse, check, checkContrast, checkWidth, drop, equal, finish, watch } from "./browser.mjs";
import { start } from "./server.mjs";
import { click, newGame, pictures, played, ready, tap } from "./table.mjs";

const [chromium, kosumi, folder] = process.argv.slice(2);
const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
// Times in milliseconds, until the page is ready, a click is answered and the first candidate is shown. They are
// printed and never cause a failure, because machines differ.
const figures = { load: loadavg()[0] };
const picture = pictures(folder);

const stones = page => page.$$eval("#board [data-stone]", found => Object.fromEntries(found.map(stone =>
  [stone.dataset.stone, stone.getAttribute("class")]).sort()));
const moves = page => page.$eval("#counter", it => Number(it.textContent.match(/\d+/)[0]));
const status = page => page.textContent("#status");
const phase = page => page.evaluate(() => document.getElementById("marking").hidden ? "" : "marking");

// Plays a whole game against the engine. The person plays the best move of the analysis.
async function wholeGame(page) {
  await newGame(page, { size: "9", black: "person", white: "kosumi 25k" });
  await page.click("#analyse");
  for (let own = 0; own < 90; own++) {
    const next = await page.waitForFunction(() => {
      if (!document.getElementById("marking").hidden) return { done: true };
      if (document.getElementById("resign").disabled) return { done: true };
      const best = document.querySelector("#candidates tbody tr:not(.empty) td:nth-child(2)");
      const isOn = document.getElementById("board").classList.contains("can-play");
      return isOn && best && !document.getElementById("thoughts").hidden && { name: best.textContent };
    }).then(handle => handle.jsonValue());
    if (next.done) break;
    const count = await moves(page);
    if (next.name === "pass" || own > 60) await page.click("#pass");
    else await click(page, next.name);
    await played(page, count + 1);
  }
  if (await phase(page) === "marking") {
    await page.waitForFunction(() => !document.getElementById("count").hidden);
    await picture(page, "play-marking");
    await page.click("#settle");
  }
  await page.waitForFunction(() => document.getElementById("resign").disabled);
  // The line may still show that a player passed; the result follows a moment later.
  await page.waitForFunction(() => /wins|draw/.test(document.getElementById("status").textContent))
    .catch(() => undefined);
  const result = await status(page);
  check(/wins|draw/.test(result), `the game has a result: ${result}`);
  check(await moves(page) > 20, `the game was played: ${await moves(page)} moves`);
  check(await page.isVisible("#curve"), "and its curve is shown");
  await picture(page, "play-over");
  await page.click("#analyse");
}

// Tests a game between two people: captures, illegal moves, dead stones, the count, and resumed play.
async function twoPeople(page) {
  await newGame(page, { size: "5", black: "person", white: "person", komi: "0.5" });
  await page.waitForFunction(() => document.querySelector("#counter").textContent === "Move 0");
  const announcement = () => page.textContent("#announcement");
  const turns = ["B3", "C3", "C4", "A1", "D3", "E1", "C2"];
  for (const [index, name] of turns.entries()) {
    await click(page, name, 5);
    await played(page, index + 1);
  }
  equal((await stones(page)).C3, undefined, "the stone is taken");
  check((await announcement()).includes("takes 1"), `that is announced: ${await announcement()}`);
  equal(await page.textContent("#prisoners-black"), "+1", "and counted");
  await click(page, "C3", 5);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("suicide"));
  await click(page, "B3", 5);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("stone already"));
  equal(await moves(page), 7, "what is forbidden changes nothing");

  // Tests keys: arrows that move the cursor, and Enter.
  await page.focus("#board");
  for (const key of ["ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
  equal(await announcement(), "C4, Black stone", "the point under the keys is announced");
  await page.keyboard.press("ArrowRight");
  equal(await announcement(), "D4, empty", "and that it is empty");
  await page.keyboard.press("Enter");
  await played(page, 8);
  equal((await stones(page)).D4, "white", "Enter plays");
  await page.keyboard.press("s");
  check((await announcement()).includes("White: "), "S announces the position");
  await page.keyboard.press("u");
  await page.waitForFunction(() => document.querySelector("#counter").textContent === "Move 7");
  equal((await stones(page)).D4, undefined, "U takes it back");
  check((await announcement()).includes("taken back: 1"), `which is announced: ${await announcement()}`);

  await page.keyboard.press("p");
  await played(page, 8);
  await page.keyboard.press("p");
  await page.waitForSelector("#marking:not([hidden])");
  await page.waitForSelector("#count:not([hidden])");
  const dead = () => page.$$eval("#board [data-dead]", found => found.map(it => it.dataset.dead).sort());
  await page.waitForFunction(() => document.querySelectorAll("#board [data-dead]").length === 2);
  equal(await dead(), ["A1", "E1"], "the engine says which stones are dead");
  await click(page, "A1", 5);
  await page.waitForFunction(() => document.querySelectorAll("#board [data-dead]").length === 1);
  await click(page, "A1", 5);
  await page.waitForFunction(() => document.querySelectorAll("#board [data-dead]").length === 2);
  await page.click("#resume");
  await page.waitForSelector("#playing:not([hidden])");
  equal(await moves(page), 7, "playing on takes the passes back");
  for (const count of [8, 9]) { await page.click("#pass"); await played(page, count); }
  await page.waitForFunction(() => document.querySelectorAll("#board [data-dead]").length === 2);
  await page.click("#settle");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("Black wins by 24.5"));

  // Navigation through the game, and play from an earlier position.
  equal(await page.$$eval("#board [data-cursor]", found => found.length), 0, "a click takes the cursor off the board");
  await page.keyboard.press("PageUp");
  equal(Object.keys(await stones(page)).length, 0, "ten moves back, the first position is empty");
  await page.keyboard.press("ArrowRight");
  equal(Object.keys(await stones(page)), ["B3"], "and then there is a stone");
  await page.click("#from-here");
  await page.waitForFunction(() => document.querySelector("#counter").textContent === "Move 1");
  check((await status(page)).includes("stay in the record"), `the rest is kept: ${await status(page)}`);
  await click(page, "E5", 5);
  await played(page, 2);
  check(/variations kept: [1-9]/.test(await page.textContent("#facts")), "and counted");
}

// Tests the degrees of hints: the region, the move, and what follows.
async function hints(page) {
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");
  equal(await page.$$eval("#board [data-candidate]", found => found.length), 0, "first the region alone");
  check(/^Look at the (upper|lower|left|right|centre)/.test(await page.textContent("#hint-words")), `in words: ${await page.textContent("#hint-words")}`);
  await page.click("#hint");
  await page.waitForSelector("#board [data-candidate]");
  equal(await page.$$eval("#board [data-candidate]", found => found.length), 1, "then the move");
  await page.click("#hint");
  await page.waitForSelector("#candidates tbody tr:not(.empty)");
  check(/ visits\)/.test(await page.textContent("#hint-words")), `then why: ${await page.textContent("#hint-words")}`);
}

// Tests a finished record: advice at every move, its own curve, and its review.
async function lookingBack(page) {
  const record = "(;SZ[5]KM[0.5]RE[B+R];B[cc];W[bb];B[bc];W[cb];B[db];W[ac])";
  await page.setInputFiles("#file", { name: "x.sgf", mimeType: "text/plain", buffer: Buffer.from(record) });
  await page.waitForFunction(() => document.getElementById("counter").textContent === "Move 6");
  equal(await page.isVisible("#curve"), false, "the curve of the game before is gone");
  await page.keyboard.press("Home");
  await hints(page);
  for (let move = 0; move < 3; move++) await page.keyboard.press("ArrowRight");
  await page.click("#estimate");
  await page.waitForSelector("#board .owners rect");
  await page.click("#analyse");
  await page.waitForFunction(() => document.getElementById("analyse").getAttribute("aria-pressed") === "true");
  await checkContrast(page, "pressed and hovered", ["#analyse"]);
  for (const key of ["ArrowLeft", "ArrowLeft", "ArrowRight"]) {
    await page.keyboard.press(key);
    await page.waitForSelector("#candidates tbody tr:not(.empty)");
  }
  equal(await page.$$eval("#candidates tbody tr", found => found.length), 6, "the table keeps its rows");
  // While the analysis runs, the page shows who leads.
  await page.waitForSelector("#board .owners rect");
  check(/leads|even/.test(await page.textContent("#lead-words")), "and who leads");
  await page.hover("#candidates tbody tr:first-child");
  await page.waitForSelector("#board [data-line]");
  await page.waitForTimeout(500);
  equal(await page.$$eval("#board [data-line]", found => found.length) > 0, true, "the line stays while the analysis deepens");
  await page.mouse.move(5, 5);
  await page.waitForSelector("#board .candidate .note");
  await page.waitForSelector("#curve:not([hidden])");
  const known = () => page.$$eval("#chart-rate .curve.rate", found => found.map(it => it.getAttribute("d")).join(" "));
  const curve = await known();
  await page.click("#analyse");
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll("#chart-rate .ground").length > 0);
  equal((await known()).length > 0 && curve.length > 0, true, "the curve survives a reload");
  await page.click("#review-page");
  await page.waitForSelector("#reviewed:not([hidden])");
  const [other] = await Promise.all([page.waitForEvent("popup"), page.click("#reviewed a")]);
  await other.waitForSelector(".player dl");
  await other.keyboard.press("End");
  await other.waitForSelector("#board [data-stone]");
  await other.close();
  await newGame(page, { size: "5", black: "person", white: "person", komi: "0.5" });
  equal(await page.isVisible("#reviewed"), false, "and goes with its game");
}

async function records(page) {
  const download = page.waitForEvent("download");
  await page.click("#save");
  const saved = readFileSync(await (await download).path(), "utf8");
  check(saved.startsWith("(;") && saved.includes("SZ[5]") && saved.includes(";B[bc]"), `a record is saved: ${saved}`);
  check(saved.replaceAll("\n", "").includes(";W[ea]") && saved.includes(";W[cc]"), `with all variations: ${saved}`);
  const hostile = "(;SZ[9]CA[windows-1252]KM[0.5]PB[<img src=x onerror=\"window.broken=1\">]PW[</title><script>window.broken=1</script>]"
    + "RE[<b onclick=x>]C[<script>window.broken=1</script>];B[cc];W[gg]C[</textarea>])";
  await page.setInputFiles("#file", { name: "<b>.sgf", mimeType: "text/plain", buffer: Buffer.from(hostile) });
  await page.waitForFunction(() => document.getElementById("name-black").textContent.startsWith("<img"));
  equal(await page.evaluate(() => [window.broken, document.querySelectorAll("img, main script, b[onclick]").length]), [null, 0].map(x => x ?? undefined),
    "names of a record are text");
  check((await status(page)).includes("<b onclick=x>"), "and so is its result");
  equal(Object.keys(await stones(page)).sort(), ["C7", "G3"], "the record is on the board");
  // A record is dropped on the board. So is a file that is not a record, which changes nothing.
  const address = page.url();
  await drop(page, "#board", "dropped.sgf", "(;SZ[7]PB[Dropped];B[dd];W[ee];B[cc])");
  await page.waitForFunction(() => document.getElementById("name-black").textContent === "Dropped");
  equal(Object.keys(await stones(page)).sort(), ["C5", "D4", "E3"], "a record that is dropped on the board is opened");
  equal(page.url(), address, "and the browser does not go to the file");
  await page.dispatchEvent("#board", "drop", { dataTransfer: await page.evaluateHandle(() => new DataTransfer()) });
  equal(Object.keys(await stones(page)).length, 3, "a drop without a file changes nothing");
  for (const [what, text] of [["nonsense", "hello"], ["a large board", "(;SZ[52])"], ["chess", "(;GM[2]SZ[9])"], ["nesting", "(;".repeat(200_000)]]) {
    await page.setInputFiles("#file", { name: "x.sgf", mimeType: "text/plain", buffer: Buffer.from(text) });
    await page.waitForFunction(() => /no record|too long/.test(document.getElementById("status").textContent)
      || document.getElementById("counter").textContent === "Move 0").catch(() => check(false, `${what} is refused`));
  }
}

// Checks that both windows show a text. Either window may show a move first.
async function same(page, other, text) {
  const end = Date.now() + 10_000;
  while (JSON.stringify(await stones(page)) !== JSON.stringify(await stones(other)) && Date.now() < end) await page.waitForTimeout(20);
  equal(await stones(page), await stones(other), text);
}

async function twoWindows(context, page, url) {
  await newGame(page, { size: "13", black: "person", white: "person" });
  const other = await context.newPage();
  watch(other);
  await ready(other, url);
  await other.waitForFunction(() => document.getElementById("status").textContent === "Black to move");
  await page.bringToFront();
  await click(page, "C3", 13);
  await other.waitForFunction(() => document.querySelector('#board [data-stone="C3"]'));
  await click(other, "K10", 13);
  await page.waitForFunction(() => document.querySelector('#board [data-stone="K10"]'));
  await same(page, other, "both windows show the same");
  // Both windows play at the same time, and one of them is too late.
  await Promise.all([click(page, "D4", 13), click(other, "G7", 13)]);
  await played(page, 3);
  await page.waitForTimeout(300);
  await same(page, other, "also after both clicked at once");
  check([3, 4].includes(await moves(page)), "and no move was made twice");
  await other.close();
}

// Measures, in the page, the time from a click to the stone and from a move to the first candidate.
async function measure(page) {
  await newGame(page, { size: "19", black: "person", white: "person" });
  await page.waitForFunction(() => document.querySelector("#counter").textContent === "Move 0");
  await page.click("#analyse");
  await page.evaluate(() => {
    window.times = [];
    let clicked = 0, isPlayed = false, isThought = true;
    addEventListener("pointerup", () => { clicked = performance.now(); isPlayed = false; isThought = false; }, true);
    let count = 0;
    new MutationObserver(() => {
      const now = document.querySelectorAll("#board [data-stone]").length;
      if (now !== count) { count = now; isPlayed = true; window.times.push(["stone", performance.now() - clicked]); return; }
      if (isPlayed && !isThought && document.querySelector("#board [data-candidate]")) {
        isThought = true;
        window.times.push(["candidate", performance.now() - clicked]);
      }
    }).observe(document.getElementById("board"), { childList: true, subtree: true });
  });
  for (const [index, name] of ["D4", "Q16", "Q4", "D16", "C6", "R6", "F17", "K10"].entries()) {
    await click(page, name, 19);
    await played(page, index + 1);
    await page.waitForFunction(count => window.times.filter(([what]) => what === "candidate").length > count, index);
  }
  const times = await page.evaluate(() => window.times);
  const middle = what => times.filter(([kind]) => kind === what).map(([, time]) => Math.round(time)).sort((a, b) => a - b);
  figures.stone = middle("stone");
  figures.candidate = middle("candidate");
  await picture(page, "play-analysis");
  await page.click("#analyse");
}

// Tests that the default opponent adapts, and that the page remembers its rank.
async function adapting(page) {
  const name = () => page.textContent("#name-white");
  const isCalled = words => page.waitForFunction(words => document.getElementById("name-white").textContent.includes(words), words);
  await newGame(page, { size: "9", black: "person", white: "kosumi auto", clock: "none", handicap: "0" });
  await isCalled("adapts to you, now 25 kyu");
  await click(page, "E5");
  await played(page, 2);
  await page.click("#resign");
  await page.click("#resign-now");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("White wins"));
  await page.waitForFunction(() => Object.values(localStorage).some(value => value.includes("auto:29k:1")));
  await newGame(page, { size: "9", black: "person", white: "kosumi auto" });
  await isCalled("adapts to you, now 29 kyu");
  await newGame(page, { size: "9", black: "person", white: "kosumi 30k" });
  await isCalled("30 kyu");
  const offered = await page.$$eval("#white option", options => options.map(option => option.textContent));
  check(offered.includes("Kosumi: 30 kyu – knows the rules"), `opponents are named by rank: ${offered}`);
  check(!(await name()).includes("adapts"), "a fixed rank does not adapt");
}

async function players(page) {
  // A clock that runs out.
  await newGame(page, { size: "9", black: "person", white: "person", clock: "byo-yomi", main: "0", increment: "1", periods: "1" });
  await page.waitForFunction(() => document.getElementById("clock-black").textContent.startsWith("0:01"));
  await click(page, "E5");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("Black wins on time"));
  // Undo, a hint, an estimate and a resignation against the engine.
  await newGame(page, { size: "9", black: "person", white: "kosumi 30k", clock: "none", handicap: "2" });
  await played(page, 1);
  equal(Object.values(await stones(page)).filter(color => color === "black").length, 2, "handicap stones are there");
  await hints(page);
  await page.click("#estimate");
  await page.waitForFunction(() => /leads by about|about even/.test(document.getElementById("lead-words").textContent));
  await page.waitForSelector("#board .owners rect");
  // Resigning asks for confirmation. Undo takes back the resignation, and no move.
  const before = await moves(page);
  await page.click("#resign");
  equal(await page.isVisible("#resign-now"), true, "resigning asks first");
  await page.click("#keep-playing");
  equal(await page.isVisible("#playing"), true, "and the game can go on");
  await page.click("#resign");
  await page.click("#resign-now");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("White wins, Black resigned"));
  await page.click("#undo");
  await page.waitForFunction(() => !document.getElementById("resign").disabled);
  equal(await moves(page), before, "undo takes back the resignation alone");
  // The engine plays against itself until it is stopped.
  await newGame(page, { size: "9", black: "kosumi seconds-1", white: "kosumi seconds-1", handicap: "0" });
  await played(page, 2);
  await page.click("#pause");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Paused");
  const count = await moves(page);
  await page.waitForTimeout(400);
  equal(await moves(page), count, "while paused, nobody plays");
}

async function killed(page, server) {
  await newGame(page, { size: "9", black: "person", white: "engine 0" });
  await click(page, "E5");
  await played(page, 2);
  const [child] = server.children();
  check(child, "the other engine runs");
  process.kill(child, "SIGKILL");
  await click(page, "C3");
  await played(page, 4);
  check(server.children()[0] && server.children()[0] !== child, "an engine that was killed is started again");
  equal(await page.isVisible("#connection"), false, "and nobody notices");
}

const common = ["play", "--no-open", "--threads", "1", "--memory", "64", "--seed", "7"];
const token = "0123456789abcdef0123";
const opponent = `${kosumi} gtp --playouts 10 --threads 1 --memory 16`;
let server = await start(kosumi, [...common, "--engine", opponent, "--token", token]);
await browse(chromium, { ...desktop, locale: "en-GB", acceptDownloads: true }, async context => {
  const page = context.pages()[0];
  const isLost = text => /WebSocket|ERR_CONNECTION_REFUSED/.test(text);
  let mayBeLost = false;
  watch(page, text => mayBeLost && isLost(text));
  page.on("request", request => check(request.url().startsWith(server.url), `request of ${request.url()}`));
  await ready(page, server.url);
  // Measures the time from the beginning of the navigation until the position is drawn.
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!document.getElementById("counter")?.textContent) return;
      window.readyAt = performance.now();
      observer.disconnect();
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
  });
  const times = [];
  for (let time = 0; time < 7; time++) {
    await page.goto("about:blank");
    await ready(page, server.url);
    times.push(await page.evaluate(() => Math.round(window.readyAt)));
  }
  figures.ready = times.sort((a, b) => a - b);
  await measure(page);
  if (process.argv[5] === "figures") return;
  await twoPeople(page);
  await records(page);
  await lookingBack(page);
  await twoWindows(context, page, server.url);
  await adapting(page);
  await players(page);
  await killed(page, server);
  await wholeGame(page);

  // The server is killed, and starts again at the same address.
  await newGame(page, { size: "9", black: "person", white: "kosumi 30k" });
  await click(page, "E5");
  await played(page, 2);
  const before = await stones(page);
  mayBeLost = true;
  await server.kill();
  await page.waitForSelector("#connection:not([hidden])");
  const port = new URL(server.url).port;
  // The page still shows the old game when it is connected again, until the new server's game comes. Then it restores
  // the old one.
  const restored = new Promise(done => page.on("websocket", socket => socket.on("framesent", ({ payload }) => {
    if (!String(payload).startsWith('{"do":"restore"')) return;
    socket.on("framereceived", frame => { if (String(frame.payload).includes('"is":"state"')) done(); });
  })));
  server = await start(kosumi, [...common, "--engine", opponent, "--token", token, "--port", port]);
  await page.waitForSelector("#connection", { state: "hidden" });
  await restored;
  await page.waitForFunction(() => document.querySelectorAll("#board [data-stone]").length === 2);
  equal(await stones(page), before, "after a restart the game is on the board again");
  await click(page, "C3");
  await played(page, 4);
  mayBeLost = false;
});

if (process.argv[5] === "figures") {
  console.log(JSON.stringify(figures));
  process.exit(0);
}

// The appearance in light and dark, on desktop, phone and 4K, and in another language.
const CONTRAST = ["#status", "#facts", "#name-black", "#name-white", ".menu button", "#playing button", "#counter"];
for (const colorScheme of ["light", "dark"]) {
  for (const [name, options] of [["desktop", desktop], ["phone", phone], ["large", { viewport: { width: 3840, height: 2160 } }]]) {
    await browse(chromium, { ...options, colorScheme, locale: { desktop: "en-GB", phone: "de-DE", large: "ko-KR" }[name] }, async context => {
      const page = context.pages()[0];
      watch(page);
      // Records every text that a label shows while it is visible.
      await page.addInitScript(() => {
        window.seenLabels = new Set();
        const look = () => {
          const label = document.getElementById("pass");
          if (label?.textContent && getComputedStyle(label).visibility === "visible") window.seenLabels.add(label.textContent);
          requestAnimationFrame(look);
        };
        look();
      });
      await ready(page, server.url);
      // Languages whose texts the page loads never appear in English first.
      const pass = { desktop: "Pass", phone: "Passen", large: "패스" }[name];
      await page.waitForFunction(pass => window.seenLabels.has(pass), pass);
      equal(await page.evaluate(() => Array.from(window.seenLabels)), [pass], `${name}: the language of the browser`);
      if (name === "phone") {
        await page.tap("#new");
        await picture(page, `play-${name}-${colorScheme}-new`);
        await page.fill("#size", "19");
        await page.selectOption("#white", "kosumi 30k");
        await page.tap("#start");
        await page.waitForFunction(() => document.querySelector("#counter").textContent === "Zug 0");
        await tap(page, "Q16", 19);
        await page.waitForSelector("#confirming:not([hidden])");
        await tap(page, "Q16", 19);
        await played(page, 2);
        equal((await stones(page)).Q16, "black", "on a small board the second tap plays");
      }
      await checkWidth(page, `${name}, ${colorScheme}`);
      await checkContrast(page, `${name}, ${colorScheme}`, CONTRAST);
      const seen = await page.$$eval("#board, #playing, .transport, #status", found => found.map(it => it.getBoundingClientRect().bottom));
      const height = options.viewport.height;
      if (name !== "phone") check(seen.every(bottom => bottom <= height), `${name}: all is seen without scrolling: ${seen}`);
      await picture(page, `play-${name}-${colorScheme}`);
    });
  }
}
// If the texts of a language cannot be loaded, the page is in English.
await browse(chromium, { ...desktop, locale: "de-DE" }, async context => {
  const page = context.pages()[0];
  watch(page, text => text.includes("ERR_FAILED"));
  await page.route("**/texts-de.json", route => route.abort());
  await ready(page, server.url);
  await page.waitForSelector("#pass");
  equal([await page.textContent("#pass"), await page.evaluate(() => document.documentElement.lang)], ["Pass", "en"], "English instead");
});
await server.kill();
writeFileSync(join(folder, "figures.json"), JSON.stringify(figures));
console.log(JSON.stringify(figures));
await finish();
