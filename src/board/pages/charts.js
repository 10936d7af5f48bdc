// Curves over the steps of the game. Each curve is drawn for the width of its element, so that text and lines have the
// same size on any screen.
class Chart {
  // `series` is [{ name, values }], with null for unknown values. The options are `height`; `top` and `bottom` of the
  // scale; `ticks`, [[value, text]]; `area`, the value down or up to which the first curve is filled; `marks`, [{ step,
  // grade, value }]; `xTicks`, [[step, text]]; and `label`, a function from a value to its text.
  constructor(root, length, series, options, onJump) {
    Object.assign(this, { root, length, series, options });
    this.current = 0;
    new ResizeObserver(() => this.draw()).observe(root);
    if (onJump) this.listen(onJump);
    this.draw();
  }

  x(step) { return this.left + (this.length > 1 ? step / (this.length - 1) : .5) * (this.right - this.left); }
  y(value) {
    const { top, bottom } = this.options, share = (top - value) / (top - bottom);
    return this.up + Math.min(1, Math.max(0, share)) * (this.down - this.up);
  }

  listen(onJump) {
    const jump = event => {
      const box = this.root.getBoundingClientRect();
      const share = (event.clientX - box.left - this.left) / (this.right - this.left);
      onJump(Math.round(Math.min(1, Math.max(0, share)) * (this.length - 1)));
    };
    let isDown = false;
    this.root.addEventListener("pointerdown", event => {
      isDown = true;
      try { this.root.setPointerCapture(event.pointerId); } catch { /* A pointer that is gone already. */ }
      jump(event);
    });
    this.root.addEventListener("pointermove", event => { if (isDown) jump(event); });
    for (const end of ["pointerup", "pointercancel"]) this.root.addEventListener(end, () => { isDown = false; });
  }

  draw() {
    const { ticks, area, xTicks } = this.options, width = this.root.clientWidth;
    if (!width) return;
    // Curves are scaled with the page's font size.
    const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, height = this.options.height * scale;
    this.root.replaceChildren();
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.root.setAttribute("height", height);
    [this.left, this.right, this.up, this.down] = [38 * scale, width - 8, 8, height - (xTicks.length ? 20 * scale : 8)];
    // The background is drawn only below known values, so that an unknown stretch does not look like a value.
    svg("rect", { class: "unknown", x: this.left, y: this.up, width: this.right - this.left,
      height: this.down - this.up }, this.root);
    const lines = this.series.map(series => this.lines(series.values));
    for (const line of lines.flat()) {
      const from = Number(line[0][0]), to = Number(line.at(-1)[0]);
      svg("rect", { class: "ground", x: from - (from === to ? 1 : 0), y: this.up, width: Math.max(2, to - from),
        height: this.down - this.up }, this.root);
    }
    if (area !== undefined) {
      const base = this.y(area);
      for (const line of lines[0]) {
        const path = `M${line[0][0]} ${base}L${line.map(at => at.join(" ")).join("L")}L${line.at(-1)[0]} ${base}z`;
        svg("path", { class: "area", d: path }, this.root);
      }
    }
    for (const [value, text] of ticks) {
      svg("path", { class: "tick", d: `M${this.left} ${this.y(value)}H${this.right}` }, this.root);
      svg("text", { class: "y", x: this.left - 6, y: this.y(value) }, this.root, text);
    }
    for (const [step, text] of xTicks) {
      svg("text", { class: "x", x: this.x(step), y: height - 7 * scale }, this.root, text);
    }
    lines.forEach((parts, index) => {
      for (const line of parts) {
        svg("path", { class: `curve ${this.series[index].name}`, d: `M${line.map(at => at.join(" ")).join("L")}` },
          this.root);
      }
    });
    for (const { step, grade, value } of this.options.marks || []) {
      svg("circle", { class: `mark ${grade}`, cx: this.x(step), cy: this.y(value), r: 4, "data-step": step }, this.root);
    }
    this.cursor = svg("g", { class: "cursor" }, this.root);
    this.show(this.current);
  }

  // Returns the coordinates of each uninterrupted run of known values.
  lines(values) {
    const found = [];
    let line = null;
    values.forEach((value, step) => {
      if (value === null) { line = null; return; }
      if (!line) found.push(line = []);
      line.push([this.x(step).toFixed(1), this.y(value).toFixed(1)]);
    });
    return found;
  }

  show(step) {
    this.current = step;
    if (!this.cursor) return;
    this.cursor.replaceChildren();
    const x = this.x(step);
    svg("path", { d: `M${x} ${this.up}V${this.down}`, "data-step": step }, this.cursor);
    for (const { values } of this.series) {
      if (values[step] !== null && values[step] !== undefined) {
        svg("circle", { cx: x, cy: this.y(values[step]), r: 4.5 }, this.cursor);
      }
    }
  }
}
