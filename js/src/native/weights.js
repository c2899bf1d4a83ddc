// What an ONNX graph multiplies, adds and normalises, if it is one that weft's int8 export wrote with fixed ranges; as in
// Python's native/weights.py. Every node on the way from the inputs to the states is looked at.
import { demand, view } from "./graph.js";

const INPUTS = ["attention_mask", "input_ids", "position_ids", "token_type_ids"];
const LARGEST_WEIGHT = 64;
const LARGEST_WIDTH = 1 << 15;
const MOST_LAYERS = 256;
// Numbers of sound models are far below. Sums of larger ones may be infinite.
const LARGEST = 1e4;
const SMALLEST_SCALE = 1e-20;
const ANY = Symbol("any number");
const MICROSOFT = "com.microsoft.";
const PRODUCT = `${MICROSOFT}MatMulIntegerToFloat`;
// How `weft model export` restores rows of packed words.
const WORDS = {
  "words.taken": ["Gather", ["words.rows", "input_ids"], { axis: 0 }],
  "words.bytes": ["Cast", ["words.taken"], { to: 6 }],
  "words.shares": ["Gather", ["words.levels", "words.bytes"], { axis: 0 }],
  "words.by_block": ["Reshape", ["words.shares", "words.blocks"], {}],
  "words.half": ["Gather", ["words.scales", "input_ids"], { axis: 0 }],
  "words.float": ["Cast", ["words.half"], { to: 1 }],
  "words.scale": ["Unsqueeze", ["words.float", "words.last"], {}],
  "words.scaled": ["Mul", ["words.by_block", "words.scale"], {}],
};

const same = (some, others) => some.length === others.length && some.every((value, k) => value === others[k]);

// The embedding, the projection (null where words are as wide as layers) and the layers of a graph.
export function readWeights(graph) {
  const reader = new Reader(graph);
  demand(same([...graph.inputs].sort(), INPUTS) && graph.outputs.length === 1);
  const layers = [];
  let [value, projection] = [graph.outputs[0], null];
  while (reader.isLayer(value)) {
    const [layer, before] = reader.layer(value);
    layers.unshift(layer);
    value = before;
    demand(layers.length <= MOST_LAYERS); // it does not go in circles
  }
  demand(layers.length);
  if (reader.maker(value).kind === PRODUCT) [projection, value] = reader.product(value);
  const weights = { embedding: reader.embedding(value), projection, layers };
  checkShapes(weights);
  return weights;
}

function checkShapes({ embedding, projection, layers }) {
  const [width, wide] = layers[0].widening.weights.shape;
  const [heads, narrow] = [layers[0].heads, embedding.types.shape[1]];
  demand(projection ? same(projection.weights.shape, [narrow, width]) : narrow === width);
  for (const layer of layers) {
    const shapes = [layer.attention, layer.mixing, layer.widening, layer.narrowing].map((product) => product.weights.shape);
    demand(same(shapes.flat(), [width, 3 * width, width, width, width, wide, wide, width]) && layer.heads === heads);
    demand(layer.narrowing.zero === 0 && [layer.mixed, layer.narrowed].every((norm) => norm.weight.shape[0] === width));
  }
  // What kernels take at a time: two vectors of columns, and a vector of bytes.
  demand([width % 64, wide % 64, narrow % 32, width % (32 * heads)].every((rest) => rest === 0));
  demand(Math.max(width, wide, narrow) <= LARGEST_WIDTH);
}

// Goes through a graph from its end to its beginning.
class Reader {
  constructor({ makers, constants }) {
    this.makers = makers;
    this.constants = constants;
  }

  isLayer(value) {
    const norm = this.maker(value);
    if (norm.kind !== "LayerNormalization") return false;
    return this.maker(this.maker(norm.inputs[0]).inputs[0]).kind === PRODUCT;
  }

