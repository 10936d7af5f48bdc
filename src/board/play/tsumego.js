// Problems of life and death: collections, the user's progress, and the panel of the problem on the table. The program
// judges every move. This page stores the list and the progress.

// Number of attempts at each problem, and whether it was solved: { id: [attempts, "first" | "later" | ""] }.
class TsumegoProgress {
  constructor() {
    this.all = new Map();
    try {
      const known = JSON.parse(kept("tsumego"));
      if (Array.isArray(known)) this.all = new Map(known.filter(it => Array.isArray(it?.[1]) && Number.isInteger(it[1][0])));
    } catch { /* Nothing is kept, or not by this page. */ }
  }

  of(id) {
    const [tries, solved] = this.all.get(id) || [0, ""];
    return { tries, solved };
  }

  // Records the end of an attempt. A problem that was solved at the first attempt stays so.
  tried(id, isSolved) {
    const { tries, solved } = this.of(id);
    this.all.delete(id);
    this.all.set(id, [tries + 1, solved || (isSolved ? tries ? "later" : "first" : "")]);
    // If there are too many, those that were tried longest ago are removed.
    while (this.all.size > MAX_TSUMEGO) this.all.delete(this.all.keys().next().value);
    keep("tsumego", JSON.stringify(Array.from(this.all)));
  }
}
const MAX_TSUMEGO = 3000;
// Maximum size of a collection that the browser stores, in characters.
const MAX_COLLECTION = 400_000;

class TsumegoGame {
  // `page` has the table and the tree of the page, and the functions that draw them.
  constructor(page) {
    Object.assign(this, { page, progress: new TsumegoProgress(), list: [], goals: new Map(), seen: 0, key: null, game: null,
      isAnswering: false, opens: "", words: "" });
    try {
      const known = JSON.parse(kept("tsumego-set"));
      if (Array.isArray(known)) this.fill(known.filter(it => typeof it?.text === "string"));
    } catch { /* Nothing is kept, or not by this page. */ }
    const get = this.get = id => document.getElementById(id);
    this.actions = {
      tsumego: () => { if (this.list.length) this.showList(); else this.readOwn(); },
      "tsumego-own": () => this.readOwn(),
      "tsumego-open": () => get("tsumego-file").click(),
      "tsumego-retry": () => page.go(page.tree.parent(this.judgedHere().node)),
      "tsumego-show": () => page.go(page.tree.end(this.judgedHere().node)),
      "tsumego-previous": () => this.pose(this.index - 1),
      "tsumego-next": () => this.pose(this.index + 1),
      "tsumego-unsolved": () => this.pose(this.unsolved()),
      "tsumego-study": () => page.ask("load", { text: this.list[this.index]?.text, plain: true }),
      "tsumego-end": () => page.ask("leave-tsumego"),
      "goal-live": () => this.choose("live"),
      "goal-kill": () => this.choose("kill"),
    };
  }

  get active() { return this.page.state()?.tsumego; }
  get index() { return this.list.findIndex(({ id }) => id === this.active?.key); }

  // ---- Collections ----

  fill(problems) { this.list = problems.map(it => ({ ...it, id: textKey(it.text) })); }

  readOwn() {
    this.opens = "list";
    this.page.ask("read-tsumego");
  }

  // Reads a file as problems, even if it is a game.
  async read(file) {
    try {
      const record = await readRecord(file);
      this.opens = "";
      this.page.ask("read-tsumego", record);
    } catch { this.page.note(text("refused-too-long")); }
  }

  take({ problems, left }) {
    const { opens } = this;
    this.opens = "";
    if (!problems.length) {
      this.page.note(text("tsumego-none"));
      return;
    }
    this.fill(problems);
    const record = JSON.stringify(problems);
    keep("tsumego-set", record.length < MAX_COLLECTION ? record : "");
    if (left) this.page.note(text("tsumego-left", { count: left }));
    if (opens === "quiet") this.page.show();
    else if (opens === "list" || problems.length > 1) this.showList();
    else this.pose(0);
  }

