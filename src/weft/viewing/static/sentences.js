// Two texts to pairs of sentences: which sentences of a text and its translation go together, by their lengths alone
// (Gale and Church 1993).

// How much longer or shorter a translation is, in characters, and how much that varies.
const VARIANCE = 6.8;
const STEPS = [
  [1, 1, 0.89],
  [1, 0, 0.005],
  [0, 1, 0.005],
  [2, 1, 0.0445],
  [1, 2, 0.0445],
  [2, 2, 0.011],
];

// A full stop behind these, or behind a single letter or a number of one or two digits, seldom ends a sentence: as in
// `weft/text/sentences.py`.
export const ABBREVIATIONS = new Set(
  `
  mr mrs ms dr prof st no nos vs etc cf e.g i.e eg ie jr sr gen col lt sen rep gov hon rev fig vol pp ed eds inc
  ltd co corp dept approx art abs bzw ca d.h evtl ggf hr fr nr str u.a usw vgl z.b bd sog mm mme mlle av sra
  sres ing lic dott sig avv tel tzv resp nap mgr ul tj tzn jan feb mar apr jun jul aug sep sept oct nov dec
  `.trim().split(/\s+/),
);
const LAST_WORD = /(?:^|[\s\p{Ps}\p{Pi}"'])([\p{L}.]+|\p{N}{1,2})\.[\p{Pe}\p{Pf}"']*\s*$/u;

// Two texts as pairs of paragraphs, if they have the same number of them, or else as one pair.
export function pairedParagraphs(source, target) {
  const [left, right] = [paragraphs(source), paragraphs(target)];
  if (left.length === right.length) return left.map((text, k) => [text, right[k]]);
  return left.length + right.length ? [[source, target]] : [];
}

// Pairs [source text, target text]; a side is "" where a sentence has no counterpart.
export function pairedSentences(source, target) {
  return paired(paragraphs(source).flatMap(sentences), paragraphs(target).flatMap(sentences));
}

function paragraphs(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

export function sentences(text) {
  const cutter = new Intl.Segmenter(undefined, { granularity: "sentence" });
  const found = [];
  for (const { segment } of cutter.segment(text)) {
    if (found.length && goesOn(found.at(-1))) found.push(found.pop() + segment);
    else found.push(segment);
  }
  return found.map((sentence) => sentence.trim()).filter(Boolean);
}

function goesOn(text) {
  const word = LAST_WORD.exec(text)?.[1].toLowerCase();
  return word !== undefined && (/^\p{N}+$|^\p{L}(\.\p{L})*$/u.test(word) || ABBREVIATIONS.has(word));
}

function paired(left, right) {
  if (left.length === 1 && right.length === 1) return [[left[0], right[0]]];
  const ratio = (sum(right) || 1) / (sum(left) || 1);
  // costs[i][j]: the cheapest way to pair the first i sentences with the first j.
  const costs = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(Infinity));
  const ways = costs.map((row) => row.map(() => null));
  costs[0][0] = 0;
  for (let i = 0; i <= left.length; i++)
    for (let j = 0; j <= right.length; j++)
      for (const [down, across, likely] of STEPS) {
        if (down > i || across > j) continue;
        const [a, b] = [sum(left.slice(i - down, i)), sum(right.slice(j - across, j))];
        const cost = costs[i - down][j - across] + unlikeliness(a * ratio, b) - Math.log(likely);
        if (cost < costs[i][j]) [costs[i][j], ways[i][j]] = [cost, [down, across]];
      }
  return followed(ways, left, right);
}

function followed(ways, left, right) {
  const pairs = [];
  for (let [i, j] = [left.length, right.length]; i || j; ) {
    const [down, across] = ways[i][j];
    pairs.unshift([left.slice(i - down, i).join(" "), right.slice(j - across, j).join(" ")]);
    [i, j] = [i - down, j - across];
  }
  return pairs;
}

// Minus the logarithm of how likely lengths differ that much: near enough a normal distribution's tail.
function unlikeliness(expected, found) {
  const mean = (expected + found) / 2 || 1;
  const deviations = Math.abs(found - expected) / Math.sqrt(VARIANCE * mean);
  return (deviations * deviations) / 2;
}

function sum(texts) {
  return texts.reduce((total, text) => total + text.length, 0);
}
