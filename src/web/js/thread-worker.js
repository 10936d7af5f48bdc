// Thread of a search: an instance of the module on the memory of another instance. Ends with the worker.

const isNode = Boolean(globalThis.process?.versions?.node);
const port = isNode ? (await import("node:worker_threads")).parentPort : globalThis;
const receive = (handle) =>
  isNode ? port.once("message", handle) : port.addEventListener("message", ({ data }) => handle(data), { once: true });

receive(({ module, memory, start, timeOrigin }) => {
  // The time of all threads begins where that of the first one does.
  const offset = performance.timeOrigin - timeOrigin;
  const wake = (address) => Atomics.notify(new Int32Array(memory.buffer, address >>> 0, 1), 0);
  const kosumi = { now: () => performance.now() + offset, progress: () => {}, wake };
  const { exports } = new WebAssembly.Instance(module, { env: { memory }, kosumi });
  const variables = start + exports.kosumi_thread_stack();
  exports.__stack_pointer.value = variables;
  exports.__wasm_init_tls(variables);
  port.postMessage("ready");
  try {
    exports.kosumi_thread();
  } catch (error) {
    exports.kosumi_thread_failed();
    throw error;
  }
});
