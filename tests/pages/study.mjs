// Tests the page of `kosumi review GAME.sgf --live`: node study.mjs CHROMIUM KOSUMI FOLDER
//
// FOLDER contains game.sgf. The review ends while the page is open. Moves are tried in two windows, and the results are
// saved.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { browse, check, checkWidth, drop, equal, finish, watch } from "./browser.mjs";
import { start } from "./server.mjs";
import { click, pictures } from "./table.mjs";

const [chromium, kosumi, folder] = process.argv.slice(2);
const server = await start(kosumi, ["review", join(folder, "game.sgf"), "--live", "--no-open", "--threads", "1", "--memory", "32",
  "--playouts", "60"]);

const picture = pictures(folder, 20_000);
const stones = page => page.$$eval("#board [data-stone]", found => found.map(stone => stone.dataset.stone).sort());
const title = page => page.textContent("#verdict-title");

const visits = page => page.evaluate(() => Number(document.getElementById("balance-lead").textContent.match(/([\d,]+) visits/)?.[1].replace(",", "") || 0));

await browse(chromium, { viewport: { width: 1280, height: 900 }, acceptDownloads: true }, async context => {
  const page = context.pages()[0];
  watch(page);
  page.on("request", request => check(request.url().startsWith(server.url), `request of ${request.url()}`));
  await page.goto(server.url);
  // The page is available at once, and reloads when the review is done.
  await page.waitForFunction(() => document.querySelectorAll("#board .star").length > 0);
  // When the review is done, the list of the worst moves appears.
  await page.waitForSelector(".worst a");
  await page.waitForTimeout(200);
  await page.click(".worst li:first-child a");
  const better = await page.textContent("#verdict-line b");
  const at = Number(await page.$eval("#slider", slider => slider.value));
  equal(await page.$eval("#board .missed", mark => mark.dataset.missed), better, "the missed move is on the board");
  await page.click("#verdict-line");
  equal(Number(await page.$eval("#slider", slider => slider.value)), at, "its line is shown at the same move");
  await page.keyboard.press("Escape");

  // The analysis of a position deepens while a window shows it.
  const before = await visits(page);
  await page.waitForFunction(before => Number(document.getElementById("balance-lead").textContent.match(/([\d,]+) visits/)?.[1].replace(",", "") || 0) > before,
    before);

  // The better move is tried in the position before the bad move, and judged at once.
  await page.keyboard.press("ArrowLeft");
  const there = await stones(page);
  await page.mouse.move(5, 5);
  const began = Date.now();
  await click(page, better);
  await page.waitForFunction(name => document.getElementById("verdict-title").textContent.includes(name), better);
  const shown = Date.now() - began;
  check((await stones(page)).includes(better) && (await stones(page)).length >= there.length, "the move is on the board");
  await page.waitForSelector("#balance:not([hidden])");
  console.log(JSON.stringify({ tried: shown, candidate: Date.now() - began }));
  check(/good|first choice/.test(await title(page)), `the better move is no mistake: ${await title(page)}`);
  await picture(page, "study-tried");
  // A bad move is marked as one.
  await page.keyboard.press("ArrowLeft");
  await page.waitForSelector("#candidates tbody tr");
  await click(page, "A1");
  await page.waitForFunction(() => document.getElementById("verdict-title").textContent.includes("A1")
    && /\?|unclear|good|choice/.test(document.getElementById("verdict-title").textContent));
  const drawn = await page.$$eval("#tree [data-node]", found => found.map(it => it.getAttribute("aria-label")));
  check([better, "A1"].every(name => drawn.some(words => words.includes(` ${name}`))), `tried moves are in the tree: ${drawn}`);
  // Kosumi answers a tried move.
  await page.click("#toggle-answers");
  await page.keyboard.press("ArrowLeft");
  await click(page, "J1");
  await page.waitForFunction(() => document.querySelector("#counter").textContent.includes("variation")
    && !document.getElementById("verdict-title").textContent.includes("J1"));
  await page.keyboard.press("g");
  check(!(await page.textContent("#counter")).includes("variation"), "G leads back to the game");
  await page.click("#toggle-answers");

  // The variation of the record.
  await page.keyboard.press("Home");
  await page.click('#tree [aria-label^="Move 1, Black G3"]');
  equal((await stones(page)).includes("G3"), true, "a variation of the record can be reached");
  check((await page.textContent("#comment")).includes("<i>another</i>"), "and its comment is text");

  // A second window shows another position, and both windows get messages.
  const other = await context.newPage();
  watch(other);
  await other.goto(`${server.url}#3`);
  await other.waitForSelector("#candidates tbody tr");
  await click(other, "E1");
  await other.waitForSelector("#balance:not([hidden])");
  const one = await visits(other);
  await other.waitForFunction(one => Number(document.getElementById("balance-lead").textContent.match(/([\d,]+) visits/)?.[1].replace(",", "") || 0) > one,
    one);
  await other.close();

  // Labels, filter, saving.
  await page.keyboard.press("Home");
  await page.selectOption("#labels", "points");
  check(/[\d.]/.test(await page.textContent("#board .candidate")), "points on the best moves");
  await page.click('[data-player="W"]');
  equal(await page.$$eval(".worst li:not([hidden])", found => found.every(it => it.dataset.color === "W")), true, "White's moves alone");
  const download = page.waitForEvent("download");
  await page.click("#save");
  const saved = readFileSync(await (await download).path(), "utf8");
  check(saved.includes("Tried: Black wins") && saved.includes("Kosumi"), "what was tried is saved");

  // Another game is dropped on the page.
  await drop(page, "#board", "x.sgf", "(;SZ[5]PB[<b>new</b>];B[cc];W[bb];B[dd])");
  await page.waitForFunction(() => document.title.includes("<b>new</b>"));
  await page.waitForSelector(".player dl");
  equal(await page.$$eval("h1 b", found => found.length), 0, "names are text");
  await page.setInputFiles("#file", { name: "x.sgf", mimeType: "text/plain", buffer: Buffer.from("nothing") });
  await page.waitForFunction(() => document.getElementById("notice").textContent.includes("no record"));
  await checkWidth(page, "live");

  // Another language is chosen, and stays chosen.
  await page.selectOption("#language", "de");
  await page.waitForFunction(() => document.documentElement.lang === "de");
  equal([await page.textContent("#pass"), await page.textContent("#toggle-answers"), await page.textContent("#candidates-title")],
    ["Passen", "Kosumi antwortet", "Beste Züge für Schwarz"], "the page speaks German");
  await page.reload();
  await page.waitForFunction(() => document.documentElement.lang === "de");
  await page.waitForSelector("#candidates tbody tr");
  equal(await page.textContent("#worst-heading"), "Züge, die am meisten verloren", "and remembers it");
  await page.keyboard.press("End");
  check((await title(page)).startsWith("Schwarz D2"), `moves, too: ${await title(page)}`);
  check(server.isAlive(), "the server is still there");
});
await server.kill();
await finish();
