// Returns the name of a level: a rank, an adaptive level such as auto:25k:0, or full strength.
function levelName(level) {
  const [kind, now] = level.split(":"), [, number, letter] = /^(\d+)([kd])$/.exec(now || kind) || [];
  const rank = number && text(`rank-${letter}`, { number });
  return !rank ? text(`level-${kind}`) : now ? text("level-auto-now", { rank }) : rank;
}

// Dialogs of the page: new games and players, links, and the games that the browser stores.
class Dialogs {
  // `ask(what, more)` sends a request, `seatName(color, game)` and `resultWords(result)` return words.
  constructor({ ask, seatName, resultWords }) {
    Object.assign(this, { ask, seatName, resultWords, choices: null, isWaiting: false, from: null });
    const get = this.get = id => document.getElementById(id), onClick = (id, act) => get(id).addEventListener("click", act);
    for (const button of document.querySelectorAll("[data-size]")) {
      button.addEventListener("click", () => { get("size").value = button.dataset.size; this.fit(); });
    }
    get("clock").addEventListener("change", () => this.fit());
    get("size").addEventListener("input", () => this.fit());
    for (const id of ["rules", "handicap"]) get(id).addEventListener("change", () => this.usualKomi());
    get("start").addEventListener("click", event => { event.preventDefault(); this.start(); });
    get("sit").addEventListener("click", () => {
      const [black, white] = ["black", "white"].map(color => this.seatOf(get(`seat-${color}-choice`).value));
      if (this.from === null) ask("seats", { black, white });
      else ask("from", { at: this.from, seats: [black, white] });
    });
    onClick("help", () => get("help-text").showModal());
    onClick("appearance", () => get("appearance-choice").showModal());
    // On a phone the rest of the menu is collapsed.
    onClick("more", () => get("more").setAttribute("aria-expanded", get("menu").classList.toggle("open")));
    // Only the page without a program has these elements.
    if (!get("share")) return;
    onClick("games", () => ask("games"));
    onClick("share-copy", async () => {
      get("share-link").select();
      // Unencrypted pages have no clipboard API.
      await navigator.clipboard?.writeText(get("share-link").value) ?? document.execCommand("copy");
      get("share-done").textContent = text("copied");
    });
  }

  // ---- New games and players ----

  fillSeats(select, chosen) {
    const { levels, engines } = this.choices;
    const options = [["person", text("person")],
      ...levels.map(level => [`kosumi ${level}`, text("kosumi", { level:
        /\d[kd]$/.test(level) ? `${levelName(level)} – ${text(`level-${level}`)}` : levelName(level === "auto" && kept("adaptive") || level) })]),
      ...engines.map((name, number) => [`engine ${number}`, name])];
    select.replaceChildren(...options.map(([value, words]) => new Option(words, value)));
    select.value = chosen;
  }

  seatValue(seat) { return seat.kind === "kosumi" ? `kosumi ${seat.level.split(":")[0]}` : seat.kind === "engine" ? `engine ${seat.number}` : "person"; }

  seatOf(value) {
    const [kind, which] = value.split(" ");
    return kind === "kosumi" ? { kind, level: which === "auto" && kept("adaptive") || which } : kind === "engine" ? { kind, number: Number(which) } : { kind };
  }

  fill(choices = this.choices) {
    const { get } = this;
    this.choices = choices;
    this.fillSeats(get("black"), kept("black") || "person");
    this.fillSeats(get("white"), kept("white") || `kosumi ${choices.usual}`);
    // The opponent chosen last time may no longer be available, for example after an update.
    for (const [id, usual] of [["black", "person"], ["white", `kosumi ${choices.usual}`]]) get(id).value ||= usual;
    get("rules").replaceChildren(...choices.rules.map(({ id }) => new Option(text(`rules-${id}`), id)));
    get("handicap").replaceChildren(new Option(text("no-handicap"), 0),
      ...[2, 3, 4, 5, 6, 7, 8, 9].map(count => new Option(text("stones", { count }), count)));
    get("clock").replaceChildren(...["none", "absolute", "fischer", "byo-yomi"].map(kind => new Option(text(`clock-${kind}`), kind)));
    get("version").textContent = `Kosumi ${choices.version}`;
    this.fit();
  }

