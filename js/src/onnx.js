// Int8 graphs that weft's own encoder cannot run, in onnxruntime-web.

export class OnnxModel {
  // `runtime` is the module onnxruntime-web.
  static async load(file, runtime, threads) {
    runtime.env.wasm.numThreads = threads;
    return new OnnxModel(runtime, await runtime.InferenceSession.create(file, { executionProviders: ["wasm"] }));
  }

  constructor(runtime, session) {
    this.runtime = runtime;
    this.session = session;
  }

  // The states of one row, (tokens × width), and the width; each of its sides is a list of tokens, with places counted from 0.
  async run(sides) {
    const ids = sides.flat();
    const types = sides.flatMap((side, number) => side.map(() => number));
    const places = sides.flatMap((side) => [...side.keys()]);
    const values = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: types, position_ids: places };
    const tensor = (numbers) =>
      new this.runtime.Tensor("int64", BigInt64Array.from(numbers, BigInt), [1, numbers.length]);
    const feeds = Object.fromEntries(this.session.inputNames.map((name) => [name, tensor(values[name])]));
    const { data, dims } = (await this.session.run(feeds))[this.session.outputNames[0]];
    return { states: data, width: dims[2] };
  }
}
