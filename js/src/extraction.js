// Hidden states to links: dot products, shares in both directions against a null, words and probabilities.

const NULL_TEMPERATURE = 4; // as in Python's extraction/words.py

// The usual thresholds of the methods there are here.
export const METHODS = { softmax: 0.001, entmax: 0, geometric: 0.15 };
export const SYMMETRIZATIONS = ["intersection", "union", "forward", "backward"];

// Links [source word, target word, score] in order, and with a null the pair's support. `sides` hold states and the
// word of each subword.
export function linksOf(sides, width, settings) {
  const [source, target] = sides;
  const products = dotProducts(source.states, target.states, width);
  const [n, m] = [source.owners.length, target.owners.length];
  const found = (rows, columns, product, owners) => {
    const given = shares(rows, columns, product, settings);
    return settings.method === "geometric" ? summedOverWords(given, owners) : given;
  };
  const forward = found(n, m, (i, j) => products[i * m + j], target.owners);
  const backward = found(m, n, (j, i) => products[i * m + j], source.owners);
  const support = settings.null === null ? null : supportOf(products, n, m, settings.null);
  const scoreOf = support === null ? rawScores(products, n, m) : scoresAgainstNull(products, settings.null, support);
  const best = new Map();
  const words = target.owners[m - 1] + 1;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++)
      if (isLinked(forward[i * m + j], backward[j * n + i], settings)) {
        const key = source.owners[i] * words + target.owners[j];
        best.set(key, Math.max(best.get(key) ?? 0, scoreOf(i * m + j)));
      }
  const keys = [...best.keys()].sort((a, b) => a - b);
  const score = (key) => rounded(calibrated(best.get(key), settings));
  return { links: keys.map((key) => [Math.floor(key / words), key % words, score(key)]), support };
}

// The pair's score is its support; without a null, the mean link probability times the share of words that have a link.
export function pairScore(links, nWords, support) {
  if (support !== null) return rounded(support);
  if (!links.length) return 0;
  const mean = links.reduce((sum, link) => sum + link[2], 0) / links.length;
  const linked = new Set(links.map((link) => link[0])).size + new Set(links.map((link) => link[1])).size;
  return rounded(mean * (linked / nWords));
}

// Links whose probabilities are lowered, because much of what they link could not be read.
export function lowered(links, share) {
  return links.map(([source, target, score]) => [source, target, rounded(share * score)]);
}

function dotProducts(source, target, width) {
  const [n, m] = [source.length / width, target.length / width];
  const products = new Float64Array(n * m);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let k = 0, a = i * width, b = j * width; k < width; k++) sum += source[a + k] * target[b + k];
      products[i * m + j] = sum;
    }
  return products;
}

function isLinked(there, back, { method, threshold, symmetrize }) {
  if (method === "geometric") return Math.sqrt(there * back) > threshold;
  if (symmetrize === "union") return there > threshold || back > threshold;
  if (symmetrize === "forward") return there > threshold;
  return symmetrize === "backward" ? back > threshold : there > threshold && back > threshold;
}

// The share that each subword gives to each of the other side's.
function shares(rows, columns, product, { method, alpha, null: nothing }) {
  const found = new Float64Array(rows * columns);
  const scores = new Float64Array(columns + (nothing === null ? 0 : 1));
  if (nothing !== null) scores[columns] = nothing;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) scores[j] = product(i, j);
    const given = method !== "entmax" || alpha === 1 ? softmax(scores) : entmax(scores, alpha);
    for (let j = 0; j < columns; j++) found[i * columns + j] = given[j];
  }
  return found;
}

// Every share becomes the sum over the subwords of its word; a row has one share for each subword in `owners`.
function summedOverWords(given, owners) {
  const summed = new Float64Array(given.length);
  for (let row = 0; row < given.length; row += owners.length)
    for (let first = 0, next; first < owners.length; first = next) {
      let sum = 0;
      for (next = first; next < owners.length && owners[next] === owners[first]; next++) sum += given[row + next];
      summed.fill(sum, row + first, row + next);
    }
  return summed;
}

