// Page of a review: draws the position and handles keys, touches and buttons. If the program serves it, an engine is
// behind it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = id => document.getElementById(id);
  const { columns, rows, steps, thresholds, score_thresholds: scoreThresholds, main } = data;
  const GRADES = ["good", "inaccuracy", "mistake", "blunder"], SIGNS = ["", "?!", "?", "??"];
  const COLORS = { B: 1, W: 2 };
  const colorName = color => text(color === "B" ? "black" : "white");

  // ---- Positions: the main line, then its variations, then tried moves ----

  const packed = new Packed(columns);
  const points = text => packed.points(text);
  const mover = step => step.m ? step.m[0] : null;
  const played = step => step.m ? packed.point(step.m.slice(1)) : null;
  const children = steps.map(() => []);
  // Stones at every step, number of the move that placed each, and number of stones taken by each side.
  const boards = [], numbers = [], taken = [];
  function addPosition(index) {
    const step = steps[index], before = step.p;
    const board = before === undefined ? new Uint8Array(columns * rows) : boards[before].slice();
    const number = before === undefined ? new Uint16Array(columns * rows) : numbers[before].slice();
    const count = before === undefined ? { B: 0, W: 0 } : { ...taken[before] };
    if (step.s) {
      step.s.forEach((text, kind) => points(text).forEach(at => { board[at] = [1, 2, 0][kind]; number[at] = 0; }));
    } else {
      const at = played(step);
      if (at >= 0) { board[at] = COLORS[mover(step)]; number[at] = step.n; }
      for (const gone of points(step.x)) {
        count[board[gone] === 1 ? "W" : "B"]++;
        board[gone] = 0;
        number[gone] = 0;
      }
    }
    boards[index] = board;
    numbers[index] = number;
    taken[index] = count;
    if (before !== undefined) children[before].push(index);
  }
  steps.forEach((step, index) => {
    if (index && index < main) step.p = index - 1;
    addPosition(index);
  });
  const isMain = index => index < main;
  // Returns the step of the main line that a position follows, and the moves since then.
  function pathOf(index) {
    const line = [];
    while (!isMain(index)) { line.unshift(steps[index].m.slice(1)); index = steps[index].p; }
    return { step: index, line };
  }
  const nextOf = index => isMain(index) && index + 1 < main ? index + 1 : children[index][0];

  // ---- Parts of the page ----

  const board = new Board(get("board"), columns, rows, points(data.stars));
  const state = { step: 0, candidates: true, ownership: false, numbers: false, line: null, pinned: false, base: 0,
    label: "letter", player: "", answers: false };
  const isBad = step => (steps[step].j?.c || 0) > 0 && (!state.player || mover(steps[step]) === state.player);

  const xTicks = (() => {
    const last = main - 1, every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].find(n => last / n <= 6) || 10000;
    return Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => [index * every, steps[index * every].n]);
  })();
  const marks = (value, scale) => steps.slice(0, main).flatMap((step, index) =>
    step.a && step.j && (step.j.c > 0 || step.j.f === 2) && (!state.player || mover(step) === state.player)
      ? [{ step: index, grade: step.j.f === 2 ? "better" : GRADES[step.j.c], value: step.a[value] / scale }] : []);
  const known = (value, scale) => steps.slice(0, main).map(step => step.a ? step.a[value] / scale : null);
  const rates = known(0, 10), leads = known(2, 10);
  const reach = [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400]
    .find(n => leads.every(lead => lead === null || Math.abs(lead) <= n)) || 700;
  const charts = [
    new Chart(get("chart-rate"), main, [{ name: "rate", values: rates }], { height: 130, top: 100, bottom: 0,
      area: 0, ticks: [[100, "100"], [50, "50"], [0, "0"]], xTicks: [], marks: marks(0, 10) }, go),
    new Chart(get("chart-score"), main, [{ name: "score", values: leads }], { height: 118, top: reach,
      bottom: -reach, area: 0, ticks: [[reach, `B+${reach}`], [0, "0"], [-reach, `W+${reach}`]], xTicks,
      marks: marks(2, 10) }, go),
  ];
  const accuracies = data.accuracy.map(curve => {
    const values = Array(main).fill(null);
    // The curve of one player continues through the moves of the other.
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
  charts.push(new Chart(get("chart-accuracy"), main,
    [{ name: "black", values: accuracies[0] }, { name: "white", values: accuracies[1] }],
    { height: 140, top: 100, bottom: 0, ticks: [[100, "100 %"], [50, "50 %"], [0, "0 %"]], xTicks }, go));

  // ---- Showing a step ----

  function go(target) {
    state.step = Math.min(steps.length - 1, Math.max(0, target));
    state.line = null;
    state.pinned = false;
    // A position that was asked for earlier must not replace the one that the user has gone to.
    asked = "";
    show();
    remember();
    look();
  }

  let timer = 0;
  function remember() {
    clearTimeout(timer);
    // Browsers limit the number of changes of the address per second.
    timer = setTimeout(() => {
      const { step } = pathOf(state.step);
      try { history.replaceState(null, "", `#${step}`); } catch { /* A page without an address of its own. */ }
    }, 250);
  }

  function show() {
    const index = state.step, step = steps[index], onMain = pathOf(index).step;
    get("slider").value = onMain;
    get("slider").setAttribute("aria-valuetext", text("move-of", { count: step.n, all: steps[main - 1].n }));
    get("counter").textContent = isMain(index) ? `${step.n} / ${steps[main - 1].n}` : text("count-variation", { count: step.n });
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBack = button.dataset.go === "first" || Number(button.dataset.go) < 0;
      button.disabled = isBack ? index === 0 : nextOf(index) === undefined;
    }
    for (const [id, color] of [["black", "B"], ["white", "W"]]) {
      const count = taken[index][color];
      get(`prisoners-${id}`).textContent = count ? `+${count}` : "";
      get(`seat-${id}`).classList.toggle("on-turn", step.t === color);
    }
    showBoard();
    showVerdict(step, index);
    showCandidates(step, index);
    showBranches(index);
    charts.forEach(chart => chart.show(onMain));
    for (const link of document.querySelectorAll(".worst a")) {
      link.toggleAttribute("aria-current", link.hash === `#${index}`);
    }
  }

  function showBoard() {
    const index = state.step, step = steps[index], next = nextOf(index);
    const base = state.line ? state.base : index;
    if (state.line) {
      const { stones, moves } = packed.playedOut(boards[base], COLORS[steps[base].t], state.line);
      board.showStones(stones);
      board.showMarks(-1);
      board.showLine(moves);
      // Marks the point of the played move in the position before it.
      const at = base === index ? -1 : played(step);
      if (at >= 0) svg("circle", { class: "played-instead", cx: board.x(at), cy: board.y(at), r: 17 }, board.layers.marks);
    } else {
      board.showStones(boards[index]);
      const all = state.numbers
        ? Array.from(numbers[index], (number, at) => [at, number]).filter(([at, number]) => number && boards[index][at])
        : null;
      const last = played(step);
      board.showMarks(last === null || !boards[index][last] ? -1 : last, all);
      board.showCandidates(state.candidates ? labelled(step) : [], next === undefined ? -1 : played(steps[next]) ?? -1);
    }
    board.showMissed(!state.line && step.j?.b && step.j.c > 0 ? points(step.j.b.l)[0] ?? -1 : -1);
    board.showOwners(state.ownership && step.o ? packed.owners(step.o) : null);
    board.root.classList.toggle("can-play", Boolean(link));
    const preview = get("preview");
    preview.hidden = !state.line;
    get("seats").classList.toggle("behind", Boolean(state.line));
    const line = points(state.line?.l).map((at, number) => `${number + 1} ${board.name(at)}`).join("  ");
    get("preview-text").textContent = base === index ? line : text("instead-line", { line });
    const where = text(step.n ? "board-after" : "board-start", { count: step.n });
    get("board-title").textContent = state.line ? text("board-line", { board: where }) : where;
  }

  // Returns the candidates with a grade and their labels.
  const graded = step => packed.graded(step.k, step.t === "B" ? 1 : -1, thresholds);
  const LABELS = {
    letter: it => it.label,
    rate: (it, step) => String(Math.round((step.t === "B" ? it.line.w : 1000 - it.line.w) / 10)),
    points: (it, step) => decimal((step.t === "B" ? 1 : -1) * it.line.s / 10, 1).replace("-", "−"),
    visits: it => it.line.v < 1000 ? String(it.line.v) : `${decimal(it.line.v / 1000, it.line.v < 10_000 ? 1 : 0)}k`,
  };
  const labelled = step => graded(step).map(it => ({ ...it, label: LABELS[state.label](it, step) }));

  // Returns the loss of a tried move against the first choice of the position before, if it is known.
  function triedLoss(step) {
    const before = steps[step.p], best = before.k?.[0];
    if (!best || !step.a || points(best.l)[0] === played(step)) return null;
    const sign = mover(step) === "B" ? 1 : -1;
    const lost = (value, at) => ({ loss: Math.max(0, sign * (value - step.a[at])), error: Math.hypot(step.a[at + 1], before.a[at + 1]) });
    const isSure = ({ loss, error }) => loss >= 1.28 * error;
    const classOf = (it, leasts) => isSure(it) ? leasts.filter(least => it.loss >= least).length : 0;
    const rate = lost(best.w, 0), score = lost(best.s, 2);
    // As in a review, the worse of the two classes decides.
    const grade = Math.max(classOf(rate, thresholds), classOf(score, scoreThresholds));
    const isDoubtful = (it, leasts) => !isSure(it) && it.loss >= leasts[0];
    return { ...rate, points: score.loss, grade,
      isUnclear: !grade && (isDoubtful(rate, thresholds) || isDoubtful(score, scoreThresholds)), best };
  }

  function showVerdict(step, index) {
    const title = get("verdict-title"), loss = get("verdict-loss"), instead = get("verdict-instead");
    get("verdict-number").textContent = text(!isMain(index) ? "move-of-variation"
      : step.n ? "move-of" : "start-of", { count: step.n, all: steps[main - 1].n });
    title.replaceChildren();
    loss.replaceChildren();
    instead.hidden = true;
    let words = "";
    if (step.m) {
      const color = mover(step);
      title.append(element("span", "", `pip ${color === "B" ? "black" : "white"}`),
        `${colorName(color)} ${board.name(played(step))}`);
      words = text("move-word", { count: step.n, color: colorName(color), move: board.name(played(step)) });
    } else {
      title.append(index ? text("stones-set-up") : text("turn", { color: colorName(step.t) }));
    }
    const minus = number => number > 0 ? "−" : "";
    const offer = (name, line, show) => {
      instead.hidden = false;
      instead.replaceChildren(element("span", name), element("b", board.name(points(line.l)[0] ?? -1)),
        element("span", text("black-has", { rate: percent(line.w), lead: lead(line.s) }), "faint"));
      instead.onclick = show;
    };
    get("verdict-facts").replaceChildren(...(step.e || []).map(({ t, v, l }) => {
      if (!l) return element("p", text(t, v), "faint");
      const fact = element("button", text(t, v), "fact");
      fact.type = "button";
      fact.onclick = () => setLine(state.line === l ? null : l, state.line !== l, step.p);
      return fact;
    }));
    const tried = isMain(index) ? null : triedLoss(step);
    if (step.j) {
      const { c, f, l, b } = step.j, isFirst = f === 1;
      const grade = f === 2 ? "better" : GRADES[c];
      const name = text(["", "is-first", "is-better", "is-unclear"][f || 0] || `grade-${c}`);
      title.append(element("span", `${f === 2 ? "!" : SIGNS[c]} ${name}`.trim(), `badge ${grade}`));
      words += `, ${name}`;
      if (!isFirst && f !== 2) {
        loss.append(element("b", minus(l[0]) + percent(l[0])), ` ± ${decimal(l[1] / 10, 1)} ${text("of-rate")} · `,
          element("b", minus(l[2]) + decimal(l[2] / 10, 1)), ` ± ${decimal(l[3] / 10, 1)} ${text("points")}`);
      }
      // The line is shown where it applies: in the position before the move, which is marked.
      if (b) offer(text(f === 2 || c === 0 ? "first-choice" : "better"), b, () => setLine(state.line === b ? null : b, state.line !== b, step.p));
    } else if (tried) {
      const name = text(tried.isUnclear ? "is-unclear" : `grade-${tried.grade}`);
      title.append(element("span", `${SIGNS[tried.grade]} ${name}`.trim(), `badge ${GRADES[tried.grade]}`));
      loss.append(element("b", minus(tried.loss) + percent(tried.loss)), ` ± ${decimal(tried.error / 10, 1)} ${text("of-rate")} · `,
        element("b", minus(tried.points) + decimal(tried.points / 10, 1)), ` ${text("points")}`);
      words += `, ${name}`;
      offer(text("first-choice"), tried.best, () => setLine(state.line === tried.best ? null : tried.best, state.line !== tried.best, step.p));
    } else if (!isMain(index) && step.a) {
      title.append(element("span", text("is-first"), "badge good"));
    }
    get("balance").hidden = !step.a;
    if (step.a) {
      get("balance-black").style.width = `${step.a[0] / 10}%`;
      get("balance-rate").replaceChildren(`${text("black-wins")} `, element("b", percent(step.a[0])), ` ± ${decimal(step.a[1] / 10, 1)}`);
      get("balance-lead").replaceChildren(element("b", lead(step.a[2])), ` ± ${decimal(step.a[3] / 10, 1)} · ${text("visits-count", { count: grouped(step.a[4]) })}`);
      words += `. ${text("black-wins")} ${percent(step.a[0])}, ${lead(step.a[2])}`;
    }
    get("comment").hidden = !step.c;
    get("comment").textContent = step.c || "";
    if (get("status").textContent !== words) get("status").textContent = words;
  }

  function showCandidates(step, index) {
    const body = get("candidates").tBodies[0], after = nextOf(index);
    const next = after === undefined ? null : played(steps[after]);
    get("candidates-title").textContent = text("best-moves-for", { color: colorName(step.t) });
    get("candidates-none").hidden = Boolean(step.k);
    get("candidates-none").textContent = text(step.a ? "none-over"
      : link ? "none-looking" : "none-searched");
    get("candidates").hidden = get("legend").hidden = !step.k;
    const focused = document.activeElement?.closest("#candidates") ? document.activeElement.textContent : null;
    body.replaceChildren();
    const add = (first, at, win, score, visits) => {
      const row = body.insertRow();
      row.insertCell().append(first);
      const name = row.insertCell();
      name.append(element("b", board.name(at)));
      if (at === next) name.append(element("span", ` ${text("is-played")}`, "faint"));
      for (const words of [percent(win), lead(score), grouped(visits)]) {
        const cell = row.insertCell();
        cell.textContent = words;
        cell.className = "number";
      }
      return row;
    };
    for (const { point: at, label, grade, line } of graded(step)) {
      const button = element("button", label, `letter ${grade}`);
      button.type = "button";
      button.title = text("show-line");
      button.setAttribute("aria-label", text("show-line-of", { move: board.name(at) }));
      const row = add(button, at, line.w, line.s, line.v);
      row.classList.toggle("shown", state.line === line);
      row.addEventListener("pointerenter", event => { if (event.pointerType === "mouse") hover(line); });
      row.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hover(null); });
      row.addEventListener("click", () => pin(line));
      button.addEventListener("focus", () => hover(line));
      button.addEventListener("blur", () => hover(null));
      if (label === focused) button.focus();
    }
    const why = orderWords(graded(step), step.t === "B" ? 1 : -1, point => board.name(point));
    get("order").hidden = !why;
    get("order").textContent = why;
    // The played move has a search of its own, even if it is not among the best moves.
    const follows = after === undefined ? null : steps[after].a;
    if (step.k && next !== null && follows && !graded(step).some(candidate => candidate.point === next)) {
      add(element("span", "–", "letter none"), next, follows[0], follows[2], follows[4]);
    }
  }

  // Lists the moves at points where the record or a user has several.
  function showBranches(index) {
    const buttons = [];
    const add = (target, words, title) => {
      const button = element("button", words);
      button.type = "button";
      button.title = title;
      button.addEventListener("click", () => go(target));
      buttons.push(button);
    };
    if (!isMain(index)) add(pathOf(index).step, `↩ ${text("back-to-game")}`, text("back-to-game-hint"));
    const following = children[index];
    if (following.length > 1 || following.some(child => !isMain(child))) {
      for (const child of following) {
        const step = steps[child], move = step.m ? board.name(played(step)) : text("set-up");
        add(child, text(isMain(child) ? "branch-game" : step.tried ? "branch-tried" : "branch-variation", { move }), text("go-there"));
      }
    }
    get("branches").hidden = !buttons.length;
    get("branches").replaceChildren(...buttons);
  }

  // ---- Lines outside the game ----

  function setLine(line, pinned, base = state.step) {
    state.line = line;
    state.pinned = pinned;
    state.base = base;
    showBoard();
    const { rows: shown } = get("candidates").tBodies[0];
    graded(steps[state.step]).forEach(({ line: own }, index) => shown[index]?.classList.toggle("shown", own === line));
  }

  function hover(line) {
    if (!state.pinned && state.line !== line) setLine(line, false);
  }

  function pin(line) {
    const isShown = state.pinned && state.line === line;
    setLine(isShown ? null : line, !isShown);
  }

  // ---- Engine, if the program serves the page ----

  let link = null, asked = "";
  const say = words => { get("status").textContent = words; };
  const keyOf = ({ step, line }) => `${step} ${line.join("")}`;

  function look() {
    if (link) link.say({ do: "look", ...pathOf(state.step) });
  }

  // Tries a move in the current position.
  function tryMove(point) {
    const index = state.step;
    const there = children[index].find(child => played(steps[child]) === point);
    if (there !== undefined) { go(there); return; }
    if (!link || boards[index][point]) return;
    const { step, line } = pathOf(index);
    asked = keyOf({ step, line: [...line, packed.place(point)] });
    link.say({ do: "look", step, line: [...line, packed.place(point)] });
  }

  function stepOf(path) {
    let index = path.step;
    for (const place of path.line) {
      index = children[index].find(child => steps[child].m?.slice(1) === place && !isMain(child))
        ?? children[index].find(child => steps[child].m?.slice(1) === place);
      if (index === undefined) return undefined;
    }
    return index;
  }

  function hear(message) {
    if (message.is === "position") {
      let index = stepOf(message);
      if (index === undefined) {
        const parent = stepOf({ step: message.step, line: message.line.slice(0, -1) });
        if (parent === undefined) return;
        index = steps.length;
        steps.push({ p: parent, n: steps[parent].n + 1, t: message.turn, m: message.color + message.line.at(-1),
          x: message.lifted, tried: true });
        children.push([]);
        addPosition(index);
      }
      if (asked === keyOf(message)) { asked = ""; state.step = index; state.line = null; state.pinned = false; show(); remember(); }
    } else if (message.is === "thought") {
      const index = stepOf(message);
      if (index === undefined) return;
      const step = steps[index];
      if (!message.numbers.a || (step.a && step.a[4] > message.numbers.a[4])) return;
      Object.assign(step, { k: undefined }, message.numbers);
      if (isMain(index)) { rates[index] = step.a[0] / 10; leads[index] = step.a[2] / 10; }
      if (index === state.step || steps[state.step].p === index) refresh();
      answer(index, message.numbers.a[4]);
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

  // New numbers for the current position. A line that the user has selected stays.
  let isWaiting = false;
  function refresh() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      const index = state.step, step = steps[index];
      if (!state.line) showBoard();
      showVerdict(step, index);
      if (!state.line || state.pinned) showCandidates(step, index);
      if (isMain(index)) charts.slice(0, 2).forEach(chart => chart.draw());
    });
  }

  // Minimum visits before the engine answers a tried move with its best move.
  const ANSWER_VISITS = 60;
  function answer(index, visits) {
    const step = steps[index];
    if (!state.answers || index !== state.step || !step.tried || step.isAnswer || visits < ANSWER_VISITS || children[index].length) return;
    const best = points(step.k?.[0]?.l)[0];
    if (best === undefined || best < 0) return;
    step.isAnswer = true;
    const { step: from, line } = pathOf(index);
    asked = keyOf({ step: from, line: [...line, packed.place(best)] });
    answered = asked;
    link.say({ do: "look", step: from, line: [...line, packed.place(best)] });
  }
  let answered = "";

  if (data.live) {
    link = new Link(message => {
      hear(message);
      if (message.is === "position" && keyOf(message) === answered) {
        answered = "";
        const index = stepOf(message);
        // The user is to move now.
        if (index !== undefined) steps[index].isAnswer = true;
      }
    }, isOpen => {
      notice(isOpen ? "" : text("lost-review"));
      if (isOpen) look();
    });
    takeFiles(get("file"), async file => {
      try { link.say({ do: "load", ...await readRecord(file) }); } catch { notice(text("file-too-long")); }
    });
    get("open").addEventListener("click", () => get("file").click());
    get("toggle-answers").addEventListener("click", () => {
      state.answers = !state.answers;
      get("toggle-answers").setAttribute("aria-pressed", state.answers);
    });
    get("pass").addEventListener("click", () => tryMove(-1));
  }
  get("save").addEventListener("click", () => {
    if (link?.isOpen) link.say({ do: "save" }); else saveText(data.name, data.sgf);
  });

  // ---- Keys, fingers, buttons ----

  function toggle(name) {
    state[name] = !state[name];
    get(`toggle-${name}`).setAttribute("aria-pressed", state[name]);
    showBoard();
  }
  for (const name of ["candidates", "ownership", "numbers"]) {
    get(`toggle-${name}`).addEventListener("click", () => toggle(name));
  }
  get("labels").addEventListener("change", event => { state.label = event.target.value; showBoard(); });

  for (const button of document.querySelectorAll("[data-player]")) {
    button.addEventListener("click", () => {
      state.player = button.dataset.player;
      for (const other of document.querySelectorAll("[data-player]")) other.setAttribute("aria-pressed", other === button);
      for (const item of document.querySelectorAll(".worst li")) {
        item.hidden = Boolean(state.player) && item.dataset.color !== state.player;
      }
      charts[0].options.marks = marks(0, 10);
      charts[1].options.marks = marks(2, 10);
      charts.forEach(chart => chart.draw());
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
  function showBad() {
    const hasBad = steps.slice(0, main).some((_, index) => isBad(index));
    get("next-bad").disabled = get("previous-bad").disabled = !hasBad;
  }
  showBad();

  // Goes forward or back by a number of moves, along the variation that is shown.
  function walk(count) {
    let index = state.step;
    for (; count > 0 && nextOf(index) !== undefined; count--) index = nextOf(index);
    for (; count < 0 && steps[index].p !== undefined; count++) index = steps[index].p;
    return index;
  }
  const target = to => to === "first" ? 0 : to === "last" ? main - 1 : walk(Number(to));
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(target(button.dataset.go)));
  }
  get("slider").addEventListener("input", event => go(Number(event.target.value)));
  get("preview-close").addEventListener("click", () => setLine(null, false));

  const cursor = new Cursor(board, { say, choose: point => tryMove(point), describe: point => {
    const stone = boards[state.step][point];
    return text(stone ? "stone" : "empty", { point: board.name(point), color: colorName(stone === 1 ? "B" : "W") });
  } });

  const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: "first", End: "last" };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.target.closest?.("select, input[type=file]")) return;
    const letter = event.code?.startsWith("Key") ? event.code[3] : "";
    if (event.altKey) {
      const candidate = graded(steps[state.step])[letter.charCodeAt(0) - 65];
      if (candidate) { event.preventDefault(); pin(candidate.line); }
      return;
    }
    // With Shift, the arrow keys move over the board, and Enter tries a move.
    const isOnBoard = event.shiftKey || (event.key === "Enter" && cursor.point >= 0 && !event.target.closest("button, a"));
    if (isOnBoard && cursor.key(event.key)) {
      event.preventDefault();
    } else if (event.key in KEYS) {
      event.preventDefault();
      go(target(KEYS[event.key]));
    } else if (event.key === "Escape") {
      setLine(null, false);
      cursor.place(-1);
    } else if (letter === "C") toggle("candidates");
    else if (letter === "O") toggle("ownership");
    else if (letter === "N") toggle("numbers");
    else if (letter === "M") bad(1);
    else if (letter === "P") bad(-1);
    else if (letter === "G" && !isMain(state.step)) go(pathOf(state.step).step);
  });

  // Board: a mouse over a best move shows its line, a click or tap keeps it, and a swipe goes through the game. With an
  // engine, a click tries the move.
  const lineAt = event => {
    if (!state.candidates || (state.line && state.pinned)) return null;
    const at = board.pointAt(event.clientX, event.clientY);
    return at < 0 || boards[state.step][at] ? null
      : graded(steps[state.step]).find(candidate => candidate.point === at)?.line || null;
  };
  let start = null;
  board.root.addEventListener("pointermove", event => { if (event.pointerType === "mouse") hover(lineAt(event)); });
  board.root.addEventListener("pointerleave", () => hover(null));
  board.root.addEventListener("pointerdown", event => { start = { x: event.clientX, y: event.clientY }; });
  board.root.addEventListener("pointerup", event => {
    if (!start || event.button > 0) return;
    const dx = event.clientX - start.x, dy = event.clientY - start.y;
    start = null;
    if (Math.abs(dx) > 36 && Math.abs(dx) > 2 * Math.abs(dy)) { go(walk(dx < 0 ? 1 : -1)); return; }
    if (Math.hypot(dx, dy) > 10) return;
    if (state.pinned) { setLine(null, false); return; }
    const point = board.pointAt(event.clientX, event.clientY);
    if (link) { if (point >= 0) tryMove(point); return; }
    const line = lineAt(event);
    if (line) setLine(line, true);
    else if (point >= 0 && children[state.step].some(child => played(steps[child]) === point)) tryMove(point);
  });

  // Uses the address of the event, because `remember` may have changed that of the page since.
  addEventListener("hashchange", event => {
    const { hash } = new URL(event.newURL), step = Number(hash.slice(1));
    if (hash && Number.isInteger(step) && step !== state.step && step < main) go(step);
  });
  for (const link of document.querySelectorAll(".worst a")) {
    link.addEventListener("click", event => {
      event.preventDefault();
      go(Number(link.hash.slice(1)));
      get("review").scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    });
  }

  // Returns a one-line description of a bad move.
  function hint(index) {
    const step = steps[index], { c, b } = step.j || {};
    const move = text("move-word", { count: step.n, color: colorName(mover(step)), move: board.name(played(step)) });
    return text("worst-hint", { move, grade: text(`grade-${c || 0}`), best: b ? board.name(points(b.l)[0] ?? -1) : "–" });
  }

  takeLanguage(() => {
    for (const link of document.querySelectorAll(".worst a")) link.title = hint(Number(link.hash.slice(1)));
    show();
  });
  const first = Number(location.hash.slice(1));
  go(location.hash && Number.isInteger(first) ? Math.min(main - 1, first) : 0);
})();
