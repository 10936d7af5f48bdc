// Returns the time left of a player in words, and whether it is short. `receivedAt` is the time at which the state was
// received.
function clockWords(clock, color, receivedAt) {
  const mine = clock[color];
  let left = mine.left, { overtime, periods } = mine;
  if (clock.runs === color) {
    let passed = clock.passed + performance.now() - receivedAt;
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
