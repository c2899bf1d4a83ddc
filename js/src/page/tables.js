// Rows of CSV, and what looks as if a file should be read in another way: the rules of Python's text/fields.py and
// text/watches.py.

const SEPARATOR = /^"?sep=([,;|\t])"?\s*$/i;
const QUOTED = /(?<=[,;]|^)"(?:[^"]|"")*"(?=[,;]|$)/gm;
const ID = /^[\p{L}\p{N}_.:/#-]*(?:\p{Nd}|[\p{L}\p{N}_][._:/#][\p{L}\p{N}_])[\p{L}\p{N}_.:/#-]*$/u;
const [FEWEST_IDS, ENOUGH_IDS, ENOUGH_LINES, A_FEW_WORDS] = [3, 20, 20, 3];
const HEADING =
  /^(?:source|target|src|tgt|trg|source_text|target_text|sentence[12]?|text|translation|original|term|id|index|arabic|chinese|czech|danish|dutch|english|finnish|french|german|greek|hebrew|hindi|hungarian|italian|japanese|korean|polish|portuguese|romanian|russian|spanish|swedish|turkish|ukrainian|vietnamese|deutsch|englisch|ar|cs|da|de|el|en|es|fi|fr|he|hi|hu|it|ja|ko|nl|pl|pt|ro|ru|sv|tr|uk|vi|zh)$/i;
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

// What to say of a table whose first columns hold no sentences; `rows` are those that hold a pair.
export function doubtsOf(name, rows) {
  const doubts = [];
  const names = (rows[0] ?? []).slice(0, 2).map((cell) => cell.trim());
  if (names.length && names.every((cell) => HEADING.test(cell)))
    doubts.push(`${name}:1: this looks like a line of column names (${names.join(", ")}), but is read as a sentence pair.`);
  const ids = idsOf(rows);
  if (ids.length >= FEWEST_IDS)
    doubts.push(`${name}: the first column looks like ids (${ids.slice(0, 3).join(", ")}, ...), but is read as the source sentences.`);
  return doubts;
}

// A column holds ids if many rows begin with different ones and nothing else comes first, a line of headings aside.
function idsOf(rows) {
  const seen = new Set();
  let headings = false;
  for (const [first] of rows) {
    if (seen.size >= ENOUGH_IDS) break;
    if (!seen.has(first) && ID.test(first)) seen.add(first);
    else if (seen.size || headings) return [];
    else headings = true;
  }
  return [...seen];
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
