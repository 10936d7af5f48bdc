// Kosumi for browsers and Node: one game and its engine, in WebAssembly. `kosumi.d.ts` documents the interface.
//
// Searches run in slices, so that the page or the worker gets its turn between them.
import { startCard } from "./gpu.js";
import {
  Instance,
  bytesOf,
  compiled,
  memoryLimit,
  memoryLimits,
  moduleName,
  others,
  supportsSimd,
  supportsThreads,
} from "./instance.js";

export { supportsRelaxedSimd, supportsSimd, supportsThreads, usualThreads } from "./instance.js";

/** Number of simulations of a slice for each thread. */
const SLICE = 16;

/** Number of search threads with a graphics card, as `kosumi_gpu_threads` returns it. */
const CARD_THREADS = 16;

const DEVICES = ["cpu", "gpu", "auto"];

/** Error of the engine. If `isFatal` is true, the engine has been started anew, with the game as it was. */
export class KosumiError extends Error {
  constructor(message, isFatal = false) {
    super(message);
    this.name = "KosumiError";
    this.isFatal = isFatal;
  }
}

export class Kosumi {
  #module;
  #network;
  #options;
  #limit;
  #now;
  #progress;
  #threads;
  #device;
  /** Name of the graphics card in use. */
  #card = null;
  #instance;
  #position;
  #isSearching = false;

  constructor(module, network, options) {
    this.#module = module;
    this.#network = network;
    const { device = "cpu" } = options;
    if (!DEVICES.includes(device)) throw new KosumiError(`device: must be one of ${DEVICES.join(", ")}`);
    this.#device = device;
    // Every thread needs memory.
    const needs = device === "cpu" ? options : { ...options, threads: Math.max(options.threads ?? 1, CARD_THREADS) };
    this.#limit = memoryLimit(needs);
    if (this.#limit === undefined) {
      const [least, most] = memoryLimits(needs);
      throw new KosumiError(`memoryLimit: must be from ${least} MiB, for this memory, to ${most} MiB`);
    }
    this.#now = options.now ?? (() => performance.now());
    const { memory, threads = 1, seed, resign, kernel, precision } = options;
    this.#threads = threads;
    this.#options = JSON.stringify({ memory, threads, seed, resign, kernel, precision });
    this.#start();
  }

  static async create(options = {}) {
    if (!supportsSimd()) throw new KosumiError("this program does not support WebAssembly with SIMD");
    if ((options.threads ?? 1) > 1) {
      if (!supportsThreads()) throw new KosumiError("threads: here, the search can have one only");
      if (options.now) throw new KosumiError("threads: with a time of its own, the search can have one only");
    }
    const loading = compiled(options.wasm ?? moduleName(options.isRelaxed));
    const network = options.network === null ? Promise.resolve(null) : bytesOf(options.network ?? "small.bin.gz");
    const [module, weights] = await Promise.all([loading, network]).catch((error) => {
      throw new KosumiError(error.message);
    });
    const kosumi = new Kosumi(module, weights, options);
    try {
      await kosumi.#startThreads();
      await kosumi.#startCard();
    } catch (error) {
      kosumi.close();
      throw new KosumiError(error.message);
    }
    return kosumi;
  }

  get device() {
    return this.#card;
  }

