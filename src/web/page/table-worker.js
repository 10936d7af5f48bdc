// Worker of the page: the table in WebAssembly, and the games that the browser keeps. Gets the messages that a page sends
// to a program, and sends its answers. Messages about kept games are its own.
//
// The engine works in slices, and messages of the page are handled between them.
import {
  Instance,
  bytesOf,
  compiled,
  memoryLimit,
  moduleName,
  others,
  supportsSimd,
  usualThreads,
} from "./instance.js";
import { Card } from "./card.js";
import { Games } from "./games.js";
import { choice, keepChoice, largeNetwork } from "./networks.js";

const OPTIONS = { memory: 64, threads: 1 };
// Limit of the memory in MiB with another network.
const LARGE_LIMIT = 1024;
const NETWORK = "small.bin.gz";
// Failures in a row after which the game is not tried again.
const FAILURES = 3;

const post = (message) => postMessage(message);
const trouble = (words) => post({ is: "trouble", engine: "Kosumi", text: words });
const games = new Games(trouble);
const now = () => performance.now();
const today = () => new Date().toLocaleDateString("sv");

let module = null;
let instance = null;
// Networks as files, in the order in which they were given.
const networks = [];
// The game on the table: its key among the kept ones, its number at the table, and all that restores it.
let current = { id: null, number: null, game: null };
let failures = 0;
let date = "";
let isScheduled = false;
let waking = 0;
let reviewer = null;

/** Starts an instance of the module, with the game `game` if there is one. */
function start(game, isPaused) {
  endReview();
  const limit = networks.some(({ isLarge }) => isLarge) ? LARGE_LIMIT : memoryLimit(OPTIONS);
  instance = new Instance(module, limit, now);
  const session = `${Date.now()}-${Math.random()}`;
  const refusal = instance.call("kosumi_start_board", JSON.stringify(OPTIONS), session);
  if (refusal) throw new Error(refusal);
  startThreads();
  if (!game) current = { id: null, number: null, game: null };
  date = today();
  request({ do: "today", date });
  const { remembered } = game ? request({ do: "restore", game, isPaused }) : {};
  // The page gets nothing before everything has succeeded. What it gets then contains the whole state.
  carryOut({ ...request({ do: "open" }), remembered }, current.id);
  networks.forEach(giveNetwork);
  goOn();
}

/** Starts the threads of the search. It does not wait for them, and without them it has one. */
function startThreads() {
  if (OPTIONS.threads === 1) return;
  const started = instance;
  started.startThreads(OPTIONS.threads - 1).catch((error) => {
    if (started === instance) console.warn(error.message);
  });
}

/** Sends a request to the table. Throws a `Refusal` if the table refuses it, or whatever a failing instance throws. */
function request(message) {
  const answer = JSON.parse(instance.call("kosumi_request", JSON.stringify(message)));
  if (answer.error !== undefined) throw new Refusal(answer.error);
  return answer.ok;
}

class Refusal extends Error {}

/** Handles an event. `id` is the key of the kept game that it puts on the table, if it does. */
function handle(message, id) {
  if (!instance) return;
  if (date !== today()) {
    date = today();
    handle({ do: "today", date });
  }
  let answer;
  try {
    answer = request(message);
    failures = 0;
  } catch (error) {
    if (error instanceof Refusal) trouble(error.message);
    else recover(error);
    return;
  }
  carryOut(answer, id);
  checkCard();
}

/** Starts another instance with the game as it was, after one has failed: by a panic, too little memory, or a full stack. */
function recover(error) {
  const reason = instance.reason(error);
  instance.close();
  failures += 1;
  try {
    // Engines wait, because the same task may fail again.
    start(failures < FAILURES ? current.game : null, true);
    prepareCard();
  } catch (again) {
    instance = null;
    post({ is: "cannot-run", text: `${reason}; ${again.message}` });
    return;
  }
  trouble(reason);
}

/** Carries out what the table requests. */
function carryOut({ messages, isBusy, wake, review, endsReview, remembered }, id) {
  messages.forEach(post);
  if (remembered) remember(remembered, id);
  if (endsReview) endReview();
  if (review) startReview(...review);
  clearTimeout(waking);
  if (wake !== null) waking = setTimeout(() => handle({ do: "advance" }), wake + 1);
  if (isBusy) goOn();
}

