// An instance of the WebAssembly module: its memory, and calls with texts and bytes.
//
// The module is compiled twice, without and with relaxed SIMD, because an engine refuses a module with instructions that
// it does not know.

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
export function memoryLimit({ memory = 64, memoryLimit: limit = Math.min(128 + 2 * memory, 4096) }) {
  return limit >= REST + memory && limit <= 4096 ? limit : undefined;
}

/** Returns the least and the largest possible limit. */
export const memoryLimits = ({ memory = 64 }) => [REST + memory, 4096];

/** An instance of the module. A call that throws leaves it in any state, and it must not be used any more. */
export class Instance {
  #memory;
  #exports;

  /** `limit` limits its memory, in MiB. `now` returns the time in milliseconds, and `progress` gets that of reviews. */
  constructor(module, limit, now, progress = () => {}) {
    const pages = (mebibytes) => Math.floor((mebibytes * MEBIBYTE) / PAGE);
    this.#memory = new WebAssembly.Memory({ initial: pages(INITIAL), maximum: pages(limit) });
    const imports = { env: { memory: this.#memory }, kosumi: { now, progress, wake: () => {} } };
    this.#exports = new WebAssembly.Instance(module, imports).exports;
  }

  get memoryUsage() {
    return this.#memory.buffer.byteLength;
  }

  get buffer() {
    return this.#memory.buffer;
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
    return decoder.decode(this.copy(start, length));
  }

  /** Returns why a call has thrown `error`: the message of the panic, or that of the error. */
  reason(error) {
    let fault = "";
    try {
      fault = this.#read(this.#exports.kosumi_fault(), this.#exports.kosumi_fault_length());
    } catch {
      // The instance cannot even be asked.
    }
    return fault || error.message;
  }
}
