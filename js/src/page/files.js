// Files that the app opens and saves, read and written in the page: pairs as bars, TSV, CSV or JSONL, links as Pharaoh,
// talp, NAACL or JSONL. What is compressed, or XML, is for `weft serve`.
import { areOwnNames, doubtsOf, isUnsplit, tableRows } from "./tables.js";

const BARS = /(?<=^|[ \t])\|\|\|(?=$|[ \t])/;
const READS =
  "This page reads plain text in UTF-8 or UTF-16: 'source ||| target' lines, TSV, CSV or JSONL. For compressed files, TMX and " +
  "XLIFF, use weft serve.";
const LINK = /^(\d+)([-p])(\d+)(?::([\d.eE+-]+))?$/;

// What `POST api/files/read` answers: { pairs, links, scores, base, listed, unsplit, remarks }.
export function readFiles({ files, pairs: known }) {
  const texts = files.map(({ name, content }) => ({ name, ...linesOf(name, content) }));
  if (texts.length === 2) return parallel(texts);
  const [{ name, lines, isWide }] = texts;
  if (lines.some((line) => line.trim().startsWith("{"))) return fromJsonl(name, lines);
  if (lines.every((line) => line.split(/[ \t]+/).filter(Boolean).every((item) => LINK.test(item))))
    return onlyLinks(lines.map((line) => line.split(/[ \t]+/).filter(Boolean).map(readLink)), known);
  if (known && lines.every((line) => !line || /^\d+ \d+ \d+( [SP])?( [\d.]+)?$/.test(line)))
    return onlyLinks(fromNaacl(lines, known.length), known, 1);
  const first = lines.find((line) => line.includes("\t") || BARS.test(line)) ?? "";
  const isTsv = /\.tsv$/i.test(name) && first.includes("\t");
  if (BARS.test(first) && !isTsv) return onlyPairs(name, lines.map((line) => pairOf(line.split(BARS), 2)));
  return fromTable(name, cellsOf(name, lines, isWide));
}

// The rows of a table. What is in UTF-16 and has tabs comes from a spreadsheet, which puts quotes around cells.
function cellsOf(name, lines, isWide) {
  const hasTabs = lines.find((line) => line.trim())?.includes("\t");
  if (hasTabs && !isWide) return lines.map((line) => line.split("\t"));
  if (!hasTabs && !/\.csv$/i.test(name)) return lines.map((line) => [line]);
  try {
    return tableRows(lines.join("\n"), hasTabs ? "\t" : null);
  } catch (error) {
    throw new Error(`${name}: ${error.message}`);
  }
}

function fromTable(name, rows) {
  const names = rows.find((cells) => cells?.some((cell) => cell.trim()));
  const pairs = rows.map((cells) => {
    if (!cells) return { ...pairOf([]), problem: "the line names the separator" };
    if (cells === names && areOwnNames(cells)) return { ...pairOf([]), problem: "the line names the columns" };
    return pairOf(cells.slice(0, 2));
  });
  const remarks = doubtsOf(name, rows.filter((cells, number) => !pairs[number].problem));
  return { ...onlyPairs(name, pairs), remarks };
}

// What `POST api/files/write` answers: the text of a file.
export function writeFile({ format, pairs }) {
  if (!(format in WRITERS)) throw new Error(`${format} cannot be written here.`);
  return pairs.map((pair, number) => `${WRITERS[format](pair, number + 1)}\n`).join("");
}

const WRITERS = {
  pharaoh: ({ links }) => links.map(([i, j]) => `${i}-${j}`).join(" "),
  talp: ({ links }) =>
    links.map(([i, j, score, sure]) => `${i}${sure === false ? "p" : "-"}${j}${score == null ? "" : `:${score}`}`).join(" "),
  naacl: ({ links }, number) =>
    links.map(([i, j, score, sure]) => naaclLine([number, i + 1, j + 1, sure === false ? "P" : "S"], score)).join("\n") ||
    `${number} 0 0`,
  jsonl: ({ source, target, links }) => {
    const item = ([i, j, score]) => (score == null ? [i, j] : [i, j, score]);
    const possible = links.filter(([, , , sure]) => sure === false).map(item);
    const sure = links.filter(([, , , isSure]) => isSure !== false).map(item);
    return JSON.stringify({ source, target, links: sure, ...(possible.length ? { possible } : {}) });
  },
};

function naaclLine(fields, score) {
  return [...fields, ...(score == null ? [] : [score])].join(" ");
}