/** Lets the engine continue its task after the messages that wait. */
async function goOn() {
  if (isScheduled) return;
  isScheduled = true;
  await others();
  isScheduled = false;
  handle({ do: "advance" });
}

/** Keeps the game on the table. Another game gets another key. */
function remember({ game, number, about }, id) {
  const isOther = number !== current.number;
  current = { id: id ?? (isOther ? games.newId() : current.id), number, game };
  games.keep(current.id, game, about);
}

// ---- Networks ----

/** Gives the engines a network. Its `refusal` is the reason if it is refused. */
function giveNetwork(network) {
  network.refusal = instance.call("kosumi_network", network.bytes, network.isLarge ? 1 : 0);
}

async function loadNetwork() {
  let bytes;
  try {
    bytes = await bytesOf(NETWORK);
  } catch (error) {
    trouble(error.message);
    return;
  }
  networks.push({ bytes, isLarge: false });
  if (!instance) return;
  try {
    giveNetwork(networks.at(-1));
    if (networks.at(-1).refusal) trouble(networks.at(-1).refusal);
    goOn();
  } catch (error) {
    networks.pop();
    recover(error);
  }
}

/**
 * Uses a network for advice and for levels with a time, in an instance with more memory, or only the small network if `bytes` is
 * `null`. If it is refused, everything stays as it was, and the result is false.
 */
function useLarge(bytes) {
  if (!instance) return false;
  const [before, table, former] = [instance, current, [...networks]];
  const large = bytes && { bytes, isLarge: true };
  networks.splice(0, Infinity, ...former.filter(({ isLarge }) => !isLarge), ...(large ? [large] : []));
  let reason = "";
  try {
    start(current.game, false);
    if (!large || large.refusal === "") {
      before.close();
      prepareCard();
      return true;
    }
    reason = large.refusal;
  } catch (error) {
    reason = instance.reason(error);
  }
  if (instance !== before) instance.close();
  networks.splice(0, Infinity, ...former);
  [instance, current] = [before, table];
  handle({ do: "open" });
  prepareCard();
  trouble(reason);
  return false;
}

// What is in use: `small`, `large` or `file`; the file, with its name; the download in progress; and what is remembered.
let chosen = "small";
let file = null;
let loading = null;
let wishes = { network: "small", usesCard: true };

const tellNetworks = async () =>
  post({
    is: "networks",
    chosen: loading ? "large" : chosen,
    name: file?.name ?? null,
    large: { bytes: largeNetwork.bytes, isKept: await largeNetwork.isKept() },
    loading: loading && { done: loading.done, total: largeNetwork.bytes },
    card: { ...card.state, isWanted: wishes.usesCard },
  });

/** Remembers a choice for the next time. */
async function wish(changes) {
  wishes = { ...wishes, ...changes };
  await keepChoice(wishes);
}

/** Uses a network from now on, if that is possible. */
function changeTo(which, bytes) {
  if (!useLarge(bytes)) return false;
  chosen = which;
  post({ is: "network", which, name: which === "file" ? file.name : null });
  return true;
}

async function chooseNetwork({ which }) {
  loading?.controller.abort();
  loading = null;
  if (which === "large") {
    const bytes = await loadLarge();
    if (bytes && changeTo("large", bytes)) await wish({ network: "large" });
  } else if (which === "small") {
    if (chosen === "small" || changeTo("small", null)) await wish({ network: "small" });
  } else if (file) {
    changeTo("file", file.bytes);
  }
  await tellNetworks();
}

/** Returns the large network, or `null` if it is not available or is no longer wanted. */
async function loadLarge() {
  const controller = new AbortController();
  const own = (loading = { done: 0, controller });
  await tellNetworks();
  const onProgress = (done) => {
    const percent = (bytes) => Math.floor((100 * bytes) / largeNetwork.bytes);
    const isNews = percent(done) > percent(own.done);
    own.done = done;
    if (isNews && own === loading) tellNetworks();
  };
  try {
    const bytes = await largeNetwork.load(onProgress, controller.signal);
    return controller.signal.aborted ? null : bytes;
  } catch (error) {
    if (!controller.signal.aborted) trouble(error.message);
    return null;
  } finally {
    if (own === loading) loading = null;
  }
}

/** Uses a network of the user, until the page is closed. */
async function useFile({ name, bytes }) {
  const before = file;
  file = { name, bytes: new Uint8Array(bytes) };
  if (!changeTo("file", file.bytes)) file = before;
  await tellNetworks();
}

