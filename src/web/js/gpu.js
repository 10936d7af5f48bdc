// Evaluation of a network with WebGPU. The module describes shaders, buffers and batches, and this file executes them.

// Time in milliseconds after which a card that does not answer counts as failed. The search threads have limits of
// their own.
const PATIENCE = 60_000;
const PATIENCE_WITH_SOFTWARE = 600_000;
// Number of batches that may be on the card at a time.
const IN_FLIGHT = 2;
const decoder = new TextDecoder();

/** Returns whether this browser has WebGPU, with or without a card. */
export const supportsGpu = () => Boolean(globalThis.navigator?.gpu);

/**
 * Connects to the graphics card. A software driver counts as one only with `acceptsSoftware`. With `half`, numbers are stored
 * in 16 bits if the card can do that.
 */
export async function connect({ acceptsSoftware = false, half = true } = {}) {
  const adapter = supportsGpu() ? await navigator.gpu.requestAdapter({ powerPreference: "high-performance" }) : null;
  if (!adapter) throw new Error("this browser offers no graphics card");
  const info = adapter.info ?? {};
  const isSoftware = Boolean(info.isFallbackAdapter ?? adapter.isFallbackAdapter) || info.architecture === "swiftshader";
  if (isSoftware && !acceptsSoftware) throw new Error("this browser offers a software driver only");
  const hasHalf = half && adapter.features.has("shader-f16");
  const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: hasHalf ? ["shader-f16"] : [],
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage },
  });
  const name = info.description || [info.vendor, info.architecture].filter(Boolean).join(" ") || "WebGPU";
  return { device, name, isSoftware, hasHalf };
}

/**
 * Lets a graphics card evaluate the network of an instance of the module, in a worker of its own, if its results are
 * those of the processor. Resolves, when engines can use the card, with its name and a function that ends its use. If
 * the card fails, `onFailure` gets the reason, and the processor evaluates. The options are those of `connect` and
 * `Gpu.open`.
 */
export async function startCard(instance, options, onFailure) {
  const { worker, message } = await instance.startWorker("gpu-worker.js", options);
  const { error, name, isHalf, checks } = message;
  if (error !== undefined) {
    worker.terminate();
    throw new Error(error);
  }
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  worker.addEventListener("message", ({ data }) => (data.isClosed ? end() : onFailure(data.error)));
  const close = () => {
    worker.postMessage({});
    return Promise.race([ended, instance.whenClosed]);
  };
  await instance.fillThreads(instance.run("kosumi_gpu_threads"));
  return { close, name, isHalf, checks };
}

/** A network on a card, behind an instance of the module. */
export class Gpu {
  #instance;
  #executor;
  #card;
  /** Differences from the processor and times, one for each check. */
  checks = [];
  isHalf = false;

  constructor(instance, card) {
    this.#instance = instance;
    this.#card = card;
  }

  get name() {
    return this.#card.name;
  }

  /**
   * Compiles a network and compares its results with the processor. `network` is a file; without one it is the network of the
   * table. With `onlyIfFaster`, a card that is slower than this number of threads of the processor is refused.
   */
  static async open(instance, card, { network = new Uint8Array(), onlyIfFaster = false, processors = 1 } = {}) {
    const gpu = new Gpu(instance, card);
    const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } = card.device.limits;
    const options = {
      name: card.name,
      half: card.hasHalf,
      isSoftware: card.isSoftware,
      onlyIfFaster,
      processors,
      bufferBytes: Math.min(maxBufferSize, maxStorageBufferBindingSize),
      storageBuffers: maxStorageBuffersPerShaderStage,
    };
    const description = gpu.#json("kosumi_gpu_open", network, JSON.stringify(options));
    gpu.isHalf = description.isHalf;
    gpu.#executor = await Executor.create(card, description, (buffer) => gpu.#bytes("kosumi_gpu_contents", buffer));
    gpu.#bytes("kosumi_gpu_forget_weights");
    for (let which = 0; which < description.checks; which += 1) {
      const batch = gpu.#bytes("kosumi_gpu_check_batch", which);
      // The first run includes preparations of the driver.
      if (!card.isSoftware) await gpu.#executor.run(batch);
      const start = performance.now();
      const results = await gpu.#executor.run(batch);
      gpu.checks.push(gpu.#json("kosumi_gpu_check", results, which, performance.now() - start));
    }
    return gpu;
  }

