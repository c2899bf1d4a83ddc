import assert from "node:assert/strict";
import { test } from "node:test";
import { segment } from "../src/segment.js";
import { WordPiece } from "../src/wordpiece.js";

const pieces = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "play", "##ing", "##s", "fi", "##x", "a"];
const description = {
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 10,
    vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
  },
  normalizer: { type: "NFKC" },
  pre_tokenizer: { type: "WhitespaceSplit" },
  added_tokens: [{ id: 0, content: "[PAD]" }, { id: 2, content: "[SEP]" }],
  post_processor: {
    single: [{ SpecialToken: { id: "[CLS]" } }, { Sequence: { id: "A" } }, { SpecialToken: { id: "[SEP]" } }],
    special_tokens: { "[CLS]": { ids: [1] }, "[SEP]": { ids: [2] } },
  },
};

test("words are cut into the longest pieces, after NFKC, and never vanish", () => {
  const tokenizer = new WordPiece(description);
  assert.deepEqual(tokenizer.split(["playing", "plays", "ﬁx", "zebra"]).ids, [4, 5, 4, 6, 7, 8, 3]);
  assert.deepEqual(tokenizer.split(["playing", "a"]).owners, [0, 0, 1]);
  assert.deepEqual(tokenizer.cut("a\u00a0a"), [9, 9]);
  assert.deepEqual(tokenizer.cut("a[SEP]a"), [9, 2, 9]);
  assert.deepEqual(tokenizer.cut("\u3000"), [3]);
  assert.deepEqual(tokenizer.cut("a".repeat(11)), [3]);
  assert.deepEqual([tokenizer.prefix, tokenizer.suffix], [[1], [2]]);
});

test("steps before NFKC are taken, as weft's own tokenizers drop characters that cannot be seen", () => {
  const drop = { type: "Replace", pattern: { Regex: "[\\u00ad\\u200b-\\u200f]" }, content: "" };
  const normalizer = { type: "Sequence", normalizers: [drop, { type: "NFKC" }] };
  const tokenizer = new WordPiece({ ...description, normalizer });
  assert.deepEqual(tokenizer.split(["\u200fplay\u00ading\u200b", "a", "\u200b"]).ids, [4, 5, 9, 3]);
  const apart = [{ type: "NFD" }, { ...drop, pattern: { Regex: "(?<!a)\\u0300" } }, { type: "NFKC" }];
  const bare = new WordPiece({ ...description, normalizer: { type: "Sequence", normalizers: apart } });
  assert.equal(bare.normalize("\u00e0\u00e8"), "\u00e0e");
  const odd = { type: "Sequence", normalizers: [{ type: "Lowercase" }, { type: "NFKC" }] };
  assert.throws(() => new WordPiece({ ...description, normalizer: odd }), /not one of weft's/);
});

test("a tokenizer of another kind is refused with a reason", () => {
  assert.throws(() => new WordPiece({ ...description, normalizer: { type: "Lowercase" } }), /not one of weft's/);
});

test("text is split as Python splits it", () => {
  assert.deepEqual(segment("It's L'Oréal's well-known 3.5% rule."), ["It", "'s", "L'", "Oréal", "'s", "well-known", "3.5", "%", "rule", "."]);
  assert.deepEqual(segment("aujourd'hui l'homme", "fr"), ["aujourd'hui", "l'", "homme"]);
  assert.deepEqual(segment("see https://a.b/c?d=e, ok..."), ["see", "https://a.b/c?d=e", ",", "ok", "..."]);
  assert.deepEqual(segment(""), []);
});

test("unspaced scripts are cut by the dictionary of the browser and lose no character", () => {
  const words = segment("私はTシャツを買いました。");
  assert.equal(words.join(""), "私はTシャツを買いました。");
  assert.ok(words.length >= 5, `${words}`);
});
