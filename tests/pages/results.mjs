// Tests a page of results: node results.mjs CHROMIUM match|regress|collection|reviews PAGE FOLDER
//
// Each page is tested on a desktop, a phone and a large screen, in both languages, light and dark. Pictures are written
// to FOLDER.

import { statSync } from "node:fs";
import { join } from "node:path";
import { check, checkContrast, checkWidth, equal, finish, open } from "./browser.mjs";

const [chromium, kind, file, folder] = process.argv.slice(2);
const text = (page, selector) => page.textContent(selector);
const count = (page, selector) => page.$$eval(selector, found => found.length);
const stones = page => page.$$eval("#board [data-stone]", found => found.map(it => it.dataset.stone));

// Tests the viewer: another game, and going forward and back with buttons, slider and keys. The number of stones never
// exceeds that of moves.
async function match(page) {
  const games = await page.$$eval("#viewer-game option", found => found.map(it => it.textContent));
  check(games.length >= 4 && games.every(name => /^Game \d+: /.test(name)), `games to choose: ${games}`);
  const all = async () => Number((await text(page, "#counter")).split("/")[1]);
  equal(await text(page, "#counter"), `${await all()} / ${await all()}`, "the last position is shown first");
  const last = await stones(page);
  check(last.length > 5, "with its stones");
  await page.click('.transport [data-go="first"]');
  equal(await stones(page), [], "the first position is empty");
  check(await page.isDisabled('[data-go="-1"]'), "and there is no way back");
  for (let move = 1; move <= 5; move++) {
    await page.click('.transport [data-go="1"]');
    equal((await text(page, "#counter")).split(" ")[0], String(move), "one move on");
    check((await stones(page)).length <= move, "no more stones than moves");
  }
  await page.focus('.transport [data-go="1"]');
  await page.keyboard.press("PageDown");
  equal((await text(page, "#counter")).split(" ")[0], "15", "Page Down goes ten moves on");
  await page.keyboard.press("ArrowLeft");
  equal((await text(page, "#counter")).split(" ")[0], "14", "an arrow goes back");
  check((await text(page, "#board-title")).startsWith("Move 14: "), "which is said");
  await page.$eval("#slider", slider => { slider.value = 3; slider.dispatchEvent(new Event("input")); });
  equal((await text(page, "#counter")).split(" ")[0], "3", "the slider leads there, too");
  await page.keyboard.press("End");
  equal((await stones(page)).sort(), last.sort(), "the end is as before");
  const first = await text(page, "#counter");
  await page.selectOption("#viewer-game", { index: 1 });
  check((await stones(page)).length > 0, "another game is on the board");
  // The final position in the diagram of this game equals that of the viewer.
  const drawn = await page.$$eval(".cards .card", cards => cards.length);
  check(drawn >= 4, `final positions are drawn: ${drawn}`);
  await page.selectOption("#viewer-game", { index: 0 });
  equal(await text(page, "#counter"), first, "and back");
  const diagram = await page.$eval(".cards .card svg", svg => svg.querySelectorAll("circle.black, circle.white").length);
  equal((await stones(page)).length, diagram, "the viewer ends where the diagram of the same game does");
  check(await count(page, ".plot") >= 1 && await count(page, ".columns .bars i") >= 1, "there are plots");
  const wide = await page.$eval(".plot", plot => plot.getBoundingClientRect().width / document.body.clientWidth);
  check(wide > .9, `plots use the width: ${wide}`);
  equal(await page.$$eval("h2 + .table", found => found.length > 0 && found[0].scrollWidth <= found[0].clientWidth), true, "the results are seen without scrolling");
  check((await page.textContent("h1")).includes("<b>x"), "names of engines are text");
}

// Tests failures with their diagrams, and known failures, which are shown on demand.
async function regress(page) {
  check((await page.textContent("h1")).startsWith("Regression"), "the title");
  const diagrams = await page.$$eval(".card svg.diagram", found => found.map(it => Math.round(it.getBoundingClientRect().width)).filter(Boolean));
  check(diagrams.length >= 1 && diagrams.every(width => width >= 360), `diagrams of 19×19 are large enough: ${diagrams}`);
  const known = page.locator("details", { hasText: "as is known" });
  equal(await known.locator("svg.diagram").first().isVisible(), false, "known failures are not shown");
  await known.locator("summary").click();
  equal(await known.locator("svg.diagram").first().isVisible(), true, "unless somebody asks");
  check(await count(page, ".mark.good") > 0 && await count(page, ".mark.bad") > 0, "wanted and chosen moves are marked");
  await page.click("table a");
  check(await page.evaluate(() => location.hash === "#suite-0"), "a suite's name leads to it");
  check((await page.textContent("body")).includes("<i>"), "what a suite says is text");
}

