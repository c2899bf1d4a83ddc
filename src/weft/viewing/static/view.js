// The page that stands alone: totals, filters, and a long list of pairs.
import { choice, el, themeButton } from "./dom.js";
import { exportMenu } from "./export.js";
import { legend } from "./legend.js";
import { drawLines } from "./lines.js";
import { LongList } from "./list.js";
import { drawMatrix } from "./matrix.js";
import { figuresOf, marksOf, percent } from "./pair.js";
import { drawSimilarities, heatLegend } from "./similarity.js";
import { visitor } from "./visitor.js";

const data = JSON.parse(document.getElementById("data").textContent);
const two = data.systems.length > 1;
const withLinks = data.systems.length > 0;
const state = {
  view: withLinks ? "lines" : "similarity",
  layout: "together",
  text: "",
  least: 1,
  most: Infinity,
  show: "all",
  score: 1,
  order: "number",
};
const figures = new Map(data.pairs.map((pair) => [pair, figuresOf(pair)]));
const scored = data.pairs.some((pair) => figures.get(pair).score !== null);
const longest = Math.max(1, ...data.pairs.map((pair) => figures.get(pair).words));

const ORDERS = {
  number: (pair) => pair.number,
  length: (pair) => -figures.get(pair).words,
  differ: (pair) => -figures.get(pair).differences,
  aer: (pair) => -Math.max(...figures.get(pair).aer),
  better: (pair) => figures.get(pair).aer[0] - figures.get(pair).aer[1],
  worse: (pair) => figures.get(pair).aer[1] - figures.get(pair).aer[0],
  score: (pair) => figures.get(pair).score ?? 2,
};

const count = el("output", { class: "count", "aria-live": "polite" });
const root = el("main", { id: "pairs", class: "pairs" });

document.body.append(header(), toolbar(), visitor(), root, footer());
const list = new LongList(root, draw, estimate);
update();
addEventListener("beforeprint", () => list.fillAll("printing"));
addEventListener("afterprint", () => list.emptyAgain("printing"));

function header() {
  return el(
    "header",
    { class: "top" },
    el("div", { class: "title" }, el("h1", {}, data.title), el("p", { class: "subtitle" }, data.subtitle)),
    data.gold ? totals() : null,
    themeButton(),
  );
}

function totals() {
  const names = ["aer", "precision", "recall", "f1"];
  const head = el(
    "tr",
    {},
    el("td"),
    ...["AER", "Precision", "Recall", "F1"].map((name) => el("th", { scope: "col" }, name)),
  );
  const rows = data.systems.map((system, number) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, badge(number), system.name),
      ...names.map((name) => el("td", {}, system.rates[name].toFixed(1), interval(system, name))),
    ),
  );
  return el(
    "table",
    { class: "totals", "aria-label": `Scores against ${data.gold}` },
    el("thead", {}, head),
    el("tbody", {}, ...rows),
  );
}

function interval(system, name) {
  const [low, high] = system.intervals[name];
  return el("small", { title: "95 % interval" }, ` ${low.toFixed(1)}–${high.toFixed(1)}`);
}

function badge(number) {
  return two ? el("span", { class: `badge k-${"ab"[number]}` }, "AB"[number]) : null;
}

function toolbar() {
  const views = [
    ["lines", "Lines"],
    ["matrix", "Matrix"],
  ].filter(() => withLinks);
  if (data.models.length) views.push(["similarity", "Similarity"]);
  return el(
    "section",
    { class: "toolbar", "aria-label": "View and filters" },
    views.length > 1
      ? choice("View", views, state.view, (view) => {
          state.view = view;
          list.redraw();
        })
      : null,
    two
      ? choice(
          "Systems",
          [
            ["together", "Together"],
            ["apart", "Side by side"],
          ],
          state.layout,
          (layout) => {
            state.layout = layout;
            list.redraw();
          },
        )
      : null,
    filters(),
    count,
    state.view === "similarity"
      ? heatLegend()
      : legend(
          kinds(),
          data.systems.map((system) => system.name),
          Boolean(data.gold),
        ),
  );
}

function kinds() {
  if (two) return ["both", "a", "b", ...(data.gold ? ["missed"] : [])];
  return data.gold ? ["hit", "wrong", "missed"] : ["link"];
}

function filters() {
  const number = (name, label, fallback) =>
    el("input", {
      type: "number",
      min: 1,
      max: longest,
      placeholder: fallback,
      "aria-label": label,
      input: (event) =>
        set(name, event.target.value === "" ? { least: 1, most: Infinity }[name] : Number(event.target.value)),
    });
  const select = (name, label, options) =>
    options.length < 2
      ? null
      : el(
          "select",
          { "aria-label": label, change: (event) => set(name, event.target.value) },
          ...options.map(([value, text]) => el("option", { value }, text)),
        );
  return el(
    "div",
    { class: "filters" },
    el("input", {
      type: "search",
      placeholder: "Find words",
      "aria-label": "Find words",
      input: (event) => set("text", event.target.value.toLowerCase()),
    }),
    el(
      "span",
      { class: "range" },
      number("least", "Fewest words", "1"),
      "–",
      number("most", "Most words", String(longest)),
      " words",
    ),
    select("show", "Which pairs", [
      ["all", "All pairs"],
      ...(two
        ? [
            ["differ", "Systems differ"],
            ["agree", "Systems agree"],
          ]
        : []),
      ...(data.gold
        ? [
            ["errors", "With errors"],
            ["right", "Without errors"],
          ]
        : []),
    ]),
    scored ? el("label", { class: "slider" }, "score ≤ ", scoreSlider()) : null,
    select("order", "Order", [
      ["number", "In order"],
      ["length", "Longest first"],
      ...(two
        ? [
            ["differ", "Most different"],
            ...(data.gold
              ? [
                  ["better", "A better than B"],
                  ["worse", "B better than A"],
                ]
              : []),
          ]
        : []),
      ...(data.gold ? [["aer", "Worst first"]] : []),
      ...(scored ? [["score", "Lowest score"]] : []),
    ]),
  );
}

