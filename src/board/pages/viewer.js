// Shows games: [{ name, columns, rows, stars, start: [black, white], moves: [[color, place, lifted], …] }] in the
// element `viewer-data`, packed as for packed.js.
(() => {
  const get = id => document.getElementById(id);
  const games = JSON.parse(get("viewer-data").textContent);
  let game = 0, at = 0, board = null, positions = [], packed = null;

  function open(number) {
    const it = games[game = number];
    board = new Board(get("board"), it.columns, it.rows, new Packed(it.columns).points(it.stars));
    packed = new Packed(it.columns);
    positions = playOut(it.columns * it.rows, [{ s: [packed.points(it.start[0]), packed.points(it.start[1]), []] },
      ...it.moves.map(([color, place, lifted], index) => ({ color: color === "B" ? 1 : 2, at: packed.point(place),
        lifted: packed.points(lifted), number: index + 1 }))]);
    go(it.moves.length);
  }

  function go(target) {
    const { moves } = games[game];
    at = Math.min(moves.length, Math.max(0, target));
    const { stones } = positions[at], last = at ? packed.point(moves[at - 1][1]) : -1;
    board.showStones(stones);
    board.showMarks(stones[last] ? last : -1);
    get("counter").textContent = `${at} / ${moves.length}`;
    get("slider").max = moves.length;
    get("slider").value = at;
    get("board-title").textContent = at
      ? text("viewer-move", { count: at, color: text(moves[at - 1][0] === "B" ? "black" : "white"), move: board.name(last) })
      : text("viewer-start");
    for (const button of document.querySelectorAll("[data-go]")) {
      const isBack = button.dataset.go === "first" || Number(button.dataset.go) < 0;
      button.disabled = isBack ? at === 0 : at === moves.length;
    }
  }

  // On a wide screen, the list of games is beside the board.
  const isWide = matchMedia("(min-width: 60.01rem)");
  const fit = () => { if (isWide.matches) get("viewer-game").size = Math.min(24, Math.max(2, games.length)); else get("viewer-game").removeAttribute("size"); };
  isWide.addEventListener("change", fit);
  fit();
  get("viewer-game").append(...games.map((it, number) => new Option(it.name, number)));
  get("viewer-game").addEventListener("change", event => open(Number(event.target.value)));
  get("slider").addEventListener("input", event => go(Number(event.target.value)));
  const target = to => to === "first" ? 0 : to === "last" ? Infinity : at + Number(to);
  for (const button of document.querySelectorAll("[data-go]")) button.addEventListener("click", () => go(target(button.dataset.go)));
  get("viewer").addEventListener("keydown", event => {
    if (!(event.key in MOVE_KEYS) || event.target.closest("select")) return;
    event.preventDefault();
    go(target(MOVE_KEYS[event.key]));
  });
  get("viewer-game").selectedIndex = 0;
  open(0);
  takeLanguage(() => go(at));
})();
