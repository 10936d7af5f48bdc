// What the program packs into its numbers: places are two letters as in SGF, shares thousandths, points of score tenths.
class Packed {
  constructor(columns) { this.columns = columns; }

  // The number of a place, row by row from the top left; -1 is a pass.
  point(text) {
    return text === "--" ? -1 : (text.charCodeAt(1) - 97) * this.columns + text.charCodeAt(0) - 97;
  }

  points(text) { return (text || "").match(/../g)?.map(place => this.point(place)) || []; }

  place(point) {
    return point < 0 ? "--" : String.fromCharCode(97 + point % this.columns, 97 + Math.floor(point / this.columns));
  }

  // Mean owners in [-1, 1], 1 for Black.
  owners(text) {
    return Array.from(text, letter => {
      const code = letter.charCodeAt(0);
      return (code < 97 ? code - 65 : code - 97 + 26) / 25 - 1;
    });
  }

  // Candidates with a letter, and a grade by what they lose against the first: `sign` is 1 for Black. `losses` are those
  // of an inaccuracy and a mistake.
  graded(lines, sign, losses) {
    return (lines || []).map((line, index) => {
      const loss = sign * (lines[0].w - line.w);
      const grade = index === 0 ? "best" : loss < losses[0] / 2 ? "near" : loss < losses[0] ? "fair"
        : loss < losses[1] ? "poor" : "bad";
      return { point: this.points(line.l)[0] ?? -1, label: String.fromCharCode(65 + index), grade, line };
    });
  }

  // The board after a line of moves, and the stones of it that are still there.
  playedOut(before, color, line) {
    const stones = before.slice(), number = new Map();
    this.points(line.l).forEach((at, count) => {
      if (at >= 0) {
        stones[at] = color;
        number.set(at, count + 1);
      }
      for (const gone of this.points((line.x || []).find(([move]) => move === count)?.[1])) {
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
}

const percent = thousandths => `${decimal(thousandths / 10, 1)} %`;
const lead = tenths => tenths === 0 ? text("even") : `${tenths > 0 ? "B" : "W"}+${decimal(Math.abs(tenths) / 10, 1)}`;
const grouped = number => localized(String(number).replace(/\B(?=(\d{3})+$)/g, ","));

// Says why the first candidate stands above another one whose win rate is higher by 1 % or more; nothing if there is none.
// `sign` is 1 for Black.
function orderWords(graded, sign, name) {
  const [first, ...others] = graded;
  const higher = others.find(({ line }) => sign * (line.w - first.line.w) >= 10 && line.v < first.line.v);
  return higher ? text("order-why", { first: name(first.point), second: name(higher.point),
    visits: grouped(first.line.v), fewer: grouped(higher.line.v) }) : "";
}

// An element of HTML with text in it. Text only ever goes in as text.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
