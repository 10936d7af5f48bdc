// The graphics card that evaluates the network of the table, if it can and may.
import { connect, startCard } from "./gpu.js";
import { sharesMemory, supportsThreads, usualThreads } from "./instance.js";

// Whether a software driver counts as a card, and whether a card is used that is slower than the processor.
const ACCEPTS_SOFTWARE = false;
const ACCEPTS_SLOW = false;

export class Card {
  #tell;
  #worker = null;
  // Changes with every start and stop.
  #attempt = 0;
  /** State of the card (`none`, `idle`, `starting`, `on` or `failed`), its name, and the reason why it is not used. */
  state = { state: "none", name: "", reason: "" };

  /** `tell` is called when the state has changed. */
  constructor(tell) {
    this.#tell = tell;
  }

  #change(state, more = {}) {
    this.state = { ...this.state, state, ...more };
    this.#tell();
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
    const options = { acceptsSoftware: ACCEPTS_SOFTWARE, onlyIfFaster: !ACCEPTS_SLOW, processors: usualThreads() };
    try {
      const { worker, name } = await startCard(instance, options, (reason) => attempt === this.#attempt && onFailure(reason));
      if (attempt !== this.#attempt) {
        worker.terminate();
        return false;
      }
      this.#worker = worker;
      this.#change("on", { name });
      return true;
    } catch (error) {
      if (attempt === this.#attempt) this.#change("failed", { reason: error.message });
      return false;
    }
  }

  /** Ends the use of the card. With a reason, it has failed. */
  stop(reason = null) {
    this.#attempt += 1;
    this.#worker?.terminate();
    this.#worker = null;
    if (this.state.state === "none") return;
    if (reason) this.#change("failed", { reason });
    else this.#change("idle");
  }
}
