// Pairs and links as files: reading what is dropped, writing what was edited.

const LINK = /^(\d{1,6})([-p])(\d{1,6})(?::[-+.\deE]+)?$/;
const BLANKS = /[ \t]+/;

export const splitWords = (text) => text.split(BLANKS).filter(Boolean);

// What a file holds: { pairs } with texts (and links, if it has them) or { links }, one entry a line.
export function readFile(text) {
  const lines = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "") lines.pop();
  const first = lines.find((line) => line.trim());
  if (!first) throw new Error("the file is empty.");
  if (first.startsWith("{")) return readRecords(lines);
  if (
    first
      .trim()
      .split(/\s+/)
      .every((token) => LINK.test(token))
  )
    return { links: lines.map(readLinks) };
  return { pairs: lines.map(readPair).filter(Boolean) };
}

function readRecords(lines) {
  const records = lines.map((line, number) => {
    if (!line.trim()) return {};
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(`line ${number + 1} is no JSON.`);
    }
  });
  const links = records.map(linksOfRecord);
  if (!records.some((record) => record.source !== undefined)) return { links };
  const pairs = records.map((record, number) => {
    const [source, target] = ["source", "target"].map((side) => wordsOf(record[side], number));
    return { source, target, links: record.links || record.sure || record.possible ? links[number] : null };
  });
  return { pairs };
}

function wordsOf(side, number) {
  if (typeof side === "string") return splitWords(side);
  if (Array.isArray(side) && side.every((word) => typeof word === "string")) return side;
  throw new Error(`line ${number + 1} needs "source" and "target".`);
}

function linksOfRecord(record) {
  const read = (items, sure) => (Array.isArray(items) ? items : []).filter(isLink).map(([i, j]) => [i, j, null, sure]);
  return [...read(record.links, true), ...read(record.sure, true), ...read(record.possible, false)];
}

const isLink = (item) =>
  Array.isArray(item) && Number.isInteger(item[0]) && Number.isInteger(item[1]) && item[0] >= 0 && item[1] >= 0;

function readLinks(line, number) {
  return line
    .split(/\s+/)
    .filter(Boolean)
    .map((token) => {
      const match = LINK.exec(token);
      if (!match)
        throw new Error(
          `line ${number + 1} holds ${JSON.stringify(token.slice(0, 20))} where a link i-j or ipj belongs.`,
        );
      return [Number(match[1]), Number(match[3]), null, match[2] === "-"];
    });
}

function readPair(line) {
  const sides = /(^|[ \t])\|\|\|([ \t]|$)/.test(line) ? line.split(/(?:^|[ \t])\|\|\|(?:[ \t]|$)/) : line.split("\t");
  const [source, target] = sides.slice(0, 2).map(splitWords);
  return target?.length && source.length ? { source, target, links: null } : null;
}

// Links counted from 1 have no 0 and reach a sentence's length; such a file is shifted down.
export function countedFromZero(links, pairs) {
  const all = links.flat();
  const reaches = links.some((row, number) =>
    row.some(([i, j]) => i === pairs[number]?.source.length || j === pairs[number]?.target.length),
  );
  if (!reaches || all.some(([i, j]) => i === 0 || j === 0)) return links;
  return links.map((row) => row.map(([i, j, score, sure]) => [i - 1, j - 1, score, sure]));
}

export function asGold(links) {
  const places = (sure) => links.filter((link) => (link[3] ?? true) === sure).map(([i, j]) => [i, j]);
  return { sure: places(true), possible: places(false) };
}

const inOrder = (links) => [...links].sort((one, other) => one[0] - other[0] || one[1] - other[1]);

export function asJsonl(pairs) {
  return pairs
    .map((pair) => {
      const { sure, possible } = asGold(inOrder(pair.links));
      return `${JSON.stringify({ source: pair.source, target: pair.target, links: sure, ...(possible.length ? { possible } : {}) })}\n`;
    })
    .join("");
}

export function asTalp(pairs) {
  return pairs
    .map(
      (pair) =>
        `${inOrder(pair.links)
          .map(([i, j, , sure = true]) => `${i}${sure ? "-" : "p"}${j}`)
          .join(" ")}\n`,
    )
    .join("");
}
