// A first lesson: whoever captures a stone first wins. The game is an ordinary one against the weakest rank. The page
// ends it.

// Returns the chains of a board: { color, points, liberties }.
function chainsOf(stones, columns) {
  const seen = new Set(), chains = [];
  const around = point => [point - columns, point + columns, point % columns ? point - 1 : -1, (point + 1) % columns ? point + 1 : -1]
    .filter(next => next >= 0 && next < stones.length);
  stones.forEach((color, start) => {
    if (!color || seen.has(start)) return;
    const points = [start], liberties = new Set();
    seen.add(start);
    for (const point of points) {
      for (const next of around(point)) {
        if (!stones[next]) liberties.add(next);
        else if (stones[next] === color && !seen.has(next)) { seen.add(next); points.push(next); }
      }
    }
    chains.push({ color, points, liberties: [...liberties] });
  });
  return chains;
}

class CaptureLesson {
  // `page` has the table and the tree of the page, and the functions that draw them.
  constructor(page) {
    // The number of the lesson's game, and the node at which a stone was captured.
    Object.assign(this, { page, game: null, isStarting: false, end: null });
    this.actions = {
      "capture-go": () => this.begin(),
      "capture-again": () => this.begin(),
      "capture-end": () => { this.leave(); page.newGame(); },
    };
  }

  begin() {
    document.getElementById("new-game").close();
    this.isStarting = this.page.ask("new", { game: { columns: 9, rows: 9, handicap: 0, komi: null, rules: "chinese",
      black: { kind: "person" }, white: { kind: "kosumi", level: "30k" }, clock: { kind: "none" } } });
  }

  leave() {
    this.game = null;
    keep("capture-go", "");
    this.page.show();
  }

  get isOn() { const state = this.page.state(); return Boolean(state) && this.game === state.game && !state.study && !state.tsumego; }
  get isOver() { return this.isOn && this.end !== null; }

  // Handles a state of the table. `isFirst` means that the page has just been opened, perhaps in the middle of a
  // lesson.
  changed(isFirst) {
    const { tree } = this.page, state = this.page.state();
    const isLesson = state.columns === 9 && state.rows === 9 && state.seats.B.kind === "person" && state.seats.W.level === "30k" && !state.study;
    if ((this.isStarting && !state.count_moves || isFirst && kept("capture-go")) && isLesson) {
      this.game = state.game;
      keep("capture-go", "on");
    } else if (this.game !== null && this.game !== state.game && !state.tsumego) {
      this.game = null;
      keep("capture-go", "");
    }
    this.isStarting = false;
    if (!this.isOn) return "";
    const taking = tree.path(state.at).find(({ x }) => x), wasOver = this.end !== null;
    this.end = taking ? taking.i : null;
    // The opponent must not play on after the end.
    if (this.isOver !== wasOver || this.isOver && !state.paused) this.page.ask("pause", { on: this.isOver });
    return this.words();
  }

  // Returns the words with which the lesson comments on the position.
  words() {
    const { page } = this, { tree } = page, state = page.state();
    if (this.isOver) {
      const node = tree.get(this.end);
      return text(node.m[0] === "B" ? "capture-won" : "capture-lost", { point: page.pointName(node.m), count: node.x.length / 2 });
    }
    if (!state.count_moves) return text("capture-intro");
    const chains = chainsOf(page.stones(), state.columns), inAtari = color => chains.find(it => it.color === color && it.liberties.length === 1);
    const named = chain => ({ point: page.board().name(chain.points[0]), liberty: page.board().name(chain.liberties[0]) });
    const [danger, chance] = [inAtari(1), inAtari(2)];
    if (chance) return text("capture-chance", named(chance));
    if (danger) return text("capture-danger", named(danger));
    const last = tree.path(state.at).reverse().find(({ m }) => m?.[0] === "B" && !m.endsWith("--"));
    const chain = last && chains.find(({ points }) => points.includes(page.point(last.m)));
    return chain ? text("capture-liberties", { point: page.pointName(last.m), count: chain.liberties.length }) : text("capture-intro");
  }

  // Returns marks on the stones in atari.
  marks() {
    if (!this.isOn) return [];
    return chainsOf(this.page.stones(), this.page.state().columns).filter(({ liberties }) => liberties.length === 1)
      .flatMap(({ points }) => points.map(point => ({ point, kind: "SQ" })));
  }

  show() {
    const get = id => document.getElementById(id);
    get("capture").hidden = !this.isOn;
    if (!this.isOn) return;
    get("capture-words").textContent = this.words();
    get("capture-again").hidden = !this.isOver;
  }
}
