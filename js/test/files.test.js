import assert from "node:assert/strict";
import { test } from "node:test";
import { readFiles, writeFile } from "../src/page/files.js";

const file = (text, name = "pairs.txt", encoding = "utf8") => ({ name, content: Buffer.from(text, encoding).toString("base64") });
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
  assert.throws(() => readFiles({ files: [{ name: "a.gz", content: "H4sI/w==" }] }), /a.gz is not plain text. .* UTF-8 or UTF-16: .* use weft serve/);
  assert.throws(() => readFiles({ files: [file("PK\x03\x04\0\0", "a.docx")] }), /a.docx is not plain text/);
  const windows = btoa("Die T\xfcr f\xe4llt zu.;The door closes.\r\n");
  assert.throws(() => readFiles({ files: [{ name: "a.csv", content: windows }] }), /a.csv is not in UTF-8. Save it as “CSV UTF-8”/);
  assert.throws(() => readFiles({ files: [file('\ufeff<?xml version="1.0"?>\n<tmx>', "a.tmx", "utf16le")] }), /a.tmx is XML. .* use weft serve/);
  assert.throws(() => readFiles({ files: [file("nothing\nhere\n", "a.txt")] }), /a.txt contains no sentence pairs. .* CSV or JSONL/);
  assert.throws(() => readFiles({ files: [file('{"source": \n', "x.jsonl")] }), /x.jsonl:1 is not JSON/);
});

test("CSV is read with commas, semicolons, quotes and line ends in cells", () => {
  const expected = [["Hallo, Welt", "Hello; world"], ["er sagt \"ja\"", "he says yes"]];
  for (const text of [
    '"Hallo, Welt",Hello; world\r\n"er sagt ""ja""","he says\r\nyes"\r\n',
    'Hallo, Welt;"Hello; world";;\n"er sagt ""ja""";he says yes;;\n',
    'sep=|\nHallo, Welt|Hello; world\n"er sagt ""ja"""|he says yes\n',
  ]) {
    const { pairs } = readFiles({ files: [file(text, "table.csv")] });
    assert.deepEqual(pairs.filter((pair) => !pair.problem).map(words), expected, text);
  }
  assert.throws(() => readFiles({ files: [file('a,"b\n', "table.csv")] }), /table.csv: a quoted cell never ends/);
});

test("UTF-16 is known by its mark, and quotes of a spreadsheet are taken off", () => {
  const { pairs } = readFiles({ files: [file('\ufeffja\t"a ""b"""\r\n', "table.txt", "utf16le")] });
  assert.deepEqual(pairs.map(words), [["ja", 'a "b"']]);
});

test("words that a file lists are known from text that is not split", () => {
  const raw = readFiles({ files: [file("Er ist da.\tHe is here.\nja\tyes\nGut.\tGood.\n")] });
  assert.deepEqual([raw.unsplit, raw.listed], [true, []]);
  const listed = readFiles({ files: [file('{"source": ["da."], "target": ["here."]}\n', "a.jsonl")] });
  assert.deepEqual([listed.unsplit, listed.listed], [false, [true]]);
});