// Tests plots, and the numbers that they show.
async function collection(page) {
  equal(await count(page, ".tiles div"), 6, "headline numbers");
  check(await count(page, ".plots .card") >= 5, "several plots");
  check(await count(page, ".columns") >= 2 && await count(page, ".shares") >= 2 && await count(page, ".players-plot .name") >= 2, "of three kinds");
  const tallest = await page.$eval(".columns .bars", bars => Math.max(...Array.from(bars.children, it => it.getBoundingClientRect().height)) / bars.getBoundingClientRect().height);
  check(tallest > .97 && tallest <= 1.001, `the highest column is as high as the plot: ${tallest}`);
  for (const whole of await page.$$(".shares .whole")) {
    const filled = await whole.evaluate(it => Array.from(it.children).reduce((sum, part) => sum + part.getBoundingClientRect().width + 2, -2) / it.getBoundingClientRect().width);
    check(filled > .97 && filled < 1.01, `shares fill the bar: ${filled}`);
  }
  const columns = await page.$$eval(".plots .card", cards => new Set(cards.map(card => Math.round(card.getBoundingClientRect().left))).size);
  check(columns >= 2, "more than one column");
  equal(await count(page, ".players-plot b, .shares img"), 0, "names of players are text");
  check((await page.textContent(".players-plot")).includes("<b>"), "as they are in the records");
}

// Tests sorting by a column header, with the mouse and with keys.
async function reviews(page) {
  const table = page.locator("table").first(), head = name => table.locator("th", { hasText: name });
  const column = async number => table.locator(`tbody td:nth-child(${number})`).allTextContents();
  const sorted = () => table.locator("th[aria-sort]").evaluateAll(found => found.map(it => [it.textContent, it.getAttribute("aria-sort")]));
  const first = await column(1);
  equal(first.length, 6, "games");
  equal(await sorted(), [], "no column is said to sort at first");
  await head("Black").first().locator("button").click();
  equal((await column(2)).map(name => name.trim().slice(0, 3)), ["<b>", "ann", "Bob", "Cho", "Dan", "Fay"], "players by name");
  equal(await sorted(), [["Black", "ascending"]], "which is said");
  await page.focus("th:nth-child(6) button");
  await page.keyboard.press("Enter");
  equal(await column(6), ["B+R", "B+2.5", "0", "W+10.5", "Void", ""], "results by Black's margin");
  equal(await sorted(), [["Result", "descending"]], "by a key, too");
  await page.keyboard.press("Space");
  equal(await column(6), ["W+10.5", "0", "B+2.5", "B+R", "Void", ""], "the other way round, with nothing at the end");
  const points = async () => (await column(8)).map(words => Number(/−([\d.]+)$/.exec(words)?.[1] ?? NaN));
  await head("Worst move").locator("button").click();
  const worst = await points();
  check(worst[0] > 0 && worst.every((it, index) => !index || Number.isNaN(it) || it <= worst[index - 1]), `worst moves: ${worst}`);
  const shares = async () => (await column(5)).map(words => parseInt(words, 10));
  await head("Accuracy").nth(1).locator("button").click();
  const found = await shares();
  check(found.slice(0, 5).every((it, index) => !index || it <= found[index - 1]) && Number.isNaN(found[5]), `accuracy: ${found}`);
  await head("Game").locator("button").click();
  equal(await column(1), first, "and as it was");
  await page.selectOption("#language", "de");
  await page.waitForFunction(() => document.documentElement.lang === "de");
  equal(await table.locator("th button").nth(1).textContent(), "Schwarz", "heads are translated");
  await page.selectOption("#language", "en");
}

const visits = { match, regress, collection, reviews };
const CONTRAST = { match: ["p", "td", "th", ".counter", "small"], regress: ["p", "td", "th", "h3 span", "summary"], collection: ["td", "dt", ".scale-x span", ".shares .name"], reviews: ["td", "th button", "td a"] };
const SCREENS = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  large: { viewport: { width: 3840, height: 2160 } },
};
for (const colorScheme of ["light", "dark"]) {
  for (const [name, screen] of Object.entries(SCREENS)) {
    if (name === "large" && colorScheme === "dark") continue;
    await open(chromium, file, { ...screen, colorScheme, locale: "en-GB" }, async page => {
      if (name === "desktop" && colorScheme === "light") await visits[kind](page);
      equal(await page.evaluate(() => window.broken === undefined), true, "no script of a name runs");
      await checkWidth(page, `${name}, ${colorScheme}`);
      await checkContrast(page, `${name}, ${colorScheme}`, CONTRAST[kind]);
      for (const [whole, fullPage] of [["", false], ["-whole", true]]) {
        const path = join(folder, `${kind}-${name}-${colorScheme}${whole}.png`);
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({ path, fullPage });
        check(statSync(path).size > 15_000, `${path}: the picture is nearly empty`);
      }
      if (name === "phone") {
        await page.selectOption("#language", "de");
        await page.waitForFunction(() => document.documentElement.lang === "de");
        equal(await page.$$eval("[data-text]", found => found.filter(it => /\{\w+\}/.test(it.textContent)).length), 0, "every value is put in");
        await checkWidth(page, `${name}, ${colorScheme}, German`);
      }
    });
  }
}
await open(chromium, file, { ...SCREENS.desktop, javaScriptEnabled: false }, async page => {
  check(!(await page.isVisible("#language")), "without scripts there is no choice of languages");
  check((await page.textContent("h1")).length > 3, "and the page is there");
});
await finish();
