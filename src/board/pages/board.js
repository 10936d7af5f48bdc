"use strict";

// Creates elements of SVG and HTML. Text is never parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

// A board that is as wide as its element. Points are numbered row by row from the top left. Neighbouring points are
// UNIT apart.
const UNIT = 40;
const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

class Board {
  constructor(root, columns, rows, stars) {
    Object.assign(this, { root, columns, rows });
    for (const child of Array.from(root.children)) if (child.nodeName !== "title") child.remove();
    const width = (columns + 1.2) * UNIT, height = (rows + 1.2) * UNIT;
    root.style.setProperty("--ratio", width / height);
    // On a small board, coordinates of full size would be too prominent.
    root.style.setProperty("--coordinate", `${Math.max(11, 16 * Math.min(1, (Math.max(columns, rows) + 5) / 24))}px`);
    root.setAttribute("viewBox", `${-UNIT * 1.1} ${-UNIT * 1.1} ${width} ${height}`);
    this.drawWood(width, height);
    this.drawGrid(stars);
    this.layers = {};
    for (const name of ["region", "shadows", "stones", "owners", "marks", "dots", "labels", "lines", "ticks", "ghost", "cursor"]) {
      this.layers[name] = svg("g", { class: name, "data-layer": name }, root);
    }
    this.shown = new Uint8Array(columns * rows);
    this.elements = new Map();
  }

  x(point) { return (point % this.columns) * UNIT; }
  y(point) { return Math.floor(point / this.columns) * UNIT; }

  name(point) {
    return point < 0 ? text("pass-name") : LETTERS[point % this.columns] + (this.rows - Math.floor(point / this.columns));
  }

  // Returns the point at a position in the window, or -1 if there is none.
  pointAt(x, y) {
    const matrix = this.root.getScreenCTM();
    if (!matrix) return -1;
    const at = new DOMPoint(x, y).matrixTransform(matrix.inverse());
    const column = Math.round(at.x / UNIT), row = Math.round(at.y / UNIT);
    const inside = column >= 0 && row >= 0 && column < this.columns && row < this.rows;
    return inside ? row * this.columns + column : -1;
  }

