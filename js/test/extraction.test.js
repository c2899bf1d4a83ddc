import assert from "node:assert/strict";
import { test } from "node:test";
import { entmax, linksOf, softmax } from "../src/extraction.js";
import { phraseOf } from "../../src/weft/viewing/static/phrases.js";
import { countWindows, windows, windowsAbreast } from "../src/windows.js";

const close = (found, wanted) => found.forEach((value, k) => assert.ok(Math.abs(value - wanted[k]) < 1e-9, `${found}`));

test("entmax with alpha 1.5 and by bisection agree, sum to one and give exact zeros", () => {
  // deep-spin's entmax15([1.0, 0.5, -0.2, -3.0])
  const shares = entmax([1, 0.5, -0.2, -3], 1.5);
  close([shares.reduce((sum, share) => sum + share, 0)], [1]);
  close(shares, entmax([1, 0.5, -0.2, -3], 1.5 + 1e-12));
  assert.equal(entmax([10, 0, 0], 1.5)[1], 0);
});

test("entmax with alpha 2 is the projection onto the simplex", () => {
  close(entmax([0.5, 0.3, -1], 2), [0.6, 0.4, 0]);
});

test("softmax of equal scores is even, however large they are", () => {
  close(softmax([4000, 4000]), [0.5, 0.5]);
});

const settings = { method: "entmax", alpha: 1.5, threshold: 0, symmetrize: "intersection", null: 3, calibration: null };
const side = (rows, owners) => ({ states: Float32Array.from(rows.flat()), owners });

test("subwords link their words, the strongest subword counts, and what is below the null is not linked", () => {
  const source = side([[9, 0], [3, 0], [0, 0.1]], [0, 0, 1]);
  const target = side([[0, 0.1], [2, 0]], [0, 1]);
  const { links, support } = linksOf([source, target], 2, settings);
  assert.deepEqual(links.map(([i, j]) => [i, j]), [[0, 1]]);
  // Products by source subword: 0 and 18, 0 and 6, 0.01 and 0; the null has 3.
  const share = (...products) => 1 - softmax([...products, 3]).at(-1);
  const sides = [share(0, 18) + share(0, 6) + share(0.01, 0), share(0, 0, 0.01) + share(18, 6, 0)];
  close([support], [(sides[0] / 3 + sides[1] / 2) / 2]);
  const strongest = (Math.sqrt(support) * (1 + Math.tanh((18 - 3) / 8))) / 2;
  assert.equal(links[0][2], Math.round(strongest * 1e6) / 1e6);
});

test("the geometric mean of both directions counts, not the smaller one", () => {
  // Two source words share one target word: forward each gives it all, backward it gives each a half.
  const pair = [side([[3, 0], [3, 0]], [0, 1]), side([[3, 0]], [0])];
  const links = (threshold) => linksOf(pair, 2, { ...settings, method: "geometric", null: null, threshold }).links;
  assert.equal(links(Math.SQRT1_2 - 1e-9).length, 2);
  assert.equal(links(Math.SQRT1_2 + 1e-9).length, 0);
});

test("the geometric mean is that of words: what a subword gives to the pieces of a word is added up", () => {
  // One source word, whose only subword gives a half to each of two pieces of a target word; both give it all.
  const pair = (owners) => [side([[3, 0]], [0]), side([[3, 0], [3, 0]], owners)];
  const count = (owners) => linksOf(pair(owners), 2, { ...settings, method: "geometric", null: null, threshold: 0.9 }).links.length;
  assert.equal(count([0, 0]), 1);
  assert.equal(count([0, 1]), 0);
});

test("scores are read off the calibration's curve and stay at its ends", () => {
  const pair = [side([[3, 0]], [0]), side([[3, 0]], [0])];
  const score = (curve) => linksOf(pair, 2, { ...settings, calibration: curve }).links[0][2];
  const raw = (Math.sqrt(1 / (1 + Math.exp(3 - 9))) * (1 + Math.tanh((9 - 3) / 8))) / 2;
  assert.equal(score({ scores: [raw - 0.1, raw + 0.1], probabilities: [0.2, 0.4] }), 0.3);
  assert.equal(score({ scores: [raw + 0.1, raw + 0.2], probabilities: [0.2, 0.4] }), 0.2);
  assert.equal(score({ scores: [0, raw - 0.1], probabilities: [0.2, 0.4] }), 0.4);
});

test("windows cover a sentence without gaps", () => {
  for (const [length, size] of [[5, 8], [8, 8], [9, 8], [100, 8], [127, 126], [1000, 126]])
    for (const cut of [windows(length, size), windowsAbreast(length, size, countWindows(length, size) + 2)]) {
      assert.equal(cut[0][2], 0);
      assert.equal(cut.at(-1)[3], length);
      cut.forEach(([start, end, keepStart, keepEnd], k) => {
        assert.ok(start <= keepStart && keepStart <= keepEnd && keepEnd <= end && end - start <= size, `${cut}`);
        if (k) assert.equal(keepStart, cut[k - 1][3]);
      });
    }
});

test("a phrase grows until its links stay inside", () => {
  const links = [[0, 0], [1, 2], [2, 1], [2, 2], [4, 4]];
  assert.deepEqual(phraseOf(links, 0, 0), { source: [0, 0], target: [0, 0] });
  assert.deepEqual(phraseOf(links, 0, 1), { source: [1, 2], target: [1, 2] });
  assert.deepEqual(phraseOf(links, 1, 4), { source: [4, 4], target: [4, 4] });
  assert.equal(phraseOf(links, 0, 3), null);
});
