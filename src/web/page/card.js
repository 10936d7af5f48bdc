// The graphics card that evaluates the network, in a worker of its own.
import { connect } from "./gpu.js";

// Whether a software driver counts as a card. It is slower than the engine without one.
const ACCEPTS_SOFTWARE = false;

export class Card {
  #tell;
  /** State of the card (`none`, `off`, `idle`, `starting`, `on` or `failed`), its name, and the reason why it cannot be used. */
  state = { state: "none", name: "", reason: "" };

  /** `tell` is called when the state has changed. */
  constructor(tell) {
    this.#tell = tell;
  }

  #change(state, more = {}) {
    this.state = { ...this.state, state, ...more };
    this.#tell();
  }

  /** Looks for a card. */
  async find() {
    try {
      const { name, device } = await connect({ acceptsSoftware: ACCEPTS_SOFTWARE });
      device.destroy();
      this.#change("idle", { name });
    } catch (error) {
      this.#change("none", { reason: error.message });
    }
  }
}