function linesOf(name, content) {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  // UTF-16 is known by its byte order mark.
  const wide = { "255,254": "utf-16le", "254,255": "utf-16be" }[String(bytes.slice(0, 2))];
  const text = decoded(bytes, wide ?? "utf-8");
  // What spreadsheets call plain CSV is in the encoding of a region, with letters that are not UTF-8.
  if (text === null && !bytes.some(isControl)) throw new Error(`${name} is not in UTF-8. Save it as “CSV UTF-8”, or as text in UTF-8.`);
  if (text === null || text.includes("\0")) throw new Error(`${name} is not plain text. ${READS}`);
  if (/^\s*<(\?xml|tmx|xliff)\b/.test(text)) throw new Error(`${name} is XML. ${READS}`);
  return { lines: text.replace(/\r?\n$/, "").split(/\r?\n/), isWide: Boolean(wide) };
}

// What text does not have: control characters but tabs, line ends and escapes.
function isControl(byte) {
  return byte < 9 || (byte > 13 && byte < 32 && byte !== 27);
}

function decoded(bytes, encoding) {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function wordsOf(text) {
  return (text ?? "").split(/[ \t]+/).filter(Boolean);
}

function problemOf({ length }, most) {
  if (length < 2) return "the line has no separator";
  return length > most ? "the line has more than one separator" : "";
}

function pairOf(sides, most = Infinity) {
  const [source, target] = [wordsOf(sides[0]), wordsOf(sides[1])];
  const problem = problemOf(sides, most) || (source.length && target.length ? "" : "one side is empty");
  return problem ? { source: [], target: [], problem } : { source, target, problem };
}

function onlyPairs(name, pairs) {
  if (pairs.every((pair) => pair.problem)) throw new Error(`${name} contains no sentence pairs. ${READS}`);
  const nothing = pairs.map(() => null);
  return { pairs, links: nothing, scores: nothing, base: 0, listed: [], unsplit: unsplit(pairs), remarks: [] };
}

function unsplit(pairs) {
  return isUnsplit(pairs.filter((pair) => !pair.problem).map(({ source, target }) => [source.join(" "), target.join(" ")]));
}

function parallel([first, second]) {
  if (first.lines.length !== second.lines.length)
    throw new Error(`${first.name} has ${first.lines.length} lines, ${second.name} ${second.lines.length}.`);
  return onlyPairs(first.name, first.lines.map((line, number) => pairOf([line, second.lines[number]])));
}

function readLink(item) {
  const [, source, mark, target, score] = LINK.exec(item);
  return [Number(source), Number(target), score === undefined ? null : Number(score), mark === "-"];
}

function fromNaacl(lines, count) {
  const rows = Array.from({ length: count }, () => []);
  for (const line of lines.filter(Boolean)) {
    const [number, source, target, mark = "S", score = null] = line.split(" ");
    if (source !== "0" && target !== "0")
      rows[number - 1]?.push([Number(source), Number(target), score === null ? null : Number(score), mark !== "P"]);
  }
  return rows;
}

// Gold that never names word 0 and goes beyond the end of a sentence counts from 1.
function onlyLinks(rows, known, given = null) {
  const all = rows.flatMap((row, number) => row.map((link) => [link, known?.[number]]));
  const beyond = all.some(([[i, j], pair]) => pair && (i >= pair.source.length || j >= pair.target.length));
  const base = given ?? (beyond && all.every(([[i, j]]) => i > 0 && j > 0) ? 1 : 0);
  const links = rows.map((row) => row.map(([i, j, ...rest]) => [i - base, j - base, ...rest]));
  return { pairs: [], links, scores: rows.map(() => null), base };
}

function fromJsonl(name, lines) {
  const records = lines.map((line, number) => {
    try {
      return line.trim() ? JSON.parse(line) : {};
    } catch {
      throw new Error(`${name}:${number + 1} is not JSON.`);
    }
  });
  const side = (value) => (Array.isArray(value) ? value : wordsOf(value));
  const pairs = records.map(({ source, target }) => ({ source: side(source), target: side(target), problem: "" }));
  for (const pair of pairs) if (!pair.source.length || !pair.target.length) pair.problem = "one side is empty";
  const listed = records.map(({ source }) => Array.isArray(source));
  const link = (sure) => ([i, j, score = null]) => [i, j, score, sure];
  const links = records.map(({ links: sure, possible }) =>
    sure ? [...sure.map(link(true)), ...(possible ?? []).map(link(false))] : null,
  );
  const scores = records.map(({ score }) => score ?? null);
  return { pairs, links, scores, base: 0, listed, unsplit: unsplit(pairs.filter((pair, k) => !listed[k])), remarks: [] };
}
