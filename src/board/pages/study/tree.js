// Game tree of a page, and its drawing.
class GameTree {
  constructor() { this.clear(); }

  clear() {
    // Nodes by number: { i: number, p: parent, n: moves, t: side to move, m: move, x: lifted stones, s: set-up, c:
    // comment, j: numbers of the position with the judgement of the move, next: children }, and fields that a page
    // adds.
    this.nodes = new Map();
    // The child that was visited last, by the number of its parent.
    this.chosen = new Map();
    this.change = (this.change || 0) + 1;
  }

  // Handles a message: new nodes, each after its parent, and `order`, the order of the children of other nodes.
  take({ whole, nodes, order = [] }) {
    if (whole) this.clear();
    this.change += 1;
    for (const node of nodes) {
      const known = this.nodes.get(node.i);
      this.nodes.set(node.i, Object.assign(node, { next: known?.next || [] }));
      const parent = this.nodes.get(node.p);
      if (parent && !parent.next.includes(node.i)) parent.next.push(node.i);
    }
    for (const [number, children] of order) {
      const node = this.nodes.get(number);
      if (!node) continue;
      const gone = node.next.filter(child => !children.includes(child));
      node.next = children.filter(child => this.nodes.has(child));
      while (gone.length) {
        const child = this.nodes.get(gone.pop());
        if (!child) continue;
        gone.push(...child.next);
        this.nodes.delete(child.i);
      }
    }
  }

  get(number) { return this.nodes.get(number); }
  has(number) { return this.nodes.has(number); }
  parent(number) { return this.nodes.get(number)?.p; }

  // Returns the nodes from the root to a node.
  path(number) {
    const path = [];
    for (let node = this.nodes.get(number); node; node = this.nodes.get(node.p)) path.push(node);
    return path.reverse();
  }

  // Returns the last node on the main line of the path to a node. The main line consists of first children.
  mainOf(number) {
    const path = this.path(number), left = path.findIndex(({ i, p }) => p !== undefined && this.nodes.get(p).next[0] !== i);
    return path.at(left < 0 ? -1 : left - 1).i;
  }

  isOnPath(ancestor, number) { return this.path(number).some(node => node.i === ancestor); }

  // Returns the child through which the line continues: the one visited last, otherwise the first.
  next(number) {
    const node = this.nodes.get(number), chosen = this.chosen.get(number);
    return node?.next.includes(chosen) ? chosen : node?.next[0];
  }

  // Remembers the line through a node.
  choose(number) {
    for (const node of this.path(number)) if (node.p !== undefined) this.chosen.set(node.p, node.i);
  }

  // Returns the node that is a number of moves ahead, or behind if the number is negative. At an end of the line it
  // returns the last node there.
  walk(number, count) {
    let at = number;
    for (let left = Math.abs(count); left > 0; left--) at = (count < 0 ? this.parent(at) : this.next(at)) ?? at;
    return at;
  }

  end(number) {
    let last = number;
    for (let next = this.next(last); next !== undefined; next = this.next(last)) last = next;
    return last;
  }

  // Returns the nodes of the line through a node, to its end.
  line(number) { return this.path(this.end(number)); }

  // Returns the number of variations: nodes that are not the first child.
  get variations() {
    let count = 0;
    for (const { next } of this.nodes.values()) count += Math.max(0, next.length - 1);
    return count;
  }

  // Returns the stones at a node, the number of the move that placed each, and the number of stones that each side has
  // captured.
  position(number, area, packed) {
    const stones = new Uint8Array(area), numbers = new Uint16Array(area), taken = [0, 0, 0];
    for (const { n, m, x, s } of this.path(number)) {
      if (s) s.forEach((points, kind) => packed.points(points).forEach(at => { stones[at] = [1, 2, 0][kind]; numbers[at] = 0; }));
      if (!m) continue;
      const at = packed.point(m.slice(1));
      if (at >= 0) { stones[at] = m[0] === "B" ? 1 : 2; numbers[at] = n; }
      for (const gone of packed.points(x)) {
        taken[3 - stones[gone]]++;
        stones[gone] = numbers[gone] = 0;
      }
    }
    return { stones, numbers, taken };
  }

