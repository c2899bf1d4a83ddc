// What a browser keeps: works with names, pair by pair, so that no edit waits and no size is too large.
//
// Every write is one transaction that is committed in the same task as the edit.

const NAME = "weft";
const OLD = "weft-work"; // where earlier versions kept one work

let opening = null;

export function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("works", { keyPath: "id" });
      request.result.createObjectStore("pairs", { keyPath: ["work", "number"] });
      request.result.createObjectStore("outbox", { keyPath: ["project", "annotator", "number"] });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

export const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const finishing = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("the browser stores nothing"));
  });

// Runs `act` on the stores and commits at once; the promise tells when everything is on the disk.
export function write(db, stores, act) {
  const transaction = db.transaction(stores, "readwrite", { durability: "strict" });
  const finished = finishing(transaction);
  act(...stores.map((store) => transaction.objectStore(store)));
  transaction.commit();
  return finished;
}

// Removes a row only if it is still the one that is meant: another tab may have written a newer one.
export function removeIf(db, store, key, isMeant) {
  const transaction = db.transaction(store, "readwrite", { durability: "strict" });
  const rows = transaction.objectStore(store);
  const asked = rows.get(key);
  asked.onsuccess = () => asked.result && isMeant(asked.result) && rows.delete(key);
  return finishing(transaction);
}

const ofWork = (id) => IDBKeyRange.bound([id, 0], [id, Infinity]);

// The first sentence of a work.
async function beginning(db, id) {
  const row = await done(db.transaction("pairs").objectStore("pairs").get([id, 0]));
  return row?.pair.texts?.find((text) => text) ?? "";
}

// One work in the browser's store: its pairs and what is known about it as a whole.
export class BrowserStore {
  constructor(db, about) {
    this.db = db;
    this.about = about;
    this.channel = new BroadcastChannel("weft-works");
    this.channel.onmessage = ({ data }) => data.id === this.about.id && this.look(data.numbers);
    this.onSaved = () => {};
    this.onPair = () => {};
  }

  get name() {
    return this.about.name;
  }

  static async list(db) {
    const works = await done(db.transaction("works").objectStore("works").getAll());
    for (const work of works) work.begins = await beginning(db, work.id);
    return works.sort((one, other) => other.saved - one.saved);
  }

  static async open(db, id) {
    const about = await done(db.transaction("works").objectStore("works").get(id));
    if (!about) return null;
    const rows = await done(db.transaction("pairs").objectStore("pairs").getAll(ofWork(id)));
    return { store: new BrowserStore(db, about), pairs: rows.map((row) => row.pair) };
  }

  static async create(db, name, pairs, more = {}) {
    const id = `${Date.now().toString(36)}-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
    const about = { id, name, created: Date.now(), saved: Date.now(), count: pairs.length, current: 0, ...more };
    const store = new BrowserStore(db, about);
    await write(db, ["works", "pairs"], (works, rows) => {
      works.put(about);
      pairs.forEach((pair, number) => rows.put({ work: id, number, pair }));
    });
    return store;
  }

  static async remove(db, id) {
    await write(db, ["works", "pairs"], (works, rows) => {
      works.delete(id);
      rows.delete(ofWork(id));
    });
  }

  // Keep pairs, and what else is given about the work.
  put(numbers, pairs, more = {}) {
    this.about = { ...this.about, ...more, saved: Date.now() };
    const written = write(this.db, ["works", "pairs"], (works, rows) => {
      works.put(this.about);
      for (const number of numbers) rows.put({ work: this.about.id, number, pair: pairs[number] });
    });
    return written.then(
      () => {
        this.channel.postMessage({ id: this.about.id, numbers });
        this.onSaved(this.about.saved);
      },
      (error) => this.onSaved(null, `not saved in this browser (${error?.message ?? error}); save a file`),
    );
  }

  keepAbout(more) {
    return this.put([], [], more);
  }

  // Another tab wrote: take its pairs.
  async look(numbers) {
    for (const number of numbers) {
      const row = await done(this.db.transaction("pairs").objectStore("pairs").get([this.about.id, number]));
      if (row) this.onPair(number, row.pair);
    }
  }

  close() {
    this.channel.close();
  }
}

// The work that earlier versions kept becomes a work like any other.
export async function bringOver(db, mended) {
  const text = localStorage.getItem(OLD);
  if (!text) return null;
  try {
    const { pairs, current } = JSON.parse(text);
    const store = await BrowserStore.create(db, "Earlier work", pairs.map(mended), { current: current | 0 });
    localStorage.removeItem(OLD);
    return store.about.id;
  } catch {
    return null;
  }
}
