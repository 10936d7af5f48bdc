// Judgement of moves as the program made it: { c: class, f: 1 first choice, 2 better, 3 unclear, l: losses, b: better line }.
const GRADES = ["good", "inaccuracy", "mistake", "blunder"], SIGNS = ["", "?!", "?", "??"];
// Number of moves whose stones carry a dot, and of the worst moves that are listed.
const DOTTED = 12, WORST = 10;

// Class of a judgement for styles; nothing for a good move.
const gradeOf = judged => !judged ? "" : judged.f === 2 ? "better" : judged.c ? GRADES[judged.c] : "";
const gradeWords = ({ c, f }) => `${f === 2 ? "!" : SIGNS[c]} ${text(["", "is-first", "is-better", "is-unclear"][f || 0] || `grade-${c}`)}`.trim();
// Loss in points with its standard error.
const pointsWords = ({ l }) => `${l[2] > 0 ? "−" : ""}${decimal(l[2] / 10, 1)} ± ${decimal(l[3] / 10, 1)}`;
const rateWords = ({ l }) => `${l[0] > 0 ? "−" : ""}${percent(l[0])} ± ${decimal(l[1] / 10, 1)}`;
// How much a move lost, by the measure of reviews: 10 % of win rate count as much as 5 points.
const weightOf = ({ l }) => Math.max(l[0] / 100, l[2] / 50);

// Dots on the stones of the latest moves of a line, up to the node that is shown.
function dotsOf(path, { stones, numbers }, packed) {
  return path.slice(-DOTTED).flatMap(node => {
    const judged = node.j?.j, point = node.m ? packed.point(node.m.slice(1)) : -1;
    const isThere = point >= 0 && stones[point] && numbers[point] === node.n;
    return judged && isThere ? [{ point, grade: gradeOf(judged) || "good", size: judged.f === 2 ? 0 : judged.c }] : [];
  });
}

// Moves of a line that lost most, the worst first. `color` is "B", "W", or nothing for both.
function worstOf(line, color) {
  const bad = line.filter(({ m, j }) => m && j?.j?.c > 0 && (!color || m[0] === color));
  return bad.sort((a, b) => weightOf(b.j.j) - weightOf(a.j.j)).slice(0, WORST);
}

// Curves of the win rate and of the lead over the nodes of a line, with marks for bad moves.
class Curves {
  constructor(go) {
    this.go = go;
    const options = { height: 118, area: 0, top: 1, bottom: -1, ticks: [], xTicks: [] };
    const jump = step => this.go(this.line[step]?.i);
    this.rate = new Chart(document.getElementById("chart-rate"), 2, [{ name: "rate", values: [] }],
      { ...options, top: 100, bottom: 0, ticks: [[100, "100"], [50, "50"], [0, "0"]] }, jump);
    this.lead = new Chart(document.getElementById("chart-score"), 2, [{ name: "score", values: [] }], options, jump);
  }

  // `numbers(node)` returns the win rate in thousandths and the lead in tenths, or nothing. Returns how many are known.
  static known(line, numbers) { return line.filter(node => numbers(node)).length; }

  show(line, current, numbers) {
    this.line = line;
    const known = line.map(node => numbers(node) || null);
    for (let at = 1; at + 1 < known.length; at++) {
      // If only one player's moves have values, the curve interpolates between them.
      if (!known[at] && known[at - 1] && known[at + 1]) known[at] = known[at - 1].map((value, index) => (value + known[at + 1][index]) / 2);
    }
    const reach = [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400].find(most => known.every(it => !it || Math.abs(it[1]) <= 10 * most)) || 700;
    Object.assign(this.lead.options, { top: reach, bottom: -reach, ticks: [[reach, `B+${reach}`], [0, "0"], [-reach, `W+${reach}`]] });
    for (const [chart, index] of [[this.rate, 0], [this.lead, 1]]) {
      chart.length = line.length;
      chart.series[0].values = known.map(it => it && it[index] / 10);
      chart.options.marks = line.flatMap((node, step) => known[step] && gradeOf(node.j?.j)
        ? [{ step, grade: gradeOf(node.j.j), value: known[step][index] / 10 }] : []);
      chart.current = line.findIndex(node => node.i === current);
      chart.draw();
    }
  }
}

// The judgement of the move that is shown, and the list of the worst moves.
class JudgementView {
  // `page` has the tree and the board of the page, and what shows lines.
  constructor(page) { Object.assign(this, { page, worstKey: "" }); }

  show(node, isWanted) {
    const { page } = this, get = id => document.getElementById(id), judged = node.j?.j, isShown = Boolean(judged) && isWanted;
    get("verdict").hidden = !isShown;
    if (isShown) {
      get("verdict-title").replaceChildren(element("span", "", `pip ${node.m[0] === "B" ? "black" : "white"}`), `${page.moveWords(node)} `,
        element("span", gradeWords(judged), `badge ${gradeOf(judged) || "good"}`));
      const isFirst = judged.f === 1;
      get("verdict-loss").hidden = isFirst;
      get("verdict-loss").textContent = isFirst ? "" : `${pointsWords(judged)} ${text("points")} · ${rateWords(judged)} ${text("of-rate")}`;
      const better = judged.b, button = get("verdict-line");
      button.hidden = !better;
      if (better) {
        const name = text(judged.c ? "better" : "first-choice");
        button.replaceChildren(element("span", `${name} `), element("b", page.board().name(page.packed().points(better.l)[0] ?? -1)));
        button.setAttribute("aria-pressed", page.isShown(better));
        button.onclick = () => page.toggle(better, node.p);
      }
    }
    this.showWorst(isWanted);
  }

  showWorst(isWanted) {
    const { page } = this, get = id => document.getElementById(id), worst = worstOf(page.line(), page.color());
    get("worst").hidden = !worst.length || !isWanted;
    const key = JSON.stringify([worst.map(({ i, j }) => [i, j.j.l]), language]);
    if (key !== this.worstKey) {
      this.worstKey = key;
      get("worst-list").replaceChildren(...worst.map(node => {
        const item = document.createElement("li"), button = element("button"), color = node.m[0] === "B" ? "black" : "white";
        button.type = "button";
        button.append(element("span", node.n, "number"), element("span", "", `pip ${color}`), element("span", text(color), "hidden"),
          ` ${page.board().name(page.packed().point(node.m.slice(1)))} `, element("span", `−${decimal(node.j.j.l[2] / 10, 1)}`, `loss ${gradeOf(node.j.j)}`),
          element("span", ` ${text("points")}, ${gradeWords(node.j.j)}`, "hidden"));
        button.addEventListener("click", () => page.go(node.i));
        item.append(button);
        return item;
      }));
    }
    get("again").textContent = text("again", { count: worst.length });
  }
}