  // Computes the places of all nodes: columns count nodes from the root, rows count lines. The first child of a node
  // stays in its row, and each variation gets the first row below that is free along its whole length.
  layout() {
    if (this.known === this.change) return this.placed;
    const placed = new Map(), columns = [], free = [], todo = [];
    const root = this.nodes.values().next().value;
    if (root) todo.push([root.i, 0]);
    while (todo.length) {
      const [first, column] = todo.pop(), line = [];
      for (let node = this.nodes.get(first); node; node = this.nodes.get(node.next[0])) line.push(node);
      const from = Math.max(0, column - 1), to = column + line.length;
      let row = 0;
      for (let at = from; at < to; at++) row = Math.max(row, free[at] || 0);
      for (let at = from; at < to; at++) free[at] = row + 1;
      line.forEach((node, index) => {
        placed.set(node.i, { column: column + index, row });
        (columns[column + index] ||= []).push(node.i);
      });
      // The last variation is placed first, so that no line crosses another.
      line.forEach((node, index) => {
        for (const child of node.next.slice(1).reverse()) todo.push([child, column + index + 1]);
      });
    }
    this.known = this.change;
    return this.placed = { placed, columns, rows: Math.max(1, ...free.map(row => row || 0)) };
  }

  // Returns the node in the next or previous row of the same column.
  beside(number, step) {
    const { placed, columns } = this.layout(), at = placed.get(number);
    if (!at) return undefined;
    const others = columns[at.column].filter(other => step * (placed.get(other).row - at.row) > 0);
    return others.sort((a, b) => step * (placed.get(a).row - placed.get(b).row))[0];
  }
}

const colorName = color => text(color === "B" ? "black" : "white");

// Words for nodes on a board. `board()` and `packed()` return those of the page.
class NodeWords {
  constructor({ tree, board, packed }) { Object.assign(this, { tree, board, packed }); }

  // Returns the name of the point of a move.
  point(move) { return this.board().name(this.packed().point(move.slice(1))); }

  // Returns the name of the first point of a line.
  first(line) { return this.board().name(this.packed().points(line?.l)[0] ?? -1); }

  move({ m, x }) {
    if (!m) return text("stones-set-up");
    const isPass = m.endsWith("--"), words = text(isPass ? "passes" : "played", { color: colorName(m[0]), move: isPass ? "" : this.point(m) });
    return x ? `${words}, ${text("takes", { count: x.length / 2 })}` : words;
  }

  node(node) { return node.p === undefined ? text("at-start") : `${text("move-count", { count: node.n })}, ${this.move(node)}`; }

  // Returns the stones of a position in words.
  stones(stones) {
    const of = color => Array.from(stones, (stone, point) => stone === color ? this.board().name(point) : "").filter(Boolean).join(" ");
    return `${colorName("B")}: ${of(1) || "–"}. ${colorName("W")}: ${of(2) || "–"}.`;
  }

  // Returns everything that the drawing of the tree shows about a node.
  drawn(node) {
    const siblings = this.tree.get(node.p)?.next || [], index = siblings.indexOf(node.i);
    return [this.node(node), siblings.length > 1 ? text("variation-of", { count: index + 1, all: siblings.length }) : "",
      gradeOf(node.j?.j) ? gradeWords(node.j.j) : "", node.c ? text("has-comment") : ""].filter(Boolean).join(", ");
  }
}

// Distance of neighbouring nodes in the drawing, and margin around the window within which nodes are drawn, in pixels.
const NODE = 28, MARGIN = 80;

// Drawing of a tree. Only what the window shows is drawn, so the size of the tree does not matter.
class TreeView {
  // `words` are the `NodeWords` of the tree, and `go(number)` is called for a click.
  constructor({ tree, words, go }) {
    const scroller = document.getElementById("tree-window"), root = document.getElementById("tree");
    Object.assign(this, { scroller, root, tree, words, go, current: 0, head: 0, drawn: null, left: 0, top: 0, width: 0 });
    // Sizes are read when they change. Reading them at each step would lay out the page twice.
    scroller.addEventListener("scroll", () => { this.measure(); this.draw(); });
    new ResizeObserver(() => { this.measure(); this.draw(true); }).observe(scroller);
    root.addEventListener("click", event => {
      const number = event.target.closest("[data-node]")?.dataset.node;
      if (number !== undefined) go(Number(number));
    });
    root.addEventListener("keydown", event => {
      const { key } = event;
      const to = key === "ArrowLeft" ? tree.parent(this.current) : key === "ArrowRight" ? tree.next(this.current)
        : key === "ArrowUp" ? tree.beside(this.current, -1) : key === "ArrowDown" ? tree.beside(this.current, 1) : null;
      if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      if (to !== undefined) go(to);
    });
  }

  x(column) { return NODE * (column + .7); }
  y(row) { return NODE * (row + .7); }

  measure() {
    const { scrollLeft: left, scrollTop: top, clientWidth: width, clientHeight: height } = this.scroller;
    Object.assign(this, { left, top, width, height });
  }