  /** Makes later engines with the network use the card. */
  attach() {
    this.#instance.run("kosumi_gpu_attach");
  }

  /** Marks the card as failed, so that the processor evaluates. */
  fail(reason) {
    this.#instance.run("kosumi_gpu_fail", reason);
  }

  /** Evaluates the positions that wait. Rejects if the card fails. */
  async serve() {
    const address = this.#instance.run("kosumi_gpu_arrivals") >>> 0;
    const arrivals = new Int32Array(this.#instance.buffer, address, 1);
    const inFlight = new Set();
    let waiting = null;
    for (;;) {
      const seen = Atomics.load(arrivals, 0);
      const batch = inFlight.size < IN_FLIGHT ? this.#bytes("kosumi_gpu_take") : [];
      if (batch.length > 0) {
        const finished = this.#compute(batch);
        inFlight.add(finished);
        finished.then(() => inFlight.delete(finished), () => {});
        continue;
      }
      waiting ??= change(arrivals, seen, inFlight.size > 0).then(() => (waiting = null));
      await this.#executor.unlessFailed(Promise.race([waiting, ...inFlight]));
    }
  }

  /** Computes a batch. */
  async #compute(batch) {
    const start = performance.now();
    const results = await this.#executor.run(batch);
    const [number] = new Uint32Array(batch.buffer, 0, 1);
    this.#json("kosumi_gpu_answer", results, number, performance.now() - start);
  }

  #bytes(name, ...values) {
    this.#instance.run(name, ...values);
    const start = this.#instance.run("kosumi_gpu_response");
    return this.#instance.copy(start, this.#instance.run("kosumi_gpu_response_length"));
  }

  #json(name, ...values) {
    const answer = JSON.parse(decoder.decode(this.#bytes(name, ...values)));
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.ok;
  }
}

/**
 * Waits until the number at `arrivals` is not `seen`. If the browser cannot wait while other work runs, pauses for a
 * moment.
 */
function change(arrivals, seen, isBusy) {
  if (Atomics.waitAsync) {
    const { async, value } = Atomics.waitAsync(arrivals, 0, seen);
    return async ? value : Promise.resolve();
  }
  Atomics.wait(arrivals, 0, seen, isBusy ? 1 : 20);
  return new Promise((resolve) => setTimeout(resolve));
}

/** Shaders and buffers of a network on a card. */
class Executor {
  #device;
  #description;
  #buffers;
  #steps;
  #free;
  #patience;
  // Reason why the card has failed, and functions that reject the promises that wait for it.
  #failure = null;
  #rejecters = new Set();

