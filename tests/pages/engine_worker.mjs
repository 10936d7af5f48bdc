// Starts the engine of `scripts/web` in a worker of a page.

// Returns a function that calls a method of the worker. In the page, `window.ask` calls a method as well, and
// `window.reports` counts the reports of searches.
export async function startEngine(page) {
  await page.evaluate(() => {
    const worker = new Worker("worker.js", { type: "module" });
    const waiting = new Map();
    window.reports = 0;
    worker.onmessage = ({ data: { id, result, error, report } }) => {
      if (report) {
        window.reports += 1;
        return;
      }
      const [resolve, reject] = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    };
    let last = 0;
    window.ask = (method, ...values) => new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, [resolve, reject]);
      worker.postMessage({ id: last, method, arguments: values });
    });
  });
  return (...call) => page.evaluate(values => window.ask(...values), call);
}
