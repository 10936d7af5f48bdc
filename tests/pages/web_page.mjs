// Tests the page of `scripts/web`: node web_page.mjs CHROMIUM WEB FOLDER
//
// A game is played on a phone, which loses its tab and its network connection. Games are sent as links, reviewed and
// stored. The engine fails. Pictures and times are written to FOLDER.

import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { browse, check, checkContrast, checkWidth, equal, finish, watch } from "./browser.mjs";
import { serve } from "./static_server.mjs";
import { click, newGame, pictures, played, ready, shown, tap } from "./table.mjs";

const [chromium, web, folder] = process.argv.slice(2);
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const desktop = { viewport: { width: 1280, height: 900 } };
// Times in milliseconds. They are printed and never cause a failure, because machines differ.
const figures = { load: loadavg()[0] };
const picture = pictures(folder);

const moves = page => page.$eval("#counter", it => Number(it.textContent.match(/\d+/)[0]));
const status = page => page.textContent("#status");
const stones = page => page.$$eval("#board [data-stone]", found => found.map(it => [it.dataset.stone, it.getAttribute("class")]).sort());
// Plays a game between two people on 5×5.
async function shortGame(page, turns) {
  await newGame(page, { size: "5", black: "person", white: "person", komi: "0.5" });
  await page.waitForFunction(() => document.getElementById("counter").textContent === "Move 0");
  for (const [index, name] of turns.entries()) {
    await click(page, name, 5);
    await played(page, index + 1);
  }
}

// Makes every request to another address a failure.
function guard(context, url) {
  context.on("request", request => check(request.url().startsWith(url) || request.url().startsWith("blob:"),
    `request of ${request.url()}`));
}

// ---- A phone, under a path of a server that is then stopped ----

