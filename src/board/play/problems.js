// The worst moves of games as problems on the board of the page. The engine judges every answer.
class ProblemGame {
  // `page` has the table and the tree of the page, and what draws them.
  constructor(page) {
    Object.assign(this, { page, store: new Problems(), queue: [], current: null, total: 0, right: 0, keys: 0, asked: null });
  }

  // Starts with the worst moves of the line that is shown.
  again() {
    const { line, color, ask } = this.page, worst = worstOf(line(), color());
    this.asked = worst.length ? textKey(line().slice(0, 60).map(({ m }) => m || "").join("")) : null;
    if (this.asked) ask("problems", { at: worst.map(({ i }) => i) });
  }

  // Takes the records that lead to the positions before the moves.
  take({ game, records }) {
    const { tree, state: table } = this.page, state = table();
    if (!state || game !== state.game || !this.asked) return;
    const { columns, rows, stars } = state, packed = new Packed(columns);
    const made = records.flatMap(([number, record]) => {
      const node = tree.get(number), judged = node?.j?.j;
      if (!judged) return [];
      const before = tree.get(node.p), { stones } = tree.position(node.p, columns * rows, packed);
      const of = color => Array.from(stones, (stone, point) => stone === color ? packed.place(point) : "").join("");
      return [{ id: textKey(`${columns}x${rows} ${tree.path(number).map(({ m }) => m || "").join("")}`), game: this.asked, record, columns, rows, stars,
        start: [of(1), of(2)], turn: node.m[0], last: before.m ? before.m.slice(1) : "", number: node.n, played: node.m.slice(1),
        loss: judged.l, line: judged.b || null }];
    });
    this.store.add(made);
    const ids = new Set(made.map(({ id }) => id));
    this.begin(this.store.all.filter(({ id }) => ids.has(id)));
  }

  begin(list) {
    Object.assign(this, { queue: [...list], total: list.length, right: 0, asked: null });
    this.pose();
  }

  // Shows the next problem, or the end.
  pose() {
    const it = this.queue.shift();
    this.page.clear();
    if (!it) {
      const words = text("problems-done", { right: this.right, total: this.total });
      this.leave();
      this.page.note(words);
      return;
    }
    const packed = new Packed(it.columns), stones = new Uint8Array(it.columns * it.rows);
    it.start.forEach((places, kind) => packed.points(places).forEach(point => { stones[point] = kind + 1; }));
    this.current = { it, packed, turn: it.turn, position: { stones, taken: [0, 0, 0] }, isOpen: true, isFirst: true, isJudged: false, tried: -1,
      words: "", line: null, key: ++this.keys };
    this.board = this.page.makeBoard(it.columns, it.rows, it.stars);
    this.page.show();
    this.page.say(this.words());
    document.getElementById("problem").scrollIntoView({ block: "nearest" });
  }

  // Goes back to the game.
  leave() {
    this.asked = null;
    if (!this.current) return;
    this.current = null;
    this.queue = [];
    this.page.makeBoard();
    this.page.show();
  }

  answer(point) {
    const { current } = this, { ask, clear, show } = this.page;
    if (current.position.stones[point]) return;
    const isSent = ask("solve", { key: current.key, text: current.it.record, place: current.packed.place(point) });
    if (isSent) Object.assign(current, { isOpen: false, tried: point, words: text("problem-judging", { move: this.board.name(point) }) });
    clear();
    show();
  }

  // Takes the judgement of an answer. Only the first answer to a problem counts.
  solved({ key, result: { j: judged } }) {
    const { current, board } = this;
    if (current?.key !== key || current.isOpen) return;
    const isSolved = Boolean(judged) && judged.c === 0 && judged.f !== 3, move = board.name(current.tried);
    const best = judged?.b ? board.name(current.packed.points(judged.b.l)[0] ?? -1) : move;
    const name = !judged ? "unknown" : judged.f === 1 ? "first" : isSolved ? "solved" : judged.f === 3 ? "unclear" : "failed";
    current.words = text(`problem-${name}`, { move, best, points: judged ? pointsWords(judged) : "" });
    if (current.isFirst && judged) {
      if (isSolved) this.right += 1;
      this.store.answered(current.it, isSolved);
      current.isFirst = false;
    }
    Object.assign(current, { isSolved, isJudged: true, line: judged?.b || null });
    this.page.show();
    this.page.say(current.words);
  }

  refused() {
    if (this.current && !this.current.isOpen && !this.current.isJudged) this.retry();
  }

  retry() {
    Object.assign(this.current, { isOpen: true, isJudged: false, tried: -1, words: "", showsLine: false });
    this.page.show();
  }

  toggleLine() {
    this.current.showsLine = !this.current.showsLine;
    this.page.show();
  }

  showBoard() {
    const { board, current: { it, packed, position, tried, line, showsLine, isJudged, isSolved } } = this;
    const stones = position.stones.slice(), last = it.last ? packed.point(it.last) : -1;
    board.showDots([]);
    board.showLabels([]);
    if (showsLine && line) {
      const played = packed.playedOut(stones, it.turn === "B" ? 1 : 2, line);
      board.showStones(played.stones);
      board.showMarks(-1);
      board.showLine(played.moves);
    } else {
      board.showStones(stones);
      board.showMarks(stones[last] ? last : -1);
      board.showCandidates(tried >= 0 ? [{ point: tried, label: "?", grade: !isJudged ? "best" : isSolved ? "near" : "bad" }] : [], -1);
    }
    document.getElementById("board-title").textContent = this.words();
  }

  words() {
    const { it, packed } = this.current;
    return text("problem-words", { color: text(it.turn === "B" ? "black" : "white"), number: it.number,
      move: this.board.name(packed.point(it.played)), points: pointsWords({ l: it.loss }) });
  }

  show() {
    const { current, store } = this, due = store.due().length, get = id => document.getElementById(id);
    const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
    get("problem").hidden = !current;
    get("due").hidden = Boolean(current) || !store.all.length;
    get("due").disabled = !due;
    if (!get("due").hidden) get("due").textContent = due ? text("problems-due", { count: due }) : text("problems-next", { date: date.format(store.next) });
    if (!current) return;
    get("problem-title").textContent = text("problem-of", { count: this.total - this.queue.length, all: this.total });
    get("problem-words").textContent = this.words();
    get("problem-result").textContent = current.words;
    get("problem-retry").hidden = !current.isJudged || current.isSolved;
    get("problem-line").hidden = !current.isJudged || !current.line;
    get("problem-line").setAttribute("aria-pressed", Boolean(current.showsLine));
    get("problem-next").textContent = text(current.isJudged ? "problem-next" : "problem-skip");
  }
}