  // The layer that ends with a value, and the value that it begins with.
  layer(value) {
    const [narrowed, [summed, between]] = this.#norm(value);
    const [narrowing, active] = this.product(summed);
    const [widening, widened] = this.product(this.#made(active, "Relu", 1).inputs[0]);
    const [mixed, [summedBefore, before]] = this.#norm(between);
    const [mixing, attended] = this.product(summedBefore);
    const [attention, heads, lookedAt] = this.#attention(attended);
    demand(widened === between && lookedAt === before);
    return [{ attention, mixing, mixed, widening, narrowing, narrowed, heads }, before];
  }

  // A product, and the value whose eight bits are multiplied.
  product(value) {
    const [octets, weights, scale, scales, zero, none, bias] = this.#made(value, PRODUCT, 7).inputs;
    demand(!none);
    return this.#multiplied(octets, weights, scales, bias, scale, zero);
  }

  embedding(value) {
    const [norm, [some, positions]] = this.#norm(value);
    const [words, types] = this.#made(some, "Add", 2).inputs;
    for (const [name, [kind, inputs, numbers]] of Object.entries(WORDS))
      demand(same(this.#made(name, kind, inputs.length, numbers).inputs, inputs));
    demand(same(this.#made(words, "Reshape", 2).inputs, ["words.scaled", "words.width"]));
    const embedding = {
      words: this.#constant("words.rows", "uint8", 2),
      scales: this.#constant("words.scales", "float16", 2),
      levels: this.#constant("words.levels", "float32", 2),
      types: this.#lookedUp(types, "token_type_ids"),
      positions: this.#lookedUp(positions, "position_ids"),
      norm,
    };
    this.#checkWords(embedding, norm.weight.shape[0]);
    return embedding;
  }

  maker(value) {
    demand(this.makers.has(value));
    return this.makers.get(value);
  }

  #checkWords({ words, scales, levels, types, positions }, width) {
    const [[vocabulary, nBytes], [nScales, blocks], [nLevels, perByte]] = [words.shape, scales.shape, levels.shape];
    demand(nLevels === 256 && [1, 2].includes(perByte) && nBytes * perByte === width && nScales === vocabulary);
    demand(blocks > 0 && width % blocks === 0 && same(types.shape, [2, width]) && positions.shape[1] === width);
    for (const [name, shape] of [["blocks", [0, 0, blocks, -1]], ["last", [-1]], ["width", [0, 0, width]]])
      demand(same(integers(this.#constant(`words.${name}`, "int64", 1)), shape));
  }

  // The node that makes a value, if it is of this kind, with no other numbers than these.
  #made(value, kind, inputs, numbers = {}) {
    const node = this.maker(value);
    demand(node.kind === kind && node.inputs.length === inputs && node.outputs.length === 1);
    for (const [name, number] of node.numbers) demand([number, ANY].includes(numbers[name]));
    return node;
  }

  #constant(name, type, dimensions) {
    const value = this.constants.get(name);
    demand(value?.type === type && value.shape.length === dimensions);
    demand(type !== "float32" || isModerate(value.bytes));
    demand(type !== "float16" || isFinite16(value.bytes));
    return value;
  }

  // A norm, and the two values that are added before it.
  #norm(value) {
    const { inputs, numbers } = this.#made(value, "LayerNormalization", 3, { axis: -1, stash_type: 1, epsilon: ANY });
    const epsilon = numbers.get("epsilon") ?? 1e-5;
    const [weight, bias] = inputs.slice(1).map((name) => this.#constant(name, "float32", 1));
    demand(weight.shape[0] === bias.shape[0] && epsilon > 0 && epsilon <= LARGEST);
    return [{ weight, bias, epsilon }, this.#made(inputs[0], "Sum", 2).inputs];
  }

  #attention(value) {
    const { inputs, numbers } = this.#made(value, `${MICROSOFT}QAttention`, 7, { num_heads: ANY });
    const [octets, weights, bias, scale, scales, mask, zero] = inputs;
    const heads = numbers.get("num_heads");
    demand(Number.isInteger(heads) && heads > 0);
    demand(same(this.#made(mask, "Cast", 1, { to: 6 }).inputs, ["attention_mask"]));
    const [product, before] = this.#multiplied(octets, weights, scales, bias, scale, zero);
    return [product, heads, before];
  }

  #multiplied(octets, weights, scales, bias, scale, zero) {
    const [value, ...fixed] = this.#made(octets, "QuantizeLinear", 3).inputs;
    demand(same(fixed, [scale, zero]));
    const product = {
      weights: this.#constant(weights, "int8", 2),
      scales: this.#constant(scales, "float32", 1),
      bias: this.#constant(bias, "float32", 1),
      scale: view(this.#constant(scale, "float32", 0).bytes).getFloat32(0, true),
      zero: this.#constant(zero, "uint8", 0).bytes[0],
    };
    const outputs = product.weights.shape[1];
    demand(product.scales.shape[0] === outputs && product.bias.shape[0] === outputs && product.scale >= SMALLEST_SCALE);
    demand(isSmall(product.weights.bytes));
    return [product, value];
  }

  #lookedUp(value, by) {
    const [table, numbers] = this.#made(value, "Gather", 2, { axis: 0 }).inputs;
    demand(numbers === by);
    return this.#constant(table, "float32", 2);
  }
}

// A plain loop: millions of calls of a function would take half of a model's loading.
function isSmall(bytes) {
  const weights = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let k = 0; k < weights.length; k++) if (weights[k] > LARGEST_WEIGHT || weights[k] < -LARGEST_WEIGHT) return false;
  return true;
}

function isModerate(bytes) {
  const floats = new Float32Array(new Uint8Array(bytes).buffer); // a copy, whose place in memory suits floats
  for (let k = 0; k < floats.length; k++) if (!(Math.abs(floats[k]) <= LARGEST)) return false;
  return true;
}

// Infinity and what is no number have all five bits of the exponent.
function isFinite16(bytes) {
  for (let k = 1; k < bytes.length; k += 2) if ((bytes[k] & 0x7c) === 0x7c) return false;
  return true;
}

function integers({ bytes }) {
  const numbers = view(bytes);
  return Array.from({ length: bytes.length / 8 }, (_, k) => Number(numbers.getBigInt64(8 * k, true)));
}