  static async create(card, description, contentsOf) {
    const executor = new Executor();
    const { device } = card;
    executor.#device = device;
    executor.#description = description;
    executor.#patience = card.isSoftware ? PATIENCE_WITH_SOFTWARE : PATIENCE;
    device.lost.then(({ message }) => executor.#fail(`the graphics card is lost: ${message}`));
    device.addEventListener("uncapturederror", ({ error }) => executor.#fail(error.message));
    const scopes = ["validation", "out-of-memory"];
    scopes.forEach((scope) => device.pushErrorScope(scope));
    executor.#makeBuffers(contentsOf);
    await executor.unlessFailed(executor.#makeSteps());
    for (const _ of scopes) {
      const error = await device.popErrorScope();
      if (error) throw new Error(`${error.message || "the graphics card has too little memory"}`);
    }
    return executor;
  }

  #fail(reason) {
    this.#failure ??= new Error(reason);
    for (const reject of this.#rejecters) reject(this.#failure);
  }

  /** Waits for a promise, but rejects as soon as the card fails. */
  unlessFailed(promise) {
    if (this.#failure) {
      promise.catch(() => {});
      return Promise.reject(this.#failure);
    }
    return new Promise((resolve, reject) => {
      this.#rejecters.add(reject);
      promise.then(resolve, reject).finally(() => this.#rejecters.delete(reject));
    });
  }

  #makeBuffers(contentsOf) {
    const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    const usages = { dimensions: UNIFORM | COPY_DST, activations: STORAGE | COPY_DST | COPY_SRC, constant: STORAGE | COPY_DST };
    const make = (size, usage) => this.#device.createBuffer({ size, usage });
    this.#buffers = this.#description.buffers.map(({ bytes, kind }, index) => {
      const buffer = make(bytes, usages[kind]);
      if (kind === "constant") this.#device.queue.writeBuffer(buffer, 0, contentsOf(index));
      return buffer;
    });
    this.#free = Array.from({ length: IN_FLIGHT }, () => make(this.#description.resultsBytes, MAP_READ | COPY_DST));
  }

  async #makeSteps() {
    const device = this.#device;
    const { shaders, steps, dimensions } = this.#description;
    const layouts = new Map();
    const layoutOf = (bindings) => {
      const key = bindings.map(({ isWritten }) => Number(isWritten)).join("");
      const type = (isWritten) => (isWritten ? "storage" : "read-only-storage");
      const types = ["uniform", ...bindings.map(({ isWritten }) => type(isWritten))];
      if (!layouts.has(key)) {
        const entries = types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } }));
        const group = device.createBindGroupLayout({ entries });
        layouts.set(key, { group, layout: device.createPipelineLayout({ bindGroupLayouts: [group] }) });
      }
      return layouts.get(key);
    };
    // Equal shaders have equal layouts.
    const pipelines = new Map();
    const pipelineOf = (shader, layout) => {
      if (!pipelines.has(shader)) {
        const module = device.createShaderModule({ code: shaders[shader] });
        pipelines.set(shader, device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main" } }));
      }
      return pipelines.get(shader);
    };
    const makeStep = async ({ shaders, bindings }) => {
      const { group: layout, layout: pipelineLayout } = layoutOf(bindings);
      const buffers = [dimensions, ...bindings.map(({ buffer }) => buffer)];
      const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer: this.#buffers[buffer] } }));
      const group = device.createBindGroup({ layout, entries });
      return { group, pipelines: await Promise.all(shaders.map((shader) => pipelineOf(shader, pipelineLayout))) };
    };
    this.#steps = await Promise.all(steps.map(makeStep));
  }

  /** Computes a batch, which a message of the module describes, and returns its results. */
  async run(message) {
    const device = this.#device;
    const numbers = new Uint32Array(message.buffer, message.byteOffset, message.byteLength >>> 2);
    const [, writes, steps, copies] = numbers;
    let at = 4;
    const next = (count) => numbers.subarray(at, (at += count));
    for (let index = 0; index < writes; index += 1) {
      const [buffer, start, length] = next(3);
      device.queue.writeBuffer(this.#buffers[buffer], 0, message, start, length);
    }
    const encoder = device.createCommandEncoder();
    encoder.clearBuffer(this.#buffers[this.#description.flags]);
    const pass = encoder.beginComputePass();
    for (let index = 0; index < steps; index += 1) {
      const [which, x, y, z] = next(4);
      const { group, pipelines } = this.#steps[index];
      pass.setPipeline(pipelines[which]);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y, z);
    }
    pass.end();
    const results = this.#free.pop();
    let end = 0;
    for (let index = 0; index < copies; index += 1) {
      const [buffer, offset, length] = next(3);
      encoder.copyBufferToBuffer(this.#buffers[buffer], 0, results, offset, length);
      end = Math.max(end, offset + length);
    }
    device.queue.submit([encoder.finish()]);
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error("the graphics card does not answer")), this.#patience);
    });
    const mapped = this.unlessFailed(Promise.race([results.mapAsync(GPUMapMode.READ, 0, end), late]));
    await mapped.finally(() => clearTimeout(timer));
    const copy = new Uint8Array(results.getMappedRange(0, end)).slice();
    results.unmap();
    this.#free.push(results);
    return copy;
  }
}
