"use strict";

// Page of a game: draws the state and the tree, and sends the user's actions to the program. It does not know the rules
// of Go.
(() => {
  const get = id => document.getElementById(id);
  const COLORS = { B: 1, W: 2 }, OTHER = { B: "W", W: "B" }, NAMES = { B: "black", W: "white" };
  const LOSSES = [50, 100];
  // Maximum number of candidates that are shown.
  const MAX_CANDIDATES = 6;
  let choices = null, state = null, board = null, cursor = null, packed = null;
  const tree = new GameTree();
  const nodeWords = new NodeWords({ tree, board: () => board, packed: () => packed });
  // Node that is shown; null if the page follows the game.
  let view = null;
  // The deepest report of the engine on each position, by node.
  const found = new Map();
  // The latest hint: its node and its degree; and whether the page shows who leads.
  let hint = null, showsLead = false;
  // A point that waits for a second tap.
  let pending = -1;
  let isResigning = false;
  // The node that the server was last asked to analyse.
  let viewedNode = null;
  // Node of the judged move of a person that the lesson is about.
  let lesson = null;

  // ---- Texts ----

  const announce = words => { get("announcement").textContent = words; };

  // ---- Connection ----

  let session = null;
  // What restores the game after a restart of the program: the latest details that the program sent, and the line of
  // the game.
  let base = null, restorable = null, isAsking = false, isStale = false;
  let isSaving = false;
  const link = new Link(message => {
    const receive = {
      choices: () => {
        choices = message;
        // A reply may have been lost with the connection.
        isAsking = isSaving = false;
        dialogs.fill(choices);
      },
      tree: () => takeTree(message),
      state: () => take(message),
      thought: () => takeAnalysis(message),
      judged: () => takeJudged(message),
      judging: () => { if (state) { state.judging = message.judging; showReview(); if (!message.judging) askKept(); } },
      review: () => { if (state) { state.review = message.review; showReview(); } },
      record: () => takeText(message),
      kept: () => takeKept(message),
      problems: () => problems.take(message),
      solved: () => problems.solved(message),
      tsumego: () => tsumego.take(message),
      refused: () => refused(message.why, message),
      trouble: () => warn(text("trouble", message)),
      "cannot-run": () => warn(text("cannot-run", message)),
      "would-resign": () => { notice = text("would-resign"); if (state) show(); announce(notice); },
      shared: () => dialogs.showLink(message.fragment),
      games: () => dialogs.showGames(message),
      network: () => { notice = text("network-chosen", { name: message.name ?? text(`network-${message.which}`) }); if (state) show(); },
      networks: () => networks.take(message),
    }[message.is];
    receive?.();
  }, isOpen => { viewedNode = null; isAsking = false; warn(isOpen ? "" : text("lost")); });
  const ask = (what, more = {}) => link.send({ do: what, ...more });

  function warn(words) {
    get("connection").textContent = words;
    get("connection").hidden = !words;
  }

  function refused(why, { text: reason = "", partial = false } = {}) {
    const words = [text(`refused-${why}`, { hint: text("hint-handicap") }), reason].filter(Boolean).join(" ");
    if (partial && opened && confirm(`${words}\n\n${text("open-partly")}`)) {
      ask("load", { ...opened, partial: true });
      return;
    }
    dialogs.refused(words);
    problems.refused();
    notice = words;
    if (state) show();
    announce(words);
  }
  // Texts for screen readers with which the next state is announced.
  let notice = "", upcoming = "";
  // Latest opened file.
  let opened = null;

  // Requests everything that restores the game, unless the program runs in the page's worker and stores it itself.
  function askKept() {
    if (link.keepsGames || state?.tsumego) return;
    isStale = true;
    if (isAsking) return;
    isStale = false;
    isAsking = ask("remember");
  }

  function takeKept({ game, kept: all }) {
    isAsking = false;
    base = { game, kept: all };
    noteRestorable();
    // A large tree is not requested after every move.
    if (isStale) setTimeout(askKept, all.text.length > 200_000 ? 2000 : 0);
  }

  // The server accepts messages of less than 2 MB, so the numbers of a very large tree are left out.
  function fitting(game) {
    return JSON.stringify(game).length < 1_900_000 ? game : { ...game, details: { ...game.details, known: [] } };
  }

  function noteRestorable() {
    if (!state || state.tsumego || base?.game !== state.game || !tree.has(state.at)) return;
    const places = tree.path(state.at).slice(1).map(node => {
      const next = tree.get(node.p).next, isHere = child => tree.get(child).m?.slice(1) === node.m?.slice(1);
      if (node.m && next.find(isHere) === node.i) return node.m.slice(1);
      return `=${next.indexOf(node.i)}`;
    });
    const { result, seats } = state;
    restorable = { ...base.kept, line: places, result, black: seats.B, white: seats.W };
  }

  // ---- Tree ----

  function takeTree(message) {
    tree.take(message);
    if (!state || message.whole) return;
    if (view !== null && !tree.has(view)) view = null;
    if (message.game === state.game) {
      askKept();
      // After moves a state follows and draws everything, but a comment or numbers come without one.
      if (!message.order.length) show();
    }
  }

  function takeJudged({ game, nodes }) {
    if (!state || game !== state.game) return;
    for (const { i, j } of nodes) {
      const node = tree.get(i);
      if (node) node.j = j;
    }
    if (nodes.some(({ i }) => lesson?.node === i)) teach();
    showSoon();
  }

  // Judgements arrive faster than the page can be drawn.
  let isWaiting = false;
  function showSoon() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => { isWaiting = false; if (state) show(); });
  }

  // Handles a state of the table, which contains everything but the tree.
  function take(next) {
    const before = state, isNewRun = session !== null && session !== next.session;
    session = next.session;
    if (isNewRun && restorable && next.count_moves === 0 && tree.nodes.size === 1) {
      // The server was restarted. It gets the game from this page.
      ask("restore", { game: fitting(restorable) });
    }
    const isSameGame = Boolean(before) && !isNewRun && before.game === next.game;
    const isOther = !isSameGame || before.at !== next.at || before.study !== next.study;
    if (isOther || next.phase !== before.phase) {
      if (before) warn("");
      [notice, upcoming] = [upcoming, ""];
      pending = -1;
      candidates.clear();
      isResigning = false;
    }
    if (!isSameGame) {
      found.clear();
      hint = lesson = null;
      view = null;
      // The game waits while problems are on the table.
      if (!next.tsumego) restorable = base = null;
      problems.leave();
    }
    if (isOther) {
      hint = null;
      if (!next.analysed) showsLead = false;
    }
    if (next.notes.length && JSON.stringify(next.notes) !== JSON.stringify(before?.notes)) {
      notice = next.notes.join("; ");
      announce(notice);
    }
    const isOtherBoard = !before || before.columns !== next.columns || before.rows !== next.rows;
    state = next;
    state.receivedAt = performance.now();
    // Stores the rank that an adaptive opponent has after this game.
    if (state.adapted) keep("adaptive", state.adapted);
    if (isOtherBoard) { packed = new Packed(state.columns); makeBoard(); }
    if (view === state.at || (view !== null && !tree.has(view))) view = null;
    if (isSameGame && before.at !== next.at) {
      const node = tree.get(next.at);
      if (node.p === before.at || (next.study && node.p === (view ?? before.at))) {
        view = null;
        announce(nodeWords.move(node));
        appearance.play();
        if (next.teaches && node.m && isJudgedFor(node.m[0])) lesson = { node: node.i };
      } else if (!next.study && tree.isOnPath(next.at, before.at)) {
        lesson = null;
        announce([text("undone", { count: before.count_moves - next.count_moves }), statusWords()].join(". "));
      } else if (next.study) view = null;
      tree.choose(next.at);
    } else if (isSameGame && before.phase === "over" && next.phase === "playing") {
      announce(statusWords());
    }
    if (!isSameGame) tree.choose(next.at);
    if (lesson && !tree.has(lesson.node)) lesson = null;
    if (!state.count_moves) dialogs.begun();
    tsumego.changed();
    const taught = capture.changed(!before);
    if (taught && isOther) announce([get("announcement").textContent, taught].filter(Boolean).join(". "));
    show();
    if (!isSameGame || isOther || before.phase !== next.phase) askKept();
    if (!before) openAddress();
    // A new table does not know how strong this person is.
    const knows = kept("adaptive"), isNew = tree.nodes.size === 1 && state.phase === "playing" && !state.study;
    if (!before && knows && isNew && Object.values(state.seats).some(seat => seat.level === choices?.adaptive)) {
      const [black, white] = ["B", "W"].map(color => dialogs.seatOf(dialogs.seatValue(state.seats[color])));
      ask("seats", { black, white });
    }
  }

  // Returns whether moves of a colour are judged for the user: all in the study mode, otherwise those of a person.
  const isJudgedFor = color => state.study || state.seats[color].kind === "person";

  // ---- Board ----

  const candidates = new Candidates({ words: nodeWords, at: () => at(), changed: () => { if (state) showBoard(); },
    next: () => { const { m } = tree.get(tree.next(at())) || {}; return m ? packed.point(m.slice(1)) : -2; } }, MAX_CANDIDATES);
  const verdict = new Verdict({ words: nodeWords, candidates });

  function makeBoard(columns = state.columns, rows = state.rows, stars = state.stars) {
    board = new Board(get("board"), columns, rows, new Packed(columns).points(stars));
    cursor = new Cursor(board, { announce, describe: describePoint, choose: point => choose(point) });
    return board;
  }

  function describePoint(point) {
    const stone = here().stones[point], name = { point: board.name(point), color: colorName(stone === 1 ? "B" : "W") };
    if (!stone) return text("empty", name);
    return text(deadPoints().includes(point) ? "stone-dead" : "stone", name);
  }

  const at = () => view ?? state.at;
  const nodeHere = () => tree.get(at()) || { n: 0, t: "B", next: [] };
  // Cached position of the node that is shown.
  let shown = null;
  function here() {
    if (problems.current) return problems.current.position;
    if (shown?.at !== at() || shown.change !== tree.change) {
      shown = { at: at(), change: tree.change, ...tree.position(at(), state.columns * state.rows, packed) };
    }
    return shown;
  }
  const isLooking = () => view !== null && !state.study;
  const deadPoints = () => state.phase === "marking" && view === null && !problems.current ? packed.points(state.dead) : [];
  const turnHere = () => problems.current ? problems.current.turn : nodeHere().t;
  function canPlay() {
    if (problems.current) return problems.current.isOpen;
    if (capture.isOver) return false;
    if (state.tsumego) return tsumego.canPlay(nodeHere());
    if (state.study) return !state.thinking && !(state.phase === "marking" && view === null);
    return state.phase === "playing" && state.seats[state.turn].kind === "person" && view === null;
  }
  const numbersHere = () => {
    const deep = found.get(at())?.numbers, judged = nodeHere().j;
    return deep?.a && (!judged?.a || deep.a[4] >= judged.a[4]) ? deep : judged || deep;
  };
  const signHere = () => turnHere() === "B" ? 1 : -1;
  const allGraded = () => packed.graded(numbersHere()?.k, signHere(), LOSSES).slice(0, MAX_CANDIDATES);
  const hintHere = () => hint?.at === at() ? hint.degree : 0;
  const graded = () => state.analysed || hintHere() >= WHY ? allGraded() : hintHere() === MOVE ? allGraded().slice(0, 1) : [];

  // The hint that only names a move marks it with a letter.
  const labelled = () => state.analysed || hintHere() !== MOVE ? candidates.labelled(graded(), signHere()) : graded();

  function showBoard() {
    const { stones } = here();
    board.root.classList.toggle("can-play", canPlay() || (state.phase === "marking" && view === null));
    board.showGhost(pending, COLORS[turnHere()]);
    if (problems.current) { problems.showBoard(); return; }
    const node = nodeHere();
    const { line, base: from } = candidates;
    if (line) {
      candidates.draw(board, packed, from === at() ? stones : tree.position(from, state.columns * state.rows, packed).stones, tree.get(from).t);
    } else {
      board.showStones(stones);
      const last = node.m ? packed.point(node.m.slice(1)) : -1;
      const dots = appearance.dots === "on" ? dotsOf(tree.path(at()), here(), packed) : [];
      board.showMarks(stones[last] ? last : -1);
      board.showDots(dots);
      const marks = [...node.l || [], ...state.tsumego ? tsumego.marks(node) : []];
      board.showLabels(marks.map(([place, kind, words]) => ({ point: packed.point(place), kind, words })).concat(capture.marks()));
      board.showCandidates(labelled(), -1);
      if (isLooking() || state.study) {
        const following = node.next.map(child => tree.get(child)).filter(({ m }) => m && !m.endsWith("--"));
        board.showNext(following.map(({ m }) => packed.point(m.slice(1))).filter(point => !graded().some(it => it.point === point)));
      }
    }
    board.showMissed(line || state.analysed || !node.j?.j?.c ? -1 : packed.points(node.j.j.b?.l)[0] ?? -1);
    const region = !line && hintHere() === WHERE && !hint.isSearching && allGraded()[0]?.point >= 0 ? regionOf(allGraded()[0].point, state.columns, state.rows) : null;
    board.showRegion(region?.box);
    board.showCrosses(deadPoints());
    const owners = state.phase === "marking" && view === null ? state.area : showsLead ? numbersHere()?.o : "";
    board.showOwners(owners ? packed.owners(owners) : null);
    get("board-title").textContent = `${text("board")} ${state.columns}×${state.rows}, ${node.p === undefined ? text("at-start") : nodeWords.move(node)}`;
  }

  // Handles a click, a tap, or Enter.
  function choose(point) {
    if (point < 0) return;
    if (problems.current) {
      if (canPlay()) problems.answer(point);
      return;
    }
    if (state.phase === "marking" && view === null) {
      if (here().stones[point]) ask("mark", { place: packed.place(point) });
      return;
    }
    if (!canPlay()) {
      if (view === null && state.phase === "playing") announce(statusWords());
      return;
    }
    if (here().stones[point]) { refused("occupied"); return; }
    pending = -1;
    candidates.clear();
    tsumego.isAnswering = Boolean(state.tsumego);
    ask("play", { at: at(), place: packed.place(point) });
  }

  let down = null;
  const root = get("board");
  root.addEventListener("pointerdown", event => { down = { x: event.clientX, y: event.clientY }; });
  root.addEventListener("pointerup", event => {
    if (!down || !state || event.button > 0) return;
    const distance = Math.hypot(event.clientX - down.x, event.clientY - down.y);
    down = null;
    const point = board.pointAt(event.clientX, event.clientY);
    if (distance > 12 || point < 0) return;
    if (cursor.point >= 0) cursor.place(-1);
    const isNarrow = root.clientWidth / board.columns < 30;
    if (event.pointerType === "touch" && isNarrow && canPlay() && !here().stones[point] && pending !== point) {
      // A finger is wider than a point, so a tap only selects it and the second tap plays.
      pending = point;
      show();
      return;
    }
    choose(point);
  });
  root.addEventListener("pointermove", event => {
    if (event.pointerType !== "mouse" || !state) return;
    const point = board.pointAt(event.clientX, event.clientY);
    if (!problems.current) candidates.hover(graded().find(it => it.point === point));
    if (!candidates.line) board.showGhost(canPlay() ? point : -1, COLORS[turnHere()]);
  });
  root.addEventListener("pointerleave", () => {
    if (!state) return;
    board.showGhost(pending, COLORS[turnHere()]);
    candidates.hover(null);
  });

  // ---- Side panels ----

  // Returns the name of a player, from a state of the table or from the summary of a stored game.
  function seatName(color, { seats, names } = state) {
    const seat = seats[color];
    if (seat.kind === "kosumi") return text("kosumi", { level: levelName(seat.level) });
    if (seat.kind === "engine") return choices?.engines[seat.number] || "?";
    return names[color] || colorName(color);
  }

  function resultWords(result) {
    const parts = /^([BW])\+(.*)$/.exec(result || "");
    if (result === "0" || result === "Draw") return text("draw");
    if (!parts) return text("unknown-result", { text: result || "?" });
    const [, color, how] = parts, names = { color: colorName(color), other: colorName(OTHER[color]), points: how };
    if (/^R/i.test(how)) return text("wins-resign", names);
    if (/^T/i.test(how)) return text("wins-time", names);
    return /^[\d.]+$/.test(how) ? text("wins-by", names) : text("unknown-result", { text: result });
  }

  // Returns in everyday words who leads by a number of tenths of a point.
  function leadWords(tenths = numbersHere()?.a?.[2]) {
    if (tenths === undefined) return text("lead-soon");
    const exact = Math.abs(tenths) / 10, color = colorName(tenths > 0 ? "B" : "W");
    const points = exact < 3 ? Math.round(2 * exact) / 2 : Math.round(exact);
    return points < 1 ? text("leads-nobody") : text(points === 1 ? "leads-by-one" : "leads-by", { color, points });
  }

  function statusWords() {
    if (isLooking()) return text("looking", { count: nodeHere().n, all: tree.get(tree.end(at())).n });
    if (notice) return notice;
    if (view === null && state.phase === "marking") return text("marking");
    if (view === null && state.phase === "over") return text("over", { result: resultWords(state.result) });
    if (state.tsumego) return text("turn", { color: colorName(turnHere()) });
    if (state.study) return text(state.thinking ? "study-thinking" : "studying", { color: colorName(turnHere()) });
    if (state.paused) return text("paused");
    if (state.thinking) return text("thinking", { name: seatName(state.turn) });
    return text("turn", { color: colorName(state.turn) });
  }

  function show() {
    showBoard();
    for (const color of ["B", "W"]) {
      const name = NAMES[color], count = here().taken[COLORS[color]] + (problems.current ? 0 : state.lost[OTHER[color]]);
      get(`name-${name}`).textContent = seatName(color);
      get(`prisoners-${name}`).textContent = count ? `+${count}` : "";
      get(`prisoners-${name}`).title = text("taken", { count });
      get(`seat-${name}`).classList.toggle("on-turn", state.study ? turnHere() === color : state.phase === "playing" && state.turn === color);
    }
    const { variations } = tree, node = nodeHere(), isProblem = Boolean(problems.current), isPosed = Boolean(state.tsumego);
    get("status").textContent = isProblem ? text("turn", { color: colorName(turnHere()) }) : statusWords();
    get("facts").textContent = [text("facts", { rules: text(`rules-${state.rules}`), komi: state.komi }),
      state.handicap ? text("facts-handicap", { count: state.handicap }) : "",
      variations ? text("facts-variations", { count: variations }) : ""].filter(Boolean).join(" · ");
    get("lead-words").hidden = !showsLead;
    get("lead-words").textContent = showsLead ? leadWords() : "";
    get("counter").textContent = view === null ? text("move-count", { count: node.n }) : `${node.n} / ${tree.get(tree.end(at())).n}`;
    const isMarking = view === null && state.phase === "marking", isAsked = pending >= 0 || isResigning;
    get("playing").hidden = isLooking() || isMarking || isAsked || state.study || isProblem;
    get("studying").hidden = !state.study || isMarking || isAsked || isProblem || isPosed;
    get("marking").hidden = !isMarking || isProblem;
    get("looking").hidden = !isLooking() || isProblem;
    get("confirming").hidden = pending < 0;
    get("resigning").hidden = !isResigning || isLooking() || isProblem;
    const isOver = state.phase === "over", hasPerson = ["B", "W"].some(color => state.seats[color].kind === "person");
    get("pass").disabled = !canPlay();
    get("pass").hidden = isOver;
    get("undo").disabled = node.p === undefined;
    // When the game is being counted, there is no move left to advise.
    get("hint").disabled = state.thinking || isMarking || isProblem || isPosed;
    get("analyse").disabled = get("teach").disabled = get("hint").parentElement.hidden = isPosed;
    get("estimate").disabled = isMarking || isProblem || isPosed || (state.thinking && !state.analysed && !showsLead);
    get("estimate").setAttribute("aria-pressed", showsLead);
    get("resign").disabled = state.phase !== "playing" || !hasPerson;
    get("resign").hidden = isOver;
    get("pause").hidden = hasPerson && !state.paused || isOver || capture.isOver;
    get("pause").textContent = text(state.paused ? "go-on" : "pause");
    get("study-pass").disabled = get("answer").disabled = Boolean(state.thinking);
    for (const [id, isOn] of [["analyse", state.analysed], ["teach", state.teaches], ["answers", state.answers]]) get(id).setAttribute("aria-pressed", isOn);
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBack = button.dataset.go === "first" || Number(button.dataset.go) < 0;
      button.disabled = isProblem || (isBack ? node.p === undefined : tree.next(at()) === undefined);
    }
    if (!state.analysed) viewedNode = null;
    else if (viewedNode !== at()) { viewedNode = at(); ask("view", { at: viewedNode }); }
    showHint();
    showCount();
    const judged = nodeHere().j?.j;
    get("verdict").hidden = !judged || Boolean(problems.current);
    verdict.show(nodeHere(), judged);
    worst.show(!problems.current);
    showThought();
    showClocks();
    showReview();
    showTree();
    showLesson();
    problems.show();
    tsumego.show();
    capture.show();
  }

  // ---- The judgement of moves ----

  function showReview() {
    const { review, judging } = state, isPaged = Array.isArray(review), hasMoves = tree.nodes.size > 1;
    for (const button of document.querySelectorAll("[data-review]")) {
      button.hidden = !hasMoves || (!state.study && state.phase !== "over");
      button.textContent = text(judging ? "review-stop" : "review");
    }
    get("judging").hidden = !judging;
    if (judging) {
      get("judging-bar").max = judging[1];
      get("judging-bar").value = judging[0];
      get("judging-words").textContent = text("judged-so-far", { done: judging[0], total: judging[1] });
    }
    get("reviewing").hidden = !isPaged;
    if (isPaged) get("reviewing").textContent = text("progress", { done: review[0], total: review[1] });
    get("review-page").hidden = review !== null || !hasMoves || Boolean(problems.current || state.tsumego) || (!state.study && state.phase !== "over");
    get("reviewed").hidden = review !== true;
    get("reviewed").firstChild.href = link.reviewAddress;
  }

  // Returns the colour of the only person in the game; nothing if there are two or none.
  function soleColor() {
    const people = ["B", "W"].filter(color => state.seats[color].kind === "person");
    return people.length === 1 ? people[0] : "";
  }

  // Cached line through the node that is shown.
  let lineKey = "", wholeLine = null;
  function thisLine() {
    const end = tree.end(at()), key = `${state.game} ${tree.change} ${end}`;
    if (key !== lineKey) { lineKey = key; wholeLine = tree.path(end); }
    return wholeLine;
  }

  // Shows the lesson about the latest move of a person.
  function teach() {
    const node = tree.get(lesson.node), judged = node?.j?.j;
    if (!judged) return;
    lesson.words = lessonWords(node, judged);
    announce(lesson.words);
  }

  function lessonWords(node, judged) {
    const move = nodeWords.move(node);
    if (!judged.c) return `${move}: ${gradeWords(judged)}.`;
    const best = board.name(packed.points(judged.b?.l)[0] ?? -1);
    return text("lesson", { move, grade: gradeWords(judged), points: pointsWords(judged), best });
  }

  function showLesson() {
    const node = lesson && tree.get(lesson.node), judged = node?.j?.j;
    const isShown = Boolean(node) && state.teaches && !problems.current && view === null;
    get("lesson").hidden = !isShown;
    if (!isShown) return;
    get("lesson-words").textContent = judged ? lessonWords(node, judged) : text("lesson-soon", { move: nodeWords.move(node) });
    get("take-back").hidden = !judged?.c;
    get("lesson-line").hidden = !judged?.b || !judged.c;
    get("lesson-line").setAttribute("aria-pressed", Boolean(candidates.line) && candidates.line === judged?.b);
  }

  function showHint() {
    const degree = hintHere(), best = allGraded()[0];
    get("hint-words").hidden = !degree;
    if (!degree) return;
    get("hint-words").textContent = !best || hint.isSearching ? text("hint-soon") : hintWords(best);
  }

  const hintWords = best => hintText(best, allGraded()[1], { degree: hintHere(), sign: signHere(), lead: leadWords(best.line?.s),
    region: best.point < 0 ? "" : regionOf(best.point, state.columns, state.rows).name, name: point => board.name(point), points: places => packed.points(places) });

  // ---- The tree ----

  const treeView = new TreeView({ tree, words: nodeWords, go: number => go(number) });

  function showTree() {
    const node = nodeHere(), isRoot = node.p === undefined;
    get("tree-card").hidden = tree.nodes.size < 2;
    if (!get("tree-card").hidden) treeView.show(at(), state.at);
    const isInGame = !state.study && tree.isOnPath(at(), state.at);
    get("remove").disabled = isRoot || isInGame;
    get("put-back").disabled = !state.removed;
    get("promote").disabled = tree.path(at()).every(({ i, p }) => p === undefined || tree.get(p).next[0] === i);
    if (commentAt !== at()) {
      flushComment();
      commentAt = at();
      get("comment").value = node.c || "";
    } else if (document.activeElement !== get("comment")) get("comment").value = node.c || "";
    get("comment-of").textContent = nodeWords.node(node);
  }

  // The node whose comment is shown, and the timer of a change that was not sent yet.
  let commentAt = null, commentTimer = 0;
  function flushComment() {
    clearTimeout(commentTimer);
    const node = tree.get(commentAt);
    if (node && get("comment").value.trim() !== (node.c || "").trim()) {
      node.c = get("comment").value.trim();
      ask("comment", { at: commentAt, text: get("comment").value });
    }
  }
  get("comment").addEventListener("input", () => { clearTimeout(commentTimer); commentTimer = setTimeout(flushComment, 700); });
  get("comment").addEventListener("blur", flushComment);

  function showCount() {
    const table = get("count"), { count } = state;
    table.hidden = !count || view !== null || Boolean(problems.current);
    table.tBodies[0].replaceChildren();
    if (table.hidden) return;
    const row = (name, black, white) => {
      const made = table.tBodies[0].insertRow();
      for (const cell of [name, black, white]) made.insertCell().textContent = cell;
    };
    row("", colorName("B"), colorName("W"));
    for (const part of ["territory", "stones", "captives"]) {
      if (count.B[part] || count.W[part]) row(text(`count-${part}`), count.B[part], count.W[part]);
    }
    row(text("count-komi"), "", count.komi);
    if (count.bonus) row(text("count-bonus"), "", count.bonus);
    row(text("count-score"), resultWords(count.score), "");
  }

  function showThought() {
    const lines = problems.current || (!state.analysed && hintHere() < WHY) ? [] : graded();
    get("thoughts").hidden = Boolean(problems.current) || (!lines.length && !state.analysed);
    candidates.show(lines, signHere());
    const isShown = !problems.current && (state.analysed || state.study || state.phase === "over" || hintHere() >= WHY || showsLead);
    const numbers = isShown ? numbersOf(nodeHere()) : null;
    showBalance(numbers && [numbers[0], undefined, numbers[1]]);
    showCurve();
  }

  // Returns the win rate in thousandths and the lead in tenths at a node, if they are known: from the searches of equal
  // length, otherwise from the deepest one.
  function numbersOf(node) {
    const { a } = node.j || {}, deep = found.get(node.i)?.numbers.a;
    return a ? [a[0], a[2]] : deep ? [deep[0], deep[2]] : node.e ? [node.e[0], node.e[1]] : null;
  }

  // Draws the curves of the line. They are hidden while a person plays, unless analysis is on.
  let curves = null;
  function showCurve() {
    const isPlaying = !state.study && state.phase !== "over" && ["B", "W"].some(color => state.seats[color].kind === "person");
    const isWanted = !problems.current && (state.analysed || !isPlaying), whole = thisLine();
    get("curve").hidden = !isWanted || Curves.known(whole, numbersOf) < 3;
    if (get("curve").hidden) return;
    curves ||= new Curves(number => { go(number); });
    curves.show(whole, at(), numbersOf);
  }

  function takeAnalysis(message) {
    if (!state || !tree.has(message.at) || !message.numbers.a) return;
    const known = found.get(message.at), isHere = message.at === at() && !problems.current;
    const isDeeper = !known || known.numbers.a[4] <= message.numbers.a[4];
    if (isDeeper) found.set(message.at, message);
    if (message.last && message.of === "hint" && hint?.at === message.at) hint.isSearching = false;
    if (!isHere) { showCurve(); return; }
    if (isDeeper && candidates.line && !candidates.isPinned && candidates.base === at()) candidates.renew(graded());
    if (message.last && message.of === "estimate" && showsLead) announce(leadWords());
    if (message.last && message.of === "hint" && allGraded()[0] && hintHere()) announce(hintWords(allGraded()[0]));
    if (showsLead) get("lead-words").textContent = leadWords();
    showHint();
    if (!candidates.isPinned) showBoard();
    showThought();
  }

  function showClocks() {
    if (!state) return;
    for (const color of ["B", "W"]) {
      const it = get(`clock-${NAMES[color]}`), left = state.clock && !state.study ? clockWords(state.clock, color, state.receivedAt) : { words: "" };
      if (it.textContent !== left.words) it.textContent = left.words;
      it.classList.toggle("short", Boolean(left.isShort));
    }
  }
  setInterval(() => { if (state?.clock?.runs) showClocks(); }, 200);

  // ---- Problems, appearance, dialogs ----

  const problems = new OwnProblems({ ask, announce, tree, state: () => state, size: () => state, line: thisLine, color: soleColor, makeBoard, unknown: "problem-unknown",
    judge: ({ key, it, packed }, point) => ask("solve", { key, text: it.record, place: packed.place(point) }),
    show: () => { if (state) show(); },
    clear: () => { candidates.set(null, false); pending = -1; },
    note: words => { notice = words; show(); announce(words); } });
  const pointName = move => move && !move.endsWith("--") ? board.name(packed.point(move.slice(1))) : "–";
  const page = { ask, announce, tree, state: () => state, at, go: number => go(number), board: () => board, stones: () => here().stones,
    point: move => packed.point(move.slice(1)), pointName, newGame: () => dialogs.newGame(state), show: () => { if (state) show(); },
    note: words => { notice = words; if (state) show(); announce(words); } };
  const worst = new WorstList({ line: thisLine, color: soleColor, words: nodeWords, go: number => go(number) });
  const tsumego = new TsumegoGame(page), capture = new CaptureLesson(page);
  const appearance = new Appearance(() => { if (state) show(); });
  const dialogs = new Dialogs({ ask, seatName, resultWords });
  // Only the page without a program has a choice of networks.
  const networks = get("network") ? new NetworkDialog(ask, words => { notice = words; if (state) show(); }) : null;

  // ---- Buttons and keys ----

  function go(number) {
    if (!tree.has(number) || problems.current) return;
    view = number === state.at ? null : number;
    tree.choose(number);
    candidates.clear();
    isResigning = false;
    pending = -1;
    notice = "";
    if (!state.analysed) showsLead = false;
    show();
    announce(number === tree.path(number)[0].i ? text("at-start") : nodeWords.move(tree.get(number)));
  }
  // Returns the node that is a number of moves ahead or behind, or at an end of the line.
  function target(to) {
    if (to === "first") return tree.path(at())[0].i;
    if (to === "last") return isLooking() && tree.isOnPath(at(), state.at) ? state.at : tree.end(at());
    return tree.walk(at(), Number(to));
  }
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => { if (state) go(target(button.dataset.go)); });
  }
  const onClick = (id, act) => get(id).addEventListener("click", act);
  const review = () => ask("review", { at: at(), on: !state.judging });
  const actions = {
    pass: () => ask("play", { at: at(), place: "--" }),
    "study-pass": () => ask("play", { at: at(), place: "--" }),
    undo: () => ask("undo", { at: state.at }),
    // Each click on the button goes one degree further.
    hint: () => {
      const degree = Math.min(WHY, hintHere() + 1);
      hint = { at: at(), degree, isSearching: hint?.at === at() && hint.isSearching };
      if (degree === WHERE) { hint.isSearching = true; ask("hint", { at: at() }); }
      show();
      if (!hint.isSearching && allGraded()[0]) announce(hintWords(allGraded()[0]));
    },
    // A running analysis knows who leads. Without one, the position is searched.
    estimate: () => {
      showsLead = !showsLead;
      if (showsLead && !state.analysed) ask("estimate", { at: at() });
      else if (showsLead) announce(leadWords());
      show();
    },
    analyse: () => {
      if (state.analysed) { hint = null; showsLead = false; }
      ask("analyse", { on: !state.analysed });
    },
    teach: () => ask("teach", { on: !state.teaches }),
    pause: () => ask("pause", { on: !state.paused }),
    review,
    "study-review": review,
    "review-page": () => ask("review-page"),
    resign: () => { isResigning = true; show(); announce(text("resign-sure")); get("keep-playing").focus(); },
    "resign-now": () => { isResigning = false; ask("resign", { at: state.at }); show(); },
    "keep-playing": () => { isResigning = false; show(); },
    settle: () => ask("settle"),
    resume: () => ask("resume"),
    study: () => ask("study", { on: true }),
    "study-here": () => ask("study", { on: true }),
    "study-end": () => { view = null; ask("study", { on: false }); },
    answer: () => ask("answer", { at: at() }),
    answers: () => ask("answers", { on: !state.answers }),
    against: () => dialogs.players({ ...state, turn: turnHere() }, at()),
    "from-here": () => {
      const to = view;
      upcoming = text("rest-kept", { count: tree.get(tree.end(to)).n - tree.get(to).n });
      view = null;
      ask("from", { at: to });
    },
    "to-end": () => go(state.at),
    confirm: () => choose(pending),
    cancel: () => { pending = -1; show(); },
    promote: () => ask("promote", { at: at() }),
    remove: () => {
      const gone = at();
      view = tree.parent(gone) === state.at ? null : tree.parent(gone);
      announce(text("removed"));
      ask("remove", { at: gone });
      get("put-back").disabled = false;
      get("put-back").focus();
    },
    "put-back": () => ask("put-back"),
    "take-back": () => {
      const before = tree.parent(lesson.node);
      lesson = null;
      if (state.study) go(before);
      else ask("undo", { at: state.at });
    },
    "lesson-line": () => {
      const node = tree.get(lesson.node), better = node.j.j.b;
      candidates.toggle(better, node.p);
      show();
    },
    again: () => problems.again(),
    due: () => problems.begin(problems.store.due()),
    ...problems.actions,
    ...tsumego.actions,
    ...capture.actions,
    load: () => get("file").click(),
    new: () => dialogs.newGame(state),
    players: () => dialogs.players(state),
    save: () => { isSaving = ask("save"); if (!isSaving) announce(text("lost")); },
  };
  for (const [id, act] of Object.entries(actions)) onClick(id, () => { if (state || id === "new") act(); });
  if (get("share")) onClick("share", () => { if (state) ask("share"); });

  takeKeys({ cursor: () => state && cursor, candidates, problems, tree, at, go, target, main: number => tree.mainOf(number),
    escape: () => { pending = -1; isResigning = false; show(); },
    others: {
      S: () => announce(`${statusWords()}. ${nodeWords.stones(here().stones)}`),
      "?": () => get("help-text").showModal(),
      C: () => { if (!get("tree-card").hidden) get("comment").focus(); },
    } });
  get("comment").addEventListener("keydown", event => { if (event.key === "Escape") { get("comment").blur(); get("board").focus(); } });

  // ---- Records ----

  function takeText({ text: record }) {
    if (!isSaving) return;
    isSaving = false;
    const name = [seatName("B"), seatName("W")].join("-").replace(/[^\p{L}\p{N}-]+/gu, "_").slice(0, 60);
    saveText(`${name || "game"}.sgf`, record);
  }

  async function load(file) {
    try {
      opened = await readRecord(file);
      ask("load", opened);
    } catch { refused("too-long"); }
  }
  takeFiles(get("file"), load);
  takeFiles(get("tsumego-file"), file => tsumego.read(file), false);

  // Opens the game in the address, and removes it from the address so that a later reload does not open it again.
  function openAddress() {
    const shared = /^#game=(.+)$/.exec(location.hash)?.[1];
    if (shared === undefined) return;
    history.replaceState(null, "", location.pathname + location.search);
    opened = { shared };
    ask("load", opened);
  }
  addEventListener("hashchange", openAddress);

  takeLanguage(() => {
    if (choices) dialogs.fill();
    if (state) show();
  });
})();