  drawWood(width, height) {
    const defs = svg("defs", {}, this.root);
    const gradient = (kind, id, attributes, stops) => {
      const element = svg(kind, { id, ...attributes }, defs);
      for (const [offset, name] of stops) svg("stop", { offset, class: name }, element);
    };
    gradient("linearGradient", "wood", { x1: 0, y1: 0, x2: 1, y2: 1 },
      [[0, "wood-1"], [.5, "wood-2"], [1, "wood-3"]]);
    const light = { cx: .36, cy: .3, r: .75, fx: .32, fy: .26 };
    gradient("radialGradient", "stone-black", light, [[0, "black-1"], [.45, "black-2"], [1, "black-3"]]);
    gradient("radialGradient", "stone-white", light, [[0, "white-1"], [.6, "white-2"], [1, "white-3"]]);
    gradient("radialGradient", "stone-shadow", {}, [[.72, "shadow-1"], [1, "shadow-2"]]);
    // Wood grain: long, slightly bent lines across the whole board.
    const grain = svg("pattern", { id: "grain", width: 320, height: 90, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(2)" }, defs);
    for (const [y, bend, opacity] of [[8, 5, .5], [21, -4, .9], [33, 6, .4], [47, 3, 1], [60, -6, .6], [74, 4, .8]]) {
      svg("path", { class: "grain", "stroke-opacity": opacity,
        d: `M0 ${y}C80 ${y + bend} 110 ${y - bend} 160 ${y}S250 ${y + bend} 320 ${y}` }, grain);
    }
    const frame = { x: -UNIT * 1.1, y: -UNIT * 1.1, width, height, rx: 7 };
    svg("rect", { ...frame, fill: "url(#wood)" }, this.root);
    svg("rect", { ...frame, fill: "url(#grain)" }, this.root);
  }

  drawGrid(stars) {
    const right = (this.columns - 1) * UNIT, bottom = (this.rows - 1) * UNIT;
    let path = "";
    for (let row = 1; row < this.rows - 1; row++) path += `M0 ${row * UNIT}H${right}`;
    for (let column = 1; column < this.columns - 1; column++) path += `M${column * UNIT} 0V${bottom}`;
    svg("path", { class: "grid", d: path }, this.root);
    svg("path", { class: "grid edge", d: `M0 0H${right}V${bottom}H0z` }, this.root);
    for (const star of stars) svg("circle", { class: "star", cx: this.x(star), cy: this.y(star), r: 4 }, this.root);
    const coordinates = svg("g", { class: "coordinates", "aria-hidden": "true" }, this.root);
    const gap = UNIT * .82;
    for (let column = 0; column < this.columns; column++) {
      for (const y of [-gap, bottom + gap]) svg("text", { x: column * UNIT, y }, coordinates, LETTERS[column]);
    }
    for (let row = 0; row < this.rows; row++) {
      for (const x of [-gap, right + gap]) svg("text", { x, y: row * UNIT }, coordinates, this.rows - row);
    }
  }

  // Draws stones: 1 for Black, 2 for White. Redraws only those that have changed.
  showStones(stones) {
    for (let point = 0; point < stones.length; point++) {
      if (stones[point] === this.shown[point]) continue;
      this.shown[point] = stones[point];
      for (const element of this.elements.get(point) || []) element.remove();
      this.elements.delete(point);
      if (!stones[point]) continue;
      const color = stones[point] === 1 ? "black" : "white", cx = this.x(point), cy = this.y(point);
      this.elements.set(point, [
        svg("circle", { cx: cx + 1.6, cy: cy + 2.6, r: 21.5, fill: "url(#stone-shadow)" }, this.layers.shadows),
        svg("circle", { cx, cy, r: 19, class: color, fill: `url(#stone-${color})`, "data-stone": this.name(point) },
          this.layers.stones),
      ]);
    }
  }

  // Draws mean owners in [-1, 1], 1 for Black; null hides them.
  showOwners(owners) {
    const layer = this.layers.owners;
    layer.replaceChildren();
    if (!owners) return;
    owners.forEach((owner, point) => {
      const side = 22 * Math.sqrt(Math.abs(owner));
      if (Math.abs(owner) < .08) return;
      svg("rect", { class: owner > 0 ? "black" : "white", x: this.x(point) - side / 2, y: this.y(point) - side / 2,
        width: side, height: side, rx: 2, "fill-opacity": Math.min(1, .35 + Math.abs(owner) * .6) }, layer);
    });
  }

  // Draws marks on stones: the last move, and numbers.
  showMarks(last, numbers) {
    const layer = this.layers.marks;
    layer.replaceChildren();
    for (const [point, number] of numbers || []) {
      const on = this.shown[point] === 1 ? "on-black" : "on-white";
      svg("text", { class: `number ${on}${point === last ? " last" : ""}${number > 99 ? " small" : ""}`,
        x: this.x(point), y: this.y(point) }, layer, number);
    }
    if (last >= 0 && !numbers) {
      const on = this.shown[last] === 1 ? "on-black" : "on-white";
      svg("circle", { class: `last ${on}`, cx: this.x(last), cy: this.y(last), r: 9.5 }, layer);
    }
  }

  // Draws candidates, [{ point, label, grade, note }], and a ring on the next move of the game. The note is below the
  // label.
  showCandidates(candidates, next) {
    const layer = this.layers.lines;
    layer.replaceChildren();
    for (const { point, label, grade, note } of candidates) {
      if (point < 0 || this.shown[point]) continue;
      const group = svg("g", { class: `candidate ${grade}`, "data-candidate": this.name(point) }, layer);
      svg("circle", { cx: this.x(point), cy: this.y(point), r: 17.5 }, group);
      const size = String(label).length > 3 ? "long" : String(label).length > 1 ? "short" : "";
      svg("text", { x: this.x(point), y: this.y(point) - (note ? 6 : 0), class: note ? "short" : size }, group, label);
      if (note) svg("text", { x: this.x(point), y: this.y(point) + 8.5, class: "note" }, group, note);
    }
    if (next >= 0 && !this.shown[next]) {
      svg("circle", { class: "next", cx: this.x(next), cy: this.y(next), r: 17.5 }, layer);
    }
  }

  // Marks the move that would have been better than the played one, with a ring and a tick, so that a candidate of the
  // other player on the same point stays readable. -1 removes the mark.
  showMissed(point) {
    this.layers.ticks.replaceChildren();
    if (point < 0 || this.shown[point]) return;
    const x = this.x(point), y = this.y(point), group = svg("g", { class: "missed", "data-missed": this.name(point) }, this.layers.ticks);
    svg("circle", { class: "ring", cx: x, cy: y, r: 18.5 }, group);
    svg("circle", { class: "badge", cx: x + 13.5, cy: y - 13.5, r: 9 }, group);
    svg("path", { d: `M${x + 9.5} ${y - 13.2}l2.8 3.2l5.2-6.6` }, group);
  }

  // Draws a ring on each point on which a variation continues.
  showNext(points) {
    for (const point of points) {
      if (!this.shown[point]) svg("circle", { class: "next", cx: this.x(point), cy: this.y(point), r: 17.5, "data-next": this.name(point) }, this.layers.lines);
    }
  }

  // Draws dots on stones: [{ point, grade, size }] with a size from 0 to 3. The size repeats the grade, so that the
  // grade is not shown by colour alone.
  showDots(dots) {
    const layer = this.layers.dots;
    layer.replaceChildren();
    for (const { point, grade, size } of dots) {
      svg("circle", { class: `mark ${grade}`, cx: this.x(point), cy: this.y(point), r: 4 + 2 * size, "data-dot": this.name(point) }, layer);
    }
  }

  // Draws the marks of a record: [{ point, kind, words }]. The kinds have SGF's names, and labels have words.
  showLabels(labels) {
    const layer = this.layers.labels, r = 10;
    layer.replaceChildren();
    for (const { point, kind, words } of labels) {
      const x = this.x(point), y = this.y(point), on = this.shown[point] === 1 ? "on-black" : "on-white";
      const name = { class: `label ${on}`, "data-label": this.name(point) };
      if (kind === "LB") {
        if (!this.shown[point]) svg("circle", { class: "under", cx: x, cy: y, r: 13 }, layer);
        svg("text", { ...name, class: `number ${on}`, x, y }, layer, words);
      } else if (kind === "CR") svg("circle", { ...name, cx: x, cy: y, r }, layer);
      else svg("path", { ...name, d: { TR: `M${x} ${y - r}l${r} ${1.6 * r}h${-2 * r}z`, SQ: `M${x - 8} ${y - 8}h16v16h-16z`,
        MA: `M${x - 8} ${y - 8}l16 16m0-16l-16 16` }[kind] || "" }, layer);
    }
  }

  // Marks a rectangle of points, [left, top, right, bottom], counted from the top left. A missing argument removes the
  // mark.
  showRegion(box) {
    this.layers.region.replaceChildren();
    if (!box) return;
    const [left, top, right, bottom] = box;
    svg("rect", { class: "area", x: (left - .5) * UNIT, y: (top - .5) * UNIT, width: (right - left + 1) * UNIT, height: (bottom - top + 1) * UNIT, rx: 8,
      "data-region": box.join(" ") }, this.layers.region);
  }

  // Draws a line of moves: [{ point, color, number }], leaving out the stones that were captured.
  showLine(moves) {
    const layer = this.layers.lines;
    layer.replaceChildren();
    for (const { point, color, number } of moves) {
      const name = color === 1 ? "black" : "white", cx = this.x(point), cy = this.y(point);
      svg("circle", { cx, cy, r: 19, class: `${name} ghost`, fill: `url(#stone-${name})`,
        "data-line": this.name(point) }, layer);
      svg("text", { class: `number on-${name}`, x: cx, y: cy }, layer, number);
    }
  }

  // Crosses out dead stones, or other points.
  showCrosses(points) {
    const layer = this.layers.marks;
    for (const point of points) {
      const on = this.shown[point] === 1 ? "on-black" : "on-white", x = this.x(point), y = this.y(point);
      svg("path", { class: `cross ${on}`, d: `M${x - 9} ${y - 9}l18 18m0-18l-18 18`, "data-dead": this.name(point) }, layer);
    }
  }

  // Draws a preview of a stone that may be placed; -1 removes it.
  showGhost(point, color) {
    this.layers.ghost.replaceChildren();
    if (point < 0 || this.shown[point]) return;
    const name = color === 1 ? "black" : "white";
    svg("circle", { cx: this.x(point), cy: this.y(point), r: 19, class: `${name} would-be`, fill: `url(#stone-${name})`,
      "data-ghost": this.name(point) }, this.layers.ghost);
  }

  // Marks the point that was selected with the keyboard; -1 removes the mark.
  showCursor(point) {
    this.layers.cursor.replaceChildren();
    if (point < 0) return;
    svg("rect", { class: "cursor", x: this.x(point) - 18, y: this.y(point) - 18, width: 36, height: 36, rx: 5,
      "data-cursor": this.name(point) }, this.layers.cursor);
  }
}

// Keys that step through a game on every page, with the number of moves. The arrow keys belong to the board while it
// has a cursor.
const MOVE_KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: "first", End: "last" };

// Cursor on the board that is moved with the keyboard. `describe(point)` returns the text for screen readers, and
// `choose(point)` is called when Enter is pressed.
class Cursor {
  constructor(board, { announce, describe, choose }) {
    Object.assign(this, { board, announce, describe, choose, point: -1 });
  }

