// The user's own problems: the worst moves of games, which are posed again after days. The engine judges every answer.

const DAY = 24 * 3600 * 1000;
// Days after which a problem is posed again, by the number of times in a row that it was solved.
const INTERVALS = [1, 3, 7, 21];
const MAX_PROBLEMS = 300;

// Problems that the browser stores: { id, game, record, columns, rows, start: [black, white], turn, played, loss, line,
// due, solved }.
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

  // Adds the problems of a game. Known problems stay as they are.
  add(problems) {
    const known = new Set(this.all.map(({ id }) => id));
    this.all.push(...problems.filter(({ id }) => !known.has(id)).map(it => ({ ...it, due: this.now(), solved: 0 })));
    // If there are too many, those that are due last are removed.
    this.all.sort((a, b) => a.due - b.due).splice(MAX_PROBLEMS);
    this.keep();
  }

  due() { return this.all.filter(({ due }) => due <= this.now()); }
  ofGame(game) { return this.all.filter(it => it.game === game); }
  get next() { return Math.min(...this.all.map(({ due }) => due)); }

  // Records the first answer to a problem. A problem that is solved after the longest interval counts as learned and is
  // removed.
  answered({ id }, isSolved) {
    const problem = this.all.find(it => it.id === id);
    if (!problem) return;
    if (isSolved && problem.solved === INTERVALS.length) this.all = this.all.filter(it => it !== problem);
    problem.due = this.now() + DAY * (isSolved ? INTERVALS[Math.min(problem.solved, INTERVALS.length - 1)] : INTERVALS[0]);
    problem.solved = isSolved ? problem.solved + 1 : 0;
    this.keep();
  }
}

// Returns a number that distinguishes a text from others (FNV-1a).
function textKey(words) {
  let key = 0x811c9dc5;
  for (let at = 0; at < words.length; at++) key = Math.imul(key ^ words.charCodeAt(at), 0x01000193) >>> 0;
  return key.toString(36);
}

class OwnProblems extends ProblemGame {
  // `page` also has the line, the colour whose moves become problems, and `ask`.
  constructor(page) {
    super(page);
    Object.assign(this, { store: new Problems(), asked: null });
  }

  // Starts with the worst moves of the line that is shown.
  again() {
    const { line, color, ask } = this.page, worst = worstOf(line(), color());
    this.asked = worst.length ? textKey(line().slice(0, 60).map(({ m }) => m || "").join("")) : null;
    if (this.asked) ask("problems", { at: worst.map(({ i }) => i) });
  }

  // Handles the records that lead to the positions before the moves.
  take({ game, records }) {
    const { tree, state } = this.page;
    if (!state() || game !== state().game || !this.asked) return;
    const made = records.flatMap(([number, record]) => {
      const it = this.of(tree.get(number));
      const moves = tree.path(number).map(({ m }) => m || "").join("");
      return it ? [{ ...it, id: textKey(`${it.columns}x${it.rows} ${moves}`), game: this.asked, record }] : [];
    });
    this.store.add(made);
    const ids = new Set(made.map(({ id }) => id));
    this.asked = null;
    this.begin(this.store.all.filter(({ id }) => ids.has(id)));
  }

  leave() {
    this.asked = null;
    super.leave();
  }

  answered(it, isSolved) { this.store.answered(it, isSolved); }

  show() {
    super.show();
    const { store } = this, due = store.due().length, button = document.getElementById("due");
    const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
    button.hidden = Boolean(this.current) || !store.all.length;
    button.disabled = !due;
    if (!button.hidden) button.textContent = due ? text("problems-due", { count: due }) : text("problems-next", { date: date.format(store.next) });
  }
}
