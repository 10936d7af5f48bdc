// The page: what is shown, and what keys, fingers and buttons do.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = id => document.getElementById(id);
  const { columns, rows, steps, thresholds } = data;
  const GRADES = ["good", "inaccuracy", "mistake", "blunder"], SIGNS = ["", "?!", "?", "??"];
  const NAMES = ["good move", "inaccuracy", "mistake", "blunder"];
  const COLORS = { B: 1, W: 2 }, WORDS = { B: "Black", W: "White" };

  // ---- What the packed data says ----

  const A = 97;
  const point = text => text === "--" ? -1 : (text.charCodeAt(1) - A) * columns + text.charCodeAt(0) - A;
  const points = text => (text || "").match(/../g)?.map(point) || [];
  const percent = thousandths => `${(thousandths / 10).toFixed(1)} %`;
  const lead = tenths => tenths === 0 ? "even" : `${tenths > 0 ? "B" : "W"}+${(Math.abs(tenths) / 10).toFixed(1)}`;
  const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const owners = text => Array.from(text, letter => {
    const code = letter.charCodeAt(0);
    return (code < A ? code - 65 : code - A + 26) / 25 - 1;
  });
  const mover = step => step.m ? step.m[0] : null;
  const played = step => step.m ? point(step.m.slice(1)) : null;

  // The stones at every step, the number of the move that placed each, and who has taken how many.
  const boards = [], numbers = [], taken = [];
  {
    const board = new Uint8Array(columns * rows), number = new Uint16Array(columns * rows), count = { B: 0, W: 0 };
    for (const step of steps) {
      if (step.s) {
        step.s.forEach((text, kind) => points(text).forEach(at => { board[at] = [1, 2, 0][kind]; number[at] = 0; }));
      } else {
        const at = played(step), lifted = points(step.x);
        if (at >= 0) { board[at] = COLORS[mover(step)]; number[at] = step.n; }
        for (const gone of lifted) {
          count[board[gone] === 1 ? "W" : "B"]++;
          board[gone] = 0;
          number[gone] = 0;
        }
      }
      boards.push(board.slice());
      numbers.push(number.slice());
      taken.push({ ...count });
    }
  }

  // ---- Parts of the page ----

  const board = new Board(get("board"), columns, rows, points(data.stars));
  const state = { step: 0, candidates: true, ownership: false, numbers: false, line: null, pinned: false };
  const isBad = step => (steps[step].j?.c || 0) > 0;

  const xTicks = (() => {
    const last = steps.length - 1, every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].find(n => last / n <= 6) || 10000;
    return Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => [index * every, steps[index * every].n]);
  })();
  const marks = (value, scale) => steps.flatMap((step, index) =>
    step.a && step.j && (step.j.c > 0 || step.j.f === 2)
      ? [{ step: index, grade: step.j.f === 2 ? "better" : GRADES[step.j.c], value: step.a[value] / scale }] : []);
  const rates = steps.map(step => step.a ? step.a[0] / 10 : null);
  const leads = steps.map(step => step.a ? step.a[2] / 10 : null);
  const reach = [5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400]
    .find(n => leads.every(lead => lead === null || Math.abs(lead) <= n)) || 700;
  const charts = [
    new Chart(get("chart-rate"), steps.length, [{ name: "rate", values: rates }], { height: 150, top: 100, bottom: 0,
      area: 0, ticks: [[100, "100"], [50, "50"], [0, "0"]], xTicks: [], marks: marks(0, 10) }, go),
    new Chart(get("chart-score"), steps.length, [{ name: "score", values: leads }], { height: 128, top: reach,
      bottom: -reach, area: 0, ticks: [[reach, `B+${reach}`], [0, "0"], [-reach, `W+${reach}`]], xTicks,
      marks: marks(2, 10) }, go),
  ];
  const accuracies = data.accuracy.map(curve => {
    const values = Array(steps.length).fill(null);
    // A player's curve goes on through the moves of the other.
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
  charts.push(new Chart(get("chart-accuracy"), steps.length,
    [{ name: "black", values: accuracies[0] }, { name: "white", values: accuracies[1] }],
    { height: 140, top: 100, bottom: 0, ticks: [[100, "100 %"], [50, "50 %"], [0, "0 %"]], xTicks }, go));

  // ---- Showing a step ----

  function go(target, line) {
    const step = Math.min(steps.length - 1, Math.max(0, target));
    state.step = step;
    state.line = line || null;
    state.pinned = Boolean(line);
    show();
    remember();
  }

  let timer = 0;
  function remember() {
    clearTimeout(timer);
    // Browsers allow few changes of the address a second.
    timer = setTimeout(() => {
      try { history.replaceState(null, "", `#${state.step}`); } catch { /* A page without an address of its own. */ }
    }, 250);
  }

  function show() {
    const index = state.step, step = steps[index];
    get("slider").value = index;
    get("slider").setAttribute("aria-valuetext", `Move ${step.n} of ${steps.at(-1).n}`);
    get("counter").textContent = `${step.n} / ${steps.at(-1).n}`;
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBack = button.dataset.go === "first" || Number(button.dataset.go) < 0;
      button.disabled = isBack ? index === 0 : index === steps.length - 1;
    }
    for (const [id, color] of [["black", "B"], ["white", "W"]]) {
      const count = taken[index][color];
      get(`prisoners-${id}`).textContent = count ? `+${count}` : "";
      get(`seat-${id}`).classList.toggle("on-turn", step.t === color);
    }
    showBoard();
    showVerdict(step, index);
    showCandidates(step, index);
    charts.forEach(chart => chart.show(index));
    for (const link of document.querySelectorAll(".worst a")) {
      link.toggleAttribute("aria-current", link.hash === `#${index}`);
    }
  }

  function showBoard() {
    const index = state.step, step = steps[index];
    const next = index + 1 < steps.length ? played(steps[index + 1]) ?? -1 : -1;
    if (state.line) {
      const { stones, moves } = playedOut(index, state.line);
      board.showStones(stones);
      board.showMarks(-1);
      board.showLine(moves);
    } else {
      board.showStones(boards[index]);
      const all = state.numbers
        ? Array.from(numbers[index], (number, at) => [at, number]).filter(([at, number]) => number && boards[index][at])
        : null;
      const last = played(step);
      board.showMarks(last === null || !boards[index][last] ? -1 : last, all);
      board.showCandidates(state.candidates ? graded(step) : [], next);
    }
    board.showOwners(state.ownership && step.o ? owners(step.o) : null);
    const preview = get("preview");
    preview.hidden = !state.line;
    get("seats").classList.toggle("behind", Boolean(state.line));
    get("preview-text").textContent = state.line
      ? points(state.line.l).map((at, number) => `${number + 1} ${board.name(at)}`).join("  ") : "";
    const where = step.n ? `after move ${step.n}` : "at the start";
    get("board-title").textContent = `The board ${where}${state.line ? ", with a line that was not played" : ""}`;
  }

  // The board after a line, and the stones of it that are still there.
  function playedOut(index, line) {
    const stones = boards[index].slice(), number = new Map();
    let color = COLORS[steps[index].t];
    points(line.l).forEach((at, count) => {
      if (at >= 0) {
        stones[at] = color;
        number.set(at, count + 1);
      }
      for (const gone of points((line.x || []).find(([move]) => move === count)?.[1])) {
        stones[gone] = 0;
        number.delete(gone);
      }
      color = 3 - color;
    });
    const moves = Array.from(number, ([at, count]) => ({ point: at, color: stones[at], number: count }));
    // Where a stone was placed twice the later one counts; the stones of the line are drawn by themselves.
    for (const { point: at } of moves) stones[at] = 0;
    return { stones, moves };
  }

  // Candidates with a letter, and a grade by what they lose against the first.
  function graded(step) {
    const sign = step.t === "B" ? 1 : -1;
    return (step.k || []).map((line, index) => {
      const loss = sign * (step.k[0].w - line.w);
      const grade = index === 0 ? "best" : loss < thresholds[0] / 2 ? "near" : loss < thresholds[0] ? "fair"
        : loss < thresholds[1] ? "poor" : "bad";
      return { point: points(line.l)[0] ?? -1, label: String.fromCharCode(65 + index), grade, line };
    });
  }

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function showVerdict(step, index) {
    const title = get("verdict-title"), loss = get("verdict-loss"), instead = get("verdict-instead");
    get("verdict-number").textContent = step.n ? `Move ${step.n} of ${steps.at(-1).n}` : `Start · ${steps.at(-1).n} moves`;
    title.replaceChildren();
    loss.replaceChildren();
    instead.hidden = true;
    let words = "";
    if (step.m) {
      const color = mover(step);
      title.append(element("span", "", `pip ${color === "B" ? "black" : "white"}`),
        `${WORDS[color]} ${board.name(played(step))}`);
      words = `Move ${step.n}, ${WORDS[color]} ${board.name(played(step))}`;
    } else {
      title.append(index ? "Stones set up" : `${WORDS[step.t]} to move`);
    }
    if (step.j) {
      const { c, f, l, b } = step.j, isFirst = f === 1;
      const grade = f === 2 ? "better" : GRADES[c];
      const name = ["", "first choice", "better than the first choice", "unclear"][f || 0] || NAMES[c];
      title.append(element("span", `${f === 2 ? "!" : SIGNS[c]} ${name}`.trim(), `badge ${grade}`));
      words += `, ${name}`;
      if (!isFirst && f !== 2) {
        const minus = number => number > 0 ? "−" : "";
        loss.append(element("b", minus(l[0]) + percent(l[0])), ` ± ${(l[1] / 10).toFixed(1)} win rate · `,
          element("b", minus(l[2]) + (l[2] / 10).toFixed(1)), ` ± ${(l[3] / 10).toFixed(1)} points`);
      }
      if (b) {
        instead.hidden = false;
        instead.replaceChildren(element("span", f === 2 || c === 0 ? "First choice" : "Better"),
          element("b", board.name(points(b.l)[0] ?? -1)), element("span", `Black ${percent(b.w)}, ${lead(b.s)}`, "faint"));
        instead.onclick = () => go(index - 1, b);
      }
    }
    get("balance").hidden = !step.a;
    if (step.a) {
      get("balance-black").style.width = `${step.a[0] / 10}%`;
      get("balance-rate").replaceChildren("Black wins ", element("b", percent(step.a[0])), ` ± ${(step.a[1] / 10).toFixed(1)}`);
      get("balance-lead").replaceChildren(element("b", lead(step.a[2])), ` ± ${(step.a[3] / 10).toFixed(1)}`);
      words += `. Black wins ${percent(step.a[0])}, ${lead(step.a[2])}`;
    }
    get("comment").hidden = !step.c;
    get("comment").textContent = step.c || "";
    get("status").textContent = words;
  }

  function showCandidates(step, index) {
    const body = get("candidates").tBodies[0];
    const next = index + 1 < steps.length ? played(steps[index + 1]) : null;
    get("candidates-title").textContent = `Best moves for ${WORDS[step.t]}`;
    get("candidates-none").hidden = Boolean(step.k);
    get("candidates-none").textContent = step.a ? "The game is over here." : "This position was not searched.";
    get("candidates").hidden = !step.k;
    body.replaceChildren();
    const add = (first, at, win, score, visits) => {
      const row = body.insertRow();
      row.insertCell().append(first);
      const name = row.insertCell();
      name.append(element("b", board.name(at)));
      if (at === next) name.append(element("span", " played", "faint"));
      for (const text of [percent(win), lead(score), grouped(visits)]) {
        const cell = row.insertCell();
        cell.textContent = text;
        cell.className = "number";
      }
      return row;
    };
    for (const { point: at, label, grade, line } of graded(step)) {
      const button = element("button", label, `letter ${grade}`);
      button.type = "button";
      button.title = "Show what follows";
      button.setAttribute("aria-label", `Show what follows ${board.name(at)}`);
      const row = add(button, at, line.w, line.s, line.v);
      row.classList.toggle("shown", state.line === line);
      row.addEventListener("pointerenter", event => { if (event.pointerType === "mouse") hover(line); });
      row.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hover(null); });
      row.addEventListener("click", () => pin(line));
      button.addEventListener("focus", () => hover(line));
      button.addEventListener("blur", () => hover(null));
    }
    // What was played has been searched by itself, even if it is not among the best.
    const after = steps[index + 1]?.a;
    if (step.k && next !== null && after && !graded(step).some(candidate => candidate.point === next)) {
      add(element("span", "–", "letter none"), next, after[0], after[2], after[4]);
    }
  }

  // ---- Lines that were not played ----

  function setLine(line, pinned) {
    state.line = line;
    state.pinned = pinned;
    showBoard();
    const { rows: shown } = get("candidates").tBodies[0];
    graded(steps[state.step]).forEach(({ line: own }, index) => shown[index].classList.toggle("shown", own === line));
  }

  function hover(line) {
    if (!state.pinned && state.line !== line) setLine(line, false);
  }

  function pin(line) {
    const isShown = state.pinned && state.line === line;
    setLine(isShown ? null : line, !isShown);
  }

  // ---- Keys, fingers, buttons ----

  function toggle(name) {
    state[name] = !state[name];
    get(`toggle-${name}`).setAttribute("aria-pressed", state[name]);
    showBoard();
  }
  for (const name of ["candidates", "ownership", "numbers"]) {
    get(`toggle-${name}`).addEventListener("click", () => toggle(name));
  }

  function bad(direction) {
    for (let at = state.step + direction; at >= 0 && at < steps.length; at += direction) {
      if (isBad(at)) { go(at); return; }
    }
  }
  get("next-bad").addEventListener("click", () => bad(1));
  get("previous-bad").addEventListener("click", () => bad(-1));
  const hasBad = steps.some((_, index) => isBad(index));
  get("next-bad").disabled = get("previous-bad").disabled = !hasBad;

  const targets = { first: () => 0, last: () => steps.length - 1 };
  const target = to => targets[to] ? targets[to]() : state.step + Number(to);
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go(target(button.dataset.go)));
  }
  get("slider").addEventListener("input", event => go(Number(event.target.value)));
  get("preview-close").addEventListener("click", () => setLine(null, false));

  const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: "first", End: "last" };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey) return;
    const letter = event.code?.startsWith("Key") ? event.code[3] : "";
    if (event.altKey) {
      const candidate = graded(steps[state.step])[letter.charCodeAt(0) - 65];
      if (candidate) { event.preventDefault(); pin(candidate.line); }
      return;
    }
    if (event.key in KEYS) {
      event.preventDefault();
      go(target(KEYS[event.key]));
    } else if (event.key === "Escape") {
      setLine(null, false);
    } else if (letter === "C") toggle("candidates");
    else if (letter === "O") toggle("ownership");
    else if (letter === "N") toggle("numbers");
    else if (letter === "M") bad(1);
    else if (letter === "P") bad(-1);
  });

  // On the board: a mouse over a best move shows its line, a click or tap keeps it, a swipe goes through the game.
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
    if (!start) return;
    const dx = event.clientX - start.x, dy = event.clientY - start.y;
    start = null;
    if (Math.abs(dx) > 36 && Math.abs(dx) > 2 * Math.abs(dy)) { go(state.step + (dx < 0 ? 1 : -1)); return; }
    if (Math.hypot(dx, dy) > 10) return;
    if (state.pinned) { setLine(null, false); return; }
    const line = lineAt(event);
    if (line) setLine(line, true);
  });

  addEventListener("hashchange", () => {
    const step = Number(location.hash.slice(1));
    if (location.hash && Number.isInteger(step) && step !== state.step) go(step);
  });
  for (const link of document.querySelectorAll(".worst a")) {
    link.addEventListener("click", event => {
      event.preventDefault();
      go(Number(link.hash.slice(1)));
      get("review").scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    });
  }

  const first = Number(location.hash.slice(1));
  go(location.hash && Number.isInteger(first) ? first : 0);
})();
