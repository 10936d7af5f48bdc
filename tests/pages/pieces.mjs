// Tests the components of pages with a board, one by one: node pieces.mjs CHROMIUM KOSUMI FOLDER

import { readFileSync } from "node:fs";
import { browse, check, equal, finish, watch } from "./browser.mjs";

const [chromium] = process.argv.slice(2);
const table = name => ["", "board/"].map(folder =>
  JSON.parse(readFileSync(new URL(`../../src/board/pages/texts/${folder}${name}.json`, import.meta.url), "utf8")));
const texts = ["en", "de"].map(name => `${name}: ${JSON.stringify(Object.assign({}, ...table(name)))}`);
const read = name => readFileSync(new URL(`../../src/board/pages/${name}`, import.meta.url), "utf8");

await browse(chromium, { viewport: { width: 800, height: 900 }, locale: "en-GB" }, async context => {
  const page = context.pages()[0];
  watch(page);
  await page.setContent('<style>svg { width: 400px }</style><svg id="board"><title>x</title></svg><svg id="chart"></svg>');
  await page.addStyleTag({ content: read("style.css") + read("pieces.css") });
  await page.addScriptTag({ content: [read("board.js"), `const TEXTS = { ${texts} }; const OTHERS = {}; const PACKED = "";`, ...["language.js", "charts.js", "packed.js"].map(read)].join("\n") });
  const found = await page.evaluate(() => {
    const results = {};
    const packed = new Packed(9);
    results.places = ["aa", "ia", "ai", "ee", "--"].map(text => [packed.point(text), packed.place(packed.point(text))]);
    results.points = packed.points("aaiaii").concat(packed.points(""), packed.points(undefined));
    results.owners = packed.owners("AYZay").map(owner => Math.round(owner * 100) / 100);
    const lines = [{ l: "aa", w: 600, s: 10, v: 9 }, { l: "bb", w: 580, s: 0, v: 5 }, { l: "--", w: 530, s: 0, v: 2 }, { l: "cc", w: 400, s: 0, v: 1 }];
    results.black = packed.graded(lines, 1, [50, 100]).map(it => [it.point, it.label, it.grade]);
    results.white = packed.graded(lines, -1, [50, 100]).map(it => it.grade);
    results.none = packed.graded(undefined, 1, [50, 100]);
    results.words = [percent(123), lead(35), lead(-5), lead(0), grouped(1234567), grouped(999)];
    // A stone is captured, and its point is played on again.
    const changes = [{ s: [[0], [1], []] }, { color: 1, at: 2, lifted: [1], number: 1 }, { color: 2, at: 1, lifted: [], number: 2 }, { color: 1, at: -1, lifted: [], number: 3 }];
    results.played = playOut(9, changes).map(it => [Array.from(it.stones.slice(0, 3)), it.taken, it.numbers[1]]);
    const out = new Packed(3).playedOut(Uint8Array.from([1, 2, 0, 0, 0, 0, 0, 0, 0]), 1, { l: "ca--ba", x: [[0, "ba"]] });
    results.line = [Array.from(out.stones.slice(0, 3)), out.moves];

    const root = document.getElementById("board"), board = new Board(root, 9, 7, [40]);
    board.showStones(Uint8Array.from({ length: 63 }, (_, index) => [0, 1, 2][index % 3]));
    results.stones = root.querySelectorAll("[data-stone]").length;
    const kept = root.querySelector('[data-stone="B7"]');
    board.showStones(Uint8Array.from({ length: 63 }, (_, index) => index === 1 ? 1 : 0));
    results.kept = [root.querySelectorAll("[data-stone]").length, kept === root.querySelector("[data-stone]")];
    board.showCandidates([{ point: 1, label: "A", grade: "best" }, { point: 2, label: "12.5", grade: "near" }, { point: -1, label: "C", grade: "bad" }], 3);
    results.candidates = Array.from(root.querySelectorAll("[data-candidate]"), it => [it.dataset.candidate, it.textContent, it.querySelector("text").getAttribute("class")]);
    board.showCrosses([1]);
    board.showMissed(5);
    board.showGhost(1, 2);
    results.marks = [root.querySelectorAll("[data-dead]").length, root.querySelector(".missed").dataset.missed, root.querySelectorAll("[data-ghost]").length];
    board.showOwners(Array.from({ length: 63 }, (_, index) => index === 0 ? 1 : index === 1 ? -.5 : 0));
    results.areas = Array.from(root.querySelectorAll(".owners rect"), it => it.getAttribute("class"));
    results.at = [[0, 0], [8, 6], [4, 3]].map(([column, row]) => {
      const place = new DOMPoint(column * 40, row * 40).matrixTransform(root.getScreenCTM());
      return board.name(board.pointAt(place.x, place.y));
    });
    results.outside = board.pointAt(-100, -100);
    const announced = [], chosen = [];
    const cursor = new Cursor(board, { announce: words => announced.push(words), describe: point => board.name(point), choose: point => chosen.push(point) });
    results.keys = ["Enter", "ArrowUp", ...Array(12).fill("ArrowLeft"), ...Array(12).fill("ArrowDown"), "Enter", "x"].map(key => cursor.key({ key }));
    results.announced = [announced[0], announced.at(-1), chosen];
    // A new board replaces the old one completely.
    new Board(root, 5, 5, []);
    results.anew = [root.querySelectorAll("[data-stone]").length, root.querySelectorAll("defs").length, root.querySelectorAll("title").length];

    const jumps = [], chart = new Chart(document.getElementById("chart"), 11, [{ name: "rate", values: [50, 60, null, 40, 30, 20, 10, 5, 100, 120, -5] }],
      { height: 100, top: 100, bottom: 0, area: 0, ticks: [[50, "50"]], xTicks: [[0, "0"]], marks: [{ step: 3, grade: "mistake", value: 40 }] }, step => jumps.push(step));
    chart.show(4);
    const svgs = document.getElementById("chart"), box = svgs.getBoundingClientRect();
    for (const share of [0, .5, 1]) {
      const x = box.left + chart.left + share * (chart.right - chart.left);
      svgs.dispatchEvent(new PointerEvent("pointerdown", { clientX: x, clientY: box.top + 20 }));
      svgs.dispatchEvent(new PointerEvent("pointerup", {}));
    }
    results.chart = [svgs.querySelectorAll(".curve").length, svgs.querySelectorAll(".mark").length, svgs.querySelector(".cursor path").dataset.step, jumps];
    const ys = Array.from(svgs.querySelectorAll(".curve"), it => it.getAttribute("d")).join(" ").match(/[\d.-]+ ([\d.-]+)/g).map(pair => Number(pair.split(" ")[1]));
    results.within = ys.every(y => y >= 0 && y <= 100);
    return results;
  });
  equal(found.places, [[0, "aa"], [8, "ia"], [72, "ai"], [40, "ee"], [-1, "--"]], "places");
  equal(found.points, [0, 8, 80], "points");
  equal(found.owners, [-1, -.04, 0, .04, 1], "owners");
  equal(found.black, [[0, "A", "best"], [10, "B", "near"], [-1, "C", "poor"], [20, "D", "bad"]], "grades for Black");
  equal(found.white, ["best", "near", "near", "near"], "and for White");
  equal(found.none, [], "no candidates");
  equal(found.words, ["12.3 %", "B+3.5", "W+0.5", "even", "1,234,567", "999"], "numbers in words");
  equal(found.played, [[[1, 2, 0], [0, 0, 0], 0], [[1, 0, 1], [0, 1, 0], 0], [[1, 2, 1], [0, 1, 0], 2], [[1, 2, 1], [0, 1, 0], 2]], "a game played out");
  equal(found.line, [[1, 0, 0], [{ point: 2, color: 1, number: 1 }, { point: 1, color: 1, number: 3 }]], "a line with a capture and a pass");
  equal(found.stones, 42, "stones");
  equal(found.kept, [1, true], "what stays is not drawn again");
  equal(found.candidates, [["C7", "12.5", "long"]], "candidates where there is no stone");
  equal(found.marks, [1, "F7", 0], "marks, and no ghost on a stone");
  equal(found.areas, ["black", "white"], "owners");
  equal(found.at, ["A7", "J1", "E4"], "the point under a place");
  equal(found.outside, -1, "and outside there is none");
  check(found.keys.slice(1, -1).every(Boolean) && !found.keys[0] && !found.keys.at(-1), "keys of the board");
  equal(found.announced, ["E4", "A1", [54]], "the cursor stays on the board");
  equal(found.anew, [0, 1, 1], "a board made anew");
  equal(found.chart, [2, 1, "4", [0, 5, 10]], "a chart");
  equal(found.within, true, "curves stay within the scale");
});
await finish();
