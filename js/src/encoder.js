// Subwords to hidden states: rows of windows, as in Python, for a model that runs them.
import { countWindows, windows, windowsAbreast } from "./windows.js";

// How many tokens of a side a model reads at a time.
export function longestRow(settings) {
  return settings.max_length ?? 512;
}

export class Encoder {
  // `model` runs a row: a NativeModel or an OnnxModel.
  constructor(model, tokenizer, settings) {
    this.model = model;
    this.tokenizer = tokenizer;
    this.joint = settings.joint === true;
    this.window = longestRow(settings) - tokenizer.prefix.length - tokenizer.suffix.length;
  }

  // The states of two sentences' subwords: two Float32Arrays of (subwords × width), and the width.
  async encode(source, target) {
    const sides = [source, target];
    const rows = this.joint ? this.#together(sides) : sides.flatMap((ids, side) => this.#alone(ids, side));
    const states = [];
    let width = 0;
    for (const row of rows) {
      const found = await this.#run(row);
      width = found.width;
      let column = 0;
      for (const { side, window } of row) {
        const [start, end, keepStart, keepEnd] = window;
        states[side] ??= new Float32Array(sides[side].length * width);
        const first = column + this.tokenizer.prefix.length + keepStart - start;
        const kept = found.states.subarray(first * width, (first + keepEnd - keepStart) * width);
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

  // One row: each side with its special tokens.
  #run(row) {
    const { prefix, suffix } = this.tokenizer;
    return this.model.run(row.map(({ ids, window: [start, end] }) => [...prefix, ...ids.slice(start, end), ...suffix]));
  }
}
