// A drawn pair as a file: SVG and PNG as it is seen, TikZ for papers, CSV for tables.
import { download, el, shape } from "./dom.js";
import { KINDS, directionOf } from "./pair.js";

// What a canvas can hold: pixels along a side, and in all.
const [LONGEST, LARGEST] = [16_384, 2 ** 27];
const SAID = 2000;
// XML has no place for these, and no picture shows them.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

const DRAWN = [
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "fill",
  "fill-opacity",
  "stroke-opacity",
  "opacity",
];
const SET = [
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "writing-mode",
  "text-anchor",
  "dominant-baseline",
  "fill",
  "stroke",
  "stroke-width",
  "paint-order",
];

// Buttons behind a small menu; `pictures` gives the drawn elements of this pair when they are asked for.
export function exportMenu(pair, marks, pictures, names = ["links"]) {
  const name = `pair-${pair.number}`;
  const kinds = {
    Copy: ({ currentTarget }) => copied(inLight(() => asSvg(pictures())), currentTarget),
    SVG: () => download(`${name}.svg`, inLight(() => asSvg(pictures())), "image/svg+xml"),
    PNG: async () => download(`${name}.png`, await asPng(inLight(() => asSvg(pictures())))),
    TikZ: () => download(`${name}.tex`, asTikz(pair, marks, names)),
    CSV: () => download(`${name}.csv`, asCsv(pair, marks, names)),
  };
  const buttons = Object.entries(kinds).map(([label, save]) => el("button", { type: "button", click: save }, label));
  return el(
    "details",
    { class: "export" },
    el("summary", { "aria-label": `Save pair ${pair.number} as a file` }, "Save"),
    el("div", { class: "menu" }, ...buttons),
  );
}

// A picture for a paper or a chat: its paper is white, whatever the theme of the page is.
function inLight(make) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    return make();
  } finally {
    root.dataset.theme = theme ?? "auto";
  }
}

// The button says for a moment what became of it; browsers refuse pages that are neither local nor on https.
async function copied(svg, button) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": asPng(svg) })]);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Cannot copy here";
  }
  setTimeout(() => (button.textContent = "Copy"), SAID);
}

// One SVG of everything that is drawn, with all styles written into it.
export function asSvg(pictures) {
  const frames = pictures.map((picture) => picture.getBoundingClientRect());
  const edge = (name) => (frames.length ? Math.min(...frames.map((frame) => frame[name])) : 0);
  const [left, top] = [edge("left"), edge("top")];
  const sizes = pictures.map((picture, k) => [
    frames[k].left - left + picture.scrollWidth,
    frames[k].top - top + picture.scrollHeight,
  ]);
  const [width, height] = [0, 1].map((axis) => Math.ceil(Math.max(0, ...sizes.map((size) => size[axis]))) + 32);
  const out = shape("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `-16 -16 ${width} ${height}`,
  });
  out.append(shape("rect", { x: -16, y: -16, width, height, fill: getComputedStyle(document.body).backgroundColor }));
  for (const picture of pictures) {
    for (const drawing of picture.querySelectorAll("svg")) out.append(drawnCopy(drawing, left, top));
    for (const word of picture.querySelectorAll("span.word")) out.append(textCopy(word, left, top));
  }
  return new XMLSerializer().serializeToString(out).replace(UNPRINTABLE, "\ufffd");
}

function drawnCopy(drawing, left, top) {
  const frame = drawing.getBoundingClientRect();
  const group = shape("g", { transform: `translate(${frame.left - left} ${frame.top - top})` });
  for (const part of drawing.querySelectorAll("path, rect, text")) {
    if (part.matches(".reach, .cursor")) continue;
    const style = getComputedStyle(part);
    const copy = part.cloneNode(true);
    for (const name of ["class", "style", "data-i", "data-j", "data-side", "data-k", "tabindex"])
      copy.removeAttribute(name);
    for (const name of part.tagName === "text" ? SET : DRAWN)
      copy.setAttribute(name, style.getPropertyValue(name));
    group.append(copy);
  }
  return group;
}

function textCopy(word, left, top) {
  const [frame, style] = [word.getBoundingClientRect(), getComputedStyle(word)];
  const place = {
    x: (frame.left + frame.right) / 2 - left,
    y: (frame.top + frame.bottom) / 2 - top,
    "text-anchor": "middle",
    "dominant-baseline": "central",
  };
  return shape(
    "text",
    { ...place, fill: style.color, "font-family": style.fontFamily, "font-size": style.fontSize },
    word.textContent,
  );
}

