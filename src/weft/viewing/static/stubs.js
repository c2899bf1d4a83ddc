// Links between bands that do not face each other would run through words. Each of their ends is a short stub
// instead, beside which stands the word at the other end.
import { shape } from "./dom.js";
import { cellKey } from "./pair.js";

const LENGTH = 9;
const LINE = 15;
const APART = 7;
const MOST_LETTERS = 16;
const SMALLEST_GAP = 34; // between labels that no curve passes

// Of each link, in which bands its words stand.
function placesOf(bands, marks) {
  const bandOf = (side, k) => bands.findIndex((band) => band[side][0] <= k && k < band[side][1]);
  return marks.map(({ i, j }) => ({ i, j, from: bandOf("source", i), to: bandOf("target", j) }));
}

// A curve within a band, or from a source word up to the target words just above its band, meets no word.
const isFar = ({ from, to }) => to !== from && to !== from - 1;

const middleOf = (box, frame) => (box.left + box.right) / 2 - frame.left;

export class Stubs {
  constructor(pair, bands, marks) {
    const places = placesOf(bands, marks);
    this.curved = new Set(places.filter(({ from, to }) => from === to).map(({ from }) => from));
    this.cells = new Set();
    this.ends = new Map(); // one for each word with such a link
    for (const { i, j, from, to } of places.filter(isFar)) {
      this.cells.add(cellKey(i, j));
      this.add("source", i, from, `${to > from ? "↓" : "↑"} ${pair.target[j]}`);
      this.add("target", j, to, `${to > from ? "↑" : "↓"} ${pair.source[i]}`);
    }
  }

  has({ i, j }) {
    return this.cells.has(cellKey(i, j));
  }

  add(side, k, band, partner) {
    const known = this.ends.get(side + k);
    if (known) known.partners.push(partner);
    else this.ends.set(side + k, { side, k, band, partners: [partner], row: 0 });
  }

  // Puts the labels into `curves` and fits the gaps of their bands; `words` has the element of each word.
  makeRoom(picture, curves, words, gap) {
    const ends = [...this.ends.values()];
    for (const end of ends) curves.append((end.label = labelOf(end)));
    const frame = picture.getBoundingClientRect();
    for (const end of ends) Object.assign(end, span(end.label, words.get(end.side + end.k), frame));
    picture.querySelectorAll(".band").forEach((band, number) => {
      const here = ["source", "target"].map((side) => ends.filter((end) => end.band === number && end.side === side));
      const rows = stacked(here[0]) + stacked(here[1]);
      const between = this.curved.has(number) ? gap : SMALLEST_GAP;
      if (rows) band.style.setProperty("--gap", `${between + LINE * rows}px`);
    });
  }

  // Once the bands have their heights.
  place(words, frame) {
    for (const { side, k, label, x, row } of this.ends.values()) {
      const box = words.get(side + k).getBoundingClientRect();
      const depth = LENGTH + LINE * row;
      const y = side === "source" ? box.bottom + depth + 12 : box.top - depth - 4;
      label.setAttribute("x", x.toFixed(1));
      label.setAttribute("y", (y - frame.top).toFixed(1));
    }
  }

  // Both stubs of a link are one path.
  path({ i, j }, source, target, frame) {
    const depth = (end) => LENGTH + LINE * this.ends.get(end).row;
    const from = (box, y) => `M${middleOf(box, frame).toFixed(1)} ${(y - frame.top).toFixed(1)}`;
    return `${from(source, source.bottom)}v${depth(`source${i}`)}${from(target, target.top)}v${-depth(`target${j}`)}`;
  }
}

function labelOf({ side, k, partners }) {
  const letters = [...partners[0]];
  const first = letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : partners[0];
  const text = partners.length > 1 ? `${first} +${partners.length - 1}` : first;
  return shape("text", { class: "elsewhere", "data-side": side, "data-k": k }, text);
}

// A label stands below or above the middle of its word, but never outside the picture.
function span(label, word, frame) {
  const half = label.getComputedTextLength() / 2;
  const middle = middleOf(word.getBoundingClientRect(), frame);
  return { x: Math.max(half, Math.min(frame.width - half, middle)), half };
}

// Labels that would overlap stand in rows of their own; returns how many rows there are.
function stacked(ends) {
  const edges = [];
  for (const end of ends.sort((one, other) => one.x - other.x)) {
    const free = edges.findIndex((edge) => edge + APART <= end.x - end.half);
    end.row = free < 0 ? edges.length : free;
    edges[end.row] = end.x + end.half;
  }
  return edges.length;
}