  /** Number of threads that search. */
  get #workers() {
    return this.#card === null ? this.#threads : Math.max(this.#threads, CARD_THREADS);
  }

  /** Ends the threads. No method may be called any more. */
  close() {
    this.#instance.close();
  }

  get position() {
    return this.#position;
  }

  get memoryUsage() {
    return this.#instance.memoryUsage;
  }

  setPosition(position = {}) {
    return this.#change({ do: "setPosition", size: 19, ...position });
  }

  play(vertex, color) {
    return this.#change({ do: "play", vertex, color });
  }

  undo() {
    return this.#change({ do: "undo" });
  }

  save() {
    return this.#request({ do: "save" });
  }

  load(record, moves) {
    this.#refuseDuringSearch();
    const loaded = this.#request({ do: "load", record, moves });
    this.#position = loaded.position;
    return loaded;
  }

  score() {
    this.#refuseDuringSearch();
    return this.#request({ do: "score" });
  }

  async analyse(options = {}) {
    const { ownership = false, onReport } = options;
    await this.#search(options, { forMove: false, ownership, analysis: Boolean(onReport) });
    // The statistics of the search, or one visit if it was stopped before its beginning.
    return this.#request({ do: "search", color: options.color, visits: 1, ownership, analysis: true });
  }

  async genmove(options = {}) {
    const { color, ownership = false, onReport, signal } = options;
    await this.#search(options, { forMove: true, ownership, analysis: Boolean(onReport) });
    signal?.throwIfAborted();
    const chosen = this.#request({ do: "choose", color });
    this.#position = chosen.position;
    return chosen;
  }

  review(record, onProgress = () => {}) {
    this.#refuseDuringSearch();
    this.#progress = onProgress;
    return this.#request({ do: "review", record });
  }

  signature(kind = "network") {
    this.#refuseDuringSearch();
    return BigInt(this.#request({ do: "signature", kind }));
  }

  speed({ size = 19, milliseconds = 1000, kernel, precision } = {}) {
    this.#refuseDuringSearch();
    return this.#request({ do: "speed", size, milliseconds, kernel, precision });
  }

  #refuseDuringSearch() {
    if (this.#isSearching) throw new KosumiError("a search is in progress");
  }

  #change(request) {
    this.#refuseDuringSearch();
    this.#position = this.#request(request);
    return this.#position;
  }

  /** Searches in slices, until a limit is reached or the search is stopped. */
  async #search({ color, visits, milliseconds, sliceVisits = SLICE * this.#workers, onReport, signal }, contents) {
    this.#refuseDuringSearch();
    if (visits === undefined && milliseconds === undefined) {
      throw new KosumiError("a search needs a limit: visits or milliseconds");
    }
    this.#checkCard();
    const end = milliseconds === undefined ? Infinity : this.#now() + milliseconds;
    this.#isSearching = true;
    try {
      while (!signal?.aborted) {
        const left = end - this.#now();
        if (left <= 0) return;
        const slice = { color, visits, simulations: sliceVisits, milliseconds: left === Infinity ? undefined : left };
        const report = this.#request({ do: "search", ...slice, ...contents });
        if (contents.analysis) onReport(report);
        // A search that makes no simulation has reached its limit, or the game allows no further one.
        if (report.simulations === 0 || report.visits >= (visits ?? Infinity)) return;
        await others();
      }
    } finally {
      this.#isSearching = false;
    }
  }

  #request(request) {
    const answer = JSON.parse(this.#call("kosumi_request", JSON.stringify(request)));
    if (answer.error !== undefined) throw new KosumiError(answer.error);
    return answer.ok;
  }

  /** Creates an instance of the module, with an empty board. */
  #start() {
    this.#instance = new Instance(this.#module, this.#limit, this.#now, (...done) => this.#progress(...done));
    const message = this.#instance.call("kosumi_start", this.#options, this.#network ?? new Uint8Array());
    if (message !== "") throw new KosumiError(message);
    this.#position = JSON.parse(this.#instance.call("kosumi_request", '{"do":"position"}')).ok;
  }

  async #startThreads() {
    if (this.#threads > 1) await this.#instance.startThreads(this.#threads - 1);
  }

  /** Lets the graphics card evaluate. Rejects if the options demand it and it is impossible. */
  async #startCard() {
    if (this.#device === "cpu") return;
    const isDemanded = this.#device === "gpu";
    const own = this.#instance;
    try {
      if (!supportsThreads()) throw new KosumiError("device: a graphics card needs threads, which are not supported here");
      if (!this.#network) throw new KosumiError("device: a graphics card needs a network");
      const options = { acceptsSoftware: isDemanded, onlyIfFaster: !isDemanded, processors: this.#threads };
      const { name } = await startCard(own, options, () => {});
      if (own !== this.#instance) return;
      this.#request({ do: "useCard", isWanted: true });
      this.#card = name;
    } catch (error) {
      if (isDemanded) throw error;
    }
  }

  /** Lets the processor evaluate if the card has failed. */
  #checkCard() {
    if (this.#card === null || !this.#instance.call("kosumi_gpu_failure")) return;
    this.#card = null;
    this.#request({ do: "useCard", isWanted: false });
  }

  /** Calls a function. If the instance fails, starts another one with the same game. */
  #call(name, ...values) {
    try {
      return this.#instance.call(name, ...values);
    } catch (error) {
      // Whatever the error was (a panic, too little memory, a full stack, an error of `now`), the instance may be in
      // any state.
      const reason = `${this.#instance.reason(error)} (the limit of the memory is ${this.#limit} MiB)`;
      const { record } = this.#position;
      this.#instance.close();
      this.#start();
      this.#card = null;
      // Searches do not wait for the threads and the card. Without further threads, one thread searches; without a
      // card, the processor evaluates.
      this.#startThreads()
        .then(() => this.#startCard())
        .catch(() => {});
      const restored = JSON.parse(this.#instance.call("kosumi_request", JSON.stringify({ do: "restore", record })));
      if (restored.ok) this.#position = restored.ok;
      throw new KosumiError(`the engine has failed and was started anew: ${reason}`, true);
    }
  }
}
