// What the lines, shapes and frames mean, in a row of samples.
import { el, shape } from "./dom.js";
import { outline } from "./matrix.js";
import { KINDS } from "./pair.js";

export function legend(kinds, names, withGold) {
  const items = kinds.map((kind) => el("span", { class: "sample" }, sample(kind), nameOf(kind, names)));
  if (withGold)
    items.push(
      el("span", { class: "sample" }, frame("sure"), "gold sure"),
      el("span", { class: "sample" }, frame("possible"), "gold possible"),
    );
  return el("div", { class: "legend", "aria-label": "Legend" }, ...items);
}

function nameOf(kind, names) {
  if (kind === "a") return `only ${names[0]}`;
  if (kind === "b") return `only ${names[1]}`;
  return KINDS[kind];
}

function sample(kind) {
  const [line, filled] = [
    { class: `link k-${kind}`, d: "M1 7H31" },
    { class: `mark k-${kind}`, d: outline(kind, 42, 7, 4.5) },
  ];
  return shape(
    "svg",
    { width: 50, height: 14, "aria-hidden": "true", class: "curves" },
    shape("path", line),
    shape("path", filled),
  );
}

function frame(kind) {
  return shape(
    "svg",
    { width: 14, height: 14, "aria-hidden": "true" },
    shape("rect", { class: `gold ${kind}`, x: 1.5, y: 1.5, width: 11, height: 11, rx: 2 }),
  );
}
