// An instance of the WebAssembly module: its memory, and calls with texts and bytes.
//
// The module is compiled twice, without and with relaxed SIMD, because an engine refuses a module with instructions that
// it does not know. Its memory is shared by the threads of the search, each of which is a worker with an instance of its
// own.

const PAGE = 65536;
const MEBIBYTE = 1048576;
/** Initial memory of the module, in MiB, as `scripts/web` states it. */
const INITIAL = 40;
/** Least memory besides that of the search, in MiB: stack, network and texts. */
const REST = 64;
/** Memory of each further thread, in MiB: its stack, and its share of texts and tables. */
const THREAD = 8;
/** Largest number of threads by default. More were not measured. */
const MAX_THREADS = 8;
/** Largest memory, in MiB, that a module states. */
const MAX_MEMORY = 4096;
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

/** Returns the name of the module for this browser or Node. */
export const moduleName = (isRelaxed = supportsRelaxedSimd()) => (isRelaxed ? "kosumi-relaxed.wasm" : "kosumi.wasm");

/** Returns the bytes of a file that lies beside this module, of a URL, or of a buffer. */
export async function bytesOf(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return new Uint8Array(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be loaded: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Returns the compiled module. */
export async function compiled(source) {
  return source instanceof WebAssembly.Module ? source : WebAssembly.compile(await bytesOf(source));
}

/**
 * Returns whether a search may have several threads: memory can be sent to workers, and this thread may wait for them. In
 * browsers, the page must be isolated from other origins, and the window itself may not wait.
 */
export const supportsThreads = () =>
  isNode() || (globalThis.crossOriginIsolated === true && globalThis.window === undefined);

/**
 * Returns the number of threads for a search on this device, with this module if there is one. One processor of several stays
 * free, unless there are two.
 */
export function usualThreads(module) {
  if (!supportsThreads() || (module && !sharesMemory(module))) return 1;
  const processors = globalThis.navigator?.hardwareConcurrency ?? 1;
  return processors <= 2 ? processors : Math.min(processors - 1, MAX_THREADS);
}

const isNode = () => Boolean(globalThis.process?.versions?.node);

/** Starts a worker in a browser or in Node. `onFailure` gets the reason why it has ended. */
async function startWorker(name, onFailure) {
  const url = new URL(name, import.meta.url);
  if (!isNode()) {
    const worker = new Worker(url, { type: "module" });
    worker.addEventListener("error", (event) => {
      // Browsers otherwise report it as an error of this worker, too, and to the page, which then gives up.
      event.preventDefault();
      onFailure(event.message || name);
    });
    return { worker, once: (handle) => worker.addEventListener("message", ({ data }) => handle(data), { once: true }) };
  }
  const { Worker: NodeWorker } = await import("node:worker_threads");
  const worker = new NodeWorker(url);
  worker.unref();
  worker.on("error", (error) => onFailure(error.message));
  return { worker, once: (handle) => worker.once("message", handle) };
}

/** Lets other work of the page, of the worker or of Node run. */
export const others = globalThis.setImmediate
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

/** Returns the limit of all memory in MiB, by default from the memory of the search; `undefined` if it is impossible. */
export function memoryLimit(options) {
  const { memory = 64, threads = 1 } = options;
  const { memoryLimit: limit = Math.min(128 + 2 * memory + THREAD * (threads - 1), MAX_MEMORY) } = options;
  const [least, most] = memoryLimits(options);
  return limit >= least && limit <= most ? limit : undefined;
}

/** Returns the least and the largest possible limit. */
export const memoryLimits = ({ memory = 64, threads = 1 }) => [REST + memory + THREAD * (threads - 1), MAX_MEMORY];

/** Returns whether the module shares its memory with threads. It does not if `scripts/web` was configured so. */
export const sharesMemory = (module) => WebAssembly.Module.exports(module).some(({ name }) => name === "__wasm_init_tls");

/** Returns memory for an instance, with a limit in MiB. */
function newMemory(module, limit) {
  const pages = (mebibytes) => Math.floor((mebibytes * MEBIBYTE) / PAGE);
  return new WebAssembly.Memory({ initial: pages(INITIAL), maximum: pages(limit), shared: sharesMemory(module) });
}

/**
 * An instance of the module. A call that throws leaves it in any state. It must then be closed and not be used any more.
 */
export class Instance {
  #module;
  #memory;
  #exports;
  #workers = [];
  #threads = 1;
  #isClosed = false;
  #close;
  /** Resolves when the instance is closed. */
  whenClosed = new Promise((resolve) => (this.#close = resolve));

  /** `limit` is that of the memory, in MiB. `now` returns milliseconds. `progress` gets the progress of reviews. */
  constructor(module, limit, now, progress = () => {}, memory = newMemory(module, limit)) {
    this.#module = module;
    this.#memory = memory;
    // A worker with a graphics card waits for a change of the number at this address.
    const wake = (address) => Atomics.notify(new Int32Array(this.#memory.buffer, address >>> 0, 1), 0);
    const imports = { env: { memory: this.#memory }, kosumi: { now, progress, wake } };
    this.#exports = new WebAssembly.Instance(module, imports).exports;
  }

  /** Returns an instance on the memory of another one, for a worker that has got the message of `startWorker`. */
  static onMemory({ module, memory, start, timeOrigin }) {
    const offset = performance.timeOrigin - timeOrigin;
    const instance = new Instance(module, 0, () => performance.now() + offset, () => {}, memory);
    const { kosumi_thread_stack, __stack_pointer, __wasm_init_tls } = instance.#exports;
    const variables = start + kosumi_thread_stack();
    __stack_pointer.value = variables;
    __wasm_init_tls(variables);
    return instance;
  }

  get memoryUsage() {
    return this.#memory.buffer.byteLength;
  }

  get buffer() {
    return this.#memory.buffer;
  }

  /** Returns the number of threads that wait for work, besides the calling one. */
  get waitingThreads() {
    return this.#exports.kosumi_threads();
  }

  /**
   * Starts `count` threads for searches, which take part as soon as they are ready. Resolves when all are, and rejects if one
   * cannot be started. Their time is `performance.now`.
   */
  startThreads(count) {
    this.#threads += count;
    return Promise.all(Array.from({ length: count }, () => this.startWorker("thread-worker.js")));
  }

  /** Starts the threads that are missing for a total of `count`, including the calling one. */
  fillThreads(count) {
    return this.startThreads(Math.max(count - this.#threads, 0));
  }

  /**
   * Starts a worker with an instance of its own on this memory, which gets `more` with its first message. Resolves with the
   * worker and the first message that it sends, and rejects if it cannot be started.
   */
  async startWorker(name, more = {}) {
    if (!sharesMemory(this.#module) || !supportsThreads()) throw new Error("threads are not supported");
    const { __tls_size, __tls_align, kosumi_thread_memory } = this.#exports;
    if (__tls_align.value > 64) throw new Error("the variables of a thread need another alignment");
    const start = kosumi_thread_memory(__tls_size.value) >>> 0;
    if (start === 0) throw new Error("too little memory for a thread");
    let fail;
    const failed = new Promise((_, reject) => (fail = (reason) => reject(new Error(reason))));
    const { worker, once } = await startWorker(name, fail);
    this.#workers.push(worker);
    if (this.#isClosed) worker.terminate();
    const ready = new Promise(once);
    const { timeOrigin } = performance;
    worker.postMessage({ module: this.#module, memory: this.#memory, start, timeOrigin, ...more });
    const closed = this.whenClosed.then(() => fail("the instance is closed"));
    return { worker, message: await Promise.race([ready, failed, closed]) };
  }

  /** Ends the threads. */
  close() {
    this.#isClosed = true;
    this.#close();
    for (const worker of this.#workers.splice(0)) worker.terminate();
  }

  /** Calls a function with these texts, bytes or numbers and returns its response. */
  call(name, ...values) {
    this.run(name, ...values);
    return this.#read(this.#exports.kosumi_response(), this.#exports.kosumi_response_length());
  }

  /** Calls a function with these texts, bytes or numbers and returns its value. */
  run(name, ...values) {
    const { kosumi_allocate } = this.#exports;
    const passed = values.flatMap((value) => {
      if (typeof value === "number") return [value];
      const bytes = typeof value === "string" ? text.encode(value) : value;
      const start = kosumi_allocate(bytes.length);
      new Uint8Array(this.#memory.buffer, start >>> 0, bytes.length).set(bytes);
      return [start, bytes.length];
    });
    return this.#exports[name](...passed);
  }

  /** Returns a copy of memory. */
  copy(start, length) {
    return new Uint8Array(this.#memory.buffer, start >>> 0, length >>> 0).slice();
  }

  #read(start, length) {
    // Browsers decode no shared memory, so the bytes are copied.
    return decoder.decode(this.copy(start, length));
  }

  /** Returns the reason why a call has thrown `error`: the message of the panic, or that of the error. */
  reason(error) {
    let fault = "";
    try {
      fault = this.#read(this.#exports.kosumi_fault(), this.#exports.kosumi_fault_length());
    } catch {
      // The instance cannot even return its message.
    }
    return fault || error.message;
  }
}
