// What was said about the pairs of a project and is not on the server's disk yet.
//
// The browser's database outlives a crash, but forgets what it has not begun to write when a tab is closed. So each change
// is noted in localStorage first, which takes it at once, and stays there until the database has followed.
import { remember, remembered } from "./dom.js";
import { done, removeIf, write } from "./store.js";

const NOTES = "weft-outbox";

export class Outbox {
  constructor(db, project) {
    this.db = db;
    this.project = project;
  }

  // The newest row of each pair, whoever said it.
  async rows() {
    const range = IDBKeyRange.bound([this.project], [this.project, []]);
    const kept = await done(this.db.transaction("outbox").objectStore("outbox").getAll(range));
    const newest = new Map(kept.map((row) => [this.name(row), row]));
    for (const [name, { settled, ...row }] of notes(`${NOTES} ${JSON.stringify(this.project)} `)) {
      newest.set(name, row);
      if (settled) {
        newest.delete(name);
        this.remove(row);
      }
    }
    return [...newest.values()];
  }

  put(row) {
    const note = new Note(this.name(row), row);
    write(this.db, ["outbox"], (outbox) => outbox.put({ project: this.project, ...row })).then(() => note.remove(), ignore);
  }

  // The server has it. Until the database knows, an older row may lie there: the note says that all of it is settled.
  remove(row) {
    const note = new Note(this.name(row), { ...row, settled: true });
    const isMeant = (kept) => note.stands || isSame(kept.saying, row.saying);
    const key = [this.project, row.annotator, row.number];
    removeIf(this.db, "outbox", key, isMeant).then(() => note.remove(), ignore);
  }

  name({ annotator, number }) {
    return `${NOTES} ${JSON.stringify(this.project)} ${number} ${annotator}`;
  }
}

// Stands until it is removed or overwritten by a newer one, perhaps in another tab.
class Note {
  constructor(name, row) {
    this.name = name;
    this.text = JSON.stringify(row);
    remember(name, this.text);
  }

  get stands() {
    return remembered(this.name) === this.text;
  }

  remove() {
    if (this.stands) localStorage.removeItem(this.name);
  }
}

const ignore = () => {}; // full or forbidden: what is kept in memory is sent all the same

function* notes(prefix) {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix));
    for (const name of names) yield [name, JSON.parse(localStorage.getItem(name))];
  } catch {
    // forbidden, or written by something else: the database has to do
  }
}

const spelt = (links) =>
  links
    .map(([i, j, , sure = true]) => `${i}${sure ? "-" : "p"}${j}`)
    .sort()
    .join(" ");

export function isSame(one, other) {
  return spelt(one.links) === spelt(other.links) && one.state === other.state && one.comment === other.comment;
}
