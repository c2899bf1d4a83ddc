// Groups without a keyboard: while "Group" is on, every tap chooses one more word, and "Link" links them all.
import { wordAt } from "./lines.js";

const at = (id) => document.getElementById(id);

export class Grouping {
  constructor(app) {
    Object.assign(this, { app, on: false });
    at("group").addEventListener("click", () => this.turn(!this.on));
    at("link-group").addEventListener("click", () => this.link());
  }

  // The button goes away; a word of the group gets the focus, and the status line says what it is linked with.
  link() {
    const [first] = this.app.selection.source;
    this.app.linking.linkChosen();
    this.turn(false);
    wordAt(at("canvas"), "source", first)?.focus();
  }

  turn(on) {
    this.on = on;
    this.app.selection.clear();
    this.app.tell(on ? "Choose words in both sentences, then press Link." : "");
    this.show();
  }

  show() {
    const { source, target, cells } = this.app.selection;
    at("group").setAttribute("aria-pressed", String(this.on));
    at("link-group").parentElement.hidden = !this.on;
    at("link-group").disabled = !cells.length;
    at("link-group").textContent = cells.length ? `Link ${source.size} + ${target.size} words` : "Link";
  }
}
