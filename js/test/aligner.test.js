import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { Aligner } from "../src/index.js";

const folder = new URL("../../src/weft/models/weft-mini/", import.meta.url);
const json = async (name) => JSON.parse(await readFile(new URL(name, folder)));
let aligner, model;

before(async () => {
  const settings = await json("weft.json");
  model = { graph: await readFile(new URL("model.onnx", folder)), tokenizer: await json("tokenizer.json"), settings };
  aligner = await Aligner.load({ model });
});

test("links and probabilities of one pair", async () => {
  const { links, score } = await aligner.align("das ist gut", "that is good");
  assert.deepEqual(links.map(([i, j]) => [i, j]), [[0, 0], [1, 1], [2, 2]]);
  assert.ok(links.every(([, , probability]) => probability > 0.8 && probability <= 1));
  assert.ok(score > 0.8);
});

test("an empty side has no links; words are separated by blanks and tabs alone", async () => {
  assert.deepEqual((await aligner.align("", "that")).links, []);
  assert.deepEqual((await aligner.align("a\u00a0b\tc  d", "x")).source, ["a\u00a0b", "c", "d"]);
});

test("blank words have no links, and count nowhere", async () => {
  const plain = await aligner.align(["das", "ist", "gut"], ["that", "is", "good"]);
  const blanks = await aligner.align(["das", "", " ", "ist", "gut"], ["\n", "that", "is", "good", "\u00a0"]);
  assert.deepEqual(blanks.links.map(([i, j]) => [i, j]), [[0, 1], [3, 2], [4, 3]]);
  assert.deepEqual([blanks.score, blanks.unknown], [plain.score, 0]);
  assert.deepEqual((await aligner.align(["", " "], ["that"])).links, []);
});

test("sentences of any length are read", async () => {
  const words = Array.from({ length: 90 }, () => ["das", "ist", "gut"]).flat();
  const { links } = await aligner.align(words, words);
  assert.ok(links.some(([i]) => i > 250));
});

test("what is no sentence is named with its side and row", async () => {
  const expected = "expected a sentence as a string or a list of words, found";
  await assert.rejects(aligner.align("a", null), new TypeError("`target`: " + `${expected} null.`));
  await assert.rejects(aligner.align(7, "a"), new TypeError("`source`: " + `${expected} 7.`));
  await assert.rejects(aligner.align(undefined, "a"), new TypeError("`source`: " + `${expected} undefined.`));
  await assert.rejects(aligner.align("a", ["b", null]), /`target`: expected .* found \["b",null\]\.$/);
  const batch = aligner.alignBatch([["a", "b"], ["a", null]]);
  await assert.rejects(batch, new TypeError("row 1 of `pairs`, target: " + `${expected} null.`));
  await assert.rejects(aligner.alignBatch(["ab"]), /^TypeError: row 0 of `pairs`: expected \[sentence, translation\], found "ab"\.$/);
  assert.deepEqual((await aligner.align(new Set(["a", "b"]), "x")).source, ["a", "b"]);
});

test("settings that are not there are named", async () => {
  await assert.rejects(aligner.align("a", "b", { method: "ot" }), /the method ot is not there/);
  await assert.rejects(aligner.align("a", "b", { treshold: 1 }), /no setting called treshold/);
});

test("another method forgets the calibration; a larger threshold takes links away", async () => {
  const pair = ["der alte Mann schläft im Garten", "the old man sleeps in the garden"];
  const [all, few] = [await aligner.align(...pair, { method: "softmax" }), await aligner.align(...pair, { threshold: 0.9999 })];
  assert.ok(all.links.length > few.links.length);
});

// Rows longer than the graph has positions are not for weft's own encoder, whatever happens then.
const unfit = () => ({ ...model, settings: { ...model.settings, max_length: 129 } });

test("graphs of another kind need onnxruntime-web, and give what it gives", async (context) => {
  await assert.rejects(Aligner.load({ model: unfit() }), /this model needs onnxruntime-web/);
  const runtime = await import("onnxruntime-web/wasm").catch(() => null);
  if (!runtime) return context.skip("the packages of js/ are not installed: npm ci --prefix js");
  const other = await Aligner.load({ model: unfit(), runtime: () => runtime });
  const pair = ["der alte Mann schläft im Garten", "the old man sleeps in the garden"];
  const links = async (some) => (await some.align(...pair)).links.map(([i, j]) => [i, j]);
  assert.deepEqual(await links(other), await links(aligner));
});

test("subwords that a graph does not have are told", async () => {
  await assert.rejects(aligner.encoder.model.run([[1], [1e6]]), /its tokenizer has more subwords than its graph/);
});
