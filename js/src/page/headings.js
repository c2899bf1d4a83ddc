// Whether the first row of a table names its columns: the words and rules of Python's text/headings.py.

export const LANGUAGES = wordsOf(`
  afrikaans albanian arabic armenian basque bengali bulgarian catalan chinese croatian czech danish dutch english
  estonian finnish french galician georgian german greek hebrew hindi hungarian icelandic indonesian irish italian
  japanese korean latin latvian lithuanian malay norwegian persian polish portuguese romanian russian serbian slovak
  slovenian spanish swahili swedish tamil thai turkish ukrainian urdu vietnamese welsh deutsch englisch französisch
  italienisch spanisch portugiesisch niederländisch polnisch tschechisch russisch ukrainisch türkisch chinesisch
  japanisch koreanisch arabisch schwedisch dänisch norwegisch finnisch ungarisch rumänisch griechisch français anglais
  allemand espagnol italien portugais néerlandais polonais russe chinois japonais español inglés alemán francés
  italiano portugués inglese tedesco francese spagnolo nederlands engels duits frans português polski angielski
  niemiecki čeština русский английский немецкий українська türkçe svenska dansk norsk suomi magyar română 中文 英文 日文 日本語
  英語 한국어
`);
export const CODES = wordsOf(`
  ar bg bn cs da de el en es et fa fi fr he hi hr hu it ja ko lt lv nb nl pl pt ro ru sk sl sr sv th tr uk vi zh deu
  eng fra ger ita spa
`);
export const SIDES = wordsOf(`
  source target src tgt trg original translation text texts sentence segment term ausgangstext zieltext quelltext
  übersetzung traduction traducción traduzione vertaling tradução перевод 原文 译文 訳文
`);
export const OTHERS = wordsOf(`
  id ids index key nr no num number name comment comments note notes context domain subject date score status category
  topic type speaker file line language lang locale code definition description example customer kunde kommentar
  bemerkung kontext fachgebiet datum sprache
`);
const KNOWN = new Set([...LANGUAGES, ...CODES, ...SIDES, ...OTHERS]);
const OF_LANGUAGES = new Set(["language", "lang", "locale", "code", "sprache"]);
const MOST_WORDS = 3;
const WORD = /\p{L}+/gu;
const NAME = /^[\p{L}\p{N}_\s/:-]+$/u;
const IN_BRACKETS = /\s*[([][^)\]]*[)\]]$/;
const LOCALE = /^([a-z]{2,3})[-_](?:[a-z]{2}|[a-z]{4}|[0-9]{3})$/;
const PLAIN_NAME = /^\p{L}(?:\p{L}|[_-](?=\p{L}))+$/u;
const FEWEST_COLUMNS = 3;
const [NONE, OTHER, TEXT] = [0, 1, 2];

// Whether all that is known of a row is in words that people call columns by.
export function nameColumns(cells) {
  const firstTwo = cells.slice(0, 2).map(kindOf);
  if (cells.length > 1 && firstTwo.every(Boolean) && firstTwo.includes(TEXT)) return true;
  return new Set(cells.filter((cell) => kindOf(cell) === TEXT).map((cell) => cell.trim())).size > 1;
}

// Whether a row of three or more cells has a single word in each, and no word twice: names, or very short text.
export function mayNameColumns(cells) {
  const distinct = new Set(cells.map(lower)).size === cells.length;
  return distinct && cells.length >= FEWEST_COLUMNS && cells.every((cell) => PLAIN_NAME.test(cell.trim()));
}

// What a cell names: a column of text, another one, or nothing that is known.
function kindOf(cell) {
  const name = lower(cell).replace(IN_BRACKETS, "");
  if (CODES.has(LOCALE.exec(name)?.[1])) return TEXT;
  const words = [...new Set(name.match(WORD))];
  if (!words.length || words.length > MOST_WORDS || !words.every((word) => KNOWN.has(word)) || !NAME.test(name)) return NONE;
  if (words.length > 1 && words.every((word) => CODES.has(word))) return NONE;
  return words.some((word) => !OTHERS.has(word)) && !words.some((word) => OF_LANGUAGES.has(word)) ? TEXT : OTHER;
}

function lower(cell) {
  return cell.trim().toLowerCase();
}

function wordsOf(text) {
  return new Set(text.split(/\s+/).filter(Boolean));
}
