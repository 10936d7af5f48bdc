// Worker with the graphics card, on the memory of an instance of the module. Its first message has the name of the
// card, or the reason why the card is not used. A later message has the reason why the card has failed; the processor
// then evaluates. The worker must not be terminated while others use the memory, because it may hold locks. The second
// message that it receives ends it between two calls.
import { Gpu, connect } from "./gpu.js";
import { Instance } from "./instance.js";

self.addEventListener(
  "message",
  async ({ data }) => {
    self.addEventListener("message", () => {
      postMessage({ isClosed: true });
      self.close();
    });
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
      // The waiting threads must learn of the failure before the page does.
      gpu.fail(words);
      postMessage({ error: words });
    }
  },
  { once: true },
);
