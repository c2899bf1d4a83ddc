// How the package is used, as a compiler sees it: `npm run types` checks the declarations against it.
import * as runtime from "onnxruntime-web/wasm";
import { Aligner, segment, type Alignment, type Link } from "../src/index.js";

const aligner: Aligner = await Aligner.load({ model: "/models/weft-mini" });
await Aligner.load({ model: "/models/another", runtime });
await Aligner.load({ model: "/models/another", runtime: () => import("onnxruntime-web/wasm") });
const alignment: Alignment = await aligner.align("das ist gut", ["that", "is", "good"], { method: "entmax", null: "off" });
const [source, target, probability]: Link = alignment.links[0]!;
const words: string[] = segment("l'homme", "fr");
// @ts-expect-error there is no such method
await aligner.align("a", "b", { method: "magic" });
export { probability, source, target, words };
