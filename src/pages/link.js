// The connection to the program that serves the page. It comes back by itself when the program does.
class Link {
  // `hear(message)` is told what comes, `change(isOpen)` when the connection opens or closes.
  constructor(hear, change) {
    Object.assign(this, { hear, change, wait: 250, isOpen: false });
    this.open();
  }

  open() {
    const place = new URL("socket", location.href);
    place.protocol = place.protocol === "https:" ? "wss:" : "ws:";
    place.hash = place.search = "";
    const socket = this.socket = new WebSocket(place);
    socket.onopen = () => {
      this.wait = 250;
      this.isOpen = true;
      this.change(true);
    };
    socket.onmessage = event => this.hear(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.isOpen) { this.isOpen = false; this.change(false); }
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(4000, this.wait * 1.6);
    };
  }

  // Says something, if somebody listens.
  say(message) {
    if (this.isOpen && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    return this.isOpen;
  }
}

// The text of a record, whatever character set it was written in; what is read says UTF-8.
async function readRecord(file) {
  if (file.size > 2_000_000) throw new RangeError("too long");
  const bytes = await file.arrayBuffer();
  const head = new TextDecoder("latin1").decode(bytes.slice(0, 4000));
  const named = head.match(/CA\s*\[([^\]]{1,40})\]/)?.[1].trim() || "utf-8";
  let decoder;
  try { decoder = new TextDecoder(named); } catch { decoder = new TextDecoder("utf-8"); }
  return decoder.decode(bytes).replace(/CA\s*\[[^\]]*\]/, "CA[UTF-8]");
}

// Files that are dropped anywhere on the page, or chosen with an input.
function takeFiles(input, take) {
  input.addEventListener("change", () => { if (input.files[0]) take(input.files[0]); input.value = ""; });
  addEventListener("dragover", event => event.preventDefault());
  addEventListener("drop", event => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
}

// Gives a text to the browser to be saved as a file.
function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
