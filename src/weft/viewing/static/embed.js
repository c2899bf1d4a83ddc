// One pair without anything round it, for a frame of another site; which one stands in the address.
import { el } from "./dom.js";
import { drawLines } from "./lines.js";
import { drawMatrix } from "./matrix.js";
import { marksOf } from "./pair.js";
import { sharedPair } from "./shared.js";

const canvas = el("div", { class: "canvas" });
const status = el("p", { class: "status", role: "status" });
document.body.append(el("main", { class: "embedded" }, canvas, status));
addEventListener("hashchange", show);
addEventListener("resize", show);
show();

async function show() {
  const shared = await sharedPair(location.hash);
  status.textContent = shared ? "" : "The address of this frame holds no pair.";
  if (!shared) return canvas.replaceChildren();
  const draw = shared.view === "matrix" ? drawMatrix : drawLines;
  draw(canvas, shared.pair, marksOf(shared.pair), { say: (text) => (status.textContent = text) });
}