  fit() {
    const { get } = this, kind = get("clock").value;
    get("main").closest(".field").hidden = kind === "none";
    get("increment").closest(".field").hidden = kind !== "fischer" && kind !== "byo-yomi";
    get("periods").closest(".field").hidden = kind !== "byo-yomi";
    for (const button of document.querySelectorAll("[data-size]")) button.setAttribute("aria-pressed", button.dataset.size === get("size").value);
  }

  usualKomi() {
    const rules = this.choices.rules.find(({ id }) => id === this.get("rules").value);
    this.get("komi").value = Number(this.get("handicap").value) ? .5 : rules?.komi ?? 7.5;
  }

  newGame(state) {
    const { get } = this;
    get("new-trouble").hidden = true;
    if (state) get("size").value = state.columns === state.rows ? state.columns : `${state.columns}x${state.rows}`;
    this.fit();
    get("new-game").showModal();
  }

  start() {
    const { get } = this, number = id => Number(get(id).value), kind = get("clock").value, clock = { kind };
    const [columns, rows] = get("size").value.toLowerCase().replace("×", "x").split("x").map(Number);
    if (kind !== "none") clock.main = 60 * number("main");
    if (kind === "fischer") clock.increment = number("increment");
    if (kind === "byo-yomi") Object.assign(clock, { period: number("increment"), periods: Math.trunc(number("periods")) });
    for (const id of ["black", "white"]) keep(id, get(id).value);
    this.isWaiting = true;
    this.ask("new", { game: { columns: columns || 0, rows: rows || columns || 0, handicap: number("handicap"),
      komi: get("komi").value === "" ? null : number("komi"), rules: get("rules").value,
      black: this.seatOf(get("black").value), white: this.seatOf(get("white").value), clock } });
  }

  // Called when another game is on the table.
  begun() {
    if (this.get("new-game").open && this.isWaiting) this.get("new-game").close();
    this.isWaiting = false;
  }

  // Shows why a new game was refused.
  refused(words) {
    this.isWaiting = false;
    if (!this.get("new-game").open) return;
    this.get("new-trouble").textContent = words;
    this.get("new-trouble").hidden = false;
  }

  // Offers a choice of players. If `from` is a node, the game continues there, against Kosumi unless Kosumi already
  // plays.
  players({ seats, turn }, from = null) {
    const { get } = this, hasEngine = ["B", "W"].some(color => seats[color].kind !== "person");
    this.from = from;
    for (const [id, color] of [["black", "B"], ["white", "W"]]) {
      const isKosumi = from !== null && !hasEngine && color !== turn;
      this.fillSeats(get(`seat-${id}-choice`), isKosumi ? `kosumi ${this.choices.usual}` : this.seatValue(seats[color]));
    }
    get("seat-choice").showModal();
  }

  // ---- Games in addresses, and games that the browser stores ----

  showLink(fragment) {
    const { get } = this;
    get("share-link").value = `${location.origin}${location.pathname}#game=${fragment}`;
    get("share-done").textContent = "";
    get("share-text").showModal();
  }

  showGames({ games, current }) {
    const { get, ask } = this, date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    get("kept-list").replaceChildren(...games.map(({ id, about, changed }) => {
      const item = document.createElement("li"), open = element("button"), forget = element("button", "×");
      const players = `${this.seatName("B", about)} – ${this.seatName("W", about)}`;
      const facts = [`${about.columns}×${about.rows}`, text("game-moves", { count: about.moves }),
        about.result ? this.resultWords(about.result) : "", date.format(changed)].filter(Boolean).join(" · ");
      open.type = forget.type = "button";
      open.append(element("b", players), element("span", facts));
      open.disabled = forget.disabled = id === current;
      open.addEventListener("click", () => { get("kept-games").close(); ask("open-game", { id }); });
      forget.setAttribute("aria-label", `${text("delete")}: ${players}, ${facts}`);
      forget.title = text("delete");
      forget.addEventListener("click", () => ask("delete-game", { id }));
      item.append(open, forget);
      return item;
    }));
    if (!get("kept-games").open) get("kept-games").showModal();
  }
}