// At twice its size, or as large as a canvas can be.
async function asPng(svg, scale = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { width, height } = image;
  const most = Math.min(scale, LONGEST / Math.max(width, height), Math.sqrt(LARGEST / (width * height)));
  const canvas = el("canvas", { width: Math.floor(width * most), height: Math.floor(height * most) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return blob ?? (most > 0.1 ? asPng(svg, most / 2) : new Blob());
}

const TIKZ_STYLES = {
  link: "",
  hit: "",
  both: "",
  possible: "dotted",
  a: "blue!70!black, dashed",
  b: "orange!85!black, densely dashed",
  wrong: "orange!85!black, dashed",
  missed: "violet, dotted",
};

const RIGHT_TO_LEFT = `% Words stand from right to left. For their letters: LuaLaTeX, \\usepackage[bidi=basic]{babel}, and a font that
% has them.
`;

export function asTikz(pair, marks, names = []) {
  const links = marks
    .filter((mark) => mark.kind)
    .map((mark) => {
      const options = [
        TIKZ_STYLES[mark.kind],
        mark.score === null ? "" : `opacity=${(0.3 + 0.7 * mark.score).toFixed(2)}`,
      ].filter(Boolean);
      return `\\draw[${options.join(", ")}] (s${mark.i}.south) to[out=-90, in=90] (t${mark.j}.north);`;
    });
  const rows = [...tikzRow("s", pair.source, 0), ...tikzRow("t", pair.target, -2)];
  const lines = [...rows, ...links, ...tikzLegend(pair, names)].map((line) => `  ${line}\n`).join("");
  const leftwards = [pair.source, pair.target].some((words) => directionOf(words) === "rtl");
  return `${leftwards ? RIGHT_TO_LEFT : ""}\\begin{tikzpicture}\n${lines}\\end{tikzpicture}\n`;
}

// Nodes from left to right; the first word of a sentence that runs to the left is the last of them.
function tikzRow(letter, words, y) {
  const order = words.map((word, k) => [word, k]);
  if (directionOf(words) === "rtl") order.reverse();
  let place = `(0, ${y})`;
  return order.map(([word, k]) => {
    const node = `\\node[anchor=base west] (${letter}${k}) at ${place} {${escapedTex(word)}};`;
    place = `(${letter}${k}.base east)`;
    return node;
  });
}

function tikzLegend(pair, names) {
  const several = pair.systems.length > 1 ? ["both", "a", "b", ...(pair.gold ? ["missed"] : [])] : null;
  const kinds = several ?? (pair.gold ? ["hit", "wrong", "missed"] : []);
  let place = "(0, -3)";
  return kinds.flatMap((kind, k) => {
    const name = kind === "a" || kind === "b" ? `only ${names["ab".indexOf(kind)]}` : KINDS[kind];
    const line = `\\draw[${TIKZ_STYLES[kind]}] ${place} -- +(0.6, 0) coordinate (k${k});`;
    place = `([xshift=2mm]n${k}.east)`;
    return [line, `\\node[anchor=west] (n${k}) at (k${k}) {\\footnotesize ${escapedTex(name)}};`];
  });
}

const TEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
const escapedTex = (word) => word.replace(/[\\{}$&#%_^~]/g, (character) => TEX[character] ?? `\\${character}`);

export function asCsv(pair, marks, names) {
  const rows = marks.map((mark) => [
    pair.number,
    mark.i,
    mark.j,
    pair.source[mark.i],
    pair.target[mark.j],
    ...mark.found.map((found, k) => (found ? (mark.scores[k] ?? 1) : "")),
    ...(pair.gold ? [mark.gold ?? ""] : []),
  ]);
  return (
    [["pair", "i", "j", "source", "target", ...names, ...(pair.gold ? ["gold"] : [])], ...rows]
      .map((row) => row.map(quoted).join(","))
      .join("\r\n") + "\r\n"
  );
}

// A leading = + - or @ would be a formula to a spreadsheet; an apostrophe makes it text again.
function quoted(value) {
  const text =
    typeof value === "string" && /^[=+\-@\t\r]/.test(value) && value.length > 1 ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
