// Raw text to words: the rule of Python's text/segment.py. Where that asks a dictionary (Chinese, Japanese, Thai, …), the
// browser's own is asked here, so words of those scripts may end elsewhere than in Python.

const HAN = "\\u3005-\\u3007\\u3021-\\u3029\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{323af}";
const KANA = "\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fd-\\u30ff\\u31f0-\\u31ff\\uff66-\\uff6f\\uff71-\\uff9d";
const THAI = "\\u0e01-\\u0e3a\\u0e40-\\u0e4e";
const SYLLABIC =
  "\\u1000-\\u102a\\u103f-\\u1055\\u105a-\\u105d\\u1061\\u1065\\u1066\\u106e-\\u1070\\u1075-\\u1081\\u108e\\uaa60-\\uaa7a" +
  "\\u1780-\\u17b3\\u17d7\\u17dc\\u17e0-\\u17e9\\u0e81-\\u0eb0\\u0eb2\\u0eb3\\u0ebd-\\u0ec6\\u0ed0-\\u0edf" +
  "\\u0f00\\u0f0b\\u0f0c\\u0f20-\\u0f33\\u0f40-\\u0f6c\\u0f88-\\u0f8c";
const HANGUL = "\\u1100-\\u11ff\\u3131-\\u318e\\ua960-\\ua97c\\uac00-\\ud7a3\\ud7b0-\\ud7fb\\uffa1-\\uffdc";
const UNSPACED = `${HAN}${KANA}\\u30fc\\uff70\\uff9e\\uff9f${THAI}${HANGUL}${SYLLABIC}`;

const UNCUT = "\\u1950-\\u19df\\u1a20-\\u1aaf\\u1b00-\\u1b7f\\ua980-\\ua9df\\uaa00-\\uaa5f\\uaa80-\\uaadf";
const LETTER = `(?![${UNSPACED}])[\\p{L}\\p{N}]`;
const ANY_LETTER = "[\\p{L}\\p{N}]";
const ATTACHED = "(?:(?!\\u200b)[\\p{M}\\p{Cf}]|[\\u{1f3fb}-\\u{1f3ff}])";
const APOSTROPHE = "['\\u2018\\u2019\\uff07]";
const HYPHEN = "[\\-\\u2010\\u2011\\uff0d]";
const RUN = `(?:${LETTER})+(?:${ATTACHED}(?:${LETTER})*)*`;
const CLITIC = `${APOSTROPHE}(?:[sS]|[mM]|[dD]|[rR][eE]|[vV][eE]|[lL][lL])(?!${ANY_LETTER})`;
const NEVER = "(?!)";
const C_H_IN_WORD = `(?<=${ANY_LETTER}[cC])${APOSTROPHE}[hH]`;
const ELIDED =
  `(?![aA][uU][jJ][oO][uU][rR][dD]${APOSTROPHE})${RUN}(?:${HYPHEN}${RUN})*(?<!\\p{Nd})(?!${C_H_IN_WORD})` +
  `${APOSTROPHE}(?=${LETTER})`;
const ELIDED_SURELY =
  `(?:[cC](?!${APOSTROPHE}[hH])|[djlmnstDJLMNST]|[a-zA-Z]{0,5}[qQ][uU]|[uU][nN]|(?:[aA]|[cC][oO]|[dD][aA]|[dD][eE]|[nN][eE]|[qQ][uU][eE]|[sS][uU])[lL][lL])` +
  `${APOSTROPHE}(?=[aeiouyhàáâæèéêëìíîïòóôœùúûüAEIOUYHÀÁÂÆÈÉÊËÌÍÎÏÒÓÔŒÙÚÛÜ])`;
const URL_ =
  `(?:[a-zA-Z]{2,10}:\\/\\/|[wW]{3}\\.)[^\\s<>"\\u201c\\u201d«»\\u3000-\\u303f\\uff00-\\uffef${UNSPACED}]+` +
  "(?<![\\]\\[.,;:!?'\\u2019…\\(\\)\\{\\}*_~\\|])";
const EMAIL = "[a-zA-Z0-9._%+\\-]{1,64}@[a-zA-Z0-9\\-]+(?:\\.[a-zA-Z0-9\\-]+)+";

