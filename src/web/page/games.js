// The games that the browser keeps, in IndexedDB. A game that is open in one window is not opened in another one.

const NAME = "kosumi";
const STORE = "games";
// The oldest of more games are deleted.
const MAX_GAMES = 200;
// Time in milliseconds within which a window that was closed or reloaded has released its game.
const PATIENCE = 1000;

/** Returns the result of a request to the database. */
const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Games {
  #database;
  #complain;
  // Ends the claim to the game that is open here.
  #release = () => {};
  #claimed = null;

  /** `complain` is called once if the browser keeps no games. */
  constructor(complain) {
    this.#complain = complain;
  }

  async #store(mode) {
    this.#database ??= new Promise((resolve, reject) => {
      const opening = indexedDB.open(NAME, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    return (await this.#database).transaction(STORE, mode).objectStore(STORE);
  }

  /** Runs `act`. If the browser refuses, returns `otherwise`. */
  async #tried(act, otherwise) {
    try {
      return await act();
    } catch (error) {
      this.#complain?.(`the browser keeps no games here (${error?.message ?? error})`);
      this.#complain = null;
      return otherwise;
    }
  }

  newId() {
    return `${Date.now()}-${Math.random().toString(36).slice(2)}`;
  }

  /** Claims a game for this window, and returns whether no other one has it. */
  #claim(id) {
    const { locks } = navigator;
    const claimed = () => {
      this.#release();
      this.#claimed = id;
    };
    if (!locks) {
      claimed();
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const hold = () => {
        resolve(true);
        claimed();
        return new Promise((release) => (this.#release = release));
      };
      locks.request(`kosumi-game-${id}`, { signal: AbortSignal.timeout(PATIENCE) }, hold).catch(() => resolve(false));
    });
  }

  /** Keeps a game. `about` is its summary for lists. */
  async keep(id, game, about) {
    await this.#tried(async () => {
      const before = this.#claimed;
      if (id !== before) this.#claim(id);
      const store = await this.#store("readwrite");
      store.put({ id, game, about, changed: Date.now() });
      if (id === before) return;
      const all = await result(store.getAll());
      all.sort((a, b) => b.changed - a.changed);
      // A game that was left before its first move is not kept.
      const unwanted = all.filter((it, index) => it.id !== id && (index >= MAX_GAMES || (it.id === before && !it.about.moves)));
      for (const it of unwanted) store.delete(it.id);
    });
  }

  /** Returns the summaries of all games with moves, the latest first. */
  async list() {
    const all = await this.#all();
    return all.filter(({ about }) => about.moves).map(({ id, about, changed }) => ({ id, about, changed }));
  }

  async #all() {
    const all = await this.#tried(async () => result((await this.#store("readonly")).getAll()), []);
    return all.sort((a, b) => b.changed - a.changed);
  }

  /** Opens a game. Returns `null` if there is none or if another window has it. */
  async open(id) {
    const game = await this.#tried(async () => result((await this.#store("readonly")).get(id)), null);
    return game && (await this.#claim(id)) ? game : null;
  }

  /** Opens the latest game that no other window has. */
  async latest() {
    for (const game of await this.#all()) if (await this.#claim(game.id)) return game;
    return null;
  }

  async remove(id) {
    await this.#tried(async () => result((await this.#store("readwrite")).delete(id)));
  }
}