  showList() {
    const { get } = this, done = this.list.filter(({ id }) => this.progress.of(id).solved).length;
    get("tsumego-count").textContent = text("tsumego-done", { done, all: this.list.length });
    get("tsumego-items").replaceChildren(...this.list.map(({ id, name, turn }, index) => {
      const item = document.createElement("li"), button = element("button"), { tries, solved } = this.progress.of(id);
      button.type = "button";
      button.append(element("span", index + 1, "number"), element("span", "", `pip ${turn === "B" ? "black" : "white"}`), element("b", name),
        element("span", text(solved ? `tsumego-${solved}` : tries ? "tsumego-tried" : "tsumego-new", { count: tries }), solved ? "done" : ""));
      if (id === this.active?.key) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => this.pose(index));
      item.append(button);
      return item;
    }));
    if (!get("tsumego-list").open) get("tsumego-list").showModal();
  }

  // ---- The problem on the table ----

  pose(index) {
    const it = this.list[index];
    if (!it) return;
    if (this.get("tsumego-list").open) this.get("tsumego-list").close();
    this.page.ask("pose-tsumego", { key: it.id, text: it.text, goal: this.goals.get(it.id) });
  }

  choose(goal) {
    this.goals.set(this.active.key, goal);
    this.pose(this.index);
  }

  // Returns the index of the next unsolved problem, beginning after the one on the table; -1 if all are solved.
  unsolved() {
    const { list, index } = this, later = list.map((_, at) => (index + 1 + at) % list.length);
    return later.find(at => at !== index && !this.progress.of(list[at].id).solved) ?? -1;
  }

  canPlay(node) {
    const { active } = this, isReady = Boolean(active.goal && active.reachable && active.pending === null);
    // After a wrong move there is nothing left to find.
    return isReady && node.t === active.turn && !["wrong", "ko", "solved"].includes(this.judgedHere()?.verdict);
  }

  // Returns the latest judged move on the path to the node that is shown.
  judgedHere() {
    const known = new Map(this.active.judged.map(([node, verdict, isOfRecord]) => [node, { node, verdict, isOfRecord }]));
    return this.page.tree.path(this.page.at()).reverse().map(({ i }) => known.get(i)).find(Boolean);
  }

  // Handles a state of the table.
  changed() {
    const { active } = this, { game } = this.page.state();
    if (!active) {
      this.key = null;
      return;
    }
    if (this.key !== active.key || this.game !== game) {
      Object.assign(this, { key: active.key, game, seen: 0, isAnswering: false });
      if (this.index < 0 && !this.list.length) { this.opens = "quiet"; this.page.ask("read-tsumego"); }
      this.page.announce(this.goalWords());
      this.get("solving").scrollIntoView({ block: "nearest" });
    }
    for (const [, verdict] of active.judged.slice(this.seen)) {
      if (!this.isAnswering) continue;
      if (["wrong", "ko", "solved"].includes(verdict)) this.progress.tried(active.key, verdict === "solved");
      this.isAnswering = false;
    }
    const isNews = active.judged.length > this.seen;
    this.seen = active.judged.length;
    if (isNews) this.page.announce(this.resultWords());
  }

  goalWords() {
    const { goal, turn, escapes, quiet, reachable, recorded } = this.active;
    const [color, other] = turn === "B" ? ["black", "white"] : ["white", "black"], names = { color: text(color), other: text(other) };
    if (!goal) return text("tsumego-ask", names);
    const words = [text(`tsumego-${goal}`, names)];
    if (escapes) words.push(text("tsumego-escapes"));
    if (reachable === null) words.push(text("tsumego-reading"));
    if (quiet && reachable !== "undecided") words.push(text("tsumego-quiet"));
    if (reachable === "ko") words.push(text("tsumego-best-ko"));
    if (reachable === "nothing" || reachable === "undecided") {
      words.push(text(`tsumego-${reachable}`), text(recorded ? "tsumego-use-record" : "tsumego-no-record"));
    }
    return words.join(" ");
  }

  resultWords() {
    const { active, page } = this, judged = this.judgedHere();
    if (active.pending !== null) return text("tsumego-judging");
    if (!judged) return "";
    const { tree } = page, name = number => page.pointName(tree.get(number)?.m), reply = tree.get(judged.node)?.next[0];
    const isKo = judged.verdict === "solved" && active.reachable === "ko" && !judged.isOfRecord;
    const words = [text(`tsumego-is-${isKo ? "solved-ko" : judged.verdict}`, { move: name(judged.node), reply: name(reply) })];
    if (judged.isOfRecord) words.push(text("tsumego-of-record"));
    return words.join(" ");
  }

  // Returns marks on the stones of the group, before the first move.
  marks(node) {
    const { active } = this;
    return active.group && node.p === undefined ? active.group.match(/../g).map(place => [place, "CR"]) : [];
  }

  show() {
    const { active, get, index, list } = this;
    get("solving").hidden = !active;
    if (!active) return;
    const judged = this.judgedHere(), { tries, solved } = this.progress.of(active.key);
    const title = index < 0 ? text("tsumego") : text("problem-of", { count: index + 1, all: list.length });
    get("tsumego-title").textContent = [title, list[index]?.name].filter(Boolean).join(" · ");
    get("tsumego-words").textContent = this.goalWords();
    get("tsumego-comment").textContent = active.comment || "";
    get("tsumego-result").textContent = this.resultWords();
    get("tsumego-progress").textContent = text(solved ? `tsumego-${solved}` : tries ? "tsumego-tried" : "tsumego-new", { count: tries });
    get("goals").hidden = Boolean(active.goal);
    get("tsumego-retry").hidden = !judged || !["wrong", "ko", "undecided"].includes(judged.verdict);
    get("tsumego-show").hidden = get("tsumego-retry").hidden || !this.page.tree.get(judged.node)?.next.length;
    get("tsumego-previous").disabled = index <= 0;
    get("tsumego-next").disabled = index < 0 || index >= list.length - 1;
    get("tsumego-unsolved").disabled = index < 0 || this.unsolved() < 0;
    get("tsumego-study").disabled = index < 0;
  }
}
