// Judgements of moves: { c: class, f: 1 first choice, 2 better, 3 unclear, l: losses of win rate and points, each with
// its standard error, b: better line }. Unknown errors are missing.
const GRADES = ["good", "inaccuracy", "mistake", "blunder"], SIGNS = ["", "?!", "?", "??"];
// Number of latest moves whose stones carry a dot, and number of worst moves that are listed.
const DOTTED = 12, WORST = 10;

// Returns the CSS class of a judgement; empty for a good move.
const gradeOf = judged => !judged ? "" : judged.f === 2 ? "better" : judged.c ? GRADES[judged.c] : "";
const gradeWords = ({ c, f }) => `${f === 2 ? "!" : SIGNS[c]} ${text(["", "is-first", "is-better", "is-unclear"][f || 0] || `grade-${c}`)}`.trim();
const errorWords = error => error === undefined ? "" : ` ± ${decimal(error / 10, 1)}`;
// Return losses with their standard errors, in words.
const pointsWords = ({ l }) => `${l[2] > 0 ? "−" : ""}${decimal(l[2] / 10, 1)}${errorWords(l[3])}`;
const rateWords = ({ l }) => `${l[0] > 0 ? "−" : ""}${percent(l[0])}${errorWords(l[1])}`;
// Returns how much a move lost, by the measure of reviews: 10 % of win rate count as much as 5 points.
const weightOf = ({ l }) => Math.max(l[0] / 100, l[2] / 50);

// Returns the dots on the stones of the latest moves of a line, up to the node that is shown.
function dotsOf(path, { stones, numbers }, packed) {
  return path.slice(-DOTTED).flatMap(node => {
    const judged = node.j?.j, point = node.m ? packed.point(node.m.slice(1)) : -1;
    const isThere = point >= 0 && stones[point] && numbers[point] === node.n;
    return judged && isThere ? [{ point, grade: gradeOf(judged) || "good", size: judged.f === 2 ? 0 : judged.c }] : [];
  });
}

// Returns the moves of a line that lost most, the worst first. `color` is "B" or "W", or empty for both.
function worstOf(line, color) {
  const bad = line.filter(({ m, j }) => m && j?.j?.c > 0 && (!color || m[0] === color));
  return bad.sort((a, b) => weightOf(b.j.j) - weightOf(a.j.j)).slice(0, WORST);
}

// Curves of the win rate and of the lead over the nodes of a line, with marks for bad moves.
class Curves {
  constructor(go) {
    Object.assign(this, { go, key: "" });
    const options = { height: 118, area: 0, top: 1, bottom: -1, ticks: [], xTicks: [] };
    const jump = step => { if (this.line[step]) this.go(this.line[step].i); };
    this.rate = new Chart(document.getElementById("chart-rate"), 2, [{ name: "rate", values: [] }],
      { ...options, top: 100, bottom: 0, ticks: [[100, "100"], [50, "50"], [0, "0"]] }, jump);
    this.lead = new Chart(document.getElementById("chart-score"), 2, [{ name: "score", values: [] }], options, jump);
  }

  // `numbers(node)` returns the win rate in thousandths and the lead in tenths, or nothing. Returns the number of nodes
  // for which they are known.
  static known(line, numbers) { return line.filter(node => numbers(node)).length; }

