// Holds the models. The first one is loaded at once, others when somebody asks for them.
import { Aligner } from "../aligner.js";

const ROOT = new URL("../../", import.meta.url);
const models = new Map();
const waiting = [];
let busy = false;
// Threads of onnxruntime-web share memory, which browsers allow only to pages that are isolated from others.
const threads = self.crossOriginIsolated ? Math.max(1, Math.min(4, navigator.hardwareConcurrency >> 1)) : 1;

const offer = fetch(new URL("page.json", ROOT)).then((response) => response.json());

self.addEventListener("message", ({ data }) => {
  if (data.forget) {
    const place = waiting.findIndex((task) => task.number === data.forget);
    if (place >= 0) waiting.splice(place, 1);
    return;
  }
  waiting.push(data);
  work();
});

async function work() {
  if (busy) return;
  busy = true;
  // Messages that have arrived meanwhile are heard between two sentences.
  for (; waiting.length; await new Promise((resolve) => setTimeout(resolve))) {
    const { number, model, pair, options } = waiting.shift();
    try {
      const alignment = await (await loaded(model)).align(pair.source, pair.target, options);
      self.postMessage({ number, alignment });
    } catch (error) {
      self.postMessage({ number, problem: error.message });
    }
  }
  busy = false;
}

function loaded(name) {
  if (!models.has(name)) models.set(name, load(name));
  return models.get(name);
}

async function load(name) {
  const model = new URL(`models/${encodeURIComponent(name)}/`, ROOT);
  return Aligner.load({ model, runtime, threads, name });
}

// onnxruntime-web, which is there if the page has a model that weft's own encoder cannot run.
async function runtime() {
  const module = await import(new URL("runtime/ort.wasm.min.mjs", ROOT));
  module.env.wasm.wasmPaths = String(new URL("runtime/", ROOT));
  return module;
}

const first = await offer;
await loaded(first.models[0].name);
self.postMessage({ ready: true });
