// Scores against the gold, of the pair in view and of all pairs that have gold.
import { el } from "./dom.js";
import { legend } from "./legend.js";
import { countsOf, ratesOf } from "./pair.js";

export function totalsOf(work) {
  const scored = work.pairs.filter((pair) => pair.gold && pair.ready);
  if (!scored.length) return [];
  const row = (name, counts) => {
    const rates = ratesOf(counts);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      ...["aer", "precision", "recall", "f1"].map((rate) => el("td", { "data-rate": rate }, rates[rate].toFixed(1))),
    );
  };
  const sum = scored
    .map((pair) => countsOf(pair.links, pair.gold))
    .reduce((one, other) => one.map((value, k) => value + other[k]));
  const head = el(
    "tr",
    {},
    ...["", "AER", "Precision", "Recall", "F1"].map((name) => el("th", { scope: "col" }, name)),
  );
  const here = work.pair.gold ? [row("this pair", countsOf(work.pair.links, work.pair.gold))] : [];
  return [
    legend(["hit", "wrong", "missed"], [], true),
    el(
      "table",
      { class: "totals" },
      head,
      ...here,
      row(`${scored.length} ${scored.length === 1 ? "pair" : "pairs"} with gold`, sum),
    ),
  ];
}
