// Hints by degrees, and problems made of the worst moves of games.

// Third of the board with a point: the corners of its rectangle, and the name of its text.
function regionOf(point, columns, rows) {
  const third = (at, count) => count < 5 ? [0, count - 1, 1] : [0, 1, 2].map(part => {
    const edge = Math.floor(count / 3) + (count % 3 ? 1 : 0);
    return [part === 0 ? 0 : part === 1 ? edge : count - edge, part === 0 ? edge - 1 : part === 1 ? count - edge - 1 : count - 1, part];
  }).find(([from, to]) => at >= from && at <= to);
  const [left, right, across] = third(point % columns, columns), [top, bottom, down] = third(Math.floor(point / columns), rows);
  return { box: [left, top, right, bottom], name: `region-${["top", "middle", "bottom"][down]}-${["left", "middle", "right"][across]}` };
}

// Degrees of a hint: the region, the move, and what follows.
const WHERE = 1, MOVE = 2, WHY = 3;

// The words of a hint: `best` and `second` are the first candidates, `lead` tells who leads after the best one.
function hintText(best, second, { degree, sign, lead, region, name, points }) {
  if (best.point < 0) return text("hint-pass");
  if (degree === WHERE) return text("hint-where", { where: text(region) });
  const move = name(best.point);
  if (degree === MOVE) return text("hint-move", { move });
  const words = [text("hint-why", { move, lead, visits: grouped(best.line.v), moves: points(best.line.l).slice(0, 6).map(name).join(" ") })];
  if (second) {
    words.push(text("hint-second", { second: name(second.point), visits: grouped(second.line.v),
      points: decimal(sign * (best.line.s - second.line.s) / 10, 1).replace("-", "−") }));
  }
  return words.join(" ");
}

const DAY = 24 * 3600 * 1000;
// Days after which a problem comes back, by the number of times in a row that it was solved.
const INTERVALS = [1, 3, 7, 21];
const PROBLEMS_MOST = 300;

// Problems that the browser keeps: { id, game, record, columns, rows, start: [black, white], turn, played, loss, line, due, solved }.
class Problems {
  // `now()` returns the time in milliseconds.
  constructor(now = () => Date.now()) {
    this.now = now;
    this.all = [];
    try {
      const known = JSON.parse(kept("problems"));
      if (Array.isArray(known)) this.all = known.filter(it => it && typeof it.record === "string" && Number.isFinite(it.due));
    } catch { /* Nothing is kept, or not by this page. */ }
  }

  keep() { keep("problems", JSON.stringify(this.all)); }

  // Adds the problems of a game. Those that are known stay as they are.
  add(problems) {
    const known = new Set(this.all.map(({ id }) => id));
    this.all.push(...problems.filter(({ id }) => !known.has(id)).map(it => ({ ...it, due: this.now(), solved: 0 })));
    // Those that are due last make way.
    this.all.sort((a, b) => a.due - b.due).splice(PROBLEMS_MOST);
    this.keep();
  }

  due() { return this.all.filter(({ due }) => due <= this.now()); }
  ofGame(game) { return this.all.filter(it => it.game === game); }
  get next() { return Math.min(...this.all.map(({ due }) => due)); }

  // Takes the first answer to a problem. A problem that was solved after the longest interval is learned and goes.
  answered({ id }, isSolved) {
    const problem = this.all.find(it => it.id === id);
    if (!problem) return;
    if (isSolved && problem.solved === INTERVALS.length) this.all = this.all.filter(it => it !== problem);
    problem.due = this.now() + DAY * (isSolved ? INTERVALS[Math.min(problem.solved, INTERVALS.length - 1)] : INTERVALS[0]);
    problem.solved = isSolved ? problem.solved + 1 : 0;
    this.keep();
  }
}

// A number that identifies a text among others (FNV-1a).
function textKey(words) {
  let key = 0x811c9dc5;
  for (let at = 0; at < words.length; at++) key = Math.imul(key ^ words.charCodeAt(at), 0x01000193) >>> 0;
  return key.toString(36);
}
