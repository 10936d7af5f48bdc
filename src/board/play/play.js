"use strict";

// Page of a game: draws the state, and sends the user's actions to the program. It knows no rules of Go.
(() => {
  const get = id => document.getElementById(id);
  const COLORS = { B: 1, W: 2 }, OTHER = { B: "W", W: "B" }, NAMES = { B: "black", W: "white" };
  const LOSSES = [50, 100];
  // Rows of the table of candidates, which are always there.
  const ROWS = 6;
  // Width of a point in pixels from which a letter and a number fit on a candidate.
  const ROOMY = 34;
  let choices = null, state = null, board = null, cursor = null, packed = null, positions = [], chart = null;
  // Number of moves after which the position is shown; null follows the game.
  let view = null;
  // The deepest report of the engine on each position, by number of moves.
  const found = new Map();
  // Position whose best moves were asked for by Hint, and whether it is shown who leads.
  let hinted = null, showsLead = false;
  // The variation that is shown, with its first move, and a point that waits for a second tap.
  let line = null, lineStart = -1, isPinned = false, pending = -1;
  let isResigning = false;
  // Black's win rates in per cent by number of moves, and the position that the server was last told to analyse.
  const rates = [];
  let told = null;

  // ---- Texts ----

  const colorName = color => text(NAMES[color]);

  const say = words => { get("say").textContent = words; };

  // ---- Connection ----

  let session = null;
  // Number of the game, its record as last received, and the number of the record's moves that are still in the game.
  // The server is asked for it when a game begins, and not again: later moves are in the state. Variations are lost if
  // the server restarts.
  let base = null, isSaving = false;
  const link = new Link(message => {
    if (message.is === "choices") {
      choices = message;
      // A reply may have been lost with the connection.
      if (base?.text === null) base = null;
      isSaving = false;
      fillChoices();
    }
    else if (message.is === "state") take(message);
    else if (message.is === "thought") hearThought(message);
    else if (message.is === "review") { if (state) { state.review = message.review; showReview(); } }
    else if (message.is === "record") takeText(message);
    else if (message.is === "refused") refused(message.why, message);
    else if (message.is === "trouble") warn(text("trouble", message));
    else if (message.is === "cannot-run") warn(text("cannot-run", message));
    else if (message.is === "shared") showLink(message.fragment);
    else if (message.is === "games") showGames(message);
    else if (message.is === "network") { notice = text("network-chosen", { name: message.name ?? text(`network-${message.which}`) }); if (state) show(); }
    else if (message.is === "networks") networks.take(message);
  }, isOpen => { told = null; warn(isOpen ? "" : text("lost")); });
  const ask = (what, more = {}) => link.say({ do: what, ...more });
  const moveCount = () => state.moves.length;

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
    if (get("new-game").open) { get("new-trouble").textContent = words; get("new-trouble").hidden = false; }
    isWaiting = false;
    notice = words;
    if (state) show();
    say(words);
  }
  // What the next state is announced with.
  let notice = "", upcoming = "";
  // Latest opened file.
  let opened = null;

  // Handles a state of the table, which contains everything to draw.
  function take(next) {
    const before = state;
    const isNewRun = session !== null && session !== next.session;
    session = next.session;
    if (isNewRun) {
      if (base?.text && before.moves.length && !next.moves.length) {
        // The server was restarted. Send it the game.
        const moves = before.moves.slice(base.kept).map(([, place]) => place);
        const { result, seats } = before;
        ask("restore", { game: { text: base.text, kept: base.kept, moves, result, black: seats.B, white: seats.W } });
      }
      base = null;
    }
    if (base?.game !== next.game) {
      base = { game: next.game, text: null, kept: 0 };
      ask("save");
    }
    const isSameGame = Boolean(before) && !isNewRun && before.game === next.game;
    let common = 0;
    while (isSameGame && common < next.moves.length && common < before.moves.length
      && before.moves[common][0] === next.moves[common][0] && before.moves[common][1] === next.moves[common][1]) common++;
    base.kept = Math.min(base.kept, common);
    const isOtherLine = !isSameGame || common < before.moves.length || common < next.moves.length;
    const isLonger = isOtherLine || next.phase !== before.phase;
    if (isLonger) {
      if (before) warn("");
      [notice, upcoming] = [upcoming, ""];
      pending = -1;
      line = null;
      isPinned = isResigning = false;
    }
    if (isOtherLine) {
      for (const number of found.keys()) if (!isSameGame || number > common) found.delete(number);
      hinted = null;
      if (!next.analysed) showsLead = false;
      if (!isSameGame || view > common) view = null;
    }
    if (next.notes.length && JSON.stringify(next.notes) !== JSON.stringify(before?.notes)) {
      notice = next.notes.join("; ");
      say(notice);
    }
    const isOther = !before || before.columns !== next.columns || before.rows !== next.rows;
    rates.length = 0;
    for (const [number, rate] of [...next.outlooks, ...next.evaluations]) rates[number] = rate / 10;
    state = next;
    state.heard = performance.now();
    // The rank that an adaptive opponent has after this game.
    if (state.adapted) keep("adaptive", state.adapted);
    if (isOther) makeBoard();
    packed = new Packed(state.columns);
    positions = playOut(state.columns * state.rows, [
      { s: [packed.points(state.start.B), packed.points(state.start.W), []] },
      ...state.moves.map(([color, place, lifted], index) => (
        { color: COLORS[color], at: packed.point(place), lifted: packed.points(lifted), number: index + 1 })),
    ]);
    if (view !== null && view >= moveCount()) view = null;
    if (isSameGame && common === before.moves.length && next.moves.length === common + 1) {
      view = null;
      say(moveWords(next.moves.at(-1)));
    } else if (isSameGame && common === next.moves.length && common < before.moves.length) {
      say([text("undone", { count: before.moves.length - common }), statusWords()].join(". "));
    } else if (isSameGame && before.phase === "over" && next.phase === "playing") {
      say(statusWords());
    }
    if (isOtherLine) fillMoves();
    if (get("new-game").open && !next.moves.length && isWaiting) { isWaiting = false; get("new-game").close(); }
    show();
    if (!before) openAddress();
    // A new board does not know how strong this person is.
    const knows = kept("adaptive"), isNew = !state.moves.length && state.phase === "playing";
    if (!before && knows && isNew && Object.values(state.seats).some(seat => seat.level === choices?.adaptive)) {
      ask("seats", { black: seatOf(seatValue(state.seats.B)), white: seatOf(seatValue(state.seats.W)) });
    }
  }

  function moveWords([color, place, lifted]) {
    const name = { color: colorName(color), move: place === "--" ? "" : board.name(packed.point(place)) };
    const words = text(place === "--" ? "passes" : "played", name);
    return lifted ? `${words}, ${text("takes", { count: lifted.length / 2 })}` : words;
  }

  // ---- Board ----

  function makeBoard() {
    const stars = new Packed(state.columns).points(state.stars);
    board = new Board(get("board"), state.columns, state.rows, stars);
    cursor = new Cursor(board, { say, describe: describePoint, choose: point => choose(point) });
  }

  function describePoint(point) {
    const stone = here().stones[point], name = { point: board.name(point), color: colorName(stone === 1 ? "B" : "W") };
    if (!stone) return text("empty", name);
    return text(deadPoints().includes(point) ? "stone-dead" : "stone", name);
  }

  const at = () => view ?? moveCount();
  const here = () => positions[at()];
  const deadPoints = () => state.phase === "marking" && view === null ? packed.points(state.dead) : [];
  const isPersonsTurn = () => state.phase === "playing" && state.seats[state.turn].kind === "person" && view === null;
  const turnHere = () => at() < moveCount() ? state.moves[at()][0] : state.turn;
  const numbersHere = () => found.get(at())?.numbers;
  const graded = () => state.analysed || hinted === at()
    ? packed.graded(numbersHere()?.k, turnHere() === "B" ? 1 : -1, LOSSES).slice(0, ROWS) : [];

  // What is written on the candidates: the letter, with the chosen number where there is room for both.
  function labelled() {
    const kind = get("labels").value, isRoomy = board.root.clientWidth / (state.columns + 1.2) >= ROOMY;
    const sign = turnHere() === "B" ? 1 : -1;
    const number = { points: ({ s }) => decimal(sign * s / 10, 1).replace("-", "−"),
      rate: ({ w }) => String(Math.round((sign > 0 ? w : 1000 - w) / 10)) }[kind];
    return graded().map(it => {
      if (!number) return it;
      return isRoomy ? { ...it, note: number(it.line) } : { ...it, label: number(it.line) };
    });
  }

  function showBoard() {
    const { stones } = here();
    if (line) {
      const shown = packed.playedOut(stones, COLORS[turnHere()], line);
      board.showStones(shown.stones);
      board.showMarks(-1);
      board.showLine(shown.moves);
    } else {
      board.showStones(stones);
      const last = at() ? packed.point(state.moves[at() - 1][1]) : -1;
      board.showMarks(stones[last] ? last : -1);
      board.showCandidates(labelled(), -1);
    }
    const dead = deadPoints();
    board.showCrosses(dead);
    const owners = state.phase === "marking" && view === null ? state.area : showsLead ? numbersHere()?.o : "";
    board.showOwners(owners ? packed.owners(owners) : null);
    board.showGhost(pending, COLORS[state.turn]);
    board.root.classList.toggle("can-play", isPersonsTurn() || (state.phase === "marking" && view === null));
    const last = at() ? moveWords(state.moves[at() - 1]) : text("at-start");
    get("board-title").textContent = `${text("board")} ${state.columns}×${state.rows}, ${last}`;
  }

  // Handles a click, a tap, or Enter.
  function choose(point) {
    if (point < 0) return;
    if (state.phase === "marking" && view === null) {
      if (here().stones[point]) ask("mark", { place: packed.place(point) });
      return;
    }
    if (!isPersonsTurn()) {
      if (view === null && state.phase === "playing") say(statusWords());
      return;
    }
    if (here().stones[point]) { refused("occupied"); return; }
    pending = -1;
    line = null;
    ask("play", { at: moveCount(), place: packed.place(point) });
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
    const isNarrow = root.clientWidth / state.columns < 30;
    if (event.pointerType === "touch" && isNarrow && isPersonsTurn() && !here().stones[point] && pending !== point) {
      // A finger is wider than a point, so only the second tap plays.
      pending = point;
      show();
      return;
    }
    choose(point);
  });
  root.addEventListener("pointermove", event => {
    if (event.pointerType !== "mouse" || !state) return;
    const point = board.pointAt(event.clientX, event.clientY);
    const candidate = graded().find(it => it.point === point);
    if (!isPinned) setLine(candidate?.line || null, false, point);
    if (!line) board.showGhost(isPersonsTurn() ? point : -1, COLORS[state.turn]);
  });
  root.addEventListener("pointerleave", () => {
    if (!state) return;
    board.showGhost(pending, COLORS[state.turn]);
    if (!isPinned) setLine(null, false);
  });

  function setLine(next, pinned, start = -1) {
    if (line === next && isPinned === pinned) return;
    line = next;
    lineStart = next ? start : -1;
    isPinned = pinned;
    showBoard();
    graded().forEach((it, index) => rows[index]?.row.classList.toggle("shown", it.line === line));
  }

  // ---- Side panels ----

  // The name of a level: a rank, an adaptive one such as auto:25k:0, or full strength.
  function levelName(level) {
    const [kind, now] = level.split(":"), [, number, letter] = /^(\d+)([kd])$/.exec(now || kind) || [];
    const rank = number && text(`rank-${letter}`, { number });
    return !rank ? text(`level-${kind}`) : now ? text("level-auto-now", { rank }) : rank;
  }

  // The name of a player in a state of the table or in the summary of a kept game.
  function seatName(color, { seats, names } = state) {
    const seat = seats[color];
    if (seat.kind === "kosumi") return text("kosumi", { level: levelName(seat.level) });
    if (seat.kind === "engine") return choices?.engines[seat.number] || "?";
    return names[color] || colorName(color);
  }

  function resultWords(result) {
    const found = /^([BW])\+(.*)$/.exec(result || "");
    if (result === "0" || result === "Draw") return text("draw");
    if (!found) return text("unknown-result", { text: result || "?" });
    const [, color, how] = found, names = { color: colorName(color), other: colorName(OTHER[color]), points: how };
    if (/^R/i.test(how)) return text("wins-resign", names);
    if (/^T/i.test(how)) return text("wins-time", names);
    return /^[\d.]+$/.test(how) ? text("wins-by", names) : text("unknown-result", { text: result });
  }

  // Who leads here, in words that people use.
  function leadWords() {
    const tenths = numbersHere()?.a?.[2];
    if (tenths === undefined) return text("lead-soon");
    const exact = Math.abs(tenths) / 10, color = colorName(tenths > 0 ? "B" : "W");
    const points = exact < 3 ? Math.round(2 * exact) / 2 : Math.round(exact);
    return points < 1 ? text("leads-nobody") : text(points === 1 ? "leads-by-one" : "leads-by", { color, points });
  }

  function statusWords() {
    if (view !== null) return text("looking", { count: view, all: moveCount() });
    if (notice) return notice;
    if (state.phase === "marking") return text("marking");
    if (state.phase === "over") return text("over", { result: resultWords(state.result) });
    if (state.paused) return text("paused");
    if (state.thinking) return text("thinking", { name: seatName(state.turn) });
    return text("turn", { color: colorName(state.turn) });
  }

  function show() {
    showBoard();
    for (const color of ["B", "W"]) {
      const name = NAMES[color], count = here().taken[COLORS[color]] + state.lost[OTHER[color]];
      get(`name-${name}`).textContent = seatName(color);
      get(`prisoners-${name}`).textContent = count ? `+${count}` : "";
      get(`prisoners-${name}`).title = text("taken", { count });
      get(`seat-${name}`).classList.toggle("on-turn", state.phase === "playing" && state.turn === color);
    }
    get("status").textContent = statusWords();
    get("facts").textContent = [text("facts", { rules: text(`rules-${state.rules}`), komi: state.komi }),
      state.handicap ? text("facts-handicap", { count: state.handicap }) : "",
      state.variations ? text("facts-variations", { count: state.variations }) : ""].filter(Boolean).join(" · ");
    get("lead-words").hidden = !showsLead;
    get("lead-words").textContent = showsLead ? leadWords() : "";
    get("counter").textContent = view === null ? text("move-count", { count: moveCount() }) : `${view} / ${moveCount()}`;
    get("playing").hidden = view !== null || state.phase === "marking" || pending >= 0 || isResigning;
    get("marking").hidden = view !== null || state.phase !== "marking";
    get("looking").hidden = view === null;
    get("confirming").hidden = pending < 0 || view !== null;
    get("resigning").hidden = !isResigning || view !== null;
    const isMine = isPersonsTurn(), isOver = state.phase === "over";
    const hasPerson = ["B", "W"].some(color => state.seats[color].kind === "person");
    get("pass").disabled = !isMine;
    get("pass").hidden = isOver;
    get("undo").disabled = !moveCount();
    // A game that counts its points now has no moves left to advise.
    const isClosed = state.phase === "marking" && view === null;
    get("hint").disabled = state.thinking || isClosed;
    get("estimate").disabled = isClosed || (state.thinking && !state.analysed && !showsLead);
    get("estimate").setAttribute("aria-pressed", showsLead);
    get("resign").disabled = state.phase !== "playing" || !hasPerson;
    get("resign").hidden = isOver;
    get("pause").hidden = hasPerson && !state.paused || isOver;
    get("pause").textContent = text(state.paused ? "go-on" : "pause");
    get("analyse").setAttribute("aria-pressed", state.analysed);
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBack = button.dataset.go === "first" || Number(button.dataset.go) < 0;
      button.disabled = isBack ? at() === 0 : view === null;
    }
    if (!state.analysed) told = null;
    else if (told !== at()) { told = at(); ask("view", { at: told }); }
    showCount();
    showThought();
    showClocks();
    showReview();
    showPlace();
  }

  // ---- The review of the game ----

  function showReview() {
    const { review } = state, isRunning = Array.isArray(review);
    get("review").hidden = state.phase !== "over" || review !== null || !moveCount();
    get("reviewing").hidden = !isRunning;
    if (isRunning) get("reviewing").textContent = text("progress", { done: review[0], total: review[1] });
    get("reviewed").hidden = review !== true;
    get("reviewed").firstChild.href = link.reviewAddress;
  }

  // ---- The list of moves ----

  function fillMoves() {
    get("moves").replaceChildren(...state.moves.map(([color, place], index) => {
      const item = document.createElement("li"), button = element("button");
      button.type = "button";
      button.append(element("span", index + 1, "number"), element("span", "", `pip ${NAMES[color]}`),
        board.name(packed.point(place)));
      button.setAttribute("aria-label", `${index + 1}, ${colorName(color)} ${board.name(packed.point(place))}`);
      button.addEventListener("click", () => go(index + 1));
      item.append(button);
      return item;
    }));
  }

  function showPlace() {
    const list = get("moves"), now = list.children[at() - 1]?.firstChild;
    get("move-list").hidden = !moveCount();
    for (const other of list.querySelectorAll("[aria-current]")) if (other !== now) other.removeAttribute("aria-current");
    if (!now) { list.scrollTop = 0; return; }
    now.setAttribute("aria-current", "true");
    const top = now.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + now.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 2;
    }
  }

  function showCount() {
    const table = get("count"), count = state.count;
    table.hidden = !count;
    table.tBodies[0].replaceChildren();
    if (!count) return;
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

  // Rows are made once: those that somebody points at must not move away under the mouse.
  const rows = Array.from({ length: ROWS }, () => {
    const row = get("candidates").tBodies[0].insertRow(), button = element("button", "", "letter");
    button.type = "button";
    row.insertCell().append(button);
    const cells = ["", "number", "number", "number"].map(className => {
      const cell = row.insertCell();
      cell.className = className;
      return cell;
    });
    const made = { row, button, cells, it: null };
    const hover = isOver => { if (!isPinned) setLine(isOver ? made.it?.line || null : null, false, made.it?.point); };
    row.addEventListener("pointerenter", event => { if (event.pointerType === "mouse") hover(true); });
    row.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hover(false); });
    row.addEventListener("click", () => {
      if (!made.it) return;
      const isShown = isPinned && line === made.it.line;
      setLine(isShown ? null : made.it.line, !isShown, made.it.point);
    });
    button.addEventListener("focus", () => hover(true));
    button.addEventListener("blur", () => hover(false));
    return made;
  });

  function showThought() {
    const lines = graded();
    get("thoughts").hidden = !lines.length && !state.analysed;
    rows.forEach((made, index) => {
      const it = made.it = lines[index] || null, { button, cells, row } = made;
      const words = it ? [board.name(it.point), percent(it.line.w), lead(it.line.s), grouped(it.line.v)] : ["", "", "", ""];
      cells.forEach((cell, at) => { if (cell.textContent !== words[at]) cell.textContent = words[at]; });
      row.classList.toggle("empty", !it);
      row.classList.toggle("shown", Boolean(it) && it.line === line);
      button.hidden = !it;
      if (!it) return;
      button.textContent = it.label;
      button.className = `letter ${it.grade}`;
      button.setAttribute("aria-label", `${text("show-line")}: ${words[0]}`);
    });
    const why = orderWords(lines, turnHere() === "B" ? 1 : -1, point => board.name(point));
    get("order").hidden = !why;
    get("order").textContent = why;
    const isShown = state.analysed || state.phase === "over" || hinted === at() || showsLead;
    const numbers = isShown ? numbersHere()?.a : null;
    const outlook = [...state.evaluations, ...state.outlooks].find(([number]) => number === at());
    const [rate, score] = numbers ? [numbers[0], numbers[2]] : outlook && isShown ? [outlook[1], outlook[2]] : [null, null];
    get("balance").hidden = rate === null;
    if (rate !== null) {
      get("balance-black").style.width = `${rate / 10}%`;
      get("balance-rate").replaceChildren(`${text("black-wins")} `, element("b", percent(rate)));
      get("balance-lead").replaceChildren(element("b", lead(score)));
    }
    showCurve();
  }

  // Draws the curve of known win rates. It is hidden while a person plays, unless analysis is on.
  function showCurve() {
    const isWanted = state.analysed || state.phase === "over" || !["B", "W"].some(color => state.seats[color].kind === "person");
    const values = Array.from({ length: moveCount() + 1 }, (_, index) => rates[index] ?? null);
    for (let index = 1; index + 1 < values.length; index++) {
      // If only one player's moves have values, the curve interpolates between them.
      if (values[index] === null && values[index - 1] !== null && values[index + 1] !== null) {
        values[index] = (values[index - 1] + values[index + 1]) / 2;
      }
    }
    const known = values.filter(value => value !== null).length;
    get("curve").hidden = !isWanted || known < 3;
    if (get("curve").hidden) return;
    if (!chart) {
      chart = new Chart(get("chart-rate"), 2, [{ name: "rate", values: [] }], { height: 150, top: 100, bottom: 0, area: 0,
        ticks: [[100, "100"], [50, "50"], [0, "0"]], xTicks: [] }, go);
    }
    chart.length = values.length;
    chart.series[0].values = values;
    chart.current = at();
    chart.draw();
  }

  function hearThought(message) {
    if (!state || message.at > moveCount() || !message.numbers.a) return;
    const known = found.get(message.at), isHere = message.at === at();
    const isDeeper = !known || known.numbers.a[4] <= message.numbers.a[4];
    if (isDeeper) {
      found.set(message.at, message);
      rates[message.at] = message.numbers.a[0] / 10;
    }
    if (!isHere) { showCurve(); return; }
    if (isDeeper && line && !isPinned) line = graded().find(it => it.point === lineStart)?.line || line;
    if (message.last && message.of === "estimate" && showsLead) say(leadWords());
    if (message.last && message.of === "hint") {
      const best = graded()[0];
      if (best) say(`${text("hint")}: ${board.name(best.point)}`);
    }
    if (showsLead) get("lead-words").textContent = leadWords();
    if (!isPinned) showBoard();
    showThought();
  }

  // ---- Clocks ----

  function clockWords(color) {
    const { clock } = state, mine = clock[color];
    let left = mine.left, { overtime, periods } = mine;
    if (clock.runs === color) {
      let passed = clock.passed + performance.now() - state.heard;
      if (clock.kind === "byo-yomi") {
        if (!overtime && passed > left) { passed -= left; left = clock.period; overtime = true; }
        if (overtime) {
          // After a pause, less than a whole period may be left of the current one.
          const used = passed < left ? 0 : Math.min(periods - 1, 1 + Math.floor((passed - left) / clock.period));
          passed -= used > 0 ? left + (used - 1) * clock.period : 0;
          if (used > 0) left = clock.period;
          periods -= used;
        }
      }
      left = Math.max(0, left - passed);
    }
    const seconds = Math.ceil(left / 1000), time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (clock.kind !== "byo-yomi") return { words: time, isShort: left < 10_000 };
    const periodWords = overtime ? text("periods-left", { count: periods })
      : text("periods-ahead", { count: periods, seconds: Math.round(clock.period / 1000) });
    return { words: `${time} ${periodWords}`, isShort: left < 10_000 };
  }

  function showClocks() {
    if (!state) return;
    for (const color of ["B", "W"]) {
      const it = get(`clock-${NAMES[color]}`), found = state.clock ? clockWords(color) : { words: "" };
      if (it.textContent !== found.words) it.textContent = found.words;
      it.classList.toggle("short", Boolean(found.isShort));
    }
  }
  setInterval(() => { if (state?.clock?.runs) showClocks(); }, 200);

  // ---- Buttons and keys ----

  function go(target) {
    const number = Math.min(moveCount(), Math.max(0, target));
    view = number === moveCount() ? null : number;
    line = null;
    isPinned = isResigning = false;
    pending = -1;
    if (!state.analysed) showsLead = false;
    show();
    say(number ? moveWords(state.moves[number - 1]) : text("at-start"));
  }
  const targets = { first: () => 0, last: () => moveCount() };
  const target = to => targets[to] ? targets[to]() : at() + Number(to);
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(target(button.dataset.go)));
  }
  const onClick = (id, act) => get(id).addEventListener("click", act);
  const actions = {
    pass: () => ask("play", { at: moveCount(), place: "--" }),
    undo: () => ask("undo", { at: moveCount(), to: null }),
    hint: () => { hinted = at(); ask("hint", { at: at() }); show(); },
    // A running analysis knows who leads; otherwise the position is searched for it.
    estimate: () => {
      showsLead = !showsLead;
      if (showsLead && !state.analysed) ask("estimate", { at: at() });
      else if (showsLead) say(leadWords());
      show();
    },
    analyse: () => {
      if (state.analysed) { hinted = null; showsLead = false; }
      ask("analyse", { on: !state.analysed });
    },
    pause: () => ask("pause", { on: !state.paused }),
    review: () => ask("review"),
    resign: () => { isResigning = true; show(); say(text("resign-sure")); get("keep-playing").focus(); },
    "resign-now": () => { isResigning = false; ask("resign", { at: moveCount() }); show(); },
    "keep-playing": () => { isResigning = false; show(); },
    settle: () => ask("settle"),
    resume: () => ask("resume"),
    "from-here": () => {
      const to = view;
      view = null;
      upcoming = text("rest-kept", { count: moveCount() - to });
      ask("undo", { at: moveCount(), to });
    },
    "to-end": () => go(moveCount()),
    confirm: () => choose(pending),
    cancel: () => { pending = -1; show(); },
  };
  for (const [id, act] of Object.entries(actions)) onClick(id, () => { if (state) act(); });

  const KEYS = { PageUp: -1, PageDown: 1, Home: "first", End: "last" };
  const LETTERS = { p: "pass", u: "undo", h: "hint", e: "estimate", a: "analyse" };
  document.addEventListener("keydown", event => {
    if (!state || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea")) return;
    const isButton = event.target.closest("button");
    const letter = LETTERS[event.key.toLowerCase()];
    if (event.key in KEYS) go(target(KEYS[event.key]));
    else if (!(isButton && (event.key === "Enter" || event.key === " ")) && cursor.key(event.key)) { /* Done. */ }
    else if (event.key === "Escape") { setLine(null, false); pending = -1; isResigning = false; cursor.place(-1); show(); }
    else if (event.key === "?") get("help-text").showModal();
    else if (event.key.toLowerCase() === "s") say(positionWords());
    else if (letter && !get(letter).disabled && get(letter).offsetParent) actions[letter]();
    else return;
    event.preventDefault();
  });

  // Lists all stones, for screen readers.
  function positionWords() {
    const of = color => Array.from(here().stones, (stone, point) => stone === color ? board.name(point) : "").filter(Boolean).join(" ");
    return `${statusWords()}. ${colorName("B")}: ${of(1) || "–"}. ${colorName("W")}: ${of(2) || "–"}.`;
  }

  // ---- Records ----

  // Handles a record, which is the one of the latest state.
  function takeText({ game, text: record }) {
    if (base?.game === game) Object.assign(base, { text: record, kept: moveCount() });
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
  onClick("load", () => get("file").click());
  onClick("save", () => {
    if (!state) return;
    isSaving = ask("save");
    if (!isSaving) say(text("lost"));
  });

  // ---- Games in addresses, and games that the browser keeps ----

  // Opens the game that the address holds. A later reload must not open it again, so it is removed from the address.
  function openAddress() {
    const shared = /^#game=(.+)$/.exec(location.hash)?.[1];
    if (shared === undefined) return;
    history.replaceState(null, "", location.pathname + location.search);
    opened = { shared };
    ask("load", opened);
  }
  addEventListener("hashchange", openAddress);

  function showLink(fragment) {
    get("share-link").value = `${location.origin}${location.pathname}#game=${fragment}`;
    get("share-done").textContent = "";
    get("share-text").showModal();
  }

  function showGames({ games, current }) {
    const date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    get("kept-list").replaceChildren(...games.map(({ id, about, changed }) => {
      const item = document.createElement("li"), open = element("button"), forget = element("button", "×");
      const players = `${seatName("B", about)} – ${seatName("W", about)}`;
      const facts = [`${about.columns}×${about.rows}`, text("game-moves", { count: about.moves }),
        about.result ? resultWords(about.result) : "", date.format(changed)].filter(Boolean).join(" · ");
      open.type = forget.type = "button";
      open.append(element("b", players), element("span", facts));
      open.disabled = forget.disabled = id === current;
      open.addEventListener("click", () => { get("kept-games").close(); ask("open-game", { id }); });
      forget.setAttribute("aria-label", `${text("delete")}: ${players}, ${facts}`);
      forget.title = text("delete");
      forget.addEventListener("click", () => ask("delete-game", { id }));
      item.append(open, forget);
      return item;
    }));
    if (!get("kept-games").open) get("kept-games").showModal();
  }

  // Only the page without a program has these buttons.
  const networks = get("network") ? new NetworkDialog(ask, words => { notice = words; if (state) show(); }) : null;
  if (get("share")) {
    onClick("share", () => { if (state) ask("share"); });
    onClick("games", () => ask("games"));
    onClick("share-copy", async () => {
      get("share-link").select();
      // Pages without encryption have no other way.
      await navigator.clipboard?.writeText(get("share-link").value) ?? document.execCommand("copy");
      get("share-done").textContent = text("copied");
    });
  }

  // ---- Players and new games ----

  function fillSeats(select, chosen) {
    const options = [["person", text("person")],
      ...choices.levels.map(level => [`kosumi ${level}`, text("kosumi", { level:
        /\d[kd]$/.test(level) ? `${levelName(level)} – ${text(`level-${level}`)}` : levelName(level === "auto" && kept("adaptive") || level) })]),
      ...choices.engines.map((name, number) => [`engine ${number}`, name])];
    select.replaceChildren(...options.map(([value, words]) => new Option(words, value)));
    select.value = chosen;
  }
  const seatValue = seat => seat.kind === "kosumi" ? `kosumi ${seat.level.split(":")[0]}` : seat.kind === "engine" ? `engine ${seat.number}` : "person";
  const seatOf = value => {
    const [kind, which] = value.split(" ");
    return kind === "kosumi" ? { kind, level: which === "auto" && kept("adaptive") || which } : kind === "engine" ? { kind, number: Number(which) } : { kind };
  };

  function fillChoices() {
    fillSeats(get("black"), kept("black") || "person");
    fillSeats(get("white"), kept("white") || `kosumi ${choices.usual}`);
    // An opponent of an earlier version is no longer on offer.
    for (const [id, usual] of [["black", "person"], ["white", `kosumi ${choices.usual}`]]) get(id).value ||= usual;
    get("rules").replaceChildren(...choices.rules.map(({ id }) => new Option(text(`rules-${id}`), id)));
    get("handicap").replaceChildren(new Option(text("no-handicap"), 0),
      ...[2, 3, 4, 5, 6, 7, 8, 9].map(count => new Option(text("stones", { count }), count)));
    get("clock").replaceChildren(...["none", "absolute", "fischer", "byo-yomi"].map(kind => new Option(text(`clock-${kind}`), kind)));
    get("version").textContent = `Kosumi ${choices.version}`;
    fitForm();
  }

  function fitForm() {
    const kind = get("clock").value;
    get("main").closest(".field").hidden = kind === "none";
    get("increment").closest(".field").hidden = kind !== "fischer" && kind !== "byo-yomi";
    get("periods").closest(".field").hidden = kind !== "byo-yomi";
    for (const button of document.querySelectorAll("[data-size]")) {
      button.setAttribute("aria-pressed", button.dataset.size === get("size").value);
    }
  }
  const usualKomi = () => {
    const rules = choices.rules.find(({ id }) => id === get("rules").value);
    get("komi").value = Number(get("handicap").value) ? .5 : rules?.komi ?? 7.5;
  };
  for (const button of document.querySelectorAll("[data-size]")) {
    button.addEventListener("click", () => { get("size").value = button.dataset.size; fitForm(); });
  }
  get("clock").addEventListener("change", fitForm);
  get("size").addEventListener("input", fitForm);
  get("rules").addEventListener("change", usualKomi);
  get("handicap").addEventListener("change", usualKomi);
  onClick("new", () => {
    get("new-trouble").hidden = true;
    if (state) get("size").value = state.columns === state.rows ? state.columns : `${state.columns}x${state.rows}`;
    fitForm();
    get("new-game").showModal();
  });
  let isWaiting = false;
  get("start").addEventListener("click", event => {
    event.preventDefault();
    const [columns, rows] = get("size").value.toLowerCase().replace("×", "x").split("x").map(Number);
    const seconds = id => Number(get(id).value), kind = get("clock").value;
    const clock = { kind };
    if (kind !== "none") clock.main = 60 * seconds("main");
    if (kind === "fischer") clock.increment = seconds("increment");
    if (kind === "byo-yomi") Object.assign(clock, { period: seconds("increment"), periods: Math.trunc(seconds("periods")) });
    keep("black", get("black").value);
    keep("white", get("white").value);
    isWaiting = true;
    ask("new", { game: { columns: columns || 0, rows: rows || columns || 0, handicap: Number(get("handicap").value),
      komi: get("komi").value === "" ? null : Number(get("komi").value), rules: get("rules").value,
      black: seatOf(get("black").value), white: seatOf(get("white").value), clock } });
  });
  onClick("players", () => {
    if (!state) return;
    fillSeats(get("seat-black-choice"), seatValue(state.seats.B));
    fillSeats(get("seat-white-choice"), seatValue(state.seats.W));
    get("seat-choice").showModal();
  });
  get("sit").addEventListener("click", () => ask("seats",
    { black: seatOf(get("seat-black-choice").value), white: seatOf(get("seat-white-choice").value) }));
  onClick("help", () => get("help-text").showModal());
  // On a phone the rest of the menu is folded.
  onClick("more", () => {
    const isOpen = get("menu").classList.toggle("open");
    get("more").setAttribute("aria-expanded", isOpen);
  });
  get("labels").value = ["points", "rate", "letter"].includes(kept("labels")) ? kept("labels") : "points";
  get("labels").addEventListener("change", event => { keep("labels", event.target.value); if (state) showBoard(); });

  takeLanguage(() => {
    if (choices) fillChoices();
    if (state) { fillMoves(); show(); }
  });
})();
