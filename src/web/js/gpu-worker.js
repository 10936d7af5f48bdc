// Worker with the graphics card, on the memory of an instance of the module. Its first message has the name of the card, or the
// reason why it is not used; a later one the reason why it has failed. Then the processor evaluates.
import { Gpu, connect } from "./gpu.js";
import { Instance } from "./instance.js";

self.addEventListener(
  "message",
  async ({ data }) => {
    let instance, gpu;
    const reason = (error) => instance?.reason(error) ?? error.message;
    try {
      const card = await connect(data);
      instance = Instance.onMemory(data);
      gpu = await Gpu.open(instance, card, data);
      gpu.attach();
      const { name, isHalf, checks } = gpu;
      postMessage({ name, isHalf, checks });
    } catch (error) {
      postMessage({ error: reason(error) });
      return;
    }
    try {
      await gpu.serve();
    } catch (error) {
      const words = reason(error);
      // The threads that wait must learn of it before anybody else does.
      gpu.fail(words);
      postMessage({ error: words });
    }
  },
  { once: true },
);
