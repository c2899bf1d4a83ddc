import assert from "node:assert/strict";
import { test } from "node:test";
import { readFiles, writeFile } from "../src/page/files.js";

const file = (text, name = "pairs.txt") => ({ name, content: Buffer.from(text).toString("base64") });
const words = ({ source, target }) => [source.join(" "), target.join(" ")];

test("pairs are read from bars, columns and two files; a bad line keeps its place", () => {
  for (const files of [
    [file("das ist ||| that is\nnichts\nja ||| yes\n")],
    [file("das ist\tthat is\nnichts\nja\tyes\n")],
    [file("das ist\r\n\r\nja\r\n"), file("that is\nnothing\nyes\n")],
  ]) {
    const { pairs, links } = readFiles({ files });
    assert.deepEqual(pairs.map(words), [["das ist", "that is"], ["", ""], ["ja", "yes"]]);
    assert.notEqual(pairs[1].problem, "");
    assert.deepEqual(links, [null, null, null]);
  }
});

test("gold that counts from 1 is noticed", () => {
  const pairs = [{ source: ["a", "b"], target: ["c", "d"] }];
  const { links, base } = readFiles({ files: [file("1-1 2p2\n")], pairs });
  assert.equal(base, 1);
  assert.deepEqual(links, [[[0, 0, null, true], [1, 1, null, false]]]);
});

test("what is written is read again", () => {
  const pairs = [
    { source: ["a", "b"], target: ["c", "d"], links: [[0, 0, null, true], [1, 0, null, false]] },
    { source: ["e"], target: ["f"], links: [] },
  ];
  for (const format of ["talp", "naacl", "jsonl"]) {
    const { links } = readFiles({ files: [file(writeFile({ format, pairs }))], pairs });
    assert.deepEqual(links, pairs.map((pair) => pair.links), format);
  }
  assert.equal(writeFile({ format: "pharaoh", pairs }), "0-0 1-0\n\n");
});

test("files that are no text, or no JSON, are named", () => {
  assert.throws(() => readFiles({ files: [{ name: "a.gz", content: "H4sI/w==" }] }), /a.gz is no text/);
  assert.throws(() => readFiles({ files: [file('{"source": \n', "x.jsonl")] }), /x.jsonl:1 is not JSON/);
});
