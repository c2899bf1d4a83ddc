// The two sentences on lines with curves between linked words; long pairs in bands below each other.
import { el, shape } from "./dom.js";
import { bandsOf } from "./bands.js";
import { directionOf, languageOf, maybe, sayCell, sayWord } from "./pair.js";
import { light, unlight } from "./lighting.js";
import { Stubs } from "./stubs.js";

const WORD_ROOM = 14;
const NARROW = 480;
const MOVING = 260;
const pen = document.createElement("canvas").getContext("2d");

// Draw into `root`, which must be in the document already: curves need to know where words stand.
export function drawLines(root, pair, marks, options = {}) {
  const drawn = marks.filter((mark) => mark.kind);
  const linked = { source: new Set(drawn.map((mark) => mark.i)), target: new Set(drawn.map((mark) => mark.j)) };
  const picture = el("div", {
    class: "picture lines",
    role: "group",
    "aria-label": options.label ?? "Words with links between them",
  });
  const old = root.firstElementChild;
  root.replaceChildren(picture);
  const room = (picture.room = picture.clientWidth - 8);
  const widths = [pair.source, pair.target].map((words) => widthsOf(words, picture));
  // Pictures side by side are cut alike, by the links of all of them.
  const cutting = options.cutBy ?? drawn;
  const bands = bandsOf(
    widths,
    cutting.map((mark) => [mark.i, mark.j]),
    room,
  );
  // On a phone, where bands would let curves run through words, each sentence has a column.
  const columns = bands.length > 1 && room > 0 && room < NARROW;
  picture.classList.toggle("columns", columns);
  for (const band of columns ? [wholeOf(pair)] : bands) {
    const sides = ["source", "target"].map((side) => sideOf(pair, side, band[side], linked, Boolean(options.onWord)));
    picture.append(el("div", { class: "band" }, ...sides));
  }
  const gap = gapOf(cutting, widths, bands.length);
  picture.style.setProperty("--gap", `${gap}px`);
  const curves = shape("svg", { class: "curves", "aria-hidden": "true" });
  picture.append(curves);
  const stubs = new Stubs(pair, bands, columns ? [] : drawn);
  drawCurves(picture, curves, drawn, { columns, stubs, gap });
  // In a window of another size everything stands elsewhere: that is no movement to follow.
  if (!columns && old?.room === room) moveFrom(curvesOfOld(old), curves);
  label(picture, pair, marks);
  listen(picture, pair, marks, options);
  picture.querySelector(".word")?.setAttribute("tabindex", "0");
  return picture;
}

const wholeOf = (pair) => ({ source: [0, pair.source.length], target: [0, pair.target.length] });

// Links that stay move to their new place instead of jumping there.
function curvesOfOld(picture) {
  const lines = picture.matches(".columns") ? [] : picture.querySelectorAll(".link");
  return new Map([...lines].map((line) => [`${line.dataset.i}-${line.dataset.j}`, line.getAttribute("d")]));
}

function moveFrom(before, curves) {
  if (!before.size || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const line of curves.querySelectorAll(".link")) {
    const [old, now] = [before.get(`${line.dataset.i}-${line.dataset.j}`), line.getAttribute("d")];
    if (old === now) continue;
    const frames = old ? { d: [`path("${old}")`, `path("${now}")`] } : { strokeOpacity: [0, getComputedStyle(line).strokeOpacity] };
    line.animate(frames, { duration: MOVING, easing: "ease-out" });
  }
}

function widthsOf(words, picture) {
  const style = getComputedStyle(picture);
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  return words.map((word) => pen.measureText(word).width + WORD_ROOM);
}

// Links that run far sideways need height to be told apart.
function gapOf(drawn, widths, bandCount) {
  if (bandCount > 1) return 64;
  const places = widths.map((side) => side.reduce((sums, width) => [...sums, sums.at(-1) + width], [0]));
  const run = Math.max(0, ...drawn.map((mark) => Math.abs(places[0][mark.i] - places[1][mark.j])));
  return Math.round(Math.min(104, 48 + 0.14 * run));
}

// Words that can be clicked are buttons, others items of a list.
function sideOf(pair, side, [from, to], linked, editable) {
  const words = pair[side];
  const [whole, role] = editable ? ["group", "button"] : ["list", "listitem"];
  const line = el("div", { class: `side ${side}`, dir: directionOf(words), lang: languageOf(words), role: whole });
  line.setAttribute("aria-label", side);
  for (let k = from; k < to; k++) {
    const alone = linked[side].has(k) ? "" : " alone";
    const pressed = editable ? "false" : null;
    line.append(
      el(
        "span",
        { class: `word${alone}`, "data-side": side, "data-k": k, tabindex: "-1", role, "aria-pressed": pressed },
        words[k],
      ),
    );
  }
  return line;
}

export function wordAt(picture, side, k) {
  return picture.querySelector(`.word[data-side="${side}"][data-k="${k}"]`);
}

function drawCurves(picture, curves, drawn, { columns, stubs, gap }) {
  // Looking each word up in the document would take its square in time.
  const words = new Map([...picture.querySelectorAll(".word")].map((word) => [word.dataset.side + word.dataset.k, word]));
  stubs.makeRoom(picture, curves, words, gap);
  const frame = picture.getBoundingClientRect();
  stubs.place(words, frame);
  const pathOf = (mark) => {
    const [source, target] = [`source${mark.i}`, `target${mark.j}`].map((key) => words.get(key)?.getBoundingClientRect());
    if (!source || !target) return null;
    if (stubs.has(mark)) return stubs.path(mark, source, target, frame);
    return columns ? sideways(source, target, frame) : curve(ends(source, target, frame));
  };
  // Strong links are drawn last, so that they lie on top.
  const ordered = [...drawn].sort((one, other) => (one.score ?? 1) - (other.score ?? 1));
  curves.prepend(...ordered.flatMap((mark) => linkOf(mark, pathOf(mark))));
}

