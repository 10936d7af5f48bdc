// Tests the problems and the first lesson of the page: node problems.mjs CHROMIUM KOSUMI FOLDER
//
// Problems are solved, failed, kept across a reload, and opened from a file. A game of capture Go is played to its end.
// Pictures are written to FOLDER.

import { browse, check, checkContrast, checkWidth, drop, equal, finish, watch } from "./browser.mjs";
import { start } from "./server.mjs";
import { click, pictures, ready } from "./table.mjs";

const [chromium, kosumi, folder] = process.argv.slice(2);
const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const picture = pictures(folder);
const stones = page => page.$$eval("#board [data-stone]", found => found.map(it => it.dataset.stone).sort());
const result = page => page.textContent("#tsumego-result");
const progress = page => page.textContent("#tsumego-progress");
const has = (page, id, words) => page.waitForFunction(([id, words]) => document.getElementById(id).textContent.includes(words), [id, words]);

// Tests a built-in problem: a wrong move with its refutation, then the right move.
async function ownProblem(page) {
  await page.click("#study");
  await page.waitForSelector("#studying:not([hidden])");
  await click(page, "E5", 9);
  await page.waitForSelector('#board [data-stone="E5"]');
  await page.click("#tsumego");
  await page.waitForSelector("#tsumego-list[open]");
  equal(await page.$$eval("#tsumego-items li", found => found.length), 18, "problems of the program");
  equal(await page.textContent("#tsumego-count"), "Solved: 0 of 18", "none is solved");
  await page.click("#tsumego-items li:first-child button");
  await has(page, "tsumego-words", "Black to move: save the group.");
  await page.waitForFunction(() => document.getElementById("board").classList.contains("can-play"));
  equal(await page.textContent("#tsumego-title"), "Problem 1 of 18", "its title");
  equal(await page.$$eval("#board [data-label]", found => found.length), 12, "the group is marked");
  for (const id of ["hint", "estimate", "analyse", "teach"]) equal(await page.isDisabled(`#${id}`), true, `${id} would show the answer`);
  equal([await page.isVisible("#playing"), await page.isVisible("#studying")], [false, false], "no other actions");

  await click(page, "D6", 9);
  await has(page, "tsumego-result", "D6 is wrong.");
  check((await page.textContent("#announcement")).includes("wrong"), "and that is announced");
  equal(await progress(page), "attempts: 1", "the attempt counts");
  const nodes = () => page.$$eval("#tree [data-node]", found => found.length);
  check(await nodes() >= 3, `the refutation is in the tree: ${await nodes()}`);
  const before = await stones(page);
  await page.click("#tsumego-show");
  check((await stones(page)).includes("D5") && !before.includes("D5"), "White takes the middle");
  equal(await page.$eval("#board", it => it.classList.contains("can-play")), false, "nothing is played there");
  await picture(page, "problems-wrong");
  await page.click("#tsumego-retry");
  equal((await stones(page)).length, 32, "back at the start");
  equal(await result(page), "", "without a verdict");
  // Keys can play moves like the mouse.
  await page.focus("#board");
  await page.keyboard.press("ArrowUp");
  for (let tries = 0; tries < 12 && !(await page.textContent("#announcement")).startsWith("D5"); tries++) {
    const [, column, row] = /^([A-G])(\d)/.exec(await page.textContent("#announcement"));
    await page.keyboard.press(column < "D" ? "ArrowRight" : column > "D" ? "ArrowLeft" : row < 5 ? "ArrowUp" : "ArrowDown");
  }
  await page.keyboard.press("Enter");
  await has(page, "tsumego-result", "D5: solved.");
  equal(await progress(page), "solved, attempts: 2", "solved at the second try");
  equal(await page.isVisible("#tsumego-retry"), false, "nothing to try again");
}

