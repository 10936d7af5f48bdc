// Tests the game tree of `kosumi play`: node tree.mjs CHROMIUM KOSUMI FOLDER
//
// Tests variations, comments, the study mode, judgements, the lesson about a move, and problems that are posed again
// after days. If the server is killed, none of this is lost.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browse, check, checkContrast, checkWidth, equal, finish, watch } from "./browser.mjs";
import { start } from "./server.mjs";
import { click, pictures, ready } from "./table.mjs";

const [chromium, kosumi, folder] = process.argv.slice(2);
const DAY = 24 * 3600 * 1000;
const figures = {};
const picture = pictures(folder);

const stones = page => page.$$eval("#board [data-stone]", found => found.map(it => it.dataset.stone).sort());
const count = page => page.$eval("#counter", it => it.textContent);
const nodes = page => page.$$eval("#tree [data-node]", found => found.map(it => it.getAttribute("aria-label")));
const current = page => page.$eval("#tree .current", it => it.getAttribute("aria-label"));
const announcement = page => page.textContent("#announcement");
const counted = (page, text) => page.waitForFunction(text => document.getElementById("counter").textContent === text, text);
const nodeCount = (page, number) => page.waitForFunction(number => document.querySelectorAll("#tree [data-node]").length === number, number);

async function open(page, record) {
  await page.setInputFiles("#file", { name: "x.sgf", mimeType: "text/plain", buffer: Buffer.from(record) });
}

const saved = async page => {
  const download = page.waitForEvent("download");
  await page.click("#save");
  return readFileSync(await (await download).path(), "utf8").replaceAll("\n", "");
};

const RECORD = "(;SZ[9]KM[6.5]RU[Japanese]PB[Ann]PW[Bob]RE[W+R]XX[kept]C[the <b>start</b>]"
  + ";B[cc]LB[gg:A]TR[cc](;W[gg];B[cg];W[gc])(;W[gc]C[other];B[gg](;W[cg])(;W[ee];B[dd])))";

