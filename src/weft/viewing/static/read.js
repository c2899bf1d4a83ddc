// Reading mode: two texts beside each other; a click on a word shows its partner, its phrase and how sure that is.
import { align, alignTexts } from "./api.js";
import { el, themeButton } from "./dom.js";
import { isolated, percent } from "./pair.js";
import { phraseOf } from "./phrases.js";
import { pairedParagraphs, pairedSentences } from "./sentences.js";
import { addressOf, stateOfAddress } from "./share.js";

const AT_ONCE = 8;
const at = (id) => document.getElementById(id);
const EXAMPLE = [
  "Es war einmal ein kleines Mädchen, das hatte jedermann lieb. Am allerliebsten aber hatte es seine Großmutter. Sie schenkte ihm eine rote Kappe.",
  "Once upon a time there was a little girl whom everybody loved. But it was her grandmother who loved her most of all. She gave her a red cap.",
];
let reading = 0;

start().catch((error) => tell(error.message));

async function start() {
  document.querySelector(".masthead").append(themeButton());
  at("read").addEventListener("click", () => read(at("source").value, at("target").value));
  at("other").addEventListener("click", () => show(false));
  at("share").addEventListener("click", share);
  at("rows").addEventListener("click", ({ target }) => pick(target.closest(".word")));
  at("rows").addEventListener("keydown", moved);
  const shared = (await stateOfAddress(location.hash))?.texts;
  const texts = Array.isArray(shared) && shared.every((text) => typeof text === "string") ? shared : null;
  [at("source").value, at("target").value] = texts ?? EXAMPLE;
  at("read").disabled = false;
  if (texts) read(...texts);
}

function show(isReading) {
  at("texts").hidden = isReading;
  at("reader").hidden = !isReading;
  at("note").hidden = true;
  reading++;
}

function read(source, target) {
  return alignRows(source, target).catch((error) => error.name === "AbortError" || tell(error.message));
}

// Paragraph by paragraph: which sentences belong together, and which of their words.
async function alignRows(source, target) {
  const blocks = pairedParagraphs(source, target);
  show(true);
  const mine = reading;
  const rooms = blocks.map(() => el("div"));
  at("rows").replaceChildren(...rooms);
  let [count, guessed] = [0, false];
  for (const [number, block] of blocks.entries()) {
    tell(`${number} of ${blocks.length} paragraphs are aligned.`);
    rooms[number].replaceChildren(el("div", { class: "row waiting" }, ...block.map(column)));
    const known = await bySense(block);
    if (mine !== reading) return;
    const rows = known?.map(alignedRow) ?? (await byLength(block, rooms[number]));
    if (mine !== reading) return;
    rooms[number].replaceChildren(...rows);
    count += rows.length;
    guessed ||= !known;
  }
  const how = guessed ? "matched by length" : "matched by meaning";
  tell(count ? `${count} sentence pair${count === 1 ? "" : "s"}, ${how}. Click a word.` : "There is nothing to read.");
}

// A server pairs sentences by what they say; null where there is none, or where a text is too long for it.
async function bySense([source, target]) {
  try {
    return source && target ? await alignTexts(source, target) : null;
  } catch (error) {
    if (error.status === 404 || error.status === 422) return null;
    throw error;
  }
}

function alignedRow(part) {
  const row = el("div", { class: "row" });
  fill(row, [part.source_text, part.target_text], part);
  return row;
}

async function byLength([source, target], room) {
  const pairs = pairedSentences(source, target);
  const rows = pairs.map((pair) => el("div", { class: "row waiting" }, ...pair.map(column)));
  room.replaceChildren(...rows);
  const both = pairs.map((pair, number) => [pair, rows[number]]).filter(([pair]) => pair[0] && pair[1]);
  for (let first = 0; first < both.length; first += AT_ONCE) {
    const some = both.slice(first, first + AT_ONCE);
    const request = { pairs: some.map(([[left, right]]) => ({ source: left, target: right })), raw: true };
    const { alignments } = await align(request);
    some.forEach(([pair, row], k) => fill(row, pair, alignments[k]));
  }
  return rows;
}

function column(text) {
  return el("div", { dir: "auto" }, text);
}

// Words as they stand in the text, with what stands between them.
function fill(row, texts, alignment) {
  row.classList.remove("waiting");
  row.alignment = alignment;
  const sides = [alignment.source, alignment.target];
  row.replaceChildren(...sides.map((words, side) => columnOfWords(texts[side], words, side)));
}

function columnOfWords(text, words, side) {
  const parts = [];
  let place = 0;
  words.forEach((word, number) => {
    const start = text.indexOf(word, place);
    if (start > place) parts.push(text.slice(place, start));
    const tabindex = number ? -1 : 0;
    parts.push(el("span", { class: "word", role: "button", tabindex, "data-side": side, "data-k": number }, word));
    place = start + word.length;
  });
  return el("div", { dir: "auto" }, ...parts, text.slice(place));
}

function pick(word) {
  for (const marked of at("rows").querySelectorAll(".picked, .partner, .phrase"))
    marked.classList.remove("picked", "partner", "phrase");
  at("note").hidden = !word;
  if (!word) return;
  const row = word.closest(".row");
  const { links } = row.alignment;
  const [side, number] = [Number(word.dataset.side), Number(word.dataset.k)];
  const own = links.filter((link) => link[side] === number);
  const phrase = phraseOf(links, side, number);
  mark(row, side, [number, number], "picked");
  for (const link of own) mark(row, 1 - side, [link[1 - side], link[1 - side]], "partner");
  if (phrase) [phrase.source, phrase.target].forEach((span, at) => mark(row, at, span, "phrase"));
  describe(row.alignment, side, number, own, phrase);
}

function mark(row, side, [first, last], name) {
  for (let k = first; k <= last; k++)
    row.querySelector(`.word[data-side="${side}"][data-k="${k}"]`).classList.add(name);
}

function describe(alignment, side, number, own, phrase) {
  const sides = [alignment.source, alignment.target];
  const partners = own.map((link) => `${isolated(sides[1 - side][link[1 - side]])} (${percent(link[2])})`).join(", ");
  const stretch = (words, [first, last]) => isolated(words.slice(first, last + 1).join(" "));
  at("note").replaceChildren(
    el("p", { class: "said" }, `${isolated(sides[side][number])} – ${partners || "no translation"}`),
    phrase && phrase.source[0] + phrase.target[0] !== phrase.source[1] + phrase.target[1]
      ? el("p", { class: "soft" }, `${stretch(sides[0], phrase.source)} – ${stretch(sides[1], phrase.target)}`)
      : "",
  );
}

// Arrows go from word to word, Enter and the space bar pick.
function moved(event) {
  const word = event.target.closest(".word");
  if (!word) return;
  if (event.key === "Enter" || event.key === " ") pick(word);
  else if (event.key === "Escape") pick(null);
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const all = [...at("rows").querySelectorAll(".word")];
    all[all.indexOf(word) + (event.key === "ArrowRight" ? 1 : -1)]?.focus();
  } else return;
  event.preventDefault();
}

async function share() {
  const address = await addressOf({ texts: [at("source").value, at("target").value] });
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    tell("The link is copied. It is in the address bar too.");
  } catch {
    tell("The link is in the address bar.");
  }
}

function tell(text) {
  at("status").textContent = text;
}