export function softmax(scores) {
  const peak = Math.max(...scores);
  const exponentials = Array.from(scores, (score) => Math.exp(score - peak));
  const total = exponentials.reduce((sum, value) => sum + value, 0);
  return exponentials.map((value) => value / total);
}

// α-entmax: p = max((α - 1) z - τ, 0) ^ (1 / (α - 1)) with the τ that makes it sum to 1; with the largest z at 0, τ lies
// between -1 and 0.
export function entmax(scores, alpha) {
  const peak = Math.max(...scores);
  const scaled = Array.from(scores, (score) => (score - peak) * (alpha - 1));
  const share = (value, tau) => (value > tau ? (value - tau) ** (1 / (alpha - 1)) : 0);
  const tau = alpha === 1.5 ? closedThreshold(scaled) : bisectedThreshold(scaled, share);
  return scaled.map((value) => share(value, tau));
}

// α = 1.5: sorted downwards, the first k are the support if the τ they alone would have is not above the k-th.
function closedThreshold(values) {
  const ordered = values.filter((value) => value > -1).sort((a, b) => b - a);
  let [sum, squares, tau] = [0, 0, -1];
  for (let k = 0; k < ordered.length; k++) {
    sum += ordered[k];
    squares += ordered[k] ** 2;
    const mean = sum / (k + 1);
    const candidate = mean - Math.sqrt(Math.max(0, (1 - (squares - (k + 1) * mean ** 2)) / (k + 1)));
    if (candidate > ordered[k]) break;
    tau = candidate;
  }
  return tau;
}

function bisectedThreshold(values, share) {
  let [low, high] = [-1, 0];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    const total = values.reduce((sum, value) => sum + share(value, middle), 0);
    if (total > 1) low = middle;
    else high = middle;
  }
  return low;
}

function scoresAgainstNull(products, nothing, support) {
  const share = Math.sqrt(support);
  return (cell) => (share * (1 + Math.tanh((products[cell] - nothing) / (2 * NULL_TEMPERATURE)))) / 2;
}

// The share of subwords that choose a partner rather than the null: the mean of both sides.
function supportOf(products, n, m, nothing) {
  const chosen = (count, length, product) => {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const scores = Float64Array.from({ length: length + 1 }, (_, j) => (j < length ? product(i, j) : nothing));
      sum += 1 - softmax(scores)[length];
    }
    return sum / count;
  };
  return (chosen(n, m, (i, j) => products[i * m + j]) + chosen(m, n, (j, i) => products[i * m + j])) / 2;
}

// The harmonic mean of both directions' softmax, tempered by the other side's length.
function rawScores(products, n, m) {
  const there = Array.from({ length: n }, (_, i) => softmax(products.slice(i * m, (i + 1) * m).map((x) => x / m ** 0.5)));
  const back = Array.from({ length: m }, (_, j) =>
    softmax(Float64Array.from({ length: n }, (_, i) => products[i * m + j] / n ** 0.5)),
  );
  return (cell) => {
    const [i, j] = [Math.floor(cell / m), cell % m];
    return (2 * there[i][j] * back[j][i]) / (there[i][j] + back[j][i] + 1e-9);
  };
}

function calibrated(raw, { calibration }) {
  if (!calibration) return raw;
  const { scores, probabilities } = calibration;
  const above = scores.findIndex((score) => score > raw);
  if (above === 0) return probabilities[0];
  if (above < 0) return probabilities.at(-1);
  const share = (raw - scores[above - 1]) / (scores[above] - scores[above - 1]);
  return probabilities[above - 1] + share * (probabilities[above] - probabilities[above - 1]);
}

function rounded(value) {
  return Math.round(value * 1e6) / 1e6;
}
