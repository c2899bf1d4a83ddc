// Work on a project of the server. What was said waits in the browser until the server has it on its disk.
import { getChanges, putPair } from "./api.js";
import { remember, remembered } from "./dom.js";
import { isSame, Outbox } from "./outbox.js";

const PAUSE = 1000;
const MOST_EARLIER = 20;

export class ProjectStore {
  constructor(db, project) {
    this.project = project;
    this.outbox = new Outbox(db, project.key);
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

  // What an earlier page of this browser could not send any more.
  async leftOver() {
    const rows = await this.outbox.rows();
    return rows.filter((row) => row.annotator === this.project.annotator);
  }

  // What was said under another name goes to the server too; what is disputed waits until somebody opens that name.
  async sendForOthers() {
    const { name, annotator: own } = this.project;
    for (const { annotator, number, saying } of await this.outbox.rows()) {
      if (annotator === own) continue;
      const { kept, conflict } = await putPair(name, number, bodyOf(saying, annotator));
      if (kept || isSame(saying, conflict)) this.outbox.remove({ annotator, number, saying });
    }
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
    this.waiting.set(number, saying);
    this.outbox.put({ annotator: this.project.annotator, number, saying });
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
    this.outbox.remove({ annotator: this.project.annotator, number, saying });
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