// Tests the next problems: one that is solved at once, and one that is solved against replies.
async function others(page) {
  await page.keyboard.press("n");
  await has(page, "tsumego-title", "Problem 2 of 18");
  await has(page, "tsumego-words", "White to move: kill the group of Black.");
  await page.waitForFunction(() => document.getElementById("board").classList.contains("can-play"));
  await page.click("#tsumego-previous");
  await has(page, "tsumego-title", "Problem 1 of 18");
  equal(await progress(page), "solved, attempts: 2", "a problem that is shown again is still solved");
  // The rectangular six: a move that only leads to a ko, a move elsewhere, and the right move, which gets a reply.
  await choose(page, 9);
  for (const [name, words] of [["A2", "A2 works only with a ko."], ["A5", "A5 is wrong."], ["B2", "B2 is right. The reply is A2."]]) {
    await click(page, name, 5);
    await has(page, "tsumego-result", words);
    if (name !== "B2") await page.click("#tsumego-retry");
  }
  equal(await progress(page), "attempts: 2", "a ko and a wrong move are attempts");
  equal([await page.textContent("#counter"), await page.$eval("#board", it => it.classList.contains("can-play"))], ["Move 2", true], "the problem goes on");
  check((await stones(page)).includes("A2"), "after the reply");
  await choose(page, 2);
}

async function choose(page, number) {
  await page.click("#tsumego");
  await page.waitForSelector("#tsumego-list[open]");
  await page.click(`#tsumego-items li:nth-child(${number}) button`);
  await has(page, "tsumego-title", `Problem ${number} of 18`);
  await page.waitForFunction(() => document.getElementById("board").classList.contains("can-play"));
}

// Tests that a reload keeps the problem and the progress, and that the game waits.
async function reload(page, url) {
  await ready(page, url);
  await page.waitForSelector("#solving:not([hidden])");
  await has(page, "tsumego-title", "Problem 2 of 18");
  await page.click("#tsumego");
  await page.waitForSelector("#tsumego-list[open]");
  equal(await page.textContent("#tsumego-count"), "Solved: 1 of 18", "the progress is kept");
  equal(await page.$$eval("#tsumego-items .done", found => found.map(it => it.textContent)), ["solved, attempts: 2"], "in the list");
  await checkContrast(page, "list", ["#tsumego-items .done", "#tsumego-count"]);
  await picture(page, "problems-list");
  await page.click("#tsumego-list .main");
  await page.click("#tsumego-end");
  await page.waitForSelector("#studying:not([hidden])");
  equal(await stones(page), ["E5"], "the game is as it was");
  equal(await page.isVisible("#solving"), false, "and the problem is gone");
}

const GROUP = "AB[cc][dc][ec][cd][ed][ce][ee][cf][ef][cg][dg][eg]AW[bb][cb][db][eb][fb][bc][fc][bd][fd][be][fe][bf][ff][bg][fg][bh][ch][dh][eh][fh]";

// Tests a file: a problem whose goal is not named, and the solution of a record.
async function file(page) {
  const collection = `(;SZ[7:9]PL[B]GN[first]${GROUP})\n(;SZ[7:9]GN[second]C[Black to live]${GROUP};B[de])`;
  await page.click("#tsumego");
  await page.setInputFiles("#tsumego-file", { name: "problems.sgf", mimeType: "application/x-go-sgf", buffer: Buffer.from(collection) });
  await page.waitForFunction(() => document.querySelectorAll("#tsumego-items li").length === 2);
  equal(await page.$$eval("#tsumego-items b", found => found.map(it => it.textContent)), ["first", "second"], "an opened collection");
  await page.click("#tsumego-items li:first-child button");
  await page.waitForSelector("#goals:not([hidden])");
  check((await page.textContent("#tsumego-words")).includes("The record does not name the goal"), "the goal is asked for");
  equal(await page.$eval("#board", it => it.classList.contains("can-play")), false, "and nothing is judged without one");
  await page.click("#goal-live");
  await page.waitForFunction(() => document.getElementById("board").classList.contains("can-play"));
  await click(page, "D5", 9);
  await has(page, "tsumego-result", "D5: solved.");
  equal(await progress(page), "solved at the first try", "solved at once");
  await page.click("#tsumego-unsolved");
  await has(page, "tsumego-title", "second");
  await has(page, "tsumego-comment", "Black to live");
  // In the study mode, the record is opened with its solution.
  await page.click("#tsumego-study");
  await page.waitForSelector("#studying:not([hidden])");
  equal(await page.textContent("#counter"), "Move 1", "with its moves");
  // A problem that names its goal is dropped on the page.
  await drop(page, "#board", "problem.sgf", collection.split("\n")[1]);
  await has(page, "tsumego-words", "Black to move: save the group.");
  await page.click("#tsumego-end");
  await page.waitForSelector("#solving", { state: "hidden" });
  equal(await page.textContent("#counter"), "Move 1", "back at the study");
}

