// From chosen words to links.
import { linkedAs, toggled } from "./work.js";

const canvas = document.getElementById("canvas");

export class Linking {
  constructor(app) {
    this.app = app;
  }

  // A word was clicked, or has the focus when a key is pressed; `add` makes it one of several.
  choose(side, k, { add = this.app.grouping.on } = {}) {
    const { selection, grouping } = this.app;
    const both = selection.source.size && selection.target.size;
    const cells = !add && both ? selection.cells : selection.choose(side, k, add);
    grouping.show();
    if (!cells) return this.app.tell(selection.said(this.app.work.pair, grouping.on ? "Link" : "Enter"));
    this.toggle(cells);
  }

  linkChosen() {
    const { cells } = this.app.selection;
    if (!cells.length) return false;
    this.toggle(cells);
  }

  toggle(cells) {
    this.app.selection.clear();
    this.app.edit(toggled(this.app.work.pair.links, cells));
  }

  // The chosen group, the cell under the cursor, or all links of the word that has the focus.
  linkAs(kind) {
    const { links } = this.app.work.pair;
    let { cells } = this.app.selection;
    const cell = canvas.firstChild?.cell?.();
    const word = document.activeElement?.closest("#canvas .word");
    if (!cells.length && cell) cells = [cell];
    else if (!cells.length && word)
      cells = links.filter((link) => link[word.dataset.side === "source" ? 0 : 1] === Number(word.dataset.k));
    if (!cells.length) return false;
    this.app.selection.clear();
    this.app.edit(linkedAs(links, cells, kind));
  }
}
