// An ONNX file without a library for it: the nodes and constants of its graph, as in Python's native/graph.py.

// The numbers that the format gives to the fields of its messages, and to the types of numbers.
const [GRAPH, FUNCTION] = [7, 25];
const [NODE, CONSTANT, INPUT, OUTPUT] = [1, 5, 11, 12];
const [NODE_INPUT, NODE_OUTPUT, NODE_KIND, NODE_ATTRIBUTE, NODE_DOMAIN] = [1, 2, 4, 5, 7];
const [ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_INTEGER, ATTRIBUTE_TYPE] = [1, 2, 3, 20];
const [TENSOR_SHAPE, TENSOR_TYPE, TENSOR_NAME, TENSOR_BYTES] = [1, 2, 8, 9];
const VALUE_NAME = 1;
const [FLOAT, INTEGER] = [1, 2];
const TYPES = new Map([
  [1, ["float32", 4]],
  [2, ["uint8", 1]],
  [3, ["int8", 1]],
  [6, ["int32", 4]],
  [7, ["int64", 8]],
  [10, ["float16", 2]],
]);
const [VARINT, EIGHT_BYTES, STRETCH, FOUR_BYTES] = [0, 1, 2, 5];
const LONGEST = 70n; // bits: ten groups of seven

// A file is damaged, or is not of a kind that weft writes: onnxruntime is tried instead.
export class UnfitError extends Error {}

export function demand(fine) {
  if (!fine) throw new UnfitError("its graph is of another kind.");
}

// What a file says: names of inputs and outputs, nodes by what they give, and constants, which lie in the file.
export function readGraph(file) {
  demand(!all(file, FUNCTION).length); // operators may mean something else
  const graph = one(file, GRAPH) ?? file.subarray(0, 0);
  const names = (number) => all(graph, number).map((part) => text(one(part, VALUE_NAME)));
  const [inputs, outputs] = [names(INPUT), names(OUTPUT)];
  const made = all(graph, NODE).map(nodeOf).flatMap((node) => node.outputs.map((name) => [name, node]));
  const stored = all(graph, CONSTANT).map(constantOf);
  const values = [...inputs, ...[...made, ...stored].map(([name]) => name)];
  demand(new Set(values).size === values.length); // no name stands for two
  return { inputs, outputs, makers: new Map(made), constants: new Map(stored) };
}

export function view(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function nodeOf(message) {
  const texts = (number) => all(message, number).map(text);
  const kind = [...texts(NODE_DOMAIN).filter(Boolean), text(one(message, NODE_KIND))].join(".");
  const numbers = new Map(all(message, NODE_ATTRIBUTE).map(attributeOf));
  return { kind, inputs: texts(NODE_INPUT), outputs: texts(NODE_OUTPUT), numbers };
}

function attributeOf(message) {
  const parts = new Map(fields(message));
  const [float, type] = [parts.get(ATTRIBUTE_FLOAT), parts.get(ATTRIBUTE_TYPE)];
  let number = 0; // what is not written
  if (type === INTEGER) number = parts.get(ATTRIBUTE_INTEGER) ?? 0;
  else if (float) number = view(float).getFloat32(0, true);
  demand([FLOAT, INTEGER].includes(type) && typeof number === "number");
  return [text(parts.get(ATTRIBUTE_NAME)), number];
}

function constantOf(message) {
  const parts = new Map(fields(message));
  const lengths = fields(message).filter(([number]) => number === TENSOR_SHAPE);
  const shape = lengths.flatMap(([, value]) => (typeof value === "number" ? [value] : varints(value)));
  const [bytes, [type, size]] = [parts.get(TENSOR_BYTES), TYPES.get(parts.get(TENSOR_TYPE)) ?? []];
  demand(bytes instanceof Uint8Array && type && shape.every((length) => length >= 0));
  demand(bytes.length === shape.reduce((product, length) => product * length, size));
  return [text(parts.get(TENSOR_NAME)), { type, shape, bytes }];
}

function all(message, wanted) {
  const found = fields(message).filter(([number]) => number === wanted).map(([, value]) => value);
  demand(found.every((value) => value instanceof Uint8Array));
  return found;
}

function one(message, wanted) {
  const found = all(message, wanted);
  demand(found.length < 2);
  return found[0];
}

// The fields of a message with their numbers: integers as such, all others as stretches of the file.
function fields(message) {
  const found = [];
  for (let place = 0; place < message.length; ) {
    let key, value, size;
    [key, place] = varint(message, place);
    demand(key >= 8); // no field has the number 0, but a file of zeros would be full of them
    const kind = key % 8;
    if (kind === VARINT) [value, place] = varint(message, place);
    else {
      if (kind === STRETCH) [size, place] = varint(message, place);
      else size = new Map([[EIGHT_BYTES, 8], [FOUR_BYTES, 4]]).get(kind);
      demand(size >= 0 && place + size <= message.length);
      value = message.subarray(place, place + size);
      place += size;
    }
    found.push([Math.floor(key / 8), value]);
  }
  return found;
}

// A number in groups of seven bits, the lowest first, and the place after it.
function varint(message, place) {
  let value = 0n;
  for (let shift = 0n; shift < LONGEST; shift += 7n) {
    demand(place < message.length);
    const byte = message[place++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [Number(BigInt.asIntN(64, value)), place];
  }
  throw new UnfitError("a number of more than 64 bits");
}

function varints(message) {
  const found = [];
  for (let place = 0, value; place < message.length; found.push(value)) [value, place] = varint(message, place);
  return found;
}

function text(stretch) {
  demand(stretch instanceof Uint8Array);
  return new TextDecoder().decode(stretch);
}