// Plays a game of capture Go, next to the white stones until a stone is captured.
async function capture(page) {
  await page.click("#new");
  await page.click("#capture-go");
  await page.waitForSelector("#capture:not([hidden])");
  await has(page, "capture-words", "Whoever takes a stone first wins.");
  let sawAtari = false;
  for (let turn = 0; turn < 60; turn++) {
    const next = await page.waitForFunction(() => {
      if (!document.getElementById("capture-again").hidden) return { isOver: true };
      if (!document.getElementById("board").classList.contains("can-play")) return null;
      const at = Object.fromEntries(Array.from(document.querySelectorAll("#board [data-stone]"), it => [it.dataset.stone, it.getAttribute("class")]));
      const marked = document.querySelectorAll("#board [data-label]").length;
      const chance = /last liberty|have one liberty left: ([A-J]\d)/.exec(document.getElementById("capture-words").textContent)?.[1];
      if (chance) return { name: chance, marked };
      const letters = "ABCDEFGHJ", free = [];
      const near = name => [[0, 1], [0, -1], [1, 0], [-1, 0]].map(([x, y]) => letters[letters.indexOf(name[0]) + x] + (Number(name[1]) + y))
        .filter(it => /^[A-J][1-9]$/.test(it));
      for (const [name, color] of Object.entries(at)) {
        if (/white/.test(color)) free.push(...near(name).filter(it => !at[it] && near(it).some(next => !at[next])));
      }
      return { name: free[0] || (at.E5 ? "C3" : "E5"), marked };
    }).then(handle => handle.jsonValue());
    if (next.isOver) break;
    sawAtari ||= next.marked > 0;
    const count = Object.keys(await stones(page)).length;
    await click(page, next.name, 9);
    await page.waitForFunction(([count]) => document.querySelectorAll("#board [data-stone]").length !== count
      || !document.getElementById("capture-again").hidden, [count]);
  }
  const words = await page.textContent("#capture-words");
  check(/you have won|White has won/.test(words), `the lesson ends with the first stone that is taken: ${words}`);
  check(sawAtari, "stones in atari were marked");
  equal(await page.$eval("#board", it => it.classList.contains("can-play")), false, "nothing is played after the end");
  await picture(page, "capture-over");
  const left = await stones(page);
  await page.click("#capture-again");
  await page.waitForFunction(() => document.getElementById("capture-again").hidden);
  equal([left.length > 2, await stones(page)], [true, []], "the next game");
  await page.click("#capture-end");
  await page.waitForSelector("#new-game[open]");
  equal(await page.isVisible("#capture"), false, "an ordinary game has no lesson");
  await page.keyboard.press("Escape");
}

const server = await start(kosumi, ["play", "--no-open", "--threads", "1", "--memory", "64"]);
await browse(chromium, { ...desktop, locale: "en-GB" }, async context => {
  const page = context.pages()[0];
  watch(page);
  await ready(page, server.url);
  await ownProblem(page);
  await others(page);
  await reload(page, server.url);
  await file(page);
  await capture(page);
});
await browse(chromium, { ...phone, locale: "en-GB" }, async context => {
  const page = context.pages()[0];
  watch(page);
  await ready(page, server.url);
  await page.click("#more");
  await page.click("#tsumego");
  await page.waitForSelector("#tsumego-list[open]");
  await checkWidth(page, "list on a phone");
  await page.click("#tsumego-items li:nth-child(3) button");
  await page.waitForSelector("#solving:not([hidden])");
  await checkWidth(page, "problem on a phone");
  await checkContrast(page, "problem", ["#tsumego-words", "#tsumego-unsolved", "#tsumego-end"]);
  await picture(page, "problems-phone");
});
await server.kill();
await finish();
