// weft in JavaScript: `align(source, target)` gives the links and probabilities of the Python library.
export { Aligner } from "./aligner.js";
export { segment } from "./segment.js";
