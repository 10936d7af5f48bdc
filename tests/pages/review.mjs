// Tests the page of a review: node review.mjs CHROMIUM PAGE EXPECTED FOLDER
//
// EXPECTED is JSON: `boards`, the stones after every step as [["D4", "black"], …]; `bad`, the steps of bad moves, the
// worst first; `comment`, [step, text], a comment that must appear as plain text. Pictures are written to FOLDER.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, checkContrast, checkWidth, equal, finish, open } from "./browser.mjs";
import { click } from "./table.mjs";
import { pictures } from "./table.mjs";

const [chromium, file, expectedFile, folder] = process.argv.slice(2);
const expected = JSON.parse(readFileSync(expectedFile, "utf8"));
const last = expected.boards.length - 1;
const picture = pictures(folder, 20_000);

const stones = page => page.$$eval("#board [data-stone]", found =>
  found.map(stone => [stone.dataset.stone, stone.getAttribute("class")]).sort((a, b) => a[0] < b[0] ? -1 : 1));
const step = page => page.$eval("#slider", slider => Number(slider.value));
const count = (page, selector) => page.$$eval(selector, found => found.length);
const sorted = board => [...board].sort((a, b) => a[0] < b[0] ? -1 : 1);

async function middle(page, selector) {
  const box = await page.locator(selector).first().boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

async function goThrough(page) {
  equal(await step(page), 0, "the page begins at the start");
  for (let at = 0; at <= last; at++) {
    equal(await step(page), at, "step after a key");
    equal(await stones(page), sorted(expected.boards[at]), `stones at step ${at}`);
    const cursor = await page.$eval("#chart-rate .cursor path", path => Number(path.dataset.step));
    equal(cursor, at, "the line in the curve");
    await page.keyboard.press("ArrowRight");
  }
  equal(await step(page), last, "no step behind the last");
  await page.keyboard.press("Home");
  equal(await step(page), 0, "Home");
  await page.keyboard.press("PageDown");
  equal(await step(page), Math.min(10, last), "Page Down");
  await page.keyboard.press("ArrowLeft");
  equal(await step(page), Math.min(10, last) - 1, "back");
  await page.keyboard.press("End");
  equal(await step(page), last, "End");
  equal(await stones(page), sorted(expected.boards[last]), "stones after a jump to the end");
  // When the cursor is on the board, the arrow keys belong to the board until Escape is pressed.
  const onBoard = () => page.$$eval("#board [data-cursor]", found => found.map(it => it.dataset.cursor));
  await page.keyboard.press("ArrowDown");
  equal(await onBoard(), [], "outside the board, arrows down and up scroll the page");
  await page.keyboard.press("Shift+ArrowUp");
  const [middle] = await onBoard();
  await page.keyboard.press("ArrowLeft");
  const [beside] = await onBoard();
  check(middle && beside && middle !== beside, `the cursor moves: ${middle}, ${beside}`);
  equal(await step(page), last, "and the game stays where it is");
  await page.keyboard.press("Escape");
  equal(await onBoard(), [], "Escape takes it off the board");
  await page.keyboard.press("ArrowLeft");
  equal(await step(page), last - 1, "so the arrows go through the game again");
  await page.click('[data-go="first"]');
  equal(await stones(page), sorted(expected.boards[0]), "stones after a jump to the start");
}

async function tools(page) {
  const half = Math.floor(last / 2);
  await page.$eval("#slider", (slider, value) => {
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
  }, half);
  equal(await stones(page), sorted(expected.boards[half]), "stones after the slider");
  equal(await count(page, "#board .owners rect"), 0, "owners are hidden at first");
  await page.keyboard.press("e");
  check(await count(page, "#board .owners rect") > 0, "owners are shown");
  equal(await page.getAttribute("#toggle-ownership", "aria-pressed"), "true", "the button shows it");
  await picture(page, "desktop-ownership");
  await page.click("#toggle-ownership");
  equal(await count(page, "#board .owners rect"), 0, "owners are hidden again");
  await page.keyboard.press("#");
  check(await count(page, "#board text.number") > 0, "numbers are shown");
  await page.keyboard.press("#");

  // There is one curve of each kind, with a mark for each bad move, and a click selects a step.
  for (const id of ["chart-rate", "chart-score"]) {
    check(await count(page, `#${id} path.curve`) >= 1, `${id} has a curve`);
    const marks = await page.$$eval(`#${id} .mark:not(.better)`, found => found.map(mark => Number(mark.dataset.step)));
    equal(marks.sort((a, b) => a - b), [...expected.bad].sort((a, b) => a - b), `marks of ${id}`);
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    // The list of best moves above the chart may change its height from move to move.
    const clickAt = async distance => {
      const box = await page.locator(`#${id}`).boundingBox();
      await page.mouse.click(box.x + (distance < 0 ? box.width : 0) + distance, box.y + box.height / 2);
    };
    await clickAt(-10);
    equal(await step(page), last, `a click at the end of ${id}`);
    await clickAt(39);
    equal(await step(page), 0, `a click at the start of ${id}`);
  }

  // Best moves and their lines.
  check(await count(page, "#board .candidate") > 0, "best moves are on the board");
  await page.hover("#candidates tbody tr");
  check(await count(page, "#board [data-line]") > 0, "a line is shown while the mouse is on it");
  await page.mouse.move(2, 2);
  equal(await count(page, "#board [data-line]"), 0, "and goes with the mouse");
  // Under the mouse, the line of a candidate replaces its mark, so the click is at a position and not on the element.
  const [x, y] = await middle(page, "#board .candidate");
  await page.mouse.click(x, y);
  check(await page.isVisible("#preview"), "a click keeps the line");
  await picture(page, "desktop-line");
  await page.keyboard.press("Escape");
  equal(await page.isVisible("#preview"), false, "Escape ends it");
  await page.keyboard.press("Alt+A");
  check(await page.isVisible("#preview"), "Alt and its letter show a best move's line, too");
  await page.keyboard.press("Escape");
  await page.keyboard.press("s");
  check(/Black: .*\. White: /.test(await page.textContent("#announcement")), `S announces the position: ${await page.textContent("#announcement")}`);
  await page.keyboard.press("?");
  equal(await page.evaluate(() => document.activeElement.id), "keys", "? leads to the list of keys");
  equal(await stones(page), sorted(expected.boards[0]), "the stones are back");
  await page.keyboard.press("a");
  equal(await count(page, "#board .candidate"), 0, "best moves are hidden");
  await page.keyboard.press("a");
}

async function badMoves(page) {
  const links = await page.$$eval(".worst a", found => found.map(link => Number(link.hash.slice(1))));
  equal(links, expected.bad.slice(0, 20), "the list of the worst moves");
  for (const [index, at] of links.slice(0, 3).entries()) {
    await page.click(`.worst li:nth-child(${index + 1}) a`);
    equal(await step(page), at, "the list jumps");
    check(await page.isVisible("#verdict-line"), "a better move is offered");
    const better = await page.textContent("#verdict-line b");
    if (better !== "pass") equal(await page.$eval("#board .missed", mark => mark.dataset.missed), better, "and marked on the board");
    await page.click("#verdict-line");
    equal(await step(page), at, "its line is shown at the move that it belongs to");
    check(await count(page, "#board [data-line]") > 0, "and is on the board");
    const isPass = (await page.textContent("#verdict-title")).includes("pass");
    equal(await count(page, "#board .played-instead"), isPass ? 0 : 1, "with a mark where the move was played");
    await page.click("#preview-close");
  }
  if (expected.bad.length) {
    await page.keyboard.press("Home");
    await page.keyboard.press("m");
    equal(await step(page), Math.min(...expected.bad), "the next bad move");
    await page.keyboard.press("End");
    await page.keyboard.press("Shift+M");
    const before = expected.bad.filter(number => number < last);
    equal(await step(page), before.length ? Math.max(...before) : last, "Shift M leads to the bad move before");
  }
}

// Tests that the board, the navigation and the best moves are visible without scrolling.
async function fits(page) {
  await page.keyboard.press("Home");
  await page.evaluate(() => scrollTo(0, 0));
  const bottoms = await page.$$eval("#board, .transport, #slider, .stage > .actions, #tree-card, #candidates", found =>
    found.map(it => [it.id || it.className, Math.round(it.getBoundingClientRect().bottom)]));
  for (const [name, bottom] of bottoms) check(bottom <= 900, `${name} ends at ${bottom}`);
}

// Tests the labels of the best moves, the filter of moves, and the record.
async function choices(page) {
  await page.keyboard.press("Home");
  // On a large board, a letter is above the number.
  const note = () => page.$eval("#board .candidate", found => Array.from(found.querySelectorAll("text"), it => it.textContent));
  check(/^A [+−]?\d+\.\d$/.test((await note()).join(" ")), `points at first: ${await note()}`);
  await page.selectOption("#labels", "rate");
  check(/^A \d+$/.test((await note()).join(" ")), `win rates: ${await note()}`);
  await page.selectOption("#labels", "visits");
  check(/^A [\d.]+k?$/.test((await note()).join(" ")), `visits: ${await note()}`);
  await page.selectOption("#labels", "letter");
  equal(await note(), ["A"], "letters alone");
  await page.selectOption("#labels", "points");
  equal(await page.$$eval("#legend .letter", found => found.length), 5, "a legend of the colours");
  await page.click('[data-player="B"]');
  const shown = await page.$$eval(".worst li:not([hidden])", found => found.map(it => it.dataset.color));
  check(shown.every(color => color === "B"), "Black's moves alone");
  equal(await page.$$eval("#chart-rate .mark:not(.better)", found => found.length), shown.length, "on the curve, too");
  await page.click('[data-player=""]');
  check(await count(page, ".stages tbody tr") >= 1, "parts of the game");
  check(/Chinese rules with superko \(not given in the record\)/.test(await page.textContent(".details")), "rules by their title, and that the record does not give them");
  const download = page.waitForEvent("download");
  await page.click("#save");
  const saved = readFileSync(await (await download).path(), "utf8");
  check(saved.includes("Reviewed by Kosumi"), "the annotated record");
}

const nodes = page => page.$$eval("#tree [data-node]", found => found.map(it => it.getAttribute("aria-label")));
const current = page => page.$eval("#tree .current", it => it.getAttribute("aria-label"));
const counter = page => page.textContent("#counter");

// Tests the drawn tree with the variation of the record: clicks, keys, rings on the board, and the way back.
async function tree(page) {
  await page.keyboard.press("Home");
  const all = await nodes(page);
  check(all.some(name => /^Move 3, Black A9, variation 2 of 2/.test(name)), `the variation is drawn: ${all}`);
  equal(await page.$$eval("#tree [role=treeitem]", found => found.length), all.length, "as items of a tree");
  equal(await current(page), "Start", "the start is marked");
  equal(await page.$$eval("#tree-card button, #tree-card textarea", found => found.length), 0, "nothing can be changed");
  await page.click('#tree [aria-label^="Move 2, White E3"]');
  equal(await step(page), 2, "a click goes to a move");
  equal(await page.$$eval("#board .next", found => found.length), 2, "both ways to go on are on the board");
  equal(await page.$$eval("#board [data-next]", found => found.map(it => it.dataset.next)), ["A9"], "one of them is the variation");
  await page.click('#tree [aria-label^="Move 4, White J1"]');
  equal([await counter(page), await step(page)], ["4 · variation", 2], "a move of the variation");
  equal(await stones(page), sorted([...expected.boards[2], ["A9", "black"], ["J1", "white"]]), "its stones");
  equal(await page.textContent("#comment"), "<i>another</i>", "its comment is text");
  check((await current(page)).endsWith("with a comment"), `the tree shows it: ${await current(page)}`);
  await page.focus("#tree");
  await page.keyboard.press("ArrowUp");
  equal([await counter(page), await step(page)], [`4 / ${expected.moves}`, 4], "in the drawing, the arrow up leads to the game");
  equal(await page.getAttribute("#tree", "aria-activedescendant"), await page.getAttribute("#tree .current", "id"), "for screen readers, too");
  await page.keyboard.press("ArrowDown");
  equal(await counter(page), "4 · variation", "and the arrow down back");
  await page.focus("#board");
  await page.keyboard.press("Shift+V");
  equal(await step(page), 4, "Shift V does the same");
  await page.keyboard.press("v");
  equal(await counter(page), "4 · variation", "and V");
  await page.keyboard.press("g");
  equal([await counter(page), await step(page)], [`2 / ${expected.moves}`, 2], "G leads back to the game");
  // A click on a ring leads into the variation as well.
  await click(page, "A9");
  equal(await counter(page), "3 · variation", "a click on a ring follows it");
  check((await page.textContent("#announcement")).startsWith("Move 3, Black A9"), `the move is announced: ${await page.textContent("#announcement")}`);
  check((await nodes(page)).filter(name => /blunder|mistake|inaccuracy/.test(name)).length > 0, "the tree names bad moves");
  await page.keyboard.press("g");
}

// Tests the dots on the stones, by points lost, and the appearance of the board.
async function dots(page) {
  const found = () => page.$$eval("#board [data-dot]", all => all.map(it => [it.dataset.dot, it.getAttribute("class"), Number(it.getAttribute("r"))]));
  await page.click(".worst li:first-child a");
  const move = (await page.textContent("#verdict-title")).match(/Black (\S+)|White (\S+)/).slice(1).find(Boolean);
  const dot = (await found()).find(it => it[0] === move);
  check(/mistake|blunder/.test(dot?.[1]) && dot[2] >= 8, `the bad move has a large dot: ${JSON.stringify(dot)} for ${move}`);
  check((await found()).some(it => it[1].includes("good") && it[2] === 4), "good moves have small ones");
  check((await found()).length <= 12, "those of the latest moves alone");
  const before = (await found()).length, colour = () => page.$eval("#board .dots .mark:not(.good)", it => getComputedStyle(it).fill);
  const red = await colour();
  await page.click("#appearance");
  await page.click('[data-appearance="colours"]');
  await page.click('[data-appearance="dots"]');
  await page.keyboard.press("Escape");
  equal((await found()).length, 0, "dots can be switched off");
  await page.click("#appearance");
  await page.click('[data-appearance="dots"]');
  await page.click("#appearance-choice .main");
  equal((await found()).length, before, "and on again");
  check(await colour() !== red, "in colours that do not rely on red and green");
  await checkContrast(page, "other colours", [".badge"]);
  await page.click("#appearance");
  await page.click('[data-appearance="colours"]');
  await page.click("#appearance-choice .main");
  equal(await colour(), red, "or in the usual ones");
}

// Tests the worst moves as problems, whose answers the numbers of the page judge.
async function problems(page) {
  const list = Math.min(10, expected.bad.length), result = () => page.textContent("#problem-result");
  const points = async () => (await page.$$eval("#board [data-stone]", all => all.map(it => it.dataset.stone)));
  await page.keyboard.press("End");
  equal(await page.textContent("#again"), `Play these ${list} again`, "the worst moves are offered");
  await page.click("#again");
  equal(await page.textContent("#problem-title"), `Problem 1 of ${list}`, "the first problem");
  equal(await page.$$eval("#verdict, #tree-card, #thoughts, #curve", all => all.filter(it => it.offsetParent).length), 0, "nothing shows the answer");
  equal(await count(page, "#board .candidate, #board .missed, #board .mark, #board .next"), 0, "neither does the board");
  const [, number, played] = (await page.textContent("#problem-words")).match(/Move (\d+) of the game was (\S+) /);
  const before = await points();
  check(!before.includes(played), "the move is not on the board");
  // The move of the game is played again.
  if (played !== "pass") {
    await click(page, played);
    check(/: not (solved|sure) \(−[\d.]+ ± [\d.]+ points against /.test(await result()), `the loss is known: ${await result()}`);
    await page.click("#problem-line");
    check(await count(page, "#board [data-line]") > 0, "the better line is shown");
    await page.click("#problem-line");
    await page.click("#problem-retry");
  }
  // A move about which the review knows nothing.
  const known = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
  const at = known.steps.findIndex((it, index) => index < known.main && it.n === Number(number) && it.m && it.j?.c > 0);
  const letters = "ABCDEFGHJ", name = place => place === "--" ? "pass" : letters[place.charCodeAt(0) - 97] + (9 - (place.charCodeAt(1) - 97));
  const lines = known.steps[at - 1].k.map(({ l }) => name(l.slice(0, 2)));
  const free = Array.from({ length: 81 }, (_, index) => letters[index % 9] + (1 + Math.floor(index / 9)))
    .find(point => !before.includes(point) && !lines.includes(point) && point !== played);
  await click(page, free);
  equal(await result(), `${free} was not analysed, so it is not known whether it is good.`, "an unknown move is reported as unknown");
  await page.click("#problem-retry");
  equal(await points(), before, "the position is there again");
  await click(page, lines[0]);
  equal(await result(), `${lines[0]}: solved. It is the first choice of the search.`, "the first choice is right");
  equal(await page.isVisible("#problem-retry"), false, "that is all");
  await picture(page, "desktop-problem");
  await page.keyboard.press("ArrowLeft");
  equal(await page.textContent("#problem-title"), `Problem 1 of ${list}`, "keys do not leave a problem");
  await page.click("#problem-next");
  equal(await page.textContent("#problem-title"), `Problem 2 of ${list}`, "the next one");
  for (let rest = 1; rest < list; rest++) await page.click("#problem-next");
  equal(await page.isVisible("#problem"), false, "the end");
  equal(await page.textContent("#notice"), `Solved at once: ${played === "pass" ? 1 : 0} of ${list}.`, "only first answers that are judged count");
  equal([await step(page), await stones(page)], [last, sorted(expected.boards[last])], "the game is where it was");
  await page.click("#again");
  await page.click("#problem-end");
  equal(await page.isVisible("#problem"), false, "problems can be left");
  check(await page.isVisible("#tree-card"), "and the tree is back");
}

// Tests the other language: all texts of the markup and of the scripts.
async function german(page) {
  await page.keyboard.press("Home");
  // The address is updated a moment later, and a reloaded page starts at its step.
  await page.waitForFunction(() => location.hash === "#0");
  const before = await page.evaluate(() => document.body.innerText);
  await page.selectOption("#language", "de");
  await page.waitForFunction(() => document.documentElement.lang === "de");
  check((await page.textContent(".details")).includes("in der Partie nicht angegeben"), "facts in German");
  check((await page.textContent("#candidates-title")).startsWith("Beste Züge für"), "best moves in German");
  equal(await page.getAttribute("#next-bad", "title"), "Nächster schlechter Zug (M)", "what a mouse shows");
  for (const words of ["Moves that lost most", "Best moves", "Win rate", "accuracy", "Middle game", "How to read this", "first choice"]) {
    check(before.includes(words), `${words} in English`);
    check(!(await page.evaluate(() => document.body.innerText)).includes(words), `${words} in German`);
  }
  equal(await page.$$eval("[data-text], [data-label], [data-hint]", found => found.flatMap(({ dataset: { text, label, hint } }) => [text, label, hint])
    .filter(name => name && !(name in TEXTS.en && name in TEXTS.de))), [], "every text is in the page");
  equal(await page.$$eval("[data-text]", found => found.filter(it => /\{\w+\}/.test(it.textContent)).length), 0, "every value is put in");
  await checkWidth(page, "German");
  await page.reload();
  equal(await page.inputValue("#language"), "de", "the choice is kept");
  // Languages that the page contains compressed.
  for (const name of ["es", "fr", "ja", "ko", "zh"]) {
    await page.selectOption("#language", name);
    await page.waitForFunction(name => document.documentElement.lang === name, name);
    const words = await page.evaluate(() => document.body.innerText);
    for (const english of ["Moves that lost most", "Best moves", "Win rate", "How to read this"]) check(!words.includes(english), `${english} in ${name}`);
    await checkWidth(page, name);
  }
  await page.reload();
  await page.waitForFunction(() => document.documentElement.lang === "zh");
  await page.selectOption("#language", "en");
  equal(await page.evaluate(() => document.body.innerText), before, "and back everything is as before");
}

// Tests that a step that the address requests is shown, even if the page writes the step before it into the address at
// that moment.
async function address(page) {
  await page.evaluate(() => {
    location.hash = "#2";
    history.replaceState(null, "", "#1");
  });
  await page.waitForTimeout(100);
  equal(await step(page), 2, "the step of a new address");
}

async function text(page) {
  const [at, comment] = expected.comment;
  await page.evaluate(at => { location.hash = `#${at}`; }, at);
  await page.waitForFunction(at => Number(document.getElementById("slider").value) === at, at);
  equal(await page.textContent("#comment"), comment, "the comment is text");
  equal(await page.evaluate(() => [window.broken === undefined, document.querySelectorAll("script").length]), [true, 2],
    "no script of a comment runs");
}

const CONTRAST = [".details", ".eyebrow", "#verdict-title", ".badge", ".balance p", "#candidates td", "#candidates th",
  "figcaption", ".worst a span", "dt", "dd", ".stage > .actions button", ".letter", ".about p", ".counter"];
const desktop = { acceptDownloads: true, locale: "en-GB", viewport: { width: 1280, height: 900 } };
const phone = { locale: "en-GB", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

for (const colorScheme of ["light", "dark"]) {
  await open(chromium, file, { ...desktop, colorScheme }, async page => {
    if (colorScheme === "light") {
      await goThrough(page);
      await tools(page);
      await badMoves(page);
      await tree(page);
      await dots(page);
      await problems(page);
      await choices(page);
      await fits(page);
      await address(page);
      await text(page);
      await german(page);
    }
    await checkWidth(page, `desktop, ${colorScheme}`);
    for (const [name, at] of [["start", 0], ["middle", expected.bad[0] ?? Math.floor(last / 2)], ["end", last]]) {
      await page.evaluate(at => { location.hash = `#${at}`; scrollTo(0, 0); }, at);
      await page.waitForFunction(at => Number(document.getElementById("slider").value) === at, at);
      await picture(page, `desktop-${colorScheme}-${name}`);
      if (name === "middle") await checkContrast(page, `desktop, ${colorScheme}`, CONTRAST);
    }
    await page.screenshot({ path: join(folder, `desktop-${colorScheme}-whole.png`), fullPage: true });
  });
  await open(chromium, file, { ...phone, colorScheme, hash: `#${Math.min(3, last)}` }, async page => {
    equal(await step(page), Math.min(3, last), "an address leads to its step");
    await checkWidth(page, `phone, ${colorScheme}`);
    await page.tap('[data-go="1"]');
    equal(await step(page), Math.min(4, last), "a tap on forward");
    const box = await page.locator("#board").boundingBox();
    check(box.width > 350 && box.x >= 0 && box.x + box.width <= 390, `the board fills the phone: ${JSON.stringify(box)}`);
    if (await count(page, "#board .candidate")) {
      await page.touchscreen.tap(...await middle(page, "#board .candidate"));
      check(await page.isVisible("#preview"), "a tap on a best move shows its line");
      await picture(page, `phone-${colorScheme}-line`);
      await page.tap("#preview-close");
    }
    await page.evaluate(() => {
      const board = document.getElementById("board"), box = board.getBoundingClientRect();
      const at = (type, x) => board.dispatchEvent(new PointerEvent(type, { pointerType: "touch", bubbles: true,
        clientX: box.x + x, clientY: box.y + 100 }));
      at("pointerdown", 300);
      at("pointerup", 200);
    });
    equal(await step(page), Math.min(5, last), "a swipe to the left goes on");
    await page.evaluate(at => { location.hash = `#${at}`; scrollTo(0, 0); }, expected.bad[0] ?? last);
    await page.waitForTimeout(300);
    await picture(page, `phone-${colorScheme}`);
    await checkWidth(page, `phone, ${colorScheme}, later`);
    await page.screenshot({ path: join(folder, `phone-${colorScheme}-whole.png`), fullPage: true });
  });
}
await open(chromium, file, { ...desktop, javaScriptEnabled: false }, async page => {
  check(await page.isVisible("noscript"), "without scripts the page says so");
  equal(await count(page, ".worst a"), Math.min(20, expected.bad.length), "and has its lists");
});
await finish();
