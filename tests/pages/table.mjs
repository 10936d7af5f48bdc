// Actions of tests on the pages with a board: waiting for the page, starting games, and clicking points.

import { statSync } from "node:fs";
import { join } from "node:path";
import { check } from "./browser.mjs";

const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

// Opens a page and waits until it shows its game.
export async function ready(page, url) {
  await page.goto(url);
  await shown(page);
}

// Waits until the page shows its game.
export const shown = page => page.waitForFunction(() => document.getElementById("counter").textContent !== "");

// Returns the centre of a point on a board with this number of rows, relative to the board: the page may move the board
// until it is clicked.
async function place(page, name, rows = 9) {
  return page.$eval("#board", (board, [column, row]) => {
    const at = new DOMPoint(column * 40, row * 40).matrixTransform(board.getScreenCTM()), box = board.getBoundingClientRect();
    return { position: { x: at.x - box.left, y: at.y - box.top } };
  }, [LETTERS.indexOf(name[0]), rows - Number(name.slice(1))]);
}

export const click = async (page, name, rows) => page.click("#board", await place(page, name, rows));
export const tap = async (page, name, rows) => page.tap("#board", await place(page, name, rows));

// Starts a game with the dialog, and waits until it is on the board, because a move before that would belong to the
// previous game.
export async function newGame(page, choices) {
  await page.click("#new");
  for (const [id, value] of Object.entries(choices)) {
    if (["size", "komi", "main", "increment", "periods"].includes(id)) await page.fill(`#${id}`, value);
    else await page.selectOption(`#${id}`, value);
  }
  await page.click("#start");
  await page.waitForFunction(() => !document.getElementById("new-game").open);
}

// Waits until a game has at least this number of moves.
export const played = (page, count) => page.waitForFunction(count =>
  Number(document.getElementById("counter").textContent.match(/\d+/)?.[0]) >= count, count);

// Returns a function that writes screenshots of pages into a folder.
export const pictures = (folder, smallest = 15_000) => async (page, name, options = {}) => {
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, ...options });
  check(statSync(path).size > smallest, `${name}: the picture is nearly empty`);
};