  // Shows a node, and the node at which play continues.
  show(current, head = current) {
    const isOther = current !== this.current || this.shown !== this.tree.change;
    Object.assign(this, { current, head, shown: this.tree.change });
    const { scroller } = this, { placed, columns, rows } = this.tree.layout(), at = placed.get(current);
    if (this.known !== this.tree.placed) {
      this.known = this.tree.placed;
      this.whole = [this.x(columns.length) - NODE * .3, this.y(rows) - NODE * .3];
      ["width", "height"].forEach((name, index) => { scroller.firstElementChild.style[name] = `${this.whole[index]}px`; });
      // A tree of few rows needs no tall window. There may be a scroll bar below it.
      scroller.style.setProperty("--height", `${this.y(rows) + 14}px`);
    }
    if (!this.width) this.measure();
    if (at && isOther) {
      const x = this.x(at.column), y = this.y(at.row), { left, top, width, height } = this;
      const isBeside = x < left + NODE || x > left + width - 2 * NODE, isAbove = y < top + NODE / 2 || y > top + height - NODE;
      if (isBeside) scroller.scrollLeft = x - width / 2;
      if (isAbove) scroller.scrollTop = y - height / 2;
      if (isBeside || isAbove) this.measure();
    }
    this.draw(true);
  }

  draw(isForced = false) {
    const { root, tree, left, top, width, height, drawn } = this;
    if (!width || !this.whole) return;
    const isInside = drawn && left >= drawn.left && top >= drawn.top && left + width <= drawn.right && top + height <= drawn.bottom;
    if (isInside && !isForced) return;
    const box = this.drawn = { left: Math.max(0, left - MARGIN), top: Math.max(0, top - MARGIN),
      right: left + width + MARGIN, bottom: top + height + MARGIN };
    const { placed, columns } = tree.layout();
    const [wide, high] = [Math.min(box.right, this.whole[0]) - box.left, Math.min(box.bottom, this.whole[1]) - box.top];
    root.setAttribute("viewBox", `${box.left} ${box.top} ${wide} ${high}`);
    Object.assign(root.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${wide}px`, height: `${high}px` });
    const edges = [], nodes = [];
    const firstColumn = Math.max(0, Math.floor(box.left / NODE) - 1), lastColumn = Math.min(columns.length - 1, Math.ceil(box.right / NODE));
    const path = new Set(tree.path(this.current).map(({ i }) => i));
    for (let column = firstColumn; column <= lastColumn; column++) {
      for (const number of columns[column]) {
        const node = tree.get(number), { row } = placed.get(number), x = this.x(column), y = this.y(row);
        const before = placed.get(node.p);
        if (before && y >= box.top - NODE && this.y(before.row) <= box.bottom) {
          const up = this.y(before.row);
          const d = before.row === row ? `M${x - NODE} ${y}H${x}` : `M${x - NODE} ${up}V${y - NODE / 2}L${x} ${y}`;
          edges.push([path.has(number) ? 1 : 0, d]);
        }
        if (y >= box.top - NODE && y <= box.bottom + NODE) nodes.push([node, x, y, column]);
      }
    }
    root.replaceChildren();
    // The chosen line is drawn above the others.
    for (const [isChosen, d] of edges.sort((a, b) => a[0] - b[0])) svg("path", { class: isChosen ? "edge chosen" : "edge", d, "aria-hidden": "true" }, root);
    for (const [node, x, y, column] of nodes) this.drawNode(node, x, y, column);
    if (tree.has(this.current)) root.setAttribute("aria-activedescendant", `node-${this.current}`);
  }

  drawNode(node, x, y, column) {
    const color = node.m ? (node.m[0] === "B" ? "black" : "white") : "set-up", grade = gradeOf(node.j?.j);
    const group = svg("g", { class: `node ${color}${node.i === this.current ? " current" : ""}${node.i === this.head ? " head" : ""}`,
      id: `node-${node.i}`, "data-node": node.i, role: "treeitem", "aria-level": column + 1,
      "aria-selected": node.i === this.current, "aria-label": this.words.drawn(node) }, this.root);
    svg("rect", { class: "reach", x: x - NODE / 2, y: y - NODE / 2, width: NODE, height: NODE }, group);
    if (node.m) svg("circle", { class: "stone", cx: x, cy: y, r: 10 }, group);
    else svg("rect", { class: "stone", x: x - 7, y: y - 7, width: 14, height: 14, rx: 2 }, group);
    if (node.m) svg("text", { x, y }, group, node.m.endsWith("--") ? "–" : node.n);
    if (grade) svg("circle", { class: `mark ${grade}`, cx: x + 8, cy: y - 8, r: 4.5 }, group);
    if (node.c) svg("path", { class: "comment", d: `M${x - 12} ${y + 6}h7v5h-4l-3 2z` }, group);
  }
}
