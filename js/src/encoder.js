// Subwords to hidden states: the same int8 graph as in Python, run by onnxruntime-web.
import { countWindows, windows, windowsAbreast } from "./windows.js";

export class Encoder {
  // `runtime` is the module onnxruntime-web, `session` a graph that it has loaded.
  constructor(runtime, session, tokenizer, settings) {
    this.runtime = runtime;
    this.session = session;
    this.tokenizer = tokenizer;
    this.joint = settings.joint === true;
    this.window = (settings.max_length ?? 512) - tokenizer.prefix.length - tokenizer.suffix.length;
  }

  // The states of two sentences' subwords: two Float32Arrays of (subwords × width), and the width.
  async encode(source, target) {
    const sides = [source, target];
    const rows = this.joint ? this.#together(sides) : sides.flatMap((ids, side) => this.#alone(ids, side));
    const states = [];
    let width = 0;
    for (const row of rows) {
      const output = await this.#run(row);
      width = output.dims[2];
      let column = 0;
      for (const { side, window } of row) {
        const [start, end, keepStart, keepEnd] = window;
        states[side] ??= new Float32Array(sides[side].length * width);
        const first = column + this.tokenizer.prefix.length + keepStart - start;
        const kept = output.data.subarray(first * width, (first + keepEnd - keepStart) * width);
        states[side].set(kept, keepStart * width);
        column += this.#span(end - start);
      }
    }
    return { source: states[0], target: states[1], width };
  }

  #span(length) {
    return length + this.tokenizer.prefix.length + this.tokenizer.suffix.length;
  }

  #alone(ids, side) {
    return windows(ids.length, this.window).map((window) => [{ ids, side, window }]);
  }

  #together(sides) {
    const count = Math.max(...sides.map((ids) => countWindows(ids.length, this.window)));
    const cut = sides.map((ids) => windowsAbreast(ids.length, this.window, count));
    return cut[0].map((_, k) => sides.map((ids, side) => ({ ids, side, window: cut[side][k] })));
  }

  // One row: each side with its special tokens; the places of the second side are counted from 0 again.
  async #run(row) {
    const { prefix, suffix } = this.tokenizer;
    const ids = [];
    const types = [];
    const places = [];
    row.forEach((side, number) => {
      const [start, end] = side.window;
      const tokens = [...prefix, ...side.ids.slice(start, end), ...suffix];
      tokens.forEach((id, place) => {
        ids.push(id);
        types.push(number);
        places.push(place);
      });
    });
    const values = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: types, position_ids: places };
    const tensor = (numbers) =>
      new this.runtime.Tensor("int64", BigInt64Array.from(numbers, BigInt), [1, numbers.length]);
    const feeds = Object.fromEntries(this.session.inputNames.map((name) => [name, tensor(values[name])]));
    return (await this.session.run(feeds))[this.session.outputNames[0]];
  }
}