  // Handles a key. Returns false if the key is not for the board. Any arrow key with Shift, and up and down on the
  // board itself, put the cursor on the board. From then on all arrow keys move it. Elsewhere up and down scroll the
  // page or move a slider.
  key({ key: name, shiftKey, target }) {
    const { columns, rows } = this.board, steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (name === "Enter" || name === " ") {
      if (this.point < 0 || target?.closest?.("button, a")) return false;
      this.choose(this.point);
      return true;
    }
    if (!steps[name] || target?.closest?.("input")) return false;
    const [dx, dy] = steps[name];
    if (this.point < 0 && !shiftKey && (dx || (target && target !== this.board.root))) return false;
    if (this.point < 0) {
      this.place(Math.floor(rows / 2) * columns + Math.floor(columns / 2));
    } else {
      const column = Math.min(columns - 1, Math.max(0, this.point % columns + dx));
      const row = Math.min(rows - 1, Math.max(0, Math.floor(this.point / columns) + dy));
      this.place(row * columns + column);
    }
    return true;
  }

  place(point) {
    this.point = point;
    this.board.showCursor(point);
    if (point >= 0) this.announce(this.describe(point));
  }
}

// Returns the boards after each of a list of changes: { s: [black, white, empty] } or { color, at, lifted }, all of
// them points. Black is 1, White 2. Also returns the number of captured stones.
function playOut(area, changes) {
  const stones = new Uint8Array(area), number = new Uint16Array(area), taken = [0, 0, 0];
  return changes.map(change => {
    if (change.s) {
      change.s.forEach((points, kind) => points.forEach(at => { stones[at] = [1, 2, 0][kind]; number[at] = 0; }));
    } else {
      if (change.at >= 0) { stones[change.at] = change.color; number[change.at] = change.number; }
      for (const gone of change.lifted) {
        taken[3 - stones[gone]]++;
        stones[gone] = 0;
        number[gone] = 0;
      }
    }
    return { stones: stones.slice(), numbers: number.slice(), taken: taken.slice() };
  });
}
