// Work on a project of the server. What was said waits in the browser until the server has it on its disk.
import { getChanges, putPair } from "./api.js";
import { remember, remembered } from "./dom.js";
import { done, removeIf, write } from "./store.js";

const PAUSE = 1000;
const MOST_EARLIER = 20;

export class ProjectStore {
  constructor(db, project) {
    this.db = db;
    this.project = project;
    this.revision = project.revision;
    this.waiting = new Map(); // what the server has not answered yet, by pair
    this.sending = new Set();
    this.onSaved = this.onPair = this.onConflict = this.onProgress = () => {};
    this.timer = setInterval(() => this.poll(), PAUSE);
  }

  get name() {
    return this.project.title;
  }

  get place() {
    return `weft-place ${this.project.key} ${this.project.annotator}`;
  }

  key(number, annotator = this.project.annotator) {
    return [this.project.key, annotator, number];
  }

  // What an earlier page of this browser could not send any more.
  async leftOver() {
    const rows = await this.outbox();
    return rows.filter((row) => row.annotator === this.project.annotator);
  }

  outbox() {
    const range = IDBKeyRange.bound([this.project.key], [this.project.key, []]);
    return done(this.db.transaction("outbox").objectStore("outbox").getAll(range));
  }

  // What was said under another name goes to the server too; what is disputed waits until somebody opens that name.
  async sendForOthers() {
    const { name, annotator: own } = this.project;
    for (const { annotator, number, saying } of await this.outbox()) {
      if (annotator === own) continue;
      const { kept, conflict } = await putPair(name, number, bodyOf(saying, annotator));
      if (kept || isSame(saying, conflict)) this.remove(number, saying, annotator);
    }
  }

  remove(number, saying, annotator = this.project.annotator) {
    removeIf(this.db, "outbox", this.key(number, annotator), (row) => isSame(row.saying, saying));
  }

  put(numbers, pairs) {
    for (const number of numbers) {
      const { links, state, comment, revision } = pairs[number];
      const before = this.waiting.get(number);
      // What was said before may be on the server's disk although its answer never came.
      const earlier = before ? [...(before.earlier ?? []), { ...before, earlier: null }].slice(-MOST_EARLIER) : [];
      this.say(number, { links, state, comment, base: before?.base ?? revision ?? 0, earlier });
    }
  }

  say(number, saying) {
    const annotator = this.project.annotator;
    this.waiting.set(number, saying);
    write(this.db, ["outbox"], (outbox) =>
      outbox.put({ project: this.project.key, annotator, number, saying }),
    ).catch(() => {});
    this.onSaved(null, "saving…");
    this.send(number);
  }

  async send(number) {
    if (this.sending.has(number) || !this.waiting.has(number) || this.waiting.get(number).disputed) return;
    const saying = this.waiting.get(number);
    this.sending.add(number);
    let again = 0;
    try {
      const { kept, conflict } = await putPair(this.project.name, number, bodyOf(saying, this.project.annotator));
      if (kept) this.settled(number, saying, kept);
      else if (isSame(saying, conflict)) this.settled(number, saying, conflict);
      else if (saying.earlier?.some((each) => isSame(each, conflict))) this.waiting.get(number).base = conflict.revision;
      else this.disputed(number, saying, conflict);
    } catch (error) {
      again = 700;
      this.onSaved(null, `not saved yet: ${error.status ? error.message : "the server does not answer"}`);
      if (error.status === 422) this.forget(number, saying);
    } finally {
      this.sending.delete(number);
    }
    if (this.waiting.has(number) && !this.waiting.get(number).disputed) setTimeout(() => this.send(number), again);
  }

  settled(number, saying, kept) {
    const newer = this.waiting.get(number);
    this.onPair(number, { revision: kept.revision });
    if (newer === saying) this.forget(number, saying);
    else newer.base = kept.revision; // edited meanwhile: that is sent next
    if (!this.waiting.size) this.onSaved(Date.now());
  }

  // Two tabs said different things: somebody has to choose.
  disputed(number, saying, theirs) {
    const mine = this.waiting.get(number);
    mine.disputed = true;
    this.onConflict(number, mine, theirs, {
      mine: () => this.say(number, { ...mine, disputed: false, earlier: [], base: theirs.revision }),
      theirs: () => {
        this.forget(number, this.waiting.get(number));
        this.onPair(number, theirs);
      },
    });
  }

  forget(number, saying) {
    if (this.waiting.get(number) !== saying) return;
    this.waiting.delete(number);
    this.remove(number, saying);
  }

  async poll() {
    if (this.polling || document.hidden) return;
    this.polling = true;
    try {
      const news = await getChanges(this.project.name, this.project.annotator, this.revision);
      for (const { number, ...said } of news.changes) {
        this.revision = Math.max(this.revision, said.revision);
        if (!this.waiting.has(number)) this.onPair(number, said);
      }
      this.onProgress(news);
      if (this.waiting.size) for (const number of this.waiting.keys()) this.send(number);
      else if (this.lost) this.onSaved(Date.now());
      this.lost = false;
    } catch {
      this.lost = true;
      this.onSaved(null, "the server does not answer; your changes are kept here");
    } finally {
      this.polling = false;
    }
  }

  // A page that is loaded again shows the pair that it showed before.
  keepAbout({ current }) {
    if (current !== undefined) remember(this.place, current, "sessionStorage");
  }

  get lastPlace() {
    return Number(remembered(this.place, "sessionStorage") ?? NaN);
  }

  close() {
    clearInterval(this.timer);
  }
}

const bodyOf = ({ links, state, comment, base }, annotator) => ({ links, state, comment, base, annotator });

const spelt = (links) =>
  links
    .map(([i, j, , sure = true]) => `${i}${sure ? "-" : "p"}${j}`)
    .sort()
    .join(" ");

export function isSame(one, other) {
  return spelt(one.links) === spelt(other.links) && one.state === other.state && one.comment === other.comment;
}
