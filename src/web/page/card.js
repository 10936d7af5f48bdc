// The graphics card that evaluates the network of the table, if it can and may.
import { connect, startCard } from "./gpu.js";
import { sharesMemory, supportsThreads, usualThreads } from "./instance.js";

// Whether a software driver counts as a card, and whether a card is used that is slower than the processor.
const ACCEPTS_SOFTWARE = false;
const ACCEPTS_SLOW = false;

export class Card {
  #onChange;
  // Function that ends the use of the card.
  #close = null;
  // Resolves when no earlier worker has the card.
  #before = Promise.resolve();
  // Changes with every start and stop.
  #attempt = 0;
  /** State of the card (`none`, `idle`, `starting`, `on` or `failed`), its name, and the reason why it is not used. */
  state = { state: "none", name: "", reason: "" };

  /** `onChange` is called when the state has changed. */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  #change(state, more = {}) {
    this.state = { ...this.state, state, ...more };
    this.#onChange();
  }

  get isOn() {
    return this.state.state === "on";
  }

  /** Looks for a card for this module. */
  async find(module) {
    try {
      if (!supportsThreads() || !sharesMemory(module)) throw new Error("it needs threads, which this page does not have");
      const { name, device } = await connect({ acceptsSoftware: ACCEPTS_SOFTWARE });
      device.destroy();
      this.#change("idle", { name });
    } catch (error) {
      this.#change("none", { reason: error.message });
    }
  }

  /** Lets the card evaluate the network of an instance. Resolves with whether the engine can use it. */
  async start(instance, onFailure) {
    this.stop();
    if (this.state.state === "none") return false;
    const attempt = this.#attempt;
    this.#change("starting");
    const before = this.#before;
    let release;
    this.#before = new Promise((resolve) => (release = resolve));
    await before;
    if (attempt !== this.#attempt) {
      release();
      return false;
    }
    const options = { acceptsSoftware: ACCEPTS_SOFTWARE, onlyIfFaster: !ACCEPTS_SLOW, processors: usualThreads() };
    try {
      const { close, name } = await startCard(instance, options, (reason) => attempt === this.#attempt && onFailure(reason));
      const closeAndRelease = () => close().then(release);
      if (attempt !== this.#attempt) {
        closeAndRelease();
        return false;
      }
      this.#close = closeAndRelease;
      this.#change("on", { name });
      return true;
    } catch (error) {
      release();
      if (attempt === this.#attempt) this.#change("failed", { reason: error.message });
      return false;
    }
  }

  /** Ends the use of the card. With a reason, it has failed. */
  stop(reason = null) {
    this.#attempt += 1;
    this.#close?.();
    this.#close = null;
    if (this.state.state === "none") return;
    if (reason) this.#change("failed", { reason });
    else this.#change("idle");
  }
}
