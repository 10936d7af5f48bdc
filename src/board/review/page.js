// Page of a review: the study page with a finished analysis, on which the game itself cannot be changed. If a program
// serves the page, an engine is behind it, and moves can be tried.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = id => document.getElementById(id);
  // The markup is hidden if scripts do not run.
  get("review").hidden = false;
  const { columns, rows, stars, thresholds, score_thresholds: scoreThresholds, main } = data;
  const COLORS = { B: 1, W: 2 };

  // ---- Positions: the main line, then its variations, then tried moves ----

  const packed = new Packed(columns), tree = new GameTree();
  let board = null, cursor = null;
  const words = new NodeWords({ tree, board: () => board, packed: () => packed });
  tree.take({ whole: true, nodes: data.steps.map(({ a, o, k, j, e, ...step }, i) => {
    const p = i && i < main ? i - 1 : step.p;
    return { ...step, i, p, f: e, ...a || j ? { j: { a, o, k, j } } : {} };
  }) });
  let count = data.steps.length;
  const isMain = number => number < main;
  // Steps of the main line, along which the curves are drawn.
  const mainLine = tree.path(main - 1);
  // Returns the step of the main line that a position follows, and the moves since then.
  function pathOf(number) {
    const line = [];
    let node = tree.get(number);
    for (; !isMain(node.i); node = tree.get(node.p)) line.unshift(node.m.slice(1));
    return { step: node.i, line };
  }
  const pointOf = number => { const { m } = tree.get(number) || {}; return m ? packed.point(m.slice(1)) : null; };
  const childAt = (number, point) => tree.get(number).next.find(child => pointOf(child) === point);
  const positionAt = number => tree.position(number, columns * rows, packed);

  // ---- Parts of the page ----

  const state = { step: 0, candidates: true, ownership: false, numbers: false, player: "", answers: false };
  const node = () => tree.get(state.step), numbers = () => node().j;
  const sign = () => node().t === "B" ? 1 : -1;
  const graded = () => packed.graded(numbers()?.k, sign(), thresholds);
  let shown = null;
  // Returns the position that is shown, which is computed once.
  function here() {
    if (problems.current) return problems.current.position;
    if (shown?.at !== state.step) shown = { at: state.step, ...positionAt(state.step) };
    return shown;
  }
  const isBad = step => tree.get(step).j?.j?.c > 0 && (!state.player || tree.get(step).m[0] === state.player);

  function makeBoard() {
    board = new Board(get("board"), columns, rows, packed.points(stars));
    cursor = new Cursor(board, { announce, choose: point => tryMove(point), describe: point => {
      const stone = here().stones[point];
      return text(stone ? "stone" : "empty", { point: board.name(point), color: colorName(stone === 1 ? "B" : "W") });
    } });
    return board;
  }
  const announce = words => { if (get("announcement").textContent !== words) get("announcement").textContent = words; };
  makeBoard();

  const candidates = new Candidates({ words, at: () => state.step, changed: () => showBoard(), next: () => pointOf(tree.next(state.step)) ?? -2 }, 6);
  const verdict = new Verdict({ words, candidates });
  const treeView = new TreeView({ tree, words, go: number => go(number) });
  const curves = new Curves(number => go(number));
  const valuesOf = ({ j }) => j?.a && [j.a[0], j.a[2]];
  const appearance = new Appearance(() => showBoard());
  const problems = new ProblemGame({ tree, words, size: () => data, announce, makeBoard, unknown: "problem-not-analysed",
    show: () => show(), clear: () => candidates.set(null, false), note: words => notice(words),
    judge: ({ key, it, packed }, point) => { problems.solved({ key, result: { j: judgedAnswer(it.node, packed.place(point)) } }); return true; } });

  const accuracies = data.accuracy.map(curve => {
    const values = Array(main).fill(null);
    // The curve of one player continues across the moves of the other.
    curve.forEach(([step, value], index) => {
      const next = curve[index + 1];
      values[step] = value / 10;
      if (next) for (let at = step + 1; at < next[0]; at++) {
        values[at] = (value + (next[1] - value) * (at - step) / (next[0] - step)) / 10;
      }
    });
    return values;
  });
  get("accuracy").hidden = data.accuracy.every(curve => curve.length < 2);
  const accuracy = new Chart(get("chart-accuracy"), main,
    [{ name: "black", values: accuracies[0] }, { name: "white", values: accuracies[1] }],
    { height: 140, top: 100, bottom: 0, ticks: [[100, "100 %"], [50, "50 %"], [0, "0 %"]], xTicks: Curves.ticks(mainLine) }, step => go(step));

  // ---- Showing a step ----

  function go(target) {
    if (problems.current) return;
    state.step = tree.has(target) ? target : Math.min(main - 1, Math.max(0, target));
    // Leaving a variation resets the choice of children, so that going forward follows the game.
    tree.choose(isMain(state.step) ? main - 1 : state.step);
    candidates.clear();
    // A position that was requested earlier must not replace the one that the user has gone to.
    asked = "";
    show();
    remember();
    look();
  }

  let timer = 0;
  function remember() {
    clearTimeout(timer);
    // Browsers limit how often the address may change.
    timer = setTimeout(() => {
      const { step } = pathOf(state.step);
      try { history.replaceState(null, "", `#${step}`); } catch { /* A page without an address of its own. */ }
    }, 250);
  }

  function show() {
    const { i: at, n, t } = node(), onMain = pathOf(at).step, all = tree.get(main - 1).n, { current } = problems;
    get("slider").value = onMain;
    get("slider").setAttribute("aria-valuetext", text("move-of", { count: n, all }));
    get("counter").textContent = isMain(at) ? `${n} / ${all}` : text("count-variation", { count: n });
    get("slider").disabled = Boolean(current);
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBack = button.dataset.go === "first" || Number(button.dataset.go) < 0;
      button.disabled = Boolean(current) || (isBack ? at === 0 : tree.next(at) === undefined);
    }
    for (const [id, color] of [["black", "B"], ["white", "W"]]) {
      const count = here().taken[COLORS[color]];
      get(`prisoners-${id}`).textContent = count ? `+${count}` : "";
      get(`prisoners-${id}`).title = text("taken", { count });
      get(`seat-${id}`).classList.toggle("on-turn", (current ? current.turn : t) === color);
    }
    for (const id of ["verdict", "thoughts", "curve"]) get(id).hidden = Boolean(current);
    get("tree-card").hidden = Boolean(current) || tree.nodes.size < 2;
    showBoard();
    problems.show();
    showBad();
    if (current) return;
    showVerdict();
    showCandidates();
    treeView.show(at);
    curves.show(mainLine, onMain, valuesOf, state.player);
    accuracy.show(onMain);
    for (const link of document.querySelectorAll(".worst a")) {
      link.toggleAttribute("aria-current", link.hash === `#${at}`);
    }
  }

  function showBoard() {
    const { line, base } = candidates, { i: at, n, m, j } = node(), { stones, numbers: moved } = here();
    board.root.classList.toggle("can-play", Boolean(link) || Boolean(problems.current));
    get("preview").hidden = !line;
    get("seats").classList.toggle("behind", Boolean(line));
    if (problems.current) { problems.showBoard(); return; }
    if (line) {
      candidates.draw(board, packed, base === at ? stones : positionAt(base).stones, tree.get(base).t);
      // Marks the point of the played move in the position before it.
      const point = base === at ? -1 : pointOf(at) ?? -1;
      if (point >= 0) svg("circle", { class: "played-instead", cx: board.x(point), cy: board.y(point), r: 17 }, board.layers.marks);
    } else {
      board.showStones(stones);
      const all = state.numbers ? Array.from(moved, (number, point) => [point, number]).filter(([point, number]) => number && stones[point]) : null;
      const last = pointOf(at), list = state.candidates ? graded() : [], following = node().next.map(pointOf).filter(point => point !== null && point >= 0);
      board.showMarks(stones[last] ? last : -1, all);
      board.showDots(appearance.dots === "on" && !all ? dotsOf(tree.path(at), here(), packed) : []);
      board.showCandidates(candidates.labelled(list, sign()), pointOf(tree.next(at)) ?? -1);
      board.showNext(following.filter(point => point !== pointOf(tree.next(at)) && !list.some(it => it.point === point)));
    }
    board.showMissed(!line && j?.j?.b && j.j.c > 0 ? packed.points(j.j.b.l)[0] ?? -1 : -1);
    board.showOwners(state.ownership && j?.o ? packed.owners(j.o) : null);
    const moves = packed.points(line?.l).map((point, number) => `${number + 1} ${board.name(point)}`).join("  ");
    get("preview-text").textContent = base === at ? moves : text("instead-line", { line: moves });
    const where = n || m ? text("board-after", { count: n }) : text("board-start");
    get("board-title").textContent = line ? text("board-line", { board: where }) : where;
  }

  // Returns the judgement of a move from searches of the positions before and after it, as far as they are known.
  // `value` has the win rate and the lead after the move, and `errors` those of the difference. The worse of the two
  // classes decides, as in a review.
  function judgedBy(before, best, value, errors, isSure) {
    const side = before.t === "B" ? 1 : -1;
    const losses = [best.w - value[0], best.s - value[1]].map(loss => Math.max(0, side * loss)), leasts = [thresholds, scoreThresholds];
    const sure = index => isSure && losses[index] >= 1.28 * (errors[index] ?? 0);
    const c = Math.max(...[0, 1].map(index => sure(index) ? leasts[index].filter(least => losses[index] >= least).length : 0));
    const isDoubtful = !isSure || [0, 1].some(index => !sure(index) && losses[index] >= leasts[index][0]);
    return { c, f: !c && isDoubtful ? 3 : 0, l: [losses[0], errors[0], losses[1], errors[1]], b: best };
  }

  // Returns the judgement of a tried move against the first choice in the position before it, if that is known.
  function triedJudgement({ i, p, j }) {
    const before = tree.get(p), best = before?.j?.k?.[0];
    if (!best || !j?.a) return null;
    if (packed.points(best.l)[0] === pointOf(i)) return { c: 0, f: 1, l: [0, 0, 0, 0] };
    return judgedBy(before, best, [j.a[0], j.a[2]], [Math.hypot(j.a[1], before.j.a[1]), Math.hypot(j.a[3], before.j.a[3])], true);
  }

  // Minimum share of the first choice's visits at which the loss of a candidate is known well enough.
  const ENOUGH = .05;
  // Returns the judgement of an answer to a problem from what the review knows: the move of the game, tried moves and
  // candidates.
  function judgedAnswer(number, place) {
    const played = tree.get(number), before = tree.get(played.p), best = before.j?.k?.[0];
    if (played.m.slice(1) === place) return played.j.j;
    const known = before.j?.k?.find(line => line.l.startsWith(place)), tried = before.next.map(child => tree.get(child)).find(({ m }) => m?.slice(1) === place);
    if (known && known === best) return { c: 0, f: 1, l: [0, 0, 0, 0] };
    if (tried?.j?.a) return triedJudgement(tried);
    return known ? judgedBy(before, best, [known.w, known.s], [], known.v >= ENOUGH * best.v) : null;
  }

  function showVerdict() {
    const it = node(), { n, t, c, j } = it, values = j?.a;
    get("verdict-number").textContent = text(!isMain(it.i) ? "move-of-variation" : n ? "move-of" : "start-of", { count: n, all: tree.get(main - 1).n });
    const judged = j?.j || (isMain(it.i) ? null : triedJudgement(it));
    const announced = verdict.show(it, judged, it.i ? text("stones-set-up") : text("turn", { color: colorName(t) }));
    showBalance(values);
    get("comment").hidden = !c;
    get("comment").textContent = c || "";
    announce(values ? `${announced}. ${text("black-wins")} ${percent(values[0])}, ${lead(values[2])}` : announced);
  }

  function showCandidates() {
    const list = graded(), after = tree.next(state.step), point = pointOf(after), follows = tree.get(after)?.j?.a;
    get("candidates-title").textContent = text("best-moves-for", { color: colorName(node().t) });
    get("candidates-none").hidden = Boolean(list.length);
    get("candidates-none").textContent = text(numbers()?.a ? "none-over" : link ? "none-looking" : "none-searched");
    get("candidates").hidden = get("legend").hidden = !list.length;
    // The played move has a search of its own, even if it is not among the candidates.
    const isOther = list.length && point !== null && follows && !list.some(it => it.point === point);
    candidates.show(list, sign(), isOther ? [{ point, label: "–", grade: "none", values: { w: follows[0], s: follows[2], v: follows[4] } }] : []);
  }

  // ---- Engine, if the program serves the page ----

  let link = null, asked = "", answered = "";
  const keyOf = ({ step, line }) => `${step} ${line.join("")}`;

  function look() {
    if (link) link.send({ do: "look", ...pathOf(state.step) });
  }

  // Requests a move in a position of the tree, and shows the new position when it arrives.
  function askFor(number, point) {
    const { step, line } = pathOf(number), path = { step, line: [...line, packed.place(point)] };
    asked = keyOf(path);
    link.send({ do: "look", ...path });
  }

  // Answers a problem, follows a variation, or tries a move.
  function tryMove(point) {
    if (problems.current) {
      if (problems.current.isOpen && point >= 0) problems.answer(point);
      return;
    }
    const there = childAt(state.step, point);
    if (there !== undefined) go(there);
    else if (link && !here().stones[point]) askFor(state.step, point);
  }

  function numberOf({ step, line }) {
    let number = step;
    for (const place of line) {
      const { next } = tree.get(number), of = child => tree.get(child).m?.slice(1) === place;
      number = next.find(child => of(child) && !isMain(child)) ?? next.find(of);
      if (number === undefined) return undefined;
    }
    return number;
  }

  function receive(message) {
    if (message.is === "position") {
      let number = numberOf(message);
      if (number === undefined) {
        const p = numberOf({ step: message.step, line: message.line.slice(0, -1) });
        if (p === undefined) return;
        number = count++;
        tree.take({ nodes: [{ i: number, p, n: tree.get(p).n + 1, t: message.turn, m: message.color + message.line.at(-1), x: message.lifted, tried: true }] });
      }
      if (asked === keyOf(message)) {
        asked = "";
        state.step = number;
        tree.choose(number);
        candidates.clear();
        show();
        remember();
      } else show();
    } else if (message.is === "thought") {
      const number = numberOf(message), it = tree.get(number);
      if (!it || !message.numbers.a || it.j?.a?.[4] > message.numbers.a[4]) return;
      it.j = { j: it.j?.j, ...message.numbers };
      if (number === state.step || node().p === number) refresh();
      answer(it);
    } else if (message.is === "refused") {
      const name = `refused-${message.why}`;
      notice([text(TEXTS.en[name] ? name : "refused"), message.text].filter(Boolean).join(" "));
    } else if (message.is === "progress") {
      notice(text("progress", message));
    } else if (message.is === "reviewed") {
      if (message.run !== data.run) location.reload();
    } else if (message.is === "record") {
      saveText(message.name, message.text);
    } else if (message.is === "trouble") {
      notice(text("stopped", message));
    }
  }

  function notice(words) {
    get("notice").textContent = words;
    get("notice").hidden = !words;
  }

  // Handles new numbers for the current position. A line that the user has selected stays.
  let isWaiting = false;
  function refresh() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      if (problems.current) return;
      if (candidates.line && !candidates.isPinned && candidates.base === state.step) candidates.renew(graded());
      if (!candidates.isPinned) showBoard();
      showVerdict();
      showCandidates();
      curves.show(mainLine, pathOf(state.step).step, valuesOf, state.player);
    });
  }

  // Minimum visits before the engine answers a tried move with its best move.
  const ANSWER_VISITS = 60;
  function answer(it) {
    if (!state.answers || it.i !== state.step || !it.tried || it.isAnswer || it.j.a[4] < ANSWER_VISITS || it.next.length) return;
    const best = packed.points(it.j.k?.[0]?.l)[0];
    if (best === undefined || best < 0) return;
    it.isAnswer = true;
    askFor(it.i, best);
    answered = asked;
  }

  if (data.live) {
    link = new Link(message => {
      receive(message);
      if (message.is === "position" && keyOf(message) === answered) {
        answered = "";
        const it = tree.get(numberOf(message));
        // Now it is the user's turn.
        if (it) it.isAnswer = true;
      }
    }, isOpen => {
      notice(isOpen ? "" : text("lost-review"));
      if (isOpen) look();
    });
    takeFiles(get("file"), async file => {
      try { link.send({ do: "load", ...await readRecord(file) }); } catch { notice(text("file-too-long")); }
    });
    get("open").addEventListener("click", () => get("file").click());
    get("toggle-answers").addEventListener("click", () => {
      state.answers = !state.answers;
      get("toggle-answers").setAttribute("aria-pressed", state.answers);
    });
    get("pass").addEventListener("click", () => tryMove(-1));
  }
  get("save").addEventListener("click", () => {
    if (link?.isOpen) link.send({ do: "save" }); else saveText(data.name, data.sgf);
  });

  // ---- Keys, touch, buttons ----

  function toggle(name) {
    state[name] = !state[name];
    get(`toggle-${name}`).setAttribute("aria-pressed", state[name]);
    showBoard();
  }
  for (const name of ["candidates", "ownership", "numbers"]) {
    get(`toggle-${name}`).addEventListener("click", () => toggle(name));
  }
  get("appearance").addEventListener("click", () => get("appearance-choice").showModal());

  for (const button of document.querySelectorAll("[data-player]")) {
    button.addEventListener("click", () => {
      state.player = button.dataset.player;
      for (const other of document.querySelectorAll("[data-player]")) other.setAttribute("aria-pressed", other === button);
      for (const item of document.querySelectorAll(".worst li")) {
        item.hidden = Boolean(state.player) && item.dataset.color !== state.player;
      }
      curves.show(mainLine, pathOf(state.step).step, valuesOf, state.player);
      showBad();
    });
  }

  function bad(direction) {
    for (let at = pathOf(state.step).step + direction; at >= 0 && at < main; at += direction) {
      if (isBad(at)) { go(at); return; }
    }
  }
  get("next-bad").addEventListener("click", () => bad(1));
  get("previous-bad").addEventListener("click", () => bad(-1));
  // Returns the moves of the chosen player that lost most, as problems.
  const worst = () => worstOf(mainLine, state.player);
  get("again").addEventListener("click", () => {
    notice("");
    problems.begin(worst().map(it => ({ ...problems.of(it), node: it.i })));
    toBoard();
  });
  for (const [id, act] of Object.entries(problems.actions)) get(id).addEventListener("click", act);
  function showBad() {
    const hasBad = mainLine.some(({ i }) => isBad(i)), number = worst().length;
    get("next-bad").disabled = get("previous-bad").disabled = !hasBad || Boolean(problems.current);
    get("again").hidden = !number;
    get("again").textContent = text("again", { count: number });
  }

  // Returns the step that is a number of moves ahead or behind, along the variation that is shown.
  const target = to => to === "first" ? 0 : to === "last" ? main - 1 : tree.walk(state.step, Number(to));
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(target(button.dataset.go)));
  }
  get("slider").addEventListener("input", event => go(Number(event.target.value)));
  get("preview-close").addEventListener("click", () => candidates.set(null, false));

  takeKeys({ cursor: () => cursor, candidates, problems, tree, at: () => state.step, go, target,
    main: number => pathOf(number).step,
    others: {
      S: () => announce(`${words.node(node())}. ${words.stones(here().stones)}`),
      "?": () => get("keys").focus(),
    } });

  // Input on the board: hovering over a candidate shows its line, a click or tap pins it, and a swipe steps through the
  // game. With an engine, a click tries the move.
  const candidateAt = event => state.candidates && !problems.current ? candidates.atPoint(board.pointAt(event.clientX, event.clientY)) : undefined;
  let start = null;
  const root = get("board");
  root.addEventListener("pointermove", event => { if (event.pointerType === "mouse") candidates.hover(candidateAt(event)); });
  root.addEventListener("pointerleave", () => candidates.hover(null));
  root.addEventListener("pointerdown", event => { start = { x: event.clientX, y: event.clientY }; });
  root.addEventListener("pointerup", event => {
    if (!start || event.button > 0) return;
    const dx = event.clientX - start.x, dy = event.clientY - start.y;
    start = null;
    if (cursor.point >= 0) cursor.place(-1);
    if (Math.abs(dx) > 36 && Math.abs(dx) > 2 * Math.abs(dy)) { go(tree.walk(state.step, dx < 0 ? 1 : -1)); return; }
    if (Math.hypot(dx, dy) > 10) return;
    if (candidates.isPinned) { candidates.set(null, false); return; }
    const point = board.pointAt(event.clientX, event.clientY), candidate = candidateAt(event);
    if (candidate && !link) candidates.pin(candidate);
    else if (point >= 0) tryMove(point);
  });

  // Uses the address of the event, because `remember` may have changed that of the page since.
  addEventListener("hashchange", event => {
    const { hash } = new URL(event.newURL), step = Number(hash.slice(1));
    if (hash && Number.isInteger(step) && step !== state.step && step < main) go(step);
  });
  function toBoard() {
    get("review").scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
  for (const link of document.querySelectorAll(".worst a")) {
    link.addEventListener("click", event => {
      event.preventDefault();
      go(Number(link.hash.slice(1)));
      toBoard();
    });
  }

  // Returns a one-line description of a bad move.
  function hint(number) {
    const { n, m, j } = tree.get(number), { c, b } = j?.j || {};
    const move = text("move-word", { count: n, color: colorName(m[0]), move: words.point(m) });
    return text("worst-hint", { move, grade: text(`grade-${c || 0}`), best: b ? words.first(b) : "–" });
  }

  takeLanguage(() => {
    for (const link of document.querySelectorAll(".worst a")) link.title = hint(Number(link.hash.slice(1)));
    show();
  });
  const first = Number(location.hash.slice(1));
  go(location.hash && Number.isInteger(first) ? Math.min(main - 1, first) : 0);
})();
