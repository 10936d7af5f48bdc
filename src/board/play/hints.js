// Hints in three degrees.

// Returns the region of a point, a third of the board in each direction: the corners of its rectangle, and the name of
// its text.
function regionOf(point, columns, rows) {
  const third = (at, count) => count < 5 ? [0, count - 1, 1] : [0, 1, 2].map(part => {
    const edge = Math.floor(count / 3) + (count % 3 ? 1 : 0);
    return [part === 0 ? 0 : part === 1 ? edge : count - edge, part === 0 ? edge - 1 : part === 1 ? count - edge - 1 : count - 1, part];
  }).find(([from, to]) => at >= from && at <= to);
  const [left, right, across] = third(point % columns, columns), [top, bottom, down] = third(Math.floor(point / columns), rows);
  return { box: [left, top, right, bottom], name: `region-${["top", "middle", "bottom"][down]}-${["left", "middle", "right"][across]}` };
}

// Degrees of a hint: the region, the move, and what follows.
const WHERE = 1, MOVE = 2, WHY = 3;

// Returns the words of a hint. `best` and `second` are the first candidates, and `lead` says who leads after the best
// one.
function hintText(best, second, { degree, sign, lead, region, name, points }) {
  if (best.point < 0) return text("hint-pass");
  if (degree === WHERE) return text("hint-where", { where: text(region) });
  const move = name(best.point);
  if (degree === MOVE) return text("hint-move", { move });
  const words = [text("hint-why", { move, lead, visits: grouped(best.line.v), moves: points(best.line.l).slice(0, 6).map(name).join(" ") })];
  if (second) {
    words.push(text("hint-second", { second: name(second.point), visits: grouped(second.line.v),
      points: decimal(sign * (best.line.s - second.line.s) / 10, 1).replace("-", "−") }));
  }
  return words.join(" ");
}
