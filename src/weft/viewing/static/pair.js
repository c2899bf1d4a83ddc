// What a pair's links mean beside each other: who found them, what the gold says, how well they score.
//
// A pair is { number, source, target, systems: [{ links: [[i, j, score, sure]], score }], gold: { sure, possible } }.

export const cellKey = (i, j) => `${i}-${j}`;

// One mark for each cell that anybody linked. `shown` is a system's number, or null for all of them together.
export function marksOf(pair, shown = null) {
  const cells = new Map();
  const cell = (i, j) => {
    const place = cellKey(i, j);
    if (!cells.has(place))
      cells.set(place, {
        i,
        j,
        found: pair.systems.map(() => false),
        scores: pair.systems.map(() => null),
        gold: null,
        sure: true,
      });
    return cells.get(place);
  };
  pair.systems.forEach((system, number) => {
    for (const [i, j, score = null, sure = true] of system.links) {
      const mark = cell(i, j);
      mark.found[number] = true;
      mark.scores[number] = score;
      mark.sure &&= sure;
    }
  });
  for (const [i, j] of pair.gold?.possible ?? []) cell(i, j).gold = "possible";
  for (const [i, j] of pair.gold?.sure ?? []) cell(i, j).gold = "sure";
  const marks = [...cells.values()].map((mark) => judged(mark, shown, Boolean(pair.gold)));
  return marks.sort((one, other) => one.i - other.i || one.j - other.j);
}

function judged(mark, shown, withGold) {
  const here = shown === null ? mark.found.some(Boolean) : mark.found[shown];
  const scores = mark.scores.filter((score, number) => score !== null && (shown === null || shown === number));
  return {
    ...mark,
    kind: kindOf(mark, here, withGold),
    score: scores.length ? Math.max(...scores) : null,
    wrong: here && withGold && !mark.gold,
  };
}

// null: nothing to draw as a link, only a possible gold cell that nobody took.
function kindOf(mark, here, withGold) {
  if (!here) return mark.gold === "sure" ? "missed" : null;
  if (mark.found.length > 1) return mark.found.every(Boolean) ? "both" : mark.found[0] ? "a" : "b";
  if (!withGold) return mark.sure ? "link" : "possible";
  return mark.gold ? "hit" : "wrong";
}

// A possible link looks like one whatever else is known about it.
export const maybe = (mark) => (mark.sure || mark.kind === "missed" ? "" : " maybe");

export const KINDS = {
  link: "linked",
  possible: "possible link",
  hit: "right",
  wrong: "not in the gold",
  both: "found by both",
  a: "only A",
  b: "only B",
  missed: "gold, missed",
};

// |A ∩ S|, |A ∩ P|, |A|, |S|: the counts that the rates are made of.
export function countsOf(links, gold) {
  const sure = new Set(gold.sure.map(([i, j]) => cellKey(i, j)));
  const possible = new Set([...sure, ...gold.possible.map(([i, j]) => cellKey(i, j))]);
  const found = new Set(links.map(([i, j]) => cellKey(i, j)));
  const hits = (wanted) => [...found].filter((place) => wanted.has(place)).length;
  return [hits(sure), hits(possible), found.size, sure.size];
}

// AER, precision, recall and F1 in percent; a rate over nothing is 0.
export function ratesOf([sureHits, possibleHits, links, sure]) {
  const share = (part, whole) => (whole > 0 ? part / whole : 0);
  const precision = share(possibleHits, links);
  const recall = share(sureHits, sure);
  return {
    aer: 100 * share(links + sure - sureHits - possibleHits, links + sure),
    precision: 100 * precision,
    recall: 100 * recall,
    f1: 100 * share(2 * precision * recall, precision + recall),
  };
}

// Figures of a pair that the filters and the order go by.
export function figuresOf(pair) {
  const marks = marksOf(pair);
  const drawn = marks.filter((mark) => mark.kind);
  const scores = drawn.map((mark) => mark.score).filter((score) => score !== null);
  const given = pair.systems.map((system) => system.score).filter((score) => score !== null && score !== undefined);
  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
  return {
    words: Math.max(pair.source.length, pair.target.length),
    differences: drawn.filter((mark) => mark.kind === "a" || mark.kind === "b").length,
    errors: drawn.filter((mark) => mark.wrong || mark.kind === "missed").length,
    score: mean(given) ?? mean(scores),
    aer: pair.gold ? pair.systems.map((system) => ratesOf(countsOf(system.links, pair.gold)).aer) : null,
  };
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /\p{L}/u;

// The direction of the first letter decides, as it does in plain text.
export function directionOf(words) {
  const letter = words.join("").match(LETTER)?.[0];
  return letter && RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}

// Han characters look different in Japanese and Chinese; a language lets the browser choose the right font.
export function languageOf(words) {
  const text = words.join("");
  if (/[\u3041-\u30ff]/.test(text)) return "ja";
  if (/[\uac00-\ud7a3]/.test(text)) return "ko";
  return /[\u3400-\u9fff]/.test(text) ? "zh" : null;
}

export function percent(score) {
  return score === null || score === undefined ? "" : score.toFixed(2);
}

const possibly = (mark) => (maybe(mark) && mark.kind !== "possible" ? "possible" : "");

// Words in a line of English: those that run to the left would take the punctuation and numbers after them along.
export function isolated(words) {
  return RIGHT_TO_LEFT.test(words) ? `\u2068${words}\u2069` : words;
}

// A word and its partners, or a cell, as a sentence for the line below the picture.
export function sayWord(pair, marks, side, number) {
  const other = side === "source" ? "target" : "source";
  const partners = marks.filter((mark) => mark.kind && mark[side === "source" ? "i" : "j"] === number);
  const words = partners.map((mark) => {
    const notes = [percent(mark.score), mark.kind === "link" || mark.kind === "hit" ? "" : KINDS[mark.kind], possibly(mark)].filter(
      Boolean,
    );
    return isolated(pair[other][mark[other === "source" ? "i" : "j"]]) + (notes.length ? ` (${notes.join(", ")})` : "");
  });
  return `${isolated(pair[side][number])} → ${words.join(" · ") || "no link"}`;
}

export function sayCell(pair, marks, i, j) {
  const mark = marks.find((candidate) => candidate.i === i && candidate.j === j);
  const notes = [];
  if (mark?.kind) notes.push(percent(mark.score), KINDS[mark.kind], possibly(mark));
  if (mark?.gold) notes.push(`gold ${mark.gold}`);
  return `${isolated(pair.source[i])} – ${isolated(pair.target[j])}: ${notes.filter(Boolean).join(" · ") || "no link"}`;
}
