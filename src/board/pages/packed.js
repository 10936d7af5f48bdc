// Unpacks the program's numbers: points are two letters as in SGF, shares are in thousandths, scores in tenths of a
// point.
class Packed {
  constructor(columns) { this.columns = columns; }

  // Returns the index of a point, row by row from the top left; -1 for a pass.
  point(text) {
    return text === "--" ? -1 : (text.charCodeAt(1) - 97) * this.columns + text.charCodeAt(0) - 97;
  }

  points(text) { return (text || "").match(/../g)?.map(place => this.point(place)) || []; }

  place(point) {
    return point < 0 ? "--" : String.fromCharCode(97 + point % this.columns, 97 + Math.floor(point / this.columns));
  }

  // Returns the mean owners in [-1, 1], 1 for Black.
  owners(text) {
    return Array.from(text, letter => {
      const code = letter.charCodeAt(0);
      return (code < 97 ? code - 65 : code - 97 + 26) / 25 - 1;
    });
  }

  // Returns the candidates, each with a letter, and with a grade that follows from the loss against the first
  // candidate. `sign` is 1 for Black and -1 for White. `losses` are the thresholds of an inaccuracy and a mistake.
  graded(lines, sign, losses) {
    return (lines || []).map((line, index) => {
      const loss = sign * (lines[0].w - line.w);
      const grade = index === 0 ? "best" : loss < losses[0] / 2 ? "near" : loss < losses[0] ? "fair"
        : loss < losses[1] ? "poor" : "bad";
      return { point: this.points(line.l)[0] ?? -1, label: String.fromCharCode(65 + index), grade, line };
    });
  }

  // Returns the board after a line of moves, and the stones of the line that are still on it.
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
    // If several stones were played on one point, the last one counts. The stones of the line are drawn separately.
    for (const { point: at } of moves) stones[at] = 0;
    return { stones, moves };
  }
}

const percent = thousandths => `${decimal(thousandths / 10, 1)} %`;
const lead = tenths => tenths === 0 ? text("even") : `${tenths > 0 ? "B" : "W"}+${decimal(Math.abs(tenths) / 10, 1)}`;
const grouped = number => localized(String(number).replace(/\B(?=(\d{3})+$)/g, ","));

// Explains why the first candidate is listed above one whose win rate is higher by 1 % or more. Returns an empty value
// if there is no such candidate. `sign` is 1 for Black, -1 for White.
function orderWords(graded, sign, name) {
  const [first, ...others] = graded;
  const higher = others.find(({ line }) => sign * (line.w - first.line.w) >= 10 && line.v < first.line.v);
  return higher ? text("order-why", { first: name(first.point), second: name(higher.point),
    visits: grouped(first.line.v), fewer: grouped(higher.line.v) }) : "";
}

// Creates an HTML element with text. The text is never parsed as HTML.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
