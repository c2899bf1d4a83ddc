// The aligner: the stages in order, as in Python's aligner.py.
import { Encoder, longestRow } from "./encoder.js";
import { METHODS, SYMMETRIZATIONS, linksOf, lowered, pairScore } from "./extraction.js";
import { UnfitError } from "./native/graph.js";
import { NativeModel } from "./native/model.js";
import { OnnxModel } from "./onnx.js";
import { segment } from "./segment.js";
import { WordPiece } from "./wordpiece.js";

// All unknown words look the same to an encoder; with more than this share of them on either side,
// what it finds is guesswork.
const MOST_UNKNOWN = 1 / 3;
const LONGEST_SHOWN = 40;
// Anything but white space, soft hyphens, joiners, spaces without width, and marks of the direction of writing.
const SEEN = /[^\p{White_Space}\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/u;

export class Aligner {
  constructor(encoder, settings, name) {
    this.encoder = encoder;
    this.settings = settings;
    this.name = name;
  }

  // Load the three files of a model: `model.onnx`, `tokenizer.json` and `weft.json`.
  static async load({ model, runtime, threads = 1, name = "weft" }) {
    const { graph, tokenizer, settings } = typeof model === "string" || model instanceof URL ? fetched(model) : model;
    const stored = await settings;
    const loaded = await loadModel(await graph, longestRow(stored), runtime, threads);
    const encoder = new Encoder(loaded, new WordPiece(await tokenizer), stored);
    return new Aligner(encoder, extractionSettings(stored), name);
  }

  // Align one pair: strings of words separated by blanks, or lists of words; with `raw` any text.
  async align(source, target, options = {}) {
    return this.#aligned([source, target], ["`source`", "`target`"], options);
  }

  // `names` are what messages call the two sides.
  async #aligned(given, names, { raw = false, sourceLanguage, targetLanguage, ...changes }) {
    const languages = [sourceLanguage, targetLanguage];
    const words = given.map((side, k) => wordsOf(side, names[k], raw, languages[k]));
    const settings = updated(this.settings, changes);
    const result = { source: words[0], target: words[1], links: [], score: 0, unknown: 0 };
    // Blank words, as lists of tokens have them, are not there for the encoder; the others keep their numbers.
    const places = words.map((side) => [...side.keys()].filter((place) => SEEN.test(side[place])));
    if (places.some((side) => !side.length)) return result;
    const sides = places.map((there, side) => this.encoder.tokenizer.split(there.map((place) => words[side][place])));
    const states = await this.encoder.encode(sides[0].ids, sides[1].ids);
    const compared = [
      { states: states.source, owners: sides[0].owners },
      { states: states.target, owners: sides[1].owners },
    ];
    const found = linksOf(compared, states.width, settings);
    const nWords = places[0].length + places[1].length;
    const unknown = sides.map((side) => this.#unknownWords(side));
    const share = Math.max(...unknown.map((count, side) => count / places[side].length));
    const doubted = share > MOST_UNKNOWN;
    const known = doubted ? 1 - share : 1;
    const likely = doubted ? lowered(found.links, known) : found.links;
    const score = pairScore(likely, nWords, found.support && known * found.support);
    const links = likely.map(([source, target, value]) => [places[0][source], places[1][target], value]);
    return { ...result, links, score, unknown: doubted ? unknown[0] + unknown[1] : 0 };
  }

  #unknownWords({ ids, owners }) {
    return new Set(owners.filter((_, k) => ids[k] === this.encoder.tokenizer.unknown)).size;
  }

  // Align several pairs one after the other; the result has their order and number.
  async alignBatch(pairs, options = {}) {
    const alignments = [];
    let row = 0;
    for (const pair of pairs) {
      const place = `row ${row++} of \`pairs\``;
      if (!Array.isArray(pair) || pair.length !== 2)
        throw new TypeError(`${place}: expected [sentence, translation], found ${shown(pair)}.`);
      alignments.push(await this.#aligned(pair, [`${place}, source`, `${place}, target`], options));
    }
    return alignments;
  }
}

// Words are separated by blanks and tabs, and by nothing else: other spaces are parts of words in real text.
function wordsOf(side, name, raw, language) {
  if (typeof side === "string") return raw ? segment(side, language) : side.split(/[ \t]+/).filter(Boolean);
  const words = typeof side?.[Symbol.iterator] === "function" ? [...side] : [null];
  if (words.every((word) => typeof word === "string")) return words;
  throw new TypeError(`${name}: expected a sentence as a string or a list of words, found ${shown(side)}.`);
}

function shown(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text;
}

// weft's own encoder, or onnxruntime-web for a graph of another kind.
async function loadModel(file, longest, runtime, threads) {
  try {
    return await NativeModel.load(file, longest);
  } catch (error) {
    if (!(error instanceof UnfitError)) throw error;
    if (!runtime) throw new Error("this model needs onnxruntime-web: give that module as `runtime`.");
    return OnnxModel.load(file, await (typeof runtime === "function" ? runtime() : runtime), threads);
  }
}

function fetched(folder) {
  const base = String(folder).endsWith("/") ? String(folder) : `${folder}/`;
  const asked = async (name) => {
    const response = await fetch(base + name);
    if (!response.ok) throw new Error(`${base}${name} could not be loaded (${response.status}).`);
    return response;
  };
  return {
    graph: asked("model.onnx").then(async (response) => new Uint8Array(await response.arrayBuffer())),
    tokenizer: asked("tokenizer.json").then((response) => response.json()),
    settings: asked("weft.json").then((response) => response.json()),
  };
}

function extractionSettings(stored) {
  const { method = "softmax", alpha = 1.5, symmetrize = "intersection", calibration = null } = stored;
  return checked({
    method,
    threshold: stored.threshold ?? METHODS[method],
    alpha,
    symmetrize,
    null: stored.null ?? null,
    calibration,
  });
}

// Settings with some of them changed; a calibration holds only for the method and the null that it was fitted with.
function updated(settings, changes) {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined && value !== null));
  if (given.null === "off") given.null = null;
  const unknown = Object.keys(given).find((name) => !(name in settings) || name === "calibration");
  if (unknown) throw new Error(`there is no setting called ${unknown}.`);
  const other = { ...settings, ...given };
  const sameWay = other.method === settings.method && (other.method !== "entmax" || other.alpha === settings.alpha);
  if (!sameWay && given.threshold === undefined)
    other.threshold = other.method === "entmax" && other.alpha === 1 ? METHODS.softmax : METHODS[other.method];
  if (!sameWay || other.null !== settings.null) other.calibration = null;
  return checked(other);
}

function checked(settings) {
  if (!(settings.method in METHODS))
    throw new Error(`the method ${settings.method} is not there; choose one of ${Object.keys(METHODS).join(", ")}.`);
  if (!SYMMETRIZATIONS.includes(settings.symmetrize))
    throw new Error(`${settings.symmetrize} is not there; choose one of ${SYMMETRIZATIONS.join(", ")}.`);
  if (!(settings.alpha >= 1)) throw new Error(`alpha must be at least 1, got ${settings.alpha}.`);
  return settings;
}
