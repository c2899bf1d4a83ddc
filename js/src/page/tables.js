// Rows of CSV, and what looks as if a file should be read in another way: the rules of Python's text/fields.py and
// text/watches.py.
import { mayNameColumns, nameColumns } from "./headings.js";

const SEPARATOR = /^"?sep=([,;|\t])"?\s*$/i;
const QUOTED = /(?<=[,;]|^)"(?:[^"]|"")*"(?=[,;]|$)/gm;
const OWN_COLUMNS = new Set(["count", "target_given_source", "source_given_target", "line", "source_example", "target_example"]);
const ID = /^[\p{L}\p{N}_.:/#-]*(?:\p{Nd}|[\p{L}\p{N}_][._:/#][\p{L}\p{N}_])[\p{L}\p{N}_.:/#-]*$/u;
const [FEWEST_IDS, FEWEST_IDS_OF_MANY_COLUMNS, ENOUGH_IDS, ENOUGH_LINES, A_FEW_WORDS] = [3, 2, 20, 20, 3];
const [FEWEST_COLUMNS, FEWEST_ROWS, MOST_OF_NAMES] = [3, 3, 80];
const LONG = /[\u0e00-\u0e7f]{16}|[\u3040-\u9fff]{10}|\p{L}{2}[,;]$|[\u3040-\u9fff][\u3001\uff0c]./u;
const STOPPED = /\p{L}{2}[.!?]$|[\u3040-\u9fff][\u3002\uff01\uff1f]$/u;
const WITHOUT_BLANKS = /^[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff]{5,}$/;

// The rows of a table, each a list of cells or null for a line that only says what separates them. A quoted cell may
// hold separators and line ends.
export function tableRows(text, given = null) {
  const [first, ...rest] = text.split("\n");
  const told = given ? null : SEPARATOR.exec(first);
  if (told) return [null, ...tableRows(rest.join("\n"), told[1])];
  const separator = given ?? separatorOf(text.split("\n").find((line) => line.trim()) ?? "");
  return rowsOf(text, separator);
}

function separatorOf(line) {
  const between = line.replace(QUOTED, "");
  return between.split(";").length > between.split(",").length ? ";" : ",";
}

function rowsOf(text, separator) {
  const rows = [[""]];
  let quoted = false;
  for (let k = 0; k < text.length; k++) {
    const row = rows.at(-1);
    const letter = text[k];
    if (quoted && letter === '"' && text[k + 1] === '"') row[row.length - 1] += text[++k];
    else if (letter === '"' && (quoted || row.at(-1) === "")) quoted = !quoted;
    else if (quoted) row[row.length - 1] += letter === "\n" ? " " : letter;
    else if (letter === separator) row.push("");
    else if (letter === "\n") rows.push([""]);
    else row[row.length - 1] += letter;
  }
  if (quoted) throw new Error("a quoted cell never ends.");
  return rows;
}

// Whether a row names columns exactly as weft does in tables that it writes.
export function areOwnNames([source, target, ...others]) {
  return source === "source" && target === "target" && others.every((name) => OWN_COLUMNS.has(name));
}

// What to say of a table whose first columns hold no sentences; `rows` are those that hold a pair.
export function doubtsOf(name, rows) {
  const doubts = [];
  const [first = [], ...others] = rows;
  const isNamed = nameColumns(first);
  const hasNames = isNamed || (mayNameColumns(first) && textStandsBelow(first, others.slice(0, ENOUGH_LINES)));
  if (hasNames)
    doubts.push(`${name}:1: this looks like a line of column names (${listed(first)}), but is read as a sentence pair.`);
  const ids = hasNames && first.length >= FEWEST_COLUMNS ? [] : idsOf(rows);
  if (ids.length)
    doubts.push(`${name}: the first column looks like ids (${ids.slice(0, 3).join(", ")}, ...), but is read as the source sentences.`);
  return doubts;
}

function listed(names) {
  const text = names.map((name) => name.trim()).join(", ");
  return text.length > MOST_OF_NAMES ? `${text.slice(0, MOST_OF_NAMES)}…` : text;
}

// Single words are names of columns if longer text stands below, and none of them again.
function textStandsBelow(names, rows) {
  if (rows.some((row) => names.some((name, column) => row[column]?.trim() === name.trim()))) return false;
  const withText = rows.filter((row) => row.slice(0, 2).some((cell) => cell.trim().includes(" ")));
  return rows.length >= FEWEST_ROWS && 2 * withText.length > rows.length;
}

// A column holds ids if many rows begin with different ones and nothing else comes first, a line of headings aside.
function idsOf(rows) {
  const seen = new Set();
  let headings = false;
  let columns = 0;
  for (const [first, ...others] of rows) {
    if (seen.size >= ENOUGH_IDS) break;
    if (!seen.has(first) && ID.test(first)) {
      seen.add(first);
      columns = 1 + others.length;
    } else if (seen.size || headings) return [];
    else headings = true;
  }
  return seen.size >= (columns >= FEWEST_COLUMNS ? FEWEST_IDS_OF_MANY_COLUMNS : FEWEST_IDS) ? [...seen] : [];
}

// Whether most of the first pairs of texts have a word that should be several.
export function isUnsplit(texts) {
  const looked = texts.slice(0, ENOUGH_LINES);
  const found = looked.filter(([one, other]) => hasLongWord(one, other) || hasLongWord(other, one));
  return 2 * found.length > looked.length;
}

function hasLongWord(text, other) {
  const [words, others] = [text, other].map((side) => side.split(/\s+/).filter(Boolean));
  if (words.length === 1 && others.length >= A_FEW_WORDS && WITHOUT_BLANKS.test(words[0])) return true;
  return words.length > 0 && (STOPPED.test(words.at(-1)) || words.some((word) => LONG.test(word)));
}
