// Kosumi in a Web Worker. The page posts `{id, method, arguments}` and gets `{id, result}`, `{id, error, isFatal}` and,
// while a search runs, `{id, report}`. The first method is `create`, with the options of `Kosumi.create` without `now`.
// `stop` ends the search that is in progress. `position` and `device` return those of `Kosumi`.
import { Kosumi } from "./kosumi.js";

const METHODS = ["setPosition", "play", "undo", "genmove", "analyse", "score", "save", "load", "review", "signature", "speed"];
let kosumi = null;
let controller = null;

async function answer(id, method, values) {
  if (method === "create") {
    kosumi = await Kosumi.create(values[0]);
    return kosumi.position;
  }
  if (kosumi === null) throw new Error("create must be the first method");
  if (method === "position") return kosumi.position;
  if (method === "device") return kosumi.device;
  if (method === "stop") return controller?.abort();
  if (!METHODS.includes(method)) throw new Error(`unknown method ${method}`);
  if (method !== "genmove" && method !== "analyse") return kosumi[method](...values);
  const own = new AbortController();
  controller ??= own;
  const { reports = true, ...options } = values[0] ?? {};
  const onReport = reports ? (report) => postMessage({ id, report }) : undefined;
  try {
    return await kosumi[method]({ ...options, signal: own.signal, onReport });
  } finally {
    if (controller === own) controller = null;
  }
}

self.onmessage = async ({ data: { id, method, arguments: values = [] } }) => {
  try {
    postMessage({ id, result: await answer(id, method, values) });
  } catch (error) {
    postMessage({ id, error: error.message, isFatal: error.isFatal ?? false });
  }
};