  // Returns the move numbers below the curves of a line: [[step, number], …].
  static ticks(line) {
    const last = line.length - 1, every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].find(n => last / n <= 6) || 10000;
    return Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => [index * every, line[index * every].n]);
  }

  // Shows the curves of a line, with the cursor at one of its nodes. Only bad moves of `color` are marked, or those of
  // both colours if it is empty.
  show(line, current, numbers, color = "") {
    this.line = line;
    const known = line.map(node => numbers(node) || null), step = line.findIndex(node => node.i === current);
    const marks = line.flatMap((node, step) => known[step] && gradeOf(node.j?.j) && (!color || node.m[0] === color) ? [[step, gradeOf(node.j.j)]] : []);
    const key = JSON.stringify([known, marks]);
    // While the user steps along a line, only the cursor moves.
    if (key === this.key) { for (const chart of [this.rate, this.lead]) chart.show(step); return; }
    this.key = key;
    for (let at = 1; at + 1 < known.length; at++) {
      // If only one player's moves have values, the curve interpolates between them.
      if (!known[at] && known[at - 1] && known[at + 1]) known[at] = known[at - 1].map((value, index) => (value + known[at + 1][index]) / 2);
    }
    const reach = [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400].find(most => known.every(it => !it || Math.abs(it[1]) <= 10 * most)) || 700;
    Object.assign(this.lead.options, { top: reach, bottom: -reach, ticks: [[reach, `B+${reach}`], [0, "0"], [-reach, `W+${reach}`]], xTicks: Curves.ticks(line) });
    for (const [chart, index] of [[this.rate, 0], [this.lead, 1]]) {
      chart.length = line.length;
      chart.series[0].values = known.map(it => it && it[index] / 10);
      chart.options.marks = marks.map(([step, grade]) => ({ step, grade, value: known[step][index] / 10 }));
      chart.current = step;
      chart.draw();
    }
  }
}

// Shows the values of a position: Black's win rate with its error, Black's lead with its error, and visits. The later
// values may be missing. Without any values the scale is hidden.
function showBalance(values) {
  const get = id => document.getElementById(id);
  get("balance").hidden = !values;
  if (!values) return;
  const [rate, rateError, points, pointsError, visits] = values;
  get("balance-black").style.width = `${rate / 10}%`;
  get("balance-rate").replaceChildren(`${text("black-wins")} `, element("b", percent(rate)), errorWords(rateError));
  get("balance-lead").replaceChildren(element("b", lead(points)), errorWords(pointsError), visits ? ` · ${text("visits-count", { count: grouped(visits) })}` : "");
}

// The judgement of the move that is shown, with the better line and facts about the move.
class Verdict {
  // `words` are the `NodeWords` of the page, and `candidates` shows lines.
  constructor({ words, candidates }) { Object.assign(this, { words, candidates }); }

  // Shows the judgement of the move to a node, and returns it in words. `title` is shown if the node has no move.
  show(node, judged, title = "") {
    const get = id => document.getElementById(id), better = judged?.b, button = get("verdict-line");
    const badge = judged ? [element("span", gradeWords(judged), `badge ${gradeOf(judged) || "good"}`)] : [];
    get("verdict-title").replaceChildren(...node.m ? [element("span", "", `pip ${node.m[0] === "B" ? "black" : "white"}`), `${this.words.move(node)} `] : [title], ...badge);
    const hasLoss = Boolean(judged) && judged.f !== 1;
    get("verdict-loss").hidden = !hasLoss;
    get("verdict-loss").textContent = hasLoss ? `${pointsWords(judged)} ${text("points")} · ${rateWords(judged)} ${text("of-rate")}` : "";
    button.hidden = !better;
    if (better) {
      // The line is shown where it applies: in the position before the move.
      button.replaceChildren(element("span", text(judged.c ? "better" : "first-choice")), element("b", this.words.first(better)),
        element("span", text("black-has", { rate: percent(better.w), lead: lead(better.s) }), "faint"));
      this.press(button, better, node.p);
    }
    get("verdict-facts").replaceChildren(...(node.f || []).map(({ t, v, l }) => {
      if (!l) return element("p", text(t, v), "faint");
      const fact = element("button", text(t, v), "fact");
      fact.type = "button";
      this.press(fact, l, node.p);
      return fact;
    }));
    return [node.m ? this.words.node(node) : title, judged ? gradeWords(judged) : ""].filter(Boolean).join(", ");
  }

  press(button, line, from) {
    button.setAttribute("aria-pressed", this.candidates.line === line);
    button.onclick = () => { this.candidates.toggle(line, from); button.setAttribute("aria-pressed", this.candidates.line === line); };
  }
}
