// The dialog "Network": which network gives advice and plays at a table in a Web Worker, and whether the graphics card
// computes it.
class NetworkDialog {
  // `ask(what, more)` sends a message to the worker, and `notify(words)` shows a notice.
  constructor(ask, notify) {
    this.notify = notify;
    this.cardState = "none";
    this.ask = ask;
    this.element = id => document.getElementById(id);
    const on = (id, event, act) => this.element(id).addEventListener(event, act);
    on("network", "click", () => { ask("networks"); this.element("networks").showModal(); });
    for (const which of ["small", "large", "file"]) {
      on(`network-${which}`, "change", () => ask("choose-network", { which }));
    }
    on("network-delete", "click", () => ask("delete-network"));
    on("network-stop", "click", () => ask("choose-network", { which: "small" }));
    on("network-open", "click", () => this.element("network-chosen").click());
    on("network-chosen", "change", async ({ target }) => {
      const [file] = target.files;
      target.value = "";
      if (file) ask("network", { name: file.name, bytes: await file.arrayBuffer() });
    });
    on("network-card", "change", ({ target }) => ask("use-card", { isWanted: target.checked }));
  }

  // Returns whether this is a phone or a tablet, whose processor is too slow for a large network.
  static get isPhone() {
    return navigator.userAgentData?.mobile || matchMedia("(pointer: coarse)").matches;
  }

  // Shows the state that the worker has sent.
  take({ chosen, name, large, loading, card }) {
    const hasCard = !["none", "failed"].includes(card.state);
    const megabytes = bytes => (bytes / 1e6).toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    this.element("network").hidden = NetworkDialog.isPhone && !hasCard && chosen === "small" && !large.isKept;
    this.element(`network-${chosen}`).checked = true;
    this.element("network-file-choice").hidden = !name;
    this.element("network-name").textContent = name ?? "";
    this.element("network-size").textContent =
      text(large.isKept ? "network-kept" : "network-not-kept", { size: megabytes(large.bytes) });
    this.element("network-delete").hidden = !large.isKept || loading !== null;
    this.element("network-loading").hidden = loading === null;
    if (loading) {
      const [done, total] = [loading.done, Math.max(loading.total, loading.done)];
      Object.assign(this.element("network-progress"), { max: total, value: done });
      this.element("network-amount").textContent = text("network-loaded", { done: megabytes(done), total: megabytes(total) });
    }
    const hasFailed = card.state === "failed" && this.cardState === "on";
    this.cardState = card.state;
    if (hasFailed) this.notify(text("card-failed", card));
    this.element("network-card").disabled = card.state === "none";
    this.element("network-card").checked = card.isWanted && card.state !== "none";
    this.element("card-state").textContent = text(`card-${card.state === "idle" && !card.isWanted ? "off" : card.state}`, card);
  }
}
