// Pairs nobody looked at yet are aligned in the background, a few at a time. A pair that cannot be aligned says why,
// and the others go on.
import { align } from "./api.js";
import { isStill, isText, sidesOf, suggested } from "./work.js";

const MOST = 20;
const PAUSE = 1500;

export class Aligning {
  constructor(app) {
    this.app = app;
    this.turn = 0;
  }

  // All pairs that nobody edited, with the settings of now.
  again() {
    const count = this.forget();
    this.app.tell(`Aligning ${count} ${count === 1 ? "pair" : "pairs"} again. Pairs that you edited stay as they are.`);
    this.app.showPair();
    return this.rest();
  }

  // Texts are cut into words in another way. The page aligns the pair in view itself.
  cutAnew() {
    const { current } = this.app.work;
    this.forget((pair, number) => isText(pair) && number !== current);
    return this.rest();
  }

  // Pairs that nobody edited count as not aligned yet. How many they are.
  forget(isMeant = () => true) {
    const { work } = this.app;
    let count = 0;
    work.pairs.forEach((pair, number) => {
      if (pair.edited || pair.state !== "open" || pair.problem || !pair.source.length || !isMeant(pair, number)) return;
      work.pairs[number] = { ...pair, ready: false, refused: "" };
      count++;
    });
    return count;
  }

  async rest() {
    const { work } = this.app;
    const turn = ++this.turn;
    const most = Math.min(MOST, this.app.settings.offer.limits.pairs);
    for (;;) {
      if (work !== this.app.work || turn !== this.turn) return;
      const waiting = [...work.pairs.keys()].filter((number) => this.waits(work, number)).slice(0, most);
      if (!waiting.length) return;
      await this.some(work, waiting);
      if (work !== this.app.work) return;
      if (waiting.includes(work.current)) this.app.draw();
      else this.app.panel.show(work);
      // What somebody is being told about chosen words or a dispute is more important.
      const said = progressOf(work);
      if (said && this.app.selection.empty && !this.app.settling.settling) this.app.tell(said);
    }
  }

  waits(work, number) {
    const pair = work.pairs[number];
    return !pair.ready && pair.source.length > 0 && (number !== work.current || work.pairs.length === 1) && !pair.refused;
  }

  async some(work, numbers) {
    const pairs = numbers.map((number) => work.pairs[number]);
    const request = { pairs: pairs.map(sidesOf), ...(pairs.some(isText) ? this.app.settings.splitting() : {}) };
    try {
      const { alignments } = await align({ ...request, ...this.app.settings.request() }, "rest");
      numbers.forEach((number, k) => {
        if (isStill(work.pairs[number], pairs[k])) work.suggest(number, suggested(alignments[k]));
      });
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!isRefusal(error)) return pause(PAUSE);
      // One of them is refused: halves find out which.
      if (numbers.length === 1) return this.refuse(work, numbers[0], pairs[0], error.message.replace(/^pairs\.0(\.|: )/, ""));
      const half = numbers.length >> 1;
      await this.some(work, numbers.slice(0, half));
      await this.some(work, numbers.slice(half));
    }
  }

  // It can be linked by hand all the same.
  refuse(work, number, pair, reason) {
    if (isStill(work.pairs[number], pair)) work.pairs[number] = { ...work.pairs[number], ready: true, refused: reason };
  }
}

// How many pairs of a file are aligned; a single pair needs no words.
export function progressOf(work) {
  const pairs = work.pairs.filter((pair) => !pair.problem);
  const ready = pairs.filter((pair) => pair.ready).length;
  const [pair, are] = pairs.length === 1 ? ["pair", "is"] : ["pairs", "are"];
  return work.pairs.length > 1 ? `${ready} of ${pairs.length} ${pair} ${are} aligned.` : "";
}

// The same request would be refused again.
export const isRefusal = ({ status }) => status >= 400 && status < 500;

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
