// Connection to the program that serves the page. It is restored when the program restarts.
class Link {
  // `receive(message)` is called with each message, and `change(isOpen)` when the connection opens or closes.
  constructor(receive, change) {
    // Address of the page of a review.
    Object.assign(this, { receive, change, wait: 250, isOpen: false, reviewAddress: "review", keepsGames: false });
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
    socket.onmessage = event => this.receive(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.isOpen) { this.isOpen = false; this.change(false); }
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(4000, this.wait * 1.6);
    };
  }

  // Sends a message if the connection is open.
  send(message) {
    if (this.isOpen && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    return this.isOpen;
  }
}
