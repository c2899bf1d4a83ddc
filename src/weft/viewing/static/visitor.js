// A pair that came with the address: it stands above the page's own, and goes away when it is asked to.
import { el } from "./dom.js";
import { exportMenu } from "./export.js";
import { drawLines } from "./lines.js";
import { drawMatrix } from "./matrix.js";
import { marksOf } from "./pair.js";
import { sharedPair } from "./shared.js";

export function visitor() {
  const root = el("section", { class: "pairs visitor", "aria-label": "A pair from the address", hidden: true });
  const show = async () => {
    const shared = await sharedPair(location.hash);
    root.hidden = !shared;
    root.replaceChildren();
    if (shared) fill(root, shared, close);
  };
  const close = () => {
    history.replaceState(null, "", location.pathname + location.search);
    show();
  };
  addEventListener("hashchange", show);
  show();
  return root;
}

function fill(root, { pair, view }, close) {
  const [canvas, status] = [el("div", { class: "canvas" }), el("p", { class: "status", role: "status" })];
  const marks = marksOf(pair);
  const head = el(
    "div",
    { class: "pairhead" },
    el("span", { class: "number" }, "Shared pair"),
    el("span", { class: "facts" }, `${pair.source.length} × ${pair.target.length} words`),
    exportMenu(pair, marks, () => [...canvas.children]),
    el("button", { type: "button", class: "quiet", click: close }, "Close"),
  );
  root.append(el("article", {}, head, canvas, status));
  const say = (text) => {
    status.textContent = text;
  };
  (view === "matrix" ? drawMatrix : drawLines)(canvas, pair, marks, { say, label: "Links of the shared pair" });
}
