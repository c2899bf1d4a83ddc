// The matrix: source words down, target words across; gold as frames, links as filled shapes.
import { el, shape } from "./dom.js";
import { directionOf, languageOf, maybe, sayCell, sayWord } from "./pair.js";
import { light, unlight } from "./lighting.js";

const LONGEST_LABEL = 16;
const SMALLEST_CELL = 14;
const VERTICAL = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]/;
const pencil = document.createElement("canvas").getContext("2d");

// `options.value(i, j)` colours cells by a number from 0 to 1 (the similarity picture).
export function drawMatrix(root, pair, marks, options = {}) {
  const picture = el("div", { class: "picture matrix" });
  root.replaceChildren(picture);
  const plan = planOf(pair, picture, options);
  const drawing = shape("svg", {
    class: "cells",
    width: plan.width,
    height: plan.height,
    viewBox: `0 0 ${plan.width} ${plan.height}`,
    tabindex: "0",
    role: "application",
    "aria-roledescription": "matrix",
    "aria-label": `${options.label ?? "Matrix of links"}: ${pair.source.length} source words down, ${pair.target.length} target words across; arrow keys move`,
  });
  drawing.append(...gridOf(plan), ...labelsOf(plan, pair));
  if (options.value) drawing.append(...heatOf(plan, options.value));
  for (const mark of marks) drawing.append(...cellOf(plan, mark));
  drawing.append(cursorOf(plan));
  picture.append(drawing);
  listen(picture, drawing, plan, pair, marks, options);
  return picture;
}

function planOf(pair, picture, options) {
  const style = getComputedStyle(picture);
  pencil.font = `14px ${style.fontFamily}`;
  const longest = (words) => Math.max(16, ...words.map((word) => pencil.measureText(shortened(word)).width));
  const most = Math.max(pair.source.length, pair.target.length);
  const usual = options.cell ?? (most > 40 ? 17 : most > 24 ? 20 : 24);
  const [left, top] = [Math.ceil(longest(pair.source)) + 12, Math.ceil(longest(pair.target)) + 12];
  const [rows, columns] = [pair.source.length, pair.target.length];
  // On a phone smaller cells save a reader from moving sideways.
  const fitting = Math.floor((picture.clientWidth - left - 2) / columns);
  const cell = fitting < usual ? Math.min(usual, Math.max(fitting, SMALLEST_CELL)) : usual;
  const mirrored = directionOf(pair.target) === "rtl";
  const labelsRight = directionOf(pair.source) === "rtl";
  const x0 = labelsRight ? 1 : left;
  return {
    cell,
    left,
    top,
    rows,
    columns,
    mirrored,
    labelsRight,
    x0,
    width: left + columns * cell + 2,
    height: top + rows * cell + 2,
    x: (j) => x0 + (mirrored ? columns - 1 - j : j) * cell,
    y: (i) => top + i * cell,
  };
}

const shortened = (word) => (word.length > LONGEST_LABEL ? `${word.slice(0, LONGEST_LABEL - 1)}…` : word);

function gridOf({ cell, top, rows, columns, x0 }) {
  const across = Array.from({ length: rows + 1 }, (_, i) => `M${x0} ${top + i * cell}h${columns * cell}`);
  const down = Array.from({ length: columns + 1 }, (_, j) => `M${x0 + j * cell} ${top}v${rows * cell}`);
  return [shape("path", { class: "grid", d: across.join("") + down.join("") })];
}

function labelsOf(plan, pair) {
  const { cell, top, x0, columns, labelsRight } = plan;
  const x = labelsRight ? x0 + columns * cell + 7 : x0 - 7;
  const rows = pair.source.map((word, i) =>
    text(
      word,
      { x, y: plan.y(i) + cell / 2, "text-anchor": labelsRight ? "start" : "end", "dominant-baseline": "central" },
      "source",
      i,
      pair.source,
    ),
  );
  const heads = pair.target.map((word, j) => {
    const middle = plan.x(j) + cell / 2;
    const place = VERTICAL.test(word)
      ? { x: middle, y: top - 6, "text-anchor": "end", class: "word upright" }
      : {
          "text-anchor": "start",
          "dominant-baseline": "central",
          transform: `translate(${middle} ${top - 7}) rotate(-90)`,
        };
    return text(word, place, "target", j, pair.target);
  });
  return [...rows, ...heads];
}

function text(word, place, side, k, words) {
  const label = shape(
    "text",
    { class: "word", lang: languageOf(words), ...place, "data-side": side, "data-k": k },
    shortened(word),
  );
  if (word.length > LONGEST_LABEL) label.append(shape("title", {}, word));
  return label;
}

function cursorOf({ cell }) {
  return shape("rect", { class: "cursor", width: cell, height: cell, visibility: "hidden" });
}