// Tests the tree of an opened record: the drawing, clicks and keys.
async function looking(page) {
  await open(page, RECORD);
  await counted(page, "Move 4");
  equal((await nodes(page)).length, 10, "all nodes are drawn");
  equal(await current(page), "Move 4, White G7", "the end of the main line is shown");
  equal(await page.textContent("#status"), "The game is over: White wins, Black resigned", "with its result");
  const rows = () => page.$$eval("#tree [data-node] .stone", found => new Set(found.map(it => it.getAttribute("cy") ?? it.getAttribute("y"))).size);
  check(await rows() >= 3, `variations have rows of their own: ${await rows()}`);
  await page.click('#tree [aria-label^="Move 2, White G7"]');
  await counted(page, "2 / 4").catch(() => undefined);
  equal(await stones(page), ["C7", "G7"], "a click goes to a variation");
  equal(await page.inputValue("#comment"), "other", "its comment is shown");
  equal(await page.$$eval("#board [data-next]", found => found.map(it => it.dataset.next)), ["G3"], "and where it goes on");
  // Keys move along a line, to the other variation, and in the drawing itself.
  await page.focus("#board");
  await page.keyboard.press("ArrowRight");
  equal(await stones(page), ["C7", "G3", "G7"], "the arrow follows the variation");
  await page.keyboard.press("v");
  check((await current(page)).startsWith("Move 3"), `V goes to the next variation: ${await current(page)}`);
  await page.keyboard.press("V");
  equal(await current(page), "Move 3, Black G3", "Shift V goes back");
  await page.focus("#tree");
  for (const key of ["ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  equal(await current(page), "Move 4, White E5, variation 2 of 2", "arrows move in the drawing");
  await page.keyboard.press("ArrowLeft");
  equal(await page.getAttribute("#tree", "aria-activedescendant"), await page.getAttribute("#tree .current", "id"), "for screen readers, too");
  check((await announcement(page)).includes("G3"), `and the move is announced: ${await announcement(page)}`);
  await page.focus("#board");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  equal(await page.$$eval("#board [data-label]", found => found.map(it => it.dataset.label).sort()), ["C7", "G3"], "marks of the record are shown");
}

// Tests variations that are played, commented on, promoted and deleted.
async function editing(page) {
  await click(page, "E5");
  await nodeCount(page, 11);
  equal(await stones(page), ["C7", "E5"], "a move at an earlier position is a variation");
  await page.fill("#comment", "mine ] \\ <img src=x onerror=window.broken=1>");
  await page.focus("#board");
  check((await current(page)).includes("variation 3 of 3"), `as the last one: ${await current(page)}`);
  await page.click("#promote");
  await page.waitForFunction(() => document.querySelector("#tree .current").getAttribute("aria-label").includes("variation 1 of 3"));
  equal(await page.isDisabled("#promote"), true, "the main line cannot be promoted");
  let record = await saved(page);
  check(record.includes("(;W[ee]C[mine \\] \\\\ <img src=x onerror=window.broken=1>])(;W[gg];B[cg];W[gc])(;W[gc]C[other]"), `the record has it all: ${record}`);
  for (const part of ["XX[kept]", "LB[gg:A]", "TR[cc]", "RU[Japanese]", "PB[Ann]"]) check(record.includes(part), `${part} stays`);
  await page.click("#remove");
  await nodeCount(page, 10);
  equal(await stones(page), ["C7"], "a deleted variation is gone");
  check(!(await saved(page)).includes("mine"), "from the record, too");
  await page.click("#put-back");
  await nodeCount(page, 11);
  record = await saved(page);
  check(record.includes("mine") && record.includes("(;W[ee]"), "and comes back");
  equal(await page.evaluate(() => window.broken), undefined, "comments are text");
  // Playing the same move again adds no variation.
  await click(page, "E5");
  await page.waitForFunction(() => document.querySelectorAll("#board [data-stone]").length === 2);
  equal((await nodes(page)).length, 11, "a move that is known is not added");
}

// Tests that Kosumi answers moves, and plays from any position.
async function studying(page) {
  await page.click("#answers");
  await page.waitForSelector('#answers[aria-pressed="true"]');
  await page.click('#tree [aria-label^="Move 3, Black G3"]');
  const before = (await nodes(page)).length;
  await click(page, "A1");
  await nodeCount(page, before + 2);
  check((await current(page)).startsWith("Move 5, Black"), `Kosumi has answered: ${await current(page)}`);
  await page.click("#answers");
  await page.waitForSelector('#answers[aria-pressed="false"]');
  await page.keyboard.press("Home");
  await page.click("#against");
  await page.selectOption("#seat-white-choice", "kosumi 30k");
  await page.selectOption("#seat-black-choice", "person");
  await page.click("#sit");
  await page.waitForSelector("#playing:not([hidden])");
  await counted(page, "Move 0");
  await click(page, "G3");
  await counted(page, "Move 2");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Black to move");
  check((await nodes(page)).length > before + 3, "the game from there is a variation");
  await page.click("#undo");
  await counted(page, "Move 0");
  await page.click("#study");
  await page.waitForSelector("#studying:not([hidden])");
}

// Tests that everything is there again after a reload, and after the server was killed.
async function surviving(page, restart) {
  const tree = async () => (await nodes(page)).sort();
  const before = await tree();
  await page.reload();
  await nodeCount(page, before.length);
  equal(await tree(), before, "a reload loses nothing");
  await page.click('#tree [aria-label^="Move 1, Black C7"]');
  await page.fill("#comment", "the last change");
  await page.focus("#board");
  await click(page, "J9");
  await nodeCount(page, before.length + 1);
  const changed = await tree(), at = await current(page);
  await restart();
  await page.waitForSelector("#connection", { state: "hidden" });
  await nodeCount(page, changed.length);
  equal(await tree(), changed, "nor does a server that was killed");
  equal(await current(page), at, "and the position is the same");
  await page.click('#tree [aria-label^="Move 1, Black C7"]');
  equal(await page.inputValue("#comment"), "the last change", "with its comment");
}

// A game with bad moves, to be judged.
const BAD = "(;SZ[9]KM[5.5];B[ee];W[eg];B[gd];W[ce];B[aa];W[ge];B[ia];W[fd];B[ed];W[fe];B[ai];W[ef])";

async function judging(page) {
  await open(page, BAD);
  await counted(page, "Move 12");
  await page.click("#study-review");
  await page.waitForSelector("#judging:not([hidden])");
  await page.waitForFunction(() => document.querySelectorAll("#chart-rate .curve.rate").length > 0);
  await page.waitForSelector("#judging", { state: "hidden" });
  const dots = await page.$$eval("#board [data-dot]", found => found.length);
  check(dots >= 10, `stones carry dots: ${dots}`);
  const list = await page.$$eval("#worst-list button", found => found.map(it => it.textContent));
  check(list.slice(0, 4).some(words => /Black (A9|J9|A1) /.test(words)), `the worst moves are listed: ${list}`);
  check((await page.$$eval("#tree .mark", found => found.length)) >= list.length, "and marked in the tree");
  check((await page.$$eval("#chart-rate .mark", found => found.length)) >= list.length, "and on the curve");
  await page.click("#worst-list button");
  await page.waitForSelector("#verdict:not([hidden])");
  check(/mistake|blunder/.test(await page.textContent("#verdict-title")), `a verdict: ${await page.textContent("#verdict-title")}`);
  check(/± .* points · .*win rate/.test(await page.textContent("#verdict-loss")), `with its numbers: ${await page.textContent("#verdict-loss")}`);
  await page.click("#verdict-line");
  await page.waitForSelector("#board [data-line]");
  await page.click("#verdict-line");
  await picture(page, "tree-judged");
  check((await saved(page)).includes("loses"), "the saved record has the verdicts");
  await page.click("#appearance");
  await page.click('[data-appearance="dots"]');
  await page.click("#appearance-choice .main");
  equal(await page.$$eval("#board [data-dot]", found => found.length), 0, "dots can be switched off");
  await page.click("#appearance");
  for (const name of ["dots", "colours", "coordinates", "sound"]) await page.click(`[data-appearance="${name}"]`);
  await page.selectOption('[data-appearance="wood"]', "slate");
  await page.click("#appearance-choice .main");
  equal(await page.isVisible("#board .coordinates"), false, "coordinates, too");
  await checkContrast(page, "other colours", ["#verdict-title .badge"]);
  await page.reload();
  await page.waitForSelector("#board [data-stone]");
  equal(await page.getAttribute("html", "data-wood"), "slate", "the choices are kept");
}

// Tests the worst moves as problems, which are posed again after days.
async function problems(page) {
  await page.clock.setFixedTime(new Date("2026-03-01T12:00:00Z"));
  const list = await page.$$eval("#worst-list button", found => found.length);
  await page.click("#again");
  await page.waitForSelector("#problem:not([hidden])");
  equal(await page.textContent("#problem-title"), `Problem 1 of ${list}`, "the first problem");
  equal(await page.isVisible("#hint"), true, "advice is there");
  equal(await page.isDisabled("#hint"), true, "but not for problems");
  const game = (await nodes(page)).length;
  // Playing the move of the game again is not a solution.
  const played = (await page.textContent("#problem-words")).match(/was ([A-J]\d)/)[1];
  await click(page, played);
  await page.waitForFunction(() => /not solved|not sure/.test(document.getElementById("problem-result").textContent));
  check(/points against [A-J]\d/.test(await page.textContent("#problem-result")), `with the loss: ${await page.textContent("#problem-result")}`);
  const best = (await page.textContent("#problem-result")).match(/against ([A-J]\d)/)[1];
  await page.click("#problem-line");
  await page.waitForSelector("#board [data-line]");
  await picture(page, "tree-problem");
  await page.click("#problem-line");
  await page.click("#problem-retry");
  await click(page, best);
  await page.waitForFunction(() => / solved|not sure/.test(document.getElementById("problem-result").textContent));
  const kept = () => page.evaluate(() => JSON.parse(localStorage.getItem("problems")).map(({ due, solved }) => [due, solved]));
  const start = Date.parse("2026-03-01T12:00:00Z");
  equal((await kept()).filter(([due]) => due === start + DAY).length, 1, "the first answer counts: the problem comes back tomorrow");
  for (let rest = 1; rest < list; rest++) await page.click("#problem-next");
  await page.click("#problem-next");
  await page.waitForSelector("#problem", { state: "hidden" });
  check((await page.textContent("#status")).includes(`Solved at once: 0 of ${list}`), await page.textContent("#status"));
  equal((await nodes(page)).length, game, "the tree of the game is as before");

  // From three days later on, one problem is solved again and again.
  await page.evaluate(() => {
    const all = JSON.parse(localStorage.getItem("problems"));
    localStorage.setItem("problems", JSON.stringify(all.slice(0, 1).map(it => ({ ...it, due: 0, solved: 0 }))));
  });
  let now = start;
  for (const days of [1, 3, 7, 21]) {
    await page.clock.setFixedTime(new Date(now));
    await page.reload();
    await page.waitForSelector("#due:not([hidden]):not([disabled])");
    equal(await page.textContent("#due"), "Own problems that are due: 1", "a problem is due");
    await page.click("#due");
    // The page knows the best move, but does not show it.
    const line = await page.evaluate(() => JSON.parse(localStorage.getItem("problems"))[0].line.l.slice(0, 2));
    await click(page, `${"ABCDEFGHJ"[line.charCodeAt(0) - 97]}${9 - (line.charCodeAt(1) - 97)}`);
    await page.waitForFunction(() => / solved|not sure/.test(document.getElementById("problem-result").textContent));
    check((await page.textContent("#problem-result")).includes(": solved"), await page.textContent("#problem-result"));
    equal((await kept())[0][0], now + days * DAY, `after ${days} days it comes back`);
    await page.click("#problem-end");
    equal(await page.isDisabled("#due"), true, "and not before");
    now += days * DAY;
  }
  // Data that another program has written to the storage does no harm.
  for (const wrong of ["{", "[1,null,{}]", '"x"']) {
    await page.evaluate(wrong => localStorage.setItem("problems", wrong), wrong);
    await page.reload();
    await page.waitForSelector("#board [data-stone]");
    equal(await page.isVisible("#due"), false, "no problem is due");
  }
}

// Tests that the page teaches during a game.
async function teaching(page) {
  await page.click("#new");
  await page.fill("#size", "9");
  await page.selectOption("#black", "person");
  await page.selectOption("#white", "kosumi 15k");
  await page.click("#start");
  await counted(page, "Move 0");
  await page.click("#teach");
  await page.waitForSelector('#teach[aria-pressed="true"]');
  await click(page, "A1");
  await page.waitForSelector("#lesson:not([hidden])");
  await counted(page, "Move 2");
  const words = await page.textContent("#lesson-words");
  check(/^Black A1: \?\?? (mistake|blunder), −[\d.]+ ± [\d.]+ points\. Better: [A-J]\d\.$/.test(words), `the lesson: ${words}`);
  await page.click("#lesson-line");
  await page.waitForSelector("#board [data-line]");
  await page.click("#take-back");
  await counted(page, "Move 0");
  equal(await page.isVisible("#lesson"), false, "the lesson goes with the move");
  const better = words.match(/Better: ([A-J]\d)/)[1];
  await click(page, better);
  await counted(page, "Move 2");
  await page.waitForFunction(() => !document.getElementById("lesson").hidden && !document.getElementById("lesson-words").textContent.includes("is being judged"));
  check(!/mistake|blunder/.test(await page.textContent("#lesson-words")), `the better move is better: ${await page.textContent("#lesson-words")}`);
  check((await nodes(page)).some(name => name.startsWith("Move 1, Black A1")), "what was taken back stays in the tree");
  await page.click("#teach");
}

// Tests a game of 400 moves with 100 variations, of which only the visible part is drawn. The times are printed and
// never cause a failure.
async function large(page) {
  const place = number => String.fromCharCode(97 + number % 19, 97 + Math.floor(number / 19) % 19);
  const turn = number => number % 2 ? "W" : "B";
  let record = "(;SZ[19]KM[7.5]", ends = "";
  for (let move = 0; move < 400; move++) {
    const own = move < 300 ? place(move) : "";
    record += `;${turn(move)}[${own}]`;
    if (move % 4 === 1) {
      record += "(";
      ends = `)(;${turn(move + 1)}[${place(310 + move % 40)}];${turn(move)}[${place(355)}];${turn(move + 1)}[])${ends}`;
    }
  }
  await open(page, `${record}${ends})`);
  await counted(page, "Move 400");
  equal(await page.$$eval("#facts", found => /variations kept: 100/.test(found[0].textContent)), true, "100 variations");
  const drawn = (await nodes(page)).length;
  check(drawn > 10 && drawn < 400, `only what is seen is drawn: ${drawn}`);
  const times = await page.evaluate(() => {
    const target = document.getElementById("board");
    const times = [];
    for (let step = 0; step < 120; step++) {
      const began = performance.now();
      target.dispatchEvent(new KeyboardEvent("keydown", { key: step % 3 === 2 ? "v" : "ArrowLeft", bubbles: true }));
      document.body.getBoundingClientRect();
      times.push(performance.now() - began);
    }
    return times.sort((a, b) => a - b).map(Math.round);
  });
  figures.step = [times[60], times.at(-1)];
}

const common = ["play", "--no-open", "--threads", "1", "--memory", "64", "--seed", "7", "--token", "0123456789abcdef0123"];
let server = await start(kosumi, common);
await browse(chromium, { viewport: { width: 1280, height: 900 }, locale: "en-GB", acceptDownloads: true }, async context => {
  const page = context.pages()[0];
  let mayBeLost = false;
  watch(page, text => mayBeLost && /WebSocket|ERR_CONNECTION_REFUSED/.test(text));
  await ready(page, server.url);
  await looking(page);
  await editing(page);
  await studying(page);
  await surviving(page, async () => {
    mayBeLost = true;
    await server.kill();
    await page.waitForSelector("#connection:not([hidden])");
    server = await start(kosumi, [...common, "--port", new URL(server.url).port]);
  });
  mayBeLost = false;
  await judging(page);
  await problems(page);
  await large(page);
  await teaching(page);
  await checkWidth(page, "desktop");
  // A record that is too large is refused, and one with too many variations is opened without them.
  await open(page, `(;SZ[9];B[aa]${"(;W[bb];B[cc])".repeat(100_000)})`);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("200002 positions"));
  equal((await nodes(page)).length, 4, "its main line is opened");
});
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2, locale: "de-DE" };
await browse(chromium, phone, async context => {
  const page = context.pages()[0];
  watch(page);
  await page.goto(server.url);
  await open(page, RECORD);
  await counted(page, "Zug 4");
  await checkWidth(page, "phone");
  await page.tap('#tree [aria-label^="Zug 3, Schwarz G3"]');
  equal(await stones(page), ["C7", "G3", "G7"], "a tap in the tree goes there");
  await checkContrast(page, "phone", ["#status", "#studying button:enabled", "#comment-of"]);
  await picture(page, "tree-phone");
});
await server.kill();
writeFileSync(join(folder, "figures.json"), JSON.stringify(figures));
console.log(JSON.stringify(figures));
await finish();
