// Kosumi for browsers and Node: one game and its engine, in WebAssembly. `kosumi.d.ts` documents the interface.
//
// The module is compiled twice, without and with relaxed SIMD, because an engine refuses a module with instructions that
// it does not know. Searches run in slices, so that the page or the worker gets its turn between them.

/** Error of the engine. If `isFatal` is true, the engine has been started anew, with the game as it was. */
export class KosumiError extends Error {
  constructor(message, isFatal = false) {
    super(message);
    this.name = "KosumiError";
    this.isFatal = isFatal;
  }
}

const PAGE = 65536;
const MEBIBYTE = 1048576;
/** Initial memory of the module, in MiB, as `scripts/web` states it. */
const INITIAL = 40;
/** Least memory besides that of the search, in MiB: stack, network and texts. */
const REST = 64;
const text = new TextEncoder();
const decoder = new TextDecoder();

// A function with `i8x16.splat`, and one with `i8x16.relaxed_swizzle`.
const USES_SIMD = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0, 65, 0, 253, 15, 26, 11,
);
const USES_RELAXED_SIMD = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 16, 1, 14, 0, 65, 0, 253, 15, 65, 0, 253, 15, 253,
  128, 2, 26, 11,
);

/** Returns whether this browser or Node runs modules with vectors of 128 bits, which Kosumi needs. */
export const supportsSimd = () => WebAssembly.validate(USES_SIMD);

/** Returns whether this browser or Node runs modules with relaxed SIMD, which is faster. */
export const supportsRelaxedSimd = () => WebAssembly.validate(USES_RELAXED_SIMD);

/** Returns the bytes of a file that lies beside this module, of a URL, or of a buffer. */
async function bytesOf(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return new Uint8Array(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new KosumiError(`${url} cannot be loaded: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Lets other work of the page, of the worker or of Node run. */
const others = globalThis.setImmediate
  ? () => new Promise((resolve) => setImmediate(resolve))
  : () =>
      new Promise((resolve) => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
          channel.port1.close();
          resolve();
        };
        channel.port2.postMessage(null);
      });

export class Kosumi {
  #module;
  #network;
  #options;
  #limit;
  #now;
  #memory;
  #exports;
  #position;
  #isSearching = false;

  constructor(module, network, options) {
    this.#module = module;
    this.#network = network;
    this.#limit = options.memoryLimit ?? Math.min(128 + 2 * (options.memory ?? 64), 4096);
    const least = REST + (options.memory ?? 64);
    if (!(this.#limit >= least && this.#limit <= 4096)) {
      throw new KosumiError(`memoryLimit: must be from ${least} MiB, for this memory, to 4096 MiB`);
    }
    this.#now = options.now ?? (() => performance.now());
    const { memory, seed, resign, kernel, precision } = options;
    this.#options = JSON.stringify({ memory, seed, resign, kernel, precision });
    this.#start();
  }

  static async create(options = {}) {
    if (!supportsSimd()) throw new KosumiError("this program does not support WebAssembly with SIMD");
    const isRelaxed = options.isRelaxed ?? supportsRelaxedSimd();
    const source = options.wasm ?? (isRelaxed ? "kosumi-relaxed.wasm" : "kosumi.wasm");
    const loading = source instanceof WebAssembly.Module ? source : bytesOf(source).then((it) => WebAssembly.compile(it));
    const network = options.network === null ? Promise.resolve(null) : bytesOf(options.network ?? "small.bin.gz");
    const [module, weights] = await Promise.all([loading, network]);
    return new Kosumi(module, weights, options);
  }

  get position() {
    return this.#position;
  }

  get memoryUsage() {
    return this.#memory.buffer.byteLength;
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
  async #search({ color, visits, milliseconds, sliceVisits = 16, onReport, signal }, contents) {
    this.#refuseDuringSearch();
    if (visits === undefined && milliseconds === undefined) {
      throw new KosumiError("a search needs a limit: visits or milliseconds");
    }
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
    const answer = JSON.parse(this.#call("kosumi_request", text.encode(JSON.stringify(request))));
    if (answer.error !== undefined) throw new KosumiError(answer.error);
    return answer.ok;
  }

  /** Creates an instance of the module, with an empty board. */
  #start() {
    const pages = (mebibytes) => Math.floor((mebibytes * MEBIBYTE) / PAGE);
    this.#memory = new WebAssembly.Memory({ initial: pages(INITIAL), maximum: pages(this.#limit) });
    const imports = { env: { memory: this.#memory }, kosumi: { now: this.#now } };
    this.#exports = new WebAssembly.Instance(this.#module, imports).exports;
    const message = this.#run("kosumi_start", text.encode(this.#options), this.#network ?? new Uint8Array());
    if (message !== "") throw new KosumiError(message);
    this.#position = JSON.parse(this.#run("kosumi_request", text.encode('{"do":"position"}'))).ok;
  }

  /** Calls a function with these bytes and returns its response. */
  #run(name, ...all) {
    const { kosumi_allocate, kosumi_response, kosumi_response_length } = this.#exports;
    const passed = all.flatMap((bytes) => {
      const start = kosumi_allocate(bytes.length);
      new Uint8Array(this.#memory.buffer, start, bytes.length).set(bytes);
      return [start, bytes.length];
    });
    this.#exports[name](...passed);
    return this.#read(kosumi_response(), kosumi_response_length());
  }

  #read(start, length) {
    return decoder.decode(new Uint8Array(this.#memory.buffer, start >>> 0, length >>> 0));
  }

  /** Like `#run`. If the instance fails, starts another one with the same game. */
  #call(name, ...all) {
    try {
      return this.#run(name, ...all);
    } catch (error) {
      // Whatever it was (a panic, too little memory, a full stack, an error of `now`), the instance may be in any state.
      const reason = this.#fault() || `${error.message} (the limit of the memory is ${this.#limit} MiB)`;
      const { record } = this.#position;
      this.#start();
      const restored = JSON.parse(this.#run("kosumi_request", text.encode(JSON.stringify({ do: "restore", record }))));
      if (restored.ok) this.#position = restored.ok;
      throw new KosumiError(`the engine has failed and was started anew: ${reason}`, true);
    }
  }

  /** Returns the message of the panic that has ended the instance, or an empty text. */
  #fault() {
    try {
      return this.#read(this.#exports.kosumi_fault(), this.#exports.kosumi_fault_length());
    } catch {
      return "";
    }
  }
}