function heatOf(plan, value) {
  const cells = [];
  for (let i = 0; i < plan.rows; i++) {
    for (let j = 0; j < plan.columns; j++) {
      const cell = shape("rect", {
        class: "heat",
        x: plan.x(j),
        y: plan.y(i),
        width: plan.cell,
        height: plan.cell,
        "data-i": i,
        "data-j": j,
      });
      cell.style.setProperty("--heat", value(i, j).toFixed(3));
      cells.push(cell);
    }
  }
  return cells;
}

function cellOf(plan, mark) {
  const [x, y, cell] = [plan.x(mark.j), plan.y(mark.i), plan.cell];
  const parts = [];
  if (mark.gold)
    parts.push(
      shape("rect", { class: `gold ${mark.gold}`, x: x + 2, y: y + 2, width: cell - 4, height: cell - 4, rx: 2 }),
    );
  if (mark.kind) {
    const filled = shape("path", {
      class: `mark k-${mark.kind}${maybe(mark)}`,
      d: outline(mark.kind, x + cell / 2, y + cell / 2, cell * 0.3),
      "data-i": mark.i,
      "data-j": mark.j,
    });
    filled.style.setProperty("--strength", (mark.score ?? 1).toFixed(3));
    parts.push(filled);
  }
  return parts;
}

// Every kind has a shape of its own, so that nothing hangs on colour alone.
export function outline(kind, x, y, r) {
  if (kind === "a") return `M${x - r} ${y - r}h${2 * r}l${-2 * r} ${2 * r}z`;
  if (kind === "b") return `M${x + r} ${y + r}h${-2 * r}l${2 * r} ${-2 * r}z`;
  if (kind === "wrong")
    return `M${x} ${y - 1.2 * r}l${1.2 * r} ${1.2 * r}l${-1.2 * r} ${1.2 * r}l${-1.2 * r} ${-1.2 * r}z`;
  if (kind === "missed" || kind === "possible")
    return `M${x - r} ${y}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0z`;
  return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
}

function listen(picture, drawing, plan, pair, marks, { say = () => {}, onCell, describe = sayCell }) {
  const cursor = drawing.querySelector(".cursor");
  let [i, j] = [0, 0];
  picture.cell = () => (document.activeElement === drawing ? [i, j] : null);
  const at = (row, column, announce = true) => {
    [i, j] = [row, column];
    cursor.setAttribute("x", plan.x(j));
    cursor.setAttribute("y", plan.y(i));
    cursor.setAttribute("visibility", "visible");
    const names = ["source", "target"].map((side, k) =>
      picture.querySelector(`.word[data-side="${side}"][data-k="${[i, j][k]}"]`),
    );
    light(
      picture,
      marks.filter((mark) => mark.kind && (mark.i === i || mark.j === j)),
      names,
    );
    if (announce) say(describe(pair, marks, i, j));
  };
  const leave = () => {
    cursor.setAttribute("visibility", "hidden");
    unlight(picture);
  };
  const cellUnder = (event) => {
    const frame = drawing.getBoundingClientRect();
    const column = Math.floor((event.clientX - frame.left - plan.x0) / plan.cell);
    const row = Math.floor((event.clientY - frame.top - plan.top) / plan.cell);
    const inside = row >= 0 && row < plan.rows && column >= 0 && column < plan.columns;
    return inside ? [row, plan.mirrored ? plan.columns - 1 - column : column] : null;
  };
  drawing.addEventListener("pointermove", (event) => {
    const cell = cellUnder(event);
    const word = event.target.closest(".word");
    if (cell) at(...cell);
    else if (word) lightWord(word);
    else leave();
  });
  function lightWord(word) {
    const [side, k] = [word.dataset.side, Number(word.dataset.k)];
    cursor.setAttribute("visibility", "hidden");
    light(
      picture,
      marks.filter((mark) => mark.kind && mark[side === "source" ? "i" : "j"] === k),
      [word],
    );
    say(sayWord(pair, marks, side, k));
  }
  drawing.addEventListener("pointerleave", leave);
  drawing.addEventListener("focus", () => drawing.matches(":focus-visible") && at(i, j));
  drawing.addEventListener("blur", leave);
  drawing.addEventListener("click", (event) => {
    const cell = cellUnder(event);
    if (cell) onCell?.(...cell);
  });
  drawing.addEventListener("keydown", (event) => {
    const sideways = plan.mirrored ? -1 : 1;
    const step = { ArrowRight: [0, sideways], ArrowLeft: [0, -sideways], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[
      event.key
    ];
    if (step) at(bounded(i + step[0], plan.rows), bounded(j + step[1], plan.columns));
    else if (event.key === "Enter" || event.key === " ") onCell?.(i, j);
    else return;
    event.preventDefault();
  });
  picture.moveTo = (row, column) => at(bounded(row, plan.rows), bounded(column, plan.columns));
}

const bounded = (value, count) => Math.max(0, Math.min(count - 1, value));