function linkOf(mark, d) {
  if (!d) return [];
  const place = { d, "data-i": mark.i, "data-j": mark.j };
  const line = shape("path", { ...place, class: `link k-${mark.kind}${maybe(mark)}` });
  line.style.setProperty("--strength", (mark.score ?? 1).toFixed(3));
  const reach = shape("path", { ...place, class: "reach" });
  return mark.wrong && mark.kind !== "wrong" ? [line, cross(line, mark), reach] : [line, reach];
}

// A target in an earlier band is reached from the source word's upper edge.
function ends(source, target, frame) {
  const down = target.top >= source.bottom - 1;
  return {
    x1: (source.left + source.right) / 2 - frame.left,
    y1: (down ? source.bottom : source.top) - frame.top,
    x2: (target.left + target.right) / 2 - frame.left,
    y2: (down ? target.top : target.bottom) - frame.top,
  };
}

function curve({ x1, y1, x2, y2 }) {
  const bend = (y2 - y1) * 0.48;
  const [a, b, c, d, e, f, g, h] = [x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2].map((value) => value.toFixed(1));
  return `M${a} ${b}C${c} ${d} ${e} ${f} ${g} ${h}`;
}

// From the right edge of a word in the left column to the left edge of one in the right column.
function sideways(source, target, frame) {
  const [x1, x2] = [source.right - frame.left + 2, target.left - frame.left - 2];
  const [y1, y2] = [source, target].map((box) => (box.top + box.bottom) / 2 - frame.top);
  const middle = (x1 + x2) / 2;
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}C${middle.toFixed(1)} ${y1.toFixed(1)} ${middle.toFixed(1)} ${y2.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
}

// A link that is not in the gold has a cross on it.
function cross(line, mark) {
  const { x, y } = line.getPointAtLength(line.getTotalLength() / 2);
  const d = `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`;
  return shape("path", { d, class: `cross k-${mark.kind}`, "data-i": mark.i, "data-j": mark.j });
}

function label(picture, pair, marks) {
  for (const word of picture.querySelectorAll(".word")) {
    word.setAttribute("aria-label", sayWord(pair, marks, word.dataset.side, Number(word.dataset.k)));
  }
}

function listen(picture, pair, marks, { say = () => {}, onWord, onLink }) {
  const show = (target) => {
    const word = target.closest?.("[data-side]");
    const place = target.closest?.("[data-i]");
    if (word) {
      const [side, k] = [word.dataset.side, Number(word.dataset.k)];
      light(
        picture,
        marks.filter((mark) => mark.kind && mark[side === "source" ? "i" : "j"] === k),
        [word],
      );
      say(sayWord(pair, marks, side, k));
    } else if (place) {
      const [i, j] = [Number(place.dataset.i), Number(place.dataset.j)];
      light(
        picture,
        marks.filter((mark) => mark.i === i && mark.j === j),
      );
      say(sayCell(pair, marks, i, j));
    } else {
      unlight(picture);
    }
  };
  picture.addEventListener("pointerover", (event) => show(event.target));
  picture.addEventListener("pointerleave", () => unlight(picture));
  picture.addEventListener("focusin", (event) => show(event.target));
  picture.addEventListener("focusout", () => unlight(picture));
  picture.addEventListener("click", (event) => {
    const word = event.target.closest(".word");
    const place = event.target.closest("[data-i]");
    const add = event.ctrlKey || event.metaKey || event.shiftKey || undefined;
    if (word) onWord?.(word.dataset.side, Number(word.dataset.k), { add });
    else if (place) onLink?.(Number(place.dataset.i), Number(place.dataset.j));
  });
  picture.addEventListener("keydown", (event) => walk(event, picture, marks, onWord));
}

// Arrows go along a sentence and, up and down, to a word's partner.
function walk(event, picture, marks, onWord) {
  const word = event.target.closest(".word");
  if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
  const [side, k] = [word.dataset.side, Number(word.dataset.k)];
  const forward = word.parentElement.dir === "rtl" ? -1 : 1;
  const columns = picture.classList.contains("columns");
  const steps = columns ? { ArrowDown: 1, ArrowUp: -1 } : { ArrowRight: forward, ArrowLeft: -forward };
  let next = null;
  if (event.key in steps) next = wordAt(picture, side, k + steps[event.key]);
  else if (event.key === "Home" || event.key === "End") next = edge(picture, side, event.key);
  else if (event.key.startsWith("Arrow")) next = partner(picture, marks, side, k);
  else if (onWord && (event.key === "Enter" || event.key === " ")) onWord(side, k, { add: event.key === " " || undefined });
  else return;
  event.preventDefault();
  if (next) {
    picture.querySelector('.word[tabindex="0"]')?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }
}

function edge(picture, side, key) {
  const words = picture.querySelectorAll(`.word[data-side="${side}"]`);
  return words[key === "Home" ? 0 : words.length - 1];
}

function partner(picture, marks, side, k) {
  const [own, other, there] = side === "source" ? ["i", "j", "target"] : ["j", "i", "source"];
  const found = marks.find((mark) => mark.kind && mark[own] === k);
  if (found) return wordAt(picture, there, found[other]);
  const count = picture.querySelectorAll(`.word[data-side="${there}"]`).length;
  return wordAt(picture, there, Math.min(k, count - 1));
}
