// The words that are chosen on both sides, to be linked as a group.
import { wordAt } from "./lines.js";

export class Selection {
  constructor(canvas) {
    this.canvas = canvas;
    this.clear();
  }

  clear() {
    this.source = new Set();
    this.target = new Set();
    this.show();
  }

  get empty() {
    return !this.source.size && !this.target.size;
  }

  // Every chosen source word with every chosen target word.
  get cells() {
    return [...this.source].flatMap((i) => [...this.target].map((j) => [i, j]));
  }

  // Returns the cells to link when words of both sides are chosen and nobody wants to add more.
  choose(side, k, add) {
    const [own, other] = side === "source" ? [this.source, this.target] : [this.target, this.source];
    if (add) {
      if (!own.delete(k)) own.add(k);
      this.show();
      return null;
    }
    if (other.size) {
      own.add(k);
      const cells = this.cells;
      this.clear();
      return cells;
    }
    const alone = own.size === 1 && own.has(k);
    own.clear();
    if (!alone) own.add(k);
    this.show();
    return null;
  }

  // Words that are not there any more cannot be chosen.
  fit(pair) {
    for (const side of ["source", "target"])
      for (const k of this[side]) if (k >= pair[side].length) this[side].delete(k);
    this.show();
  }

  show() {
    for (const word of this.canvas.querySelectorAll(".chosen")) {
      word.classList.remove("chosen");
      word.setAttribute("aria-pressed", "false");
    }
    for (const side of ["source", "target"])
      for (const k of this[side]) {
        const word = wordAt(this.canvas, side, k);
        word?.classList.add("chosen");
        word?.setAttribute("aria-pressed", "true");
      }
  }

  // For the status line, which screen readers read out; `how` is the key or the button that links.
  said(pair, how = "Enter") {
    if (this.empty) return "Nothing is chosen.";
    const words = (side) => [...this[side]].sort((one, other) => one - other).map((k) => pair[side][k]);
    const parts = ["source", "target"].filter((side) => this[side].size).map((side) => words(side).join(" "));
    const both = this.source.size && this.target.size;
    return `Chosen: ${parts.join(" – ")}. ${both ? `Press ${how} to link them.` : "Choose a partner in the other sentence."}`;
  }
}
