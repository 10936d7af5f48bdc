// The large network, which is downloaded when the user first wants it and then kept, and the user's choices.
//
// They have a cache of their own, which outlives versions of the page: the service worker deletes older caches of the page.

const CACHE = "networks of kosumi";
const CHOICE = "network-choice.json";
// `scripts/web` inserts the name of the file, which depends on its contents, and its size.
const FILE = "large.compact.gz?LARGE_VERSION";
const BYTES = Number("LARGE_BYTES");
// Largest number of bytes that a download may have, in relation to the size of the file.
const MAX_SIZE_RATIO = 2;

/** Runs `act` with the cache. Where the browser keeps nothing, returns `otherwise`. */
async function withCache(act, otherwise) {
  try {
    return await act(await caches.open(CACHE));
  } catch {
    return otherwise;
  }
}

const address = (name) => new URL(name, import.meta.url).href;

/** Returns the kept large network, or `null`. With `isNewest`, only that of this version of the page. */
const kept = (isNewest) =>
  withCache(async (cache) => (await cache.match(address(FILE), { ignoreSearch: !isNewest })) ?? null, null);

export const largeNetwork = {
  bytes: BYTES,

  async isKept() {
    return (await kept(false)) !== null;
  },

  /**
   * Returns the large network: the kept one, or otherwise that of the server, which is kept. `onProgress` gets the number of
   * bytes so far. Rejects if neither has it, or when `signal` is aborted.
   */
  async load(onProgress, signal) {
    const newest = await kept(true);
    if (newest) return bytesOf(newest);
    let bytes;
    try {
      bytes = await download(onProgress, signal);
    } catch (error) {
      const older = signal.aborted ? null : await kept(false);
      if (older) return bytesOf(older);
      throw error;
    }
    await withCache(async (cache) => {
      await remove(cache);
      await cache.put(address(FILE), new Response(bytes));
    });
    return bytes;
  },

  async remove() {
    await withCache(remove);
  },
};

const remove = (cache) => cache.delete(address(FILE), { ignoreSearch: true });

const bytesOf = async (response) => new Uint8Array(await response.arrayBuffer());

async function download(onProgress, signal) {
  const response = await fetch(address(FILE), { signal });
  if (!response.ok) throw new Error(`the network cannot be loaded: ${response.status} ${response.statusText}`);
  const parts = [];
  let done = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { value, done: isEnd } = await reader.read();
    if (isEnd) break;
    parts.push(value);
    done += value.length;
    if (done > MAX_SIZE_RATIO * BYTES) throw new Error("the network is larger than it should be");
    onProgress(done);
  }
  if (done !== BYTES) throw new Error(`the network has ${done} bytes instead of ${BYTES}`);
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Returns what was chosen: the network, `small` or `large`, and whether the graphics card may be used. */
export async function choice() {
  const found = await withCache(async (cache) => (await cache.match(address(CHOICE)))?.json(), null);
  return { network: found?.network === "large" ? "large" : "small", usesCard: found?.usesCard !== false };
}

export const keepChoice = (chosen) =>
  withCache((cache) => cache.put(address(CHOICE), new Response(JSON.stringify(chosen))));
