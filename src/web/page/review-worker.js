// Reviews one record, with an engine of its own, and sends the progress and the page.
import { Kosumi, usualThreads } from "./kosumi.js";

self.onmessage = async ({ data: { module, network, record } }) => {
  try {
    // A game may go on meanwhile.
    const threads = Math.ceil(usualThreads(module) / 2);
    const kosumi = await Kosumi.create({ wasm: module, network: network ?? "small.bin.gz", memory: 32, threads });
    const html = kosumi.review(record, (done, total) => postMessage({ done, total }));
    postMessage({ html });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