const ELIDING = new Set("fr fra fre it ita ca cat oc oci co fur ga scn vec".split(" "));
const BY_SCRIPT = [
  [new RegExp(`[${KANA}]`, "u"), "ja"],
  [new RegExp(`[${HAN}]`, "u"), "zh"],
  [new RegExp(`[${THAI}]`, "u"), "th"],
  [new RegExp("[\\u1000-\\u109f]", "u"), "my"],
  [new RegExp("[\\u1780-\\u17ff]", "u"), "km"],
  [new RegExp("[\\u0e80-\\u0eff]", "u"), "lo"],
];
const rules = new Map();

// The words of a text. `language` is a code such as "de"; without one the script decides.
export function segment(text, language = "") {
  const primary = language.trim().toLowerCase().split(/[-_]/)[0];
  const dictionary = BY_SCRIPT.find(([script]) => script.test(text))?.[1];
  const known = primary !== "" && primary !== "und" && !dictionary;
  const elided = !known ? ELIDED_SURELY : ELIDING.has(primary) ? ELIDED : NEVER;
  const clitic = !known || primary === "en" || primary === "eng" ? CLITIC : NEVER;
  return cutBy(ruleOf(elided, clitic), text, dictionary ? dictionaryCuts(text, dictionary) : new Set());
}

function dictionaryCuts(text, locale) {
  const cuts = new Set();
  for (const { index } of new Intl.Segmenter(locale, { granularity: "word" }).segment(text)) cuts.add(index);
  return cuts;
}

// The boundaries of the rule, and those of `cuts` beside a character of a script that it cannot split.
function cutBy(rule, text, cuts) {
  const places = [];
  let previousScript = null;
  let previousEnd = -1;
  for (const token of text.matchAll(rule)) {
    const [spaced, unspaced] = [token.indices.groups.spaced, token.indices.groups.unspaced];
    const script = spaced ? "spaced" : unspaced ? "unspaced" : null;
    const lettersEnd = (spaced ?? unspaced)?.[1] ?? -1;
    let start = token.index;
    const inner = [];
    if (unspaced) for (let cut = start + 1; cut < lettersEnd; cut++) if (cuts.has(cut)) inner.push(cut);
    // "T" and "シャツ" are one word unless the dictionary cuts between them.
    if (script && script !== previousScript && start === previousEnd && !cuts.has(start)) start = places.pop()[0];
    const edges = [start, ...inner, token.index + token[0].length];
    for (let k = 1; k < edges.length; k++) places.push([edges[k - 1], edges[k]]);
    [previousScript, previousEnd] = [script, lettersEnd];
  }
  return places.map(([start, end]) => text.slice(start, end));
}

function ruleOf(elided, clitic) {
  const key = `${elided}\n${clitic}`;
  if (!rules.has(key)) rules.set(key, new RegExp(ruleText(elided, clitic), "dgu"));
  return rules.get(key);
}

function ruleText(elided, clitic) {
  const joint = `(?!${clitic})(?:${HYPHEN}|${APOSTROPHE}|[_·\\u05f3\\u05f4]|(?<=[א-ת])"(?=[א-ת]))(?=${LETTER})`;
  const digitJoint = "(?<=\\p{Nd})[.,:\\/\\u066b\\u066c\\uff0c\\uff0e\\uff0f\\uff1a](?=\\p{Nd})";
  // Where words are written with blanks, a zero-width space only says where a line may end.
  const breakInside = `(?<![${UNCUT}])\\u200b+(?=${LETTER})(?![${UNCUT}])`;
  const initials = `(?:\\p{L}\\.){2,8}(?!${ANY_LETTER})`;
  const spaced = `(?<spaced>${RUN}(?:(?:${joint}|${digitJoint}|${breakInside})${RUN})*)`;
  const unspaced = `(?<unspaced>[${UNSPACED}]+(?:${ATTACHED}[${UNSPACED}]*)*)`;
  const flag = "[\\u{1f1e6}-\\u{1f1ff}]{2}";
  const symbols = "(?<symbol>\\S)\\k<symbol>*";
  const enclitic = `(?<=${ANY_LETTER}|${ATTACHED})${clitic}`;
  const word = [URL_, EMAIL, initials, enclitic, elided, spaced, unspaced, flag, symbols].join("|");
  const trailing = `(?:\\u200b|${ATTACHED})*`;
  const joinedEmoji = `(?:(?<=\\u200d)[\\u2190-\\u2bff\\u{1f000}-\\u{1faff}]${trailing})*`;
  return `(?:\\u200b|${ATTACHED})*(?:${word})${trailing}${joinedEmoji}`;
}
