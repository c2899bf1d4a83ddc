// The pairs somebody works on: their links, the steps back and forth, and what is kept between visits.
import { remember, remembered } from "./dom.js";

const STORE = "weft-work";
const MOST_STEPS = 500;
const MOST_STORED = 4_000_000;

export class Work {
  constructor(pairs = [blankPair()]) {
    this.pairs = pairs;
    this.current = 0;
    this.past = [];
    this.future = [];
  }

  get pair() {
    return this.pairs[this.current];
  }

  // Replace fields of the current pair; `step` makes it something that can be undone.
  change(fields, { step = true } = {}) {
    if (step) {
      this.past.push({ number: this.current, pair: this.pair });
      this.past.splice(0, this.past.length - MOST_STEPS);
      this.future = [];
    }
    this.pairs[this.current] = { ...this.pair, ...fields };
    this.keep();
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
    this.pairs[moment.number] = moment.pair;
    this.keep();
    return true;
  }

  keep() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      const text = JSON.stringify({ pairs: this.pairs, current: this.current });
      if (text.length < MOST_STORED) remember(STORE, text);
    }, 300);
  }

  static kept() {
    try {
      const { pairs, current } = JSON.parse(remembered(STORE));
      if (!pairs.length || !pairs.every(isPair)) return null;
      const work = new Work(pairs);
      work.current = Math.min(Math.max(0, current | 0), pairs.length - 1);
      return work;
    } catch {
      return null;
    }
  }
}

// `texts` is what stands in the two boxes, `source` and `target` are the words that links count.
export function blankPair(source = "", target = "") {
  return {
    texts: [source, target],
    source: [],
    target: [],
    links: [],
    score: null,
    edited: false,
    gold: null,
    ready: false,
  };
}

export function pairOfWords({ source, target, links }) {
  const texts = [source.join(" "), target.join(" ")];
  const inside = (links ?? []).filter(([i, j]) => i < source.length && j < target.length);
  return { ...blankPair(), texts, source, target, links: inside, edited: links !== null, ready: links !== null };
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

export function toggled(links, i, j) {
  const others = links.filter((link) => link[0] !== i || link[1] !== j);
  return others.length < links.length ? others : [...others, [i, j, null, true]];
}