async function deleteNetwork() {
  if (chosen === "large" || loading) await chooseNetwork({ which: "small" });
  await wish({ network: "small" });
  await largeNetwork.remove();
  await tellNetworks();
}

/** Continues with the last choice. A large network that the browser has deleted is not downloaded again. */
async function useChoice() {
  wishes = await choice();
  await card.find(module);
  await tellNetworks();
  if (wishes.network === "large" && chosen === "small" && (await largeNetwork.isKept())) await chooseNetwork({ which: "large" });
}

// ---- Graphics card ----

const card = new Card(tellNetworks);

/** Lets the card evaluate the network that is in use besides the small one, if it may. */
async function prepareCard() {
  const wasOn = card.isOn;
  card.stop();
  const own = instance;
  if (!own || !networks.some(({ isLarge }) => isLarge)) return;
  // An instance that has not used the card refuses nothing and changes nothing.
  if (wasOn) handle({ do: "useCard", isWanted: false });
  if (!wishes.usesCard) return;
  if ((await card.start(own, checkCard)) && own === instance) handle({ do: "useCard", isWanted: true });
}

/** Lets the processor evaluate if the card has failed, for this reason if one is known. */
function checkCard(reason = "") {
  if (!card.isOn || !instance) return;
  reason ||= instance.call("kosumi_gpu_failure");
  if (!reason) return;
  card.stop(reason);
  handle({ do: "useCard", isWanted: false });
}

async function useCard({ isWanted }) {
  await wish({ usesCard: isWanted });
  prepareCard();
  await tellNetworks();
}

// ---- Reviews ----

/** Reviews a record in a worker of its own, so that the game can go on. */
function startReview(number, record) {
  endReview();
  const worker = (reviewer = new Worker("review-worker.js", { type: "module" }));
  const end = (hasSucceeded) => {
    endReview();
    handle({ do: "reviewEnd", number, hasSucceeded });
  };
  // The table only knows that the review has failed, so the reason is reported after its message.
  const fail = (reason) => {
    end(false);
    trouble(reason);
  };
  worker.onmessage = ({ data: { done, total, html, error } }) => {
    if (worker !== reviewer) return;
    if (done !== undefined) {
      handle({ do: "reviewProgress", number, done, total });
    } else if (html !== undefined) {
      post({ is: "review-page", html });
      end(true);
    } else {
      fail(error);
    }
  };
  worker.onerror = (event) => {
    // An error of the review is no error of this worker.
    event.preventDefault();
    fail(event.message || "review-worker.js");
  };
  worker.postMessage({ module, network: networks.find(({ isLarge }) => !isLarge)?.bytes ?? null, record });
}

function endReview() {
  reviewer?.terminate();
  reviewer = null;
}

// ---- Messages of the page ----

const OWN = {
  network: useFile,
  networks: tellNetworks,
  "choose-network": chooseNetwork,
  "delete-network": deleteNetwork,
  "use-card": useCard,
  games: async () => post({ is: "games", games: await games.list(), current: current.id }),
  "open-game": async ({ id }) => {
    if (id === current.id) return;
    const kept = await games.open(id);
    if (kept) handle({ do: "restore", game: kept.game }, id);
    else post({ is: "refused", why: "game-open" });
  },
  "delete-game": async ({ id }) => {
    if (id !== current.id) await games.remove(id);
    await OWN.games();
  },
};

self.onmessage = ({ data }) => {
  const own = Object.hasOwn(OWN, data.do) ? OWN[data.do] : null;
  if (own) own(data);
  else handle({ do: "message", message: JSON.stringify(data) });
};

async function begin() {
  if (!supportsSimd()) throw new Error("this browser does not support WebAssembly with SIMD");
  const [loaded, kept] = await Promise.all([compiled(moduleName()), games.latest()]);
  module = loaded;
  OPTIONS.threads = usualThreads(module);
  post({ is: "open", files: [moduleName()] });
  current.id = kept?.id ?? null;
  current.game = kept?.game ?? null;
  try {
    start(kept?.game, false);
  } catch (error) {
    // A game that cannot be restored stays among the kept ones.
    instance?.close();
    start(null, false);
    trouble(error.message);
  }
}

const starting = begin().catch((error) => post({ is: "cannot-run", text: error.message }));
// The network is loaded in the background; people can play meanwhile.
starting.then(async () => {
  if (!instance) return;
  await loadNetwork();
  await useChoice();
});
