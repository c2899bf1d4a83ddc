// Which pairs are gone through, and in which order.

export const STATES = { done: "Done", doubtful: "Doubtful", skipped: "Skipped" };

export const FILTERS = {
  all: ["All pairs", () => true],
  open: ["Unmarked", (pair) => pair.state === "open" && !pair.problem],
  done: ["Done", (pair) => pair.state === "done"],
  doubtful: ["Doubtful", (pair) => pair.state === "doubtful"],
  skipped: ["Skipped", (pair) => pair.state === "skipped"],
  comment: ["With a comment", (pair) => Boolean(pair.comment)],
  edited: ["Edited", (pair) => pair.edited],
  low: ["Score below …", (pair, queue) => pair.score !== null && pair.score < queue.limit],
  gold: ["Different from the gold", (pair) => pair.gold !== null && !pair.problem && !isGold(pair)],
  disputed: ["Annotators differ", (pair, queue, number) => queue.disputed.has(number)],
  problem: ["Not a pair", (pair) => Boolean(pair.problem)],
};

function isGold({ links, gold }) {
  const spelt = (cells) => [...new Set(cells.map(([i, j]) => `${i}-${j}`))].sort().join(" ");
  const sure = links.filter((link) => link[3] !== false);
  return spelt(links) === spelt([...gold.sure, ...gold.possible]) && spelt(sure) === spelt(gold.sure);
}

export class Queue {
  constructor() {
    this.filter = "all";
    this.limit = 0.5; // of the score
    this.order = "number";
    this.disputed = new Set(); // numbers on which two annotators who were compared differ
    this.only = null; // numbers, where there is a list to go through
  }

  numbers(pairs) {
    const wanted = FILTERS[this.filter][1];
    const numbers = (this.only ?? [...pairs.keys()]).filter((number) => wanted(pairs[number], this, number));
    if (this.order === "score") numbers.sort((a, b) => (pairs[a].score ?? 2) - (pairs[b].score ?? 2) || a - b);
    return numbers;
  }

  // The pair after or before `current`; around the end it begins anew.
  step(pairs, current, step) {
    const numbers = this.numbers(pairs);
    if (!numbers.length) return current;
    const place = numbers.indexOf(current);
    if (place >= 0) return numbers[(place + step + numbers.length) % numbers.length];
    if (this.order === "score") return numbers[0];
    const behind = numbers.findIndex((number) => number > current);
    return step > 0 ? numbers[Math.max(0, behind)] : numbers.at(behind < 0 ? -1 : behind - 1);
  }

  // The next one that nobody has finished, or null.
  nextOpen(pairs, current) {
    const all = this.order === "score" || this.only ? this.whole(pairs) : [...pairs.keys()];
    const place = all.indexOf(current);
    const around = [...all.slice(place + 1), ...all.slice(0, place + 1)];
    const isOpen = (number) => FILTERS.open[1](pairs[number]) && number !== current;
    return (this.order === "score" ? all : around).find(isOpen) ?? null;
  }

  whole(pairs) {
    const chosen = this.filter;
    this.filter = "all";
    const numbers = this.numbers(pairs);
    this.filter = chosen;
    return numbers;
  }
}

export function progressOf(pairs) {
  const counts = { open: 0, done: 0, doubtful: 0, skipped: 0, problem: 0 };
  for (const pair of pairs) counts[pair.problem ? "problem" : (pair.state ?? "open")]++;
  return counts;
}
