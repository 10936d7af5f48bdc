// Runs axe-core over the pages: node axe.mjs CHROMIUM KOSUMI FOLDER
//
// The program creates the pages in FOLDER. Every view is checked in light and dark colours. A finding that axe-core
// calls serious or critical is a failure.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { browse, check, equal, finish, open, watch } from "./browser.mjs";
import { start } from "./server.mjs";
import { newGame, ready } from "./table.mjs";

const [chromium, kosumi, folder] = process.argv.slice(2);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// Without this, colours would be in transition and could not be compared.
const desktop = { viewport: { width: 1280, height: 900 }, locale: "en-GB", reducedMotion: "reduce" };
const phone = { ...desktop, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const BAD = "(;SZ[9]KM[5.5]PB[Ann]BR[3k]PW[Bob]WR[2d]RE[B+R];B[ee];W[eg];B[gd];W[ce];B[aa];W[ge];B[ia];W[fd];B[ed];W[fe];B[ai];W[ef])";

// Returns the serious and critical findings about a page in its present state.
async function findings(page) {
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"], preload: false });
    return violations.filter(it => ["serious", "critical"].includes(it.impact))
      .flatMap(it => it.nodes.map(node => `${it.id}: ${node.target.join(" ")}: ${node.failureSummary.replace(/\s+/g, " ")}`));
  });
}

let views = 0;

async function axe(page, name) {
  views += 1;
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const finding of await findings(page)) check(false, `${name}, ${colorScheme}: ${finding}`);
  }
}

const counted = (page, move) => page.waitForFunction(move => document.getElementById("counter").textContent.match(/\d+/)?.[0] === String(move), move);

// Opens a view with a button, checks it, and closes it.
async function dialog(page, button, opened) {
  await page.click(button);
  await page.waitForSelector(`${opened}[open]`);
  await axe(page, opened);
  await page.keyboard.press("Escape");
}

async function board(page) {
  await axe(page, "an empty board");
  await dialog(page, "#new", "#new-game");
  await dialog(page, "#players", "#seat-choice");
  await dialog(page, "#appearance", "#appearance-choice");
  await dialog(page, "#help", "#help-text");
  await newGame(page, { white: "kosumi 30k" });
  await page.waitForFunction(() => document.getElementById("board").classList.contains("can-play"));
  await page.focus("#board");
  for (const key of ["ArrowUp", "Enter"]) await page.keyboard.press(key);
  await counted(page, 2);
  await axe(page, "a game");
  await page.click("#hint");
  await page.waitForSelector("#hint-words:not([hidden])");
  await page.click("#analyse");
  await page.waitForSelector("#candidates .letter");
  await page.click("#analyse");
  await axe(page, "a game with advice");
  await page.click("#resign");
  await page.waitForSelector("#resigning:not([hidden])");
  await axe(page, "a question");
  await page.click("#keep-playing");
  await page.click("#study");
  await page.waitForSelector("#studying:not([hidden])");
  await axe(page, "a study");

  // A review, with curves, a list of bad moves, and a verdict.
  await page.setInputFiles("#file", { name: "bad.sgf", mimeType: "application/x-go-sgf", buffer: Buffer.from(BAD) });
  await counted(page, 12);
  await page.click("#study-review");
  await page.waitForSelector("#judging:not([hidden])");
  await page.waitForSelector("#worst-list button");
  await page.waitForSelector("#judging", { state: "hidden" });
  await page.click("#worst-list button");
  await page.waitForSelector("#verdict:not([hidden])");
  await axe(page, "a review");
  await page.click("#again");
  await page.waitForSelector("#problem:not([hidden])");
  await axe(page, "a problem made of a bad move");
  await page.click("#problem-end");

  await page.click("#tsumego");
  await page.waitForSelector("#tsumego-items li");
  await axe(page, "problems");
  await page.click("#tsumego-items li:first-child button");
  await page.waitForSelector("#solving:not([hidden])");
  await page.waitForFunction(() => document.getElementById("board").classList.contains("can-play"));
  await axe(page, "a problem");
  await page.click("#tsumego-end");
  await page.waitForSelector("#solving", { state: "hidden" });

  await page.click("#new");
  await page.click("#capture-go");
  await page.waitForSelector("#capture:not([hidden])");
  await axe(page, "capture Go");
  await page.selectOption("#language", "de");
  await page.waitForFunction(() => document.documentElement.lang === "de");
  await axe(page, "capture Go in German");
  await dialog(page, "#new", "#new-game");
}

// axe-core must find something on a faulty page. Otherwise an axe-core that finds nothing at all would pass.
await browse(chromium, desktop, async context => {
  const page = context.pages()[0];
  await page.setContent('<!DOCTYPE html><html lang="en"><title>x</title><main><h1>x</h1><button></button></main></html>');
  equal((await findings(page)).map(it => it.split(":")[0]), ["button-name"], "a button without a name is found");
});

const server = await start(kosumi, ["play", "--no-open", "--threads", "1", "--memory", "64", "--seed", "7"]);
await browse(chromium, desktop, async context => {
  const page = context.pages()[0];
  watch(page);
  await ready(page, server.url);
  await board(page);
});
await browse(chromium, phone, async context => {
  const page = context.pages()[0];
  watch(page);
  await ready(page, server.url);
  await axe(page, "the board on a phone");
  await page.click("#more");
  await axe(page, "its menu");
});
await server.kill();

// Pages that are files.
const run = (...words) => execFileSync(kosumi, words, { cwd: folder, stdio: "ignore" });
mkdirSync(join(folder, "games"));
for (const [number, result] of ["B+R", "W+2.5"].entries()) {
  writeFileSync(join(folder, "games", `${number}.sgf`), BAD.replace("B+R", result));
}
writeFileSync(join(folder, "games", "broken.sgf"), "(;");
const quick = ["--threads", "1", "--memory", "16", "--no-model"];
try {
  run("review", "games", "-o", "reviewed", "--playouts", "200", ...quick);
} catch (error) {
  equal(error.status, 1, "only the broken record is refused");
}
const builtin = "builtin:playouts=1,threads=1,memory=16";
run("match", builtin, builtin, "--games", "2", "--sizes", "9", "--seed", "1", "--html", "match.html");
writeFileSync(join(folder, "suite.tst"), "boardsize 9\nclear_board\nplay b E5\n1 reg_genmove white\n#? [A1]\n2 reg_genmove white\n#? [J9]*\n");
try {
  run("regress", "suite.tst", "--no-model", "--playouts", "20", "--threads", "1", "--html", "regress.html");
} catch (error) {
  equal(error.status, 1, "failures are reported");
}
run("sgf", "stats", "games/0.sgf", "--html", "collection.html");

for (const name of ["reviewed/0.review.html", "reviewed/index.html", "reviewed/player-1.html", "match.html", "regress.html", "collection.html"]) {
  await open(chromium, join(folder, name), desktop, async page => {
    await axe(page, name);
    for (const closed of await page.$$("details:not([open]) summary")) await closed.click();
    if (await page.$(".worst a")) {
      await page.click(".worst a");
      await axe(page, `${name} with a verdict`);
      await dialog(page, "#appearance", "#appearance-choice");
      await page.click("#again");
      await axe(page, `${name} with a problem`);
      await page.click("#problem-end");
    }
    await page.selectOption("#language", "de");
    await page.waitForFunction(() => document.documentElement.lang === "de");
    await axe(page, `${name} in German`);
  });
}
console.log(`${views} views`);
await finish();
