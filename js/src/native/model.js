// The encoder in C, compiled to WebAssembly: the same code as in Python, and states with the same bytes.
import { COMPILED } from "./compiled.js";
import { demand, readGraph } from "./graph.js";
import { readWeights } from "./weights.js";

const BY_ITSELF = -1; // the kernel knows from what share of idle neurons on it pays to leave them out
const LARGEST = 1e30; // squares of a row's states, added up; those of a sound model come to some thousands
const ALIGNED = 64;
const WORD = 4; // bytes: structures of encoder.c hold addresses and numbers of this size

let compiled;

export class NativeModel {
  // The model of an ONNX file; an UnfitError if it is not one that the code in C can run in rows of this length.
  static async load(file, longest = 0) {
    const weights = readWeights(readGraph(file));
    demand(weights.embedding.positions.shape[0] >= longest);
    compiled ??= WebAssembly.compile(Uint8Array.from(atob(COMPILED), (character) => character.charCodeAt(0)));
    const { exports } = await WebAssembly.instantiate(await compiled);
    return new NativeModel(exports, file, weights);
  }

  constructor(code, file, weights) {
    this.code = code;
    this.width = weights.layers[0].mixed.weight.shape[0];
    this.vocabulary = weights.embedding.words.shape[0];
    code._initialize();
    // Constants lie in the file, which is needed until the code has made its own copy of them.
    const start = this.#stored(file);
    this.encoder = code.weft_load(this.#model(weights, ({ bytes }) => start + bytes.byteOffset - file.byteOffset), 0);
    if (!this.encoder) throw new Error("there is not enough memory for the model.");
    code.free(start);
  }

  // The states of one row, (tokens × width), and the width; each of its sides is a list of tokens.
  async run(sides) {
    const ids = sides.flat();
    if (ids.some((id) => id >= this.vocabulary))
      throw new Error("the model is damaged: its tokenizer has more subwords than its graph.");
    const ends = sides.map((_, side) => sides.slice(0, side + 1).flat().length);
    const starts = [0, ...ends.slice(0, -1)];
    const lists = [starts, ends, starts, ends, ids].map((list) => this.#stored(BigInt64Array.from(list, BigInt)));
    const batch = this.#structure([...lists, 0, 0, 1, sides.length, 0, 0]);
    const scratch = this.#room(this.code.weft_scratch(this.encoder, batch) + ALIGNED);
    const result = this.#room(ids.length * this.width * WORD);
    const size = this.code.weft_run(this.encoder, batch, result, Math.ceil(scratch / ALIGNED) * ALIGNED);
    const states = new Float32Array(this.code.memory.buffer, result, ids.length * this.width).slice();
    for (const place of [...lists, batch, scratch, result]) this.code.free(place);
    if (!(size < LARGEST)) throw new Error("the model is damaged: its numbers are too large to be compared.");
    return { states, width: this.width };
  }

  #model({ embedding, projection, layers }, address) {
    const norm = ({ weight, bias, epsilon }) => [address(weight), address(bias), floatBits(epsilon)];
    const product = ({ weights, scales, bias, scale, zero }) => [
      ...[weights, scales, bias].map(address),
      floatBits(scale),
      zero,
      ...weights.shape,
    ];
    const { words, scales, levels, types, positions } = embedding;
    const stored = layers.flatMap(({ attention, mixing, mixed, widening, narrowing, narrowed }) => [
      ...[attention, mixing].flatMap(product),
      ...norm(mixed),
      ...[widening, narrowing].flatMap(product),
      ...norm(narrowed),
    ]);
    return this.#structure([
      ...[words, scales, levels, types, positions].map(address),
      ...norm(embedding.norm),
      ...[words.shape[0], types.shape[0], ...positions.shape, levels.shape[1], scales.shape[1]],
      projection ? this.#structure(product(projection)) : 0,
      this.#structure(stored),
      ...[layers.length, layers[0].heads, this.width, layers[0].widening.weights.shape[1]],
      floatBits(BY_ITSELF),
    ]);
  }

  #structure(words) {
    return this.#stored(Int32Array.from(words));
  }

  // Where a copy of an array is, in the memory of the code.
  #stored(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const place = this.#room(bytes.length);
    new Uint8Array(this.code.memory.buffer).set(bytes, place);
    return place;
  }

  #room(size) {
    const place = this.code.malloc(size) >>> 0;
    if (size && !place) throw new Error("there is not enough memory for the model.");
    return place;
  }
}

function floatBits(number) {
  return new Int32Array(Float32Array.of(number).buffer)[0];
}
