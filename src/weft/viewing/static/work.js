// The pairs somebody works on: their links and the steps back and forth. Whatever changes goes to the store at once.

const MOST_STEPS = 500;

export class Work {
  // Without a store nothing is kept: a pair that came with a link is only looked at.
  constructor(pairs = [blankPair()], store = null) {
    this.pairs = pairs;
    this.store = store;
    this.current = 0;
    this.past = [];
    this.future = [];
  }

  get pair() {
    return this.pairs[this.current];
  }

  // Replace fields of a pair; `step` makes it something that can be undone.
  change(fields, { step = true, number = this.current } = {}) {
    if (step) {
      this.past.push({ number, pair: this.pairs[number] });
      this.past.splice(0, this.past.length - MOST_STEPS);
      this.future = [];
    }
    this.pairs[number] = { ...this.pairs[number], ...fields };
    this.keep([number]);
  }

  undo() {
    return this.travel(this.past, this.future);
  }

  redo() {
    return this.travel(this.future, this.past);
  }

  travel(from, to) {
    const moment = from.pop();
    if (!moment) return false;
    to.push({ number: moment.number, pair: this.pairs[moment.number] });
    this.current = moment.number;
    // The revision tells what the server has now, not what it had then.
    this.pairs[moment.number] = { ...moment.pair, revision: this.pairs[moment.number].revision };
    this.keep([moment.number]);
    return true;
  }

  keep(numbers) {
    this.store?.put(numbers, this.pairs);
  }

  // Suggestions of a model are no statement of anybody: a project does not keep them.
  suggest(number, fields) {
    this.pairs[number] = { ...this.pairs[number], ...fields };
    if (!this.store?.project) this.keep([number]);
  }

  go(number) {
    this.current = Math.max(0, Math.min(this.pairs.length - 1, number));
    this.store?.keepAbout({ current: this.current });
  }
}

// Whether an answer to what a pair was is still of use: gold or a comment may have come meanwhile, but no other words or
// links.
export function isStill(now, before) {
  return ["texts", "source", "target", "links", "edited"].every((field) => now[field] === before[field]);
}

// `texts` is what stands in the two boxes, `source` and `target` are the words that links count.
export function blankPair(source = "", target = "") {
  return {
    texts: [source, target],
    source: [],
    target: [],
    links: [],
    score: null,
    unknown: 0, // words that the model cannot read
    edited: false,
    gold: null,
    ready: false,
    given: false, // the words came split and are never cut anew
    state: "open",
    comment: "",
    problem: "",
    revision: 0,
  };
}

// A pair of a file; `links` are those that stand beside it, or null. Without `given` it is text, cut at blanks for now.
export function pairOfWords({ source, target, problem = "" }, links = null, score = null, given = true) {
  const texts = [source.join(" "), target.join(" ")];
  const known = links !== null;
  const ready = known || Boolean(problem);
  return { ...blankPair(), texts, source, target, problem, links: links ?? [], score, edited: known, ready, given: given || known };
}

// Whether the words of a pair may be cut anew: links that somebody made belong to the words of then.
export const isText = (pair) => !pair.gold && !pair.given;

// The two sides as they are sent: text, or lists of words.
export const sidesOf = (pair) =>
  isText(pair) ? { source: pair.texts[0], target: pair.texts[1] } : { source: pair.source, target: pair.target };

// What came from outside with links that point nowhere keeps everything else.
export function mended(pair) {
  const whole = { ...blankPair(), ...pair };
  const inside = ([i, j]) => i >= 0 && j >= 0 && i < whole.source.length && j < whole.target.length;
  return { ...whole, links: (whole.links ?? []).filter((link) => isCell(link) && inside(link)) };
}

const areWords = (value) => Array.isArray(value) && value.every((word) => typeof word === "string");
const isCell = (link) => Array.isArray(link) && Number.isInteger(link[0]) && Number.isInteger(link[1]);

// Whether something that came from outside (storage, an address) is a pair.
export function isPair(value) {
  if (
    !value ||
    !areWords(value.texts) ||
    value.texts.length !== 2 ||
    !areWords(value.source) ||
    !areWords(value.target)
  )
    return false;
  const inside = (link) =>
    isCell(link) && link[0] >= 0 && link[1] >= 0 && link[0] < value.source.length && link[1] < value.target.length;
  const gold =
    value.gold === null ||
    [value.gold?.sure, value.gold?.possible].every((cells) => Array.isArray(cells) && cells.every(inside));
  return Array.isArray(value.links) && value.links.every(inside) && gold;
}

// None, sure, possible, none.
export function cycled(links, i, j) {
  const known = links.find((link) => link[0] === i && link[1] === j);
  const others = links.filter((link) => link !== known);
  if (!known) return [...others, [i, j, null, true]];
  return known[3] === false ? others : [...others, [i, j, known[2], false]];
}

// All cells as "sure", "possible" or "none".
export function linkedAs(links, cells, kind) {
  const among = new Set(cells.map(([i, j]) => `${i}-${j}`));
  const others = links.filter(([i, j]) => !among.has(`${i}-${j}`));
  if (kind === "none") return others;
  const scores = new Map(links.map(([i, j, score]) => [`${i}-${j}`, score]));
  return [...others, ...cells.map(([i, j]) => [i, j, scores.get(`${i}-${j}`) ?? null, kind === "sure"])];
}

// A group of words on both sides: linked all with all, or unlinked if they were.
export function toggled(links, cells) {
  const known = new Set(links.map(([i, j]) => `${i}-${j}`));
  return linkedAs(links, cells, cells.every(([i, j]) => known.has(`${i}-${j}`)) ? "none" : "sure");
}

export function asGold(links) {
  const places = (sure) => links.filter((link) => (link[3] ?? true) === sure).map(([i, j]) => [i, j]);
  return { sure: places(true), possible: places(false) };
}

// What a model found, as the links of a pair.
export function suggested(found) {
  const links = found.links.map(([i, j, score]) => [i, j, score, true]);
  const { source, target, score, unknown } = found;
  return { source, target, links, score, unknown: unknown ?? 0, edited: false, ready: true, refused: "" };
}