function scoreSlider() {
  const shown = el("output", {}, "1.00");
  const slider = el("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    value: 1,
    "aria-label": "Highest score",
    input: (event) => {
      shown.textContent = percent(Number(event.target.value));
      set("score", Number(event.target.value));
    },
  });
  return el("span", {}, slider, shown);
}

function set(name, value) {
  state[name] = value;
  cancelAnimationFrame(set.waiting);
  set.waiting = requestAnimationFrame(update);
}

function wanted(pair) {
  const figure = figures.get(pair);
  if (figure.words < state.least || figure.words > state.most) return false;
  if (state.score < 1 && (figure.score === null || figure.score > state.score)) return false;
  if (state.show === "differ" && !figure.differences) return false;
  if (state.show === "agree" && figure.differences) return false;
  if (state.show === "errors" && !figure.errors) return false;
  if (state.show === "right" && figure.errors) return false;
  return !state.text || `${pair.source.join(" ")}\n${pair.target.join(" ")}`.toLowerCase().includes(state.text);
}

function update() {
  const rank = ORDERS[state.order];
  const shown = data.pairs.filter(wanted).sort((one, other) => rank(one) - rank(other) || one.number - other.number);
  const all = `${data.pairs.length.toLocaleString("en")} pair${data.pairs.length === 1 ? "" : "s"}`;
  count.textContent = shown.length === data.pairs.length ? all : `${shown.length.toLocaleString("en")} of ${all}`;
  list.show(shown);
  root.classList.toggle("nothing", !shown.length);
}

function draw(article, pair) {
  const status = el("p", { class: "status", role: "status" });
  const panels = panelsOf(pair);
  const menu = exportMenu(
    pair,
    marksOf(pair),
    () => [...article.querySelectorAll(".picture")],
    data.systems.map((system) => system.name),
  );
  article.replaceChildren(
    el("div", { class: "pairhead" }, el("span", { class: "number" }, String(pair.number)), factsOf(pair), menu),
    el("div", { class: panels.length > 1 ? "panels" : "panel" }, ...panels.map((panel) => panel.frame)),
    status,
  );
  for (const panel of panels)
    panel.draw((text) => {
      status.textContent = text;
    });
}

function panelsOf(pair) {
  if (state.view === "similarity") return drawSimilarities(pair, data.models);
  const apart = two && state.layout === "apart";
  const cutBy = marksOf(pair).filter((mark) => mark.kind);
  return (apart ? [0, 1] : [null]).map((shown) => {
    const canvas = el("div", { class: "canvas" });
    const caption = apart ? el("figcaption", {}, badge(shown), data.systems[shown].name) : null;
    const label = shown === null ? "Links" : `Links of ${data.systems[shown].name}`;
    const drawInto = state.view === "lines" ? drawLines : drawMatrix;
    return {
      frame: el("figure", {}, caption, canvas),
      draw: (say) => drawInto(canvas, pair, marksOf(pair, shown), { say, label, cutBy }),
    };
  });
}

function factsOf(pair) {
  const figure = figures.get(pair);
  const facts = [`${pair.source.length} × ${pair.target.length} words`];
  if (figure.aer) facts.push(`AER ${figure.aer.map((rate) => rate.toFixed(0)).join(" | ")}`);
  if (two && figure.differences)
    facts.push(`${figure.differences} ${figure.differences === 1 ? "difference" : "differences"}`);
  if (figure.score !== null) facts.push(`score ${percent(figure.score)}`);
  return el("span", { class: "facts" }, facts.join(" · "));
}

function estimate(pair) {
  const wide = Math.max(300, root.clientWidth - 80);
  const letters = Math.max(...[pair.source, pair.target].map((words) => words.join(" ").length));
  if (state.view === "lines") return 90 + Math.ceil((letters * 10) / wide) * 150;
  return 220 + Math.min(600, pair.source.length * 22);
}

function footer() {
  const keys = [
    ["j k", "next, previous pair"],
    ["Tab", "into the words"],
    ["← →", "along a sentence"],
    ["↑ ↓", "to the partner"],
    ["v", "change the view"],
  ];
  document.addEventListener("keydown", shortcut);
  return el("footer", {}, ...keys.map(([key, meaning]) => el("span", {}, el("kbd", {}, key), ` ${meaning}`)));
}

function shortcut(event) {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j" || event.key === "k") list.step(event.key === "j" ? 1 : -1);
  else if (event.key === "v") document.querySelector('.toolbar .choice button[aria-pressed="false"]')?.click();
}
