// The desk below the picture: progress, filters, a list of the pairs, and who else annotates.
import { el } from "./dom.js";
import { FILTERS, STATES, progressOf } from "./queue.js";

const LISTED = 60;
const LETTERS = 60;
const SIGNS = { open: "·", done: "✓", doubtful: "?", skipped: "–" };

export const shortened = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS).trimEnd()}…` : text);

export class DeskPanel {
  constructor(root, queue, { go, changed }) {
    Object.assign(this, { root, queue, go });
    this.count = el("output", { class: "count" });
    this.bar = el("progress", { "aria-label": "Pairs that are done", max: 1, value: 0 });
    this.limit = el("input", { type: "number", min: 0, max: 1, step: 0.05, value: queue.limit, "aria-label": "Highest score", hidden: true });
    this.limit.addEventListener("input", () => ((queue.limit = Number(this.limit.value)), changed()));
    this.filter = el(
      "select",
      { "aria-label": "Which pairs", change: () => (this.choose(this.filter.value), changed()) },
      ...Object.entries(FILTERS).map(([value, [name]]) => el("option", { value }, name)),
    );
    this.order = el(
      "select",
      { "aria-label": "Order", change: () => ((queue.order = this.order.value), changed()) },
      el("option", { value: "number" }, "In order"),
      el("option", { value: "score" }, "Least certain first"),
    );
    this.list = el("ol", { class: "pairlist" });
    this.others = el("div", { class: "others" });
    this.root.replaceChildren(
      el("div", { class: "deskhead" }, this.bar, this.count, this.filter, this.limit, this.order),
      this.others,
      el("details", {}, el("summary", {}, "List of pairs"), this.list),
    );
    this.root.querySelector("details").addEventListener("toggle", changed);
  }

  choose(filter) {
    this.queue.filter = this.filter.value = filter;
    this.limit.hidden = filter !== "low";
  }

  show(work) {
    const many = work.pairs.length > 1;
    this.root.hidden = !many;
    if (!many) return;
    const counts = progressOf(work.pairs);
    const total = work.pairs.length - counts.problem;
    this.bar.max = Math.max(1, total);
    this.bar.value = counts.done;
    const parts = [`${counts.done} of ${total} done`];
    for (const state of ["doubtful", "skipped"]) if (counts[state]) parts.push(`${counts[state]} ${state}`);
    if (counts.problem) parts.push(`${counts.problem} ${counts.problem === 1 ? "line holds" : "lines hold"} no pair`);
    if (this.queue.filter !== "all" || this.queue.only) parts.push(`${this.queue.numbers(work.pairs).length} shown`);
    this.count.textContent = parts.join(" · ");
    if (this.root.querySelector("details").open) this.showList(work);
  }

  showList(work) {
    const numbers = this.queue.numbers(work.pairs);
    const place = Math.max(0, numbers.indexOf(work.current));
    const first = Math.max(0, Math.min(place - LISTED / 2, numbers.length - LISTED));
    this.list.replaceChildren(
      ...numbers.slice(first, first + LISTED).map((number) => this.item(work, number)),
      ...(numbers.length > LISTED ? [el("li", { class: "more" }, `${numbers.length} pairs in all`)] : []),
    );
  }

  item(work, number) {
    const pair = work.pairs[number];
    // Each side by itself: letters that run to the left must not turn the other side round.
    const sides = (pair.problem ? [pair.problem] : pair.texts).map((text) => el("bdi", {}, shortened(text)));
    return el(
      "li",
      { value: number + 1 },
      el(
        "button",
        {
          type: "button",
          class: `quiet state-${pair.state}`,
          "aria-current": number === work.current ? "true" : null,
          click: () => this.go(number),
        },
        el("span", { class: "sign", "aria-hidden": "true" }, pair.problem ? "!" : SIGNS[pair.state]),
        el("span", { class: "visually-hidden" }, `${pair.problem ? "no pair" : (STATES[pair.state] ?? "open")}: `),
        ...sides.flatMap((side, k) => (k ? [" – ", side] : [side])),
      ),
    );
  }
}
