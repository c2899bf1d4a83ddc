// Cosine similarities of all words with all words, one matrix a model.
import { el } from "./dom.js";
import { drawMatrix } from "./matrix.js";
import { isolated } from "./pair.js";

export function drawSimilarities(pair, models) {
  return models.map((name, number) => {
    const canvas = el("div", { class: "canvas" });
    const values = pair.similarities[number];
    const value = (i, j) => Math.max(0, Math.min(1, values[i][j]));
    const describe = (_, __, i, j) => `${isolated(pair.source[i])} – ${isolated(pair.target[j])}: cosine ${values[i][j].toFixed(2)}`;
    const cell = Math.max(pair.source.length, pair.target.length) <= 14 ? 32 : undefined;
    const draw = (say) =>
      drawMatrix(canvas, pair, [], { say, cell, value, describe, label: `Cosine similarities of ${name}` });
    return { frame: el("figure", {}, el("figcaption", {}, name), canvas), draw };
  });
}

export function heatLegend() {
  const steps = Array.from({ length: 11 }, (_, k) => {
    const step = el("span", { class: "step" });
    step.style.setProperty("--heat", k / 10);
    return step;
  });
  return el(
    "div",
    { class: "legend heatlegend", "aria-label": "Legend: cosine similarity from 0 to 1" },
    "cosine 0 ",
    ...steps,
    " 1",
  );
}
