// Connection to a table in a Web Worker, with the same interface as the connection to a program. The worker also stores
// the games, and a service worker stores the files for use without a network connection.
class Link {
  // `receive(message)` is called with each message, `change(isOpen)` when the worker is ready.
  constructor(receive, change) {
    // The worker stores the games, so the page need not.
    Object.assign(this, { receive, change, isOpen: false, reviewAddress: "", keepsGames: true });
    this.worker = new Worker("table-worker.js", { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.is === "open") this.open(data);
      else if (data.is === "review-page") this.showReview(data.html);
      else this.receive(data);
    };
    // The worker handles its own errors. An error here means that its script was not loaded or that the browser is too
    // old for it.
    this.worker.onerror = event => this.receive({ is: "cannot-run", text: event.message || "table-worker.js" });
  }

  open({ files }) {
    this.isOpen = true;
    this.change(true);
    const keeper = `service-worker.js?files=${files.join(",")}`;
    // Without a service worker, for example on an unencrypted page, the page needs its server.
    navigator.serviceWorker?.register(keeper, { updateViaCache: "none" }).catch(() => {});
  }

  showReview(html) {
    URL.revokeObjectURL(this.reviewAddress);
    this.reviewAddress = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  }

  // Sends a message if the worker is ready.
  send(message) {
    if (this.isOpen) this.worker.postMessage(message);
    return this.isOpen;
  }
}
