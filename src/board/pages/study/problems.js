// Bad moves of a game as problems on the board of the page.
class ProblemGame {
  // `page` has the tree and its words, the functions that draw them, and `judge(current, point)`, which calls `solved`
  // at once or later and returns whether it will. `unknown` is the name of the text about an answer that cannot be
  // judged.
  constructor(page) { Object.assign(this, { page, queue: [], current: null, total: 0, right: 0, keys: 0 }); }

  // Returns the move to a node as a problem; nothing if the move was not judged.
  of(node) {
    const { tree, size } = this.page, judged = node?.j?.j;
    if (!judged) return null;
    const { columns, rows, stars } = size(), packed = new Packed(columns), before = tree.get(node.p), { stones } = tree.position(node.p, columns * rows, packed);
    const of = color => Array.from(stones, (stone, point) => stone === color ? packed.place(point) : "").join("");
    return { columns, rows, stars, start: [of(1), of(2)],
      turn: node.m[0], last: before.m ? before.m.slice(1) : "", number: node.n, played: node.m.slice(1), loss: judged.l, line: judged.b || null };
  }

  begin(list) {
    Object.assign(this, { queue: [...list], total: list.length, right: 0 });
    this.pose();
  }

  // Shows the next problem, or the end of the list.
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
    this.page.announce(this.words());
    document.getElementById("problem").scrollIntoView({ block: "nearest" });
  }

  // Goes back to the game.
  leave() {
    if (!this.current) return;
    this.current = null;
    this.queue = [];
    this.page.makeBoard();
    this.page.show();
  }

  answer(point) {
    const { current, page } = this;
    if (current.position.stones[point]) return;
    Object.assign(current, { isOpen: false, tried: point, words: text("problem-judging", { move: this.board.name(point) }) });
    page.clear();
    if (!page.judge(current, point)) this.retry();
    else page.show();
  }

  // Handles the judgement of an answer. Only the first answer to a problem counts.
  solved({ key, result: { j: judged } }) {
    const { current, board } = this;
    if (current?.key !== key || current.isOpen) return;
    const isSolved = Boolean(judged) && judged.c === 0 && judged.f !== 3, move = board.name(current.tried);
    const best = judged?.b ? board.name(current.packed.points(judged.b.l)[0] ?? -1) : move;
    const name = judged?.f === 1 ? "first" : isSolved ? "solved" : judged?.f === 3 ? "unclear" : "failed";
    current.words = text(judged ? `problem-${name}` : this.page.unknown, { move, best, points: judged ? pointsWords(judged) : "" });
    if (current.isFirst && judged) {
      if (isSolved) this.right += 1;
      this.answered(current.it, isSolved);
      current.isFirst = false;
    }
    Object.assign(current, { isSolved, isJudged: true, line: judged?.b || null });
    this.page.show();
    this.page.announce(current.words);
  }

  // Called at the first answer to a problem.
  answered() {}

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
    board.showMissed(-1);
    board.showOwners(null);
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
    const { current } = this, get = id => document.getElementById(id);
    get("problem").hidden = !current;
    if (!current) return;
    get("problem-title").textContent = text("problem-of", { count: this.total - this.queue.length, all: this.total });
    get("problem-words").textContent = this.words();
    get("problem-result").textContent = current.words;
    get("problem-retry").hidden = !current.isJudged || current.isSolved;
    get("problem-line").hidden = !current.isJudged || !current.line;
    get("problem-line").setAttribute("aria-pressed", Boolean(current.showsLine));
    get("problem-next").textContent = text(current.isJudged ? "problem-next" : "problem-skip");
  }

  // Returns the actions of the buttons, by their names.
  get actions() {
    return { "problem-retry": () => this.retry(), "problem-line": () => this.toggleLine(), "problem-next": () => this.pose(), "problem-end": () => this.leave() };
  }
}