const server = await serve(web, { path: "/some/path/" });
await browse(chromium, phone, async context => {
  guard(context, server.url);
  let page = context.pages()[0];
  watch(page);
  await ready(page, server.url);
  figures.ready = Math.round(await page.evaluate(() => performance.now()));
  figures.painted = Math.round(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  const began = Date.now();
  await tap(page, "E5");
  await played(page, 1);
  figures.tapped = Date.now() - began;
  await played(page, 2);
  figures.answered = Date.now() - began;
  await checkWidth(page, "phone");
  await checkContrast(page, "phone", ["h1, .seat .name", "#status", "#pass", "#hint"]);
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");
  await page.click("#hint");
  await page.waitForSelector("#board [data-candidate]");
  await picture(page, "web-phone");
  await page.click("#more");
  check(await page.isVisible("#share") && await page.isVisible("#games"), "the menu has the buttons of this page");
  // A variation with a comment, beside the game.
  await page.click("#study");
  await page.waitForSelector("#studying:not([hidden])");
  await page.click('[data-go="first"]');
  await tap(page, "D4");
  await page.waitForFunction(() => document.querySelectorAll("#tree [data-node]").length === 4);
  await page.fill("#comment", "kept");
  await page.focus("#board");
  await page.waitForSelector("#tree .comment");
  await page.click("#study-end");
  await page.waitForSelector("#playing:not([hidden])");
  const tree = () => page.$$eval("#tree [data-node]", found => found.map(it => it.getAttribute("aria-label")).sort());
  const variations = await tree();
  const before = await stones(page);

  // The tab is killed.
  await page.evaluate(() => navigator.serviceWorker.ready);
  const devtools = await context.newCDPSession(page);
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  // The windows of tests are incognito, so the browser cannot install the page from them.
  equal(installabilityErrors.map(it => it.errorId).filter(id => id !== "in-incognito"), [], "the page can be installed");
  const crash = page.waitForEvent("crash");
  devtools.send("Page.crash").catch(() => undefined);
  await crash;
  await page.close();
  page = await context.newPage();
  watch(page);
  await ready(page, server.url);
  equal(await stones(page), before, "a killed tab loses nothing");
  equal(await tree(), variations, "nor its variations and comments");
  check(await page.evaluate(() => crossOriginIsolated), "the service worker isolates the page");

  // The network connection is lost as well.
  await server.close();
  await page.reload();
  await shown(page);
  equal(await stones(page), before, "the page works without a network");
  await tap(page, before.some(([name]) => name === "C3") ? "G7" : "C3");
  await played(page, 4);
  check(await page.evaluate(() => document.getElementById("connection").hidden), "and complains of nothing");
});
const named = ["", "play.js", "play.css", "table-worker.js", "small.bin.gz", "service-worker.js", "manifest.webmanifest"];
for (const name of named) check(server.requests.includes(`/some/path/${name}`), `${name} was asked for`);
equal(server.missing, [], "nothing is missing");

// ---- Threads of the search, of which the first one fails ----

// The clock is the only function that the page passes to the engine, so it is used to make a thread fail.
let served = 0;
const failingThread = (name, file) => {
  if (name !== "thread-worker.js") return file;
  served += 1;
  return served > 1 ? file : String(file).replace(/now: \(\) => .*?,/, 'now: () => { throw new Error("the thread is made to fail"); },');
};
const threaded = await serve(web, { change: failingThread, isIsolated: true });
await browse(chromium, { ...desktop, serviceWorkers: "block" }, async context => {
  // Simulates a device with three processors.
  await context.addInitScript(() => Object.defineProperty(navigator, "hardwareConcurrency", { value: 3 }));
  const page = context.pages()[0];
  watch(page, words => words.startsWith("Service Worker registration blocked") || words.includes("made to fail"));
  await ready(page, threaded.url);
  await shortGame(page, ["C3", "B3"]);
  await page.click("#analyse");
  await page.waitForFunction(() => document.getElementById("connection").textContent.includes("failed"));
  equal(await moves(page), 2, "the game outlives the thread");
  check(served > 1, "the engine that is started then has threads again");
  await page.click("#pause");
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");
});
await threaded.close();

// ---- A desktop: links, stored games, a review, and an engine that fails ----

// The clock is the only function that the page passes to the engine, so it is used to make the engine fail.
const failing = `let fails = false;
new BroadcastChannel("test").onmessage = () => { fails = true; };
const now = () => {
  if (fails) { fails = false; throw new Error("the engine is made to fail"); }
  return performance.now();
};`;
// The first review fails as well.
let reviews = 0;
const change = (name, file) => {
  if (name === "table-worker.js") return String(file).replace("const now = () => performance.now();", failing);
  if (name !== "review-worker.js") return file;
  reviews += 1;
  return reviews > 1 ? file : 'throw new Error("the review is made to fail");';
};
const other = await serve(web, { change });
await browse(chromium, { ...desktop, serviceWorkers: "block" }, async context => {
  guard(context, other.url);
  const page = context.pages()[0];
  const isBlocked = words => words.startsWith("Service Worker registration blocked");
  watch(page, isBlocked);
  await ready(page, other.url);
  await shortGame(page, ["C3", "B3", "C2", "B2", "D4"]);
  await page.click("#share");
  // The engine creates the link.
  await page.waitForSelector("#share-text[open]");
  const link = await page.inputValue("#share-link");
  check(link.startsWith(`${other.url}#game=`) && link.length < 400, `the link holds the game: ${link}`);
  await page.keyboard.press("Escape");

  // A link that was tampered with.
  const hostile = [link.slice(0, -9), `${other.url}#game=AAAA`, `${other.url}#game=%3Cscript%3E`];
  for (const address of hostile) {
    await page.evaluate(address => { location.href = address; }, address);
    await page.waitForFunction(() => document.getElementById("status").textContent.includes("link contains no game")
      && location.hash === "");
    equal(await moves(page), 5, "the game is still there");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowRight");
    await page.evaluate(() => { document.getElementById("status").textContent = ""; });
  }

  // The engine fails while it analyses.
  await page.evaluate(() => new BroadcastChannel("test").postMessage(1));
  await page.click("#analyse");
  await page.waitForFunction(() => document.getElementById("connection").textContent.includes("made to fail"));
  equal(await moves(page), 5, "the game outlives the engine");
  equal((await stones(page)).length, 5, "with its stones");
  await page.click("#pause");
  await click(page, "A5", 5);
  await played(page, 6);
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");

  // Files of the user: one that is not a network, and one that can be used.
  const network = bytes => page.setInputFiles("#network-chosen", { name: "x.bin.gz", mimeType: "application/gzip", buffer: bytes });
  await network(Buffer.from("nothing"));
  await page.waitForFunction(() => document.getElementById("connection").textContent.includes("network cannot be read"));
  equal(await moves(page), 6, "and the game goes on");
  await network(readFileSync(join(web, "small.bin.gz")));
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("x.bin.gz"));
  equal(await moves(page), 6, "with another network, too");

  // The review of the finished game opens as a page.
  await page.click("#resign");
  await page.click("#resign-now");
  await page.click("#review-page");
  await page.waitForFunction(() => document.getElementById("connection").textContent.includes("review is made to fail"));
  equal(await moves(page), 6, "the game outlives the review");
  await page.click("#review-page");
  await page.waitForSelector("#reviewed:not([hidden])");
  const opening = context.waitForEvent("page");
  await page.click("#reviewed a");
  const review = await opening;
  watch(review);
  await review.waitForFunction(() => document.querySelectorAll("#board [data-candidate]").length
    && document.getElementById("chart-rate").childElementCount);
  await picture(review, "web-review");
  await review.close();

  // The link is opened in a separate window, which then has its game and the earlier ones.
  const second = await context.newPage();
  watch(second, isBlocked);
  await second.goto(link);
  await played(second, 5);
  equal(await stones(second), [["B2", "white"], ["B3", "white"], ["C2", "black"], ["C3", "black"], ["D4", "black"]],
    "the link opens the game");
  await second.click("#games");
  await second.waitForSelector("#kept-list li");
  equal(await second.$$eval("#kept-list li", found => found.length), 2, "both games are kept");
  await second.click("#kept-list li:not(:has(:disabled)) button:first-child");
  await second.waitForFunction(() => document.getElementById("status").textContent.includes("another window"));
  equal(await moves(second), 5, "a game that another window has is not opened");
  await page.close();
  await second.click("#games");
  await second.click("#kept-list li:not(:has(:disabled)) button:first-child");
  await played(second, 6);
  check((await status(second)).includes("wins by resignation") || (await status(second)).includes("resign"),
    `with its result: ${await status(second)}`);
  await second.click("#games");
  await second.click("#kept-list li:not(:has(:disabled)) button:last-child");
  await second.waitForFunction(() => document.querySelectorAll("#kept-list li").length === 1);
  await second.keyboard.press("Escape");
  await second.selectOption("#language", "de");
  await second.waitForFunction(() => document.getElementById("share").textContent === "Teilen");
  await second.selectOption("#language", "ja");
  await second.waitForFunction(() => document.getElementById("share").textContent === "共有");
});
await other.close();
writeFileSync(join(folder, "figures.json"), JSON.stringify(figures));
console.log(JSON.stringify(figures));
await finish();
