// Candidates of the position that is shown: their table, their marks on the board, and their lines. A line replaces the
// position while the mouse is over its candidate, and stays after a click.
class Candidates {
  // `page` has `at()`, the number of the node that is shown; `next()`, the point at which the game continues; `words`;
  // and `changed()`, which draws the board. `count` is the number of rows that are always there, so that nothing below
  // the table moves.
  constructor(page, count) {
    // The line that is shown, the node that it starts at, and its first point if it belongs to a candidate.
    Object.assign(this, { page, list: [], rows: [], line: null, base: null, start: -1, isPinned: false });
    while (this.rows.length < count) this.addRow();
    const select = document.getElementById("labels"), known = kept("labels");
    if (Array.from(select.options).some(({ value }) => value === known)) select.value = known;
    // The width of the board is read when it changes. Reading it at each step would lay out the page twice.
    const root = document.getElementById("board");
    new ResizeObserver(() => { this.width = root.clientWidth; }).observe(root);
    select.addEventListener("change", () => { keep("labels", select.value); page.changed(); });
  }

  // ---- Lines ----

  set(line, isPinned, start = -1, base = this.page.at()) {
    if (this.line === line && this.isPinned === isPinned) return;
    Object.assign(this, { line, base, isPinned, start: line ? start : -1 });
    this.page.changed();
    for (const { row, it } of this.rows) row.classList.toggle("shown", Boolean(it?.line) && it.line === line);
  }

  // Forgets the line, because another position is shown.
  clear() { Object.assign(this, { line: null, isPinned: false, start: -1 }); }

  // Shows the line of a candidate while the mouse is over it. A missing argument ends this.
  hover(it) { if (!this.isPinned) this.set(it?.line || null, false, it?.point); }

  // Returns the candidate at a point of the board.
  atPoint(point) { return this.list.find(it => it.line && it.point === point); }

  // Pins the line of a candidate, or unpins it.
  pin(it) {
    const isShown = this.isPinned && this.line === it.line;
    this.set(isShown ? null : it.line, !isShown, it.point);
  }

  // Shows a line that starts at a node, or ends it.
  toggle(line, base) { this.set(this.line === line ? null : line, this.line !== line, -1, base); }

  // Takes over the new line of the candidate whose line is shown.
  renew(list) { this.line = list.find(it => it.point === this.start)?.line || this.line; }

  // Draws the line. `stones` are those at the node that it starts at, and `color` moves there.
  draw(board, packed, stones, color) {
    const played = packed.playedOut(stones, color === "B" ? 1 : 2, this.line);
    board.showStones(played.stones);
    board.showMarks(-1);
    board.showLabels([]);
    board.showDots([]);
    board.showLine(played.moves);
  }

  // ---- Table ----

  // Rows are made once: a row under the mouse must not move away.
  addRow() {
    const row = document.getElementById("candidates").tBodies[0].insertRow(), button = element("button", "", "letter");
    button.type = "button";
    row.insertCell().append(button);
    const cells = ["", "number", "number", "number"].map(className => {
      const cell = row.insertCell();
      cell.className = className;
      return cell;
    });
    const made = { row, button, cells, it: null, name: "" };
    this.rows.push(made);
    row.addEventListener("pointerenter", event => { if (event.pointerType === "mouse") this.hover(made.it); });
    row.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") this.hover(null); });
    row.addEventListener("click", () => { if (made.it?.line) this.pin(made.it); });
    button.addEventListener("focus", () => this.hover(made.it));
    button.addEventListener("blur", () => this.hover(null));
  }

  // Fills the table. `sign` is 1 if Black is to move. `others` are rows without a line, with their `values`.
  show(list, sign, others = []) {
    this.list = list;
    const all = [...list, ...others], next = this.page.next(), name = point => this.page.words.board().name(point);
    while (this.rows.length < all.length) this.addRow();
    this.rows.forEach((made, index) => {
      const it = made.it = all[index] || null, { button, cells, row } = made, values = it && (it.line || it.values);
      const words = it ? [percent(values.w), lead(values.s), grouped(values.v)] : ["", "", ""];
      const played = it && it.point === next ? text("is-played") : "", label = it ? name(it.point) : "";
      if (made.name !== label + played) {
        made.name = label + played;
        cells[0].replaceChildren(element("b", label), ...played ? [element("span", ` ${played}`, "faint")] : []);
      }
      cells.slice(1).forEach((cell, at) => { if (cell.textContent !== words[at]) cell.textContent = words[at]; });
      row.classList.toggle("empty", !it?.line);
      row.classList.toggle("shown", Boolean(it?.line) && it.line === this.line);
      button.hidden = !it;
      if (!it) return;
      button.textContent = it.label;
      button.className = `letter ${it.grade}`;
      button.disabled = !it.line;
      button.setAttribute("aria-label", it.line ? text("show-line-of", { move: label }) : label);
    });
    const why = orderWords(list, sign, name);
    document.getElementById("order").hidden = !why;
    document.getElementById("order").textContent = why;
  }

  // Returns the candidates as the board shows them: with the letter, and with the chosen number where there is room for
  // both.
  labelled(list, sign) {
    const { root, columns } = this.page.words.board(), isRoomy = (this.width ||= root.clientWidth) / (columns + 1.2) >= ROOMY;
    const number = { points: ({ s }) => decimal(sign * s / 10, 1).replace("-", "−"),
      rate: ({ w }) => String(Math.round((sign > 0 ? w : 1000 - w) / 10)),
      visits: ({ v }) => v < 1000 ? String(v) : `${decimal(v / 1000, v < 10_000 ? 1 : 0)}k` }[document.getElementById("labels").value];
    return list.map(it => !number ? it : isRoomy ? { ...it, note: number(it.line) } : { ...it, label: number(it.line) });
  }
}

// Width of a point, in pixels, from which a letter and a number fit on a candidate.
const ROOMY = 34;
