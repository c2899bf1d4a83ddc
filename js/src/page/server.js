// The REST API of `weft serve`, answered inside the page: what the app asks of api/ goes to a worker that holds the model.
// Loaded before the app, which does not know the difference.
import { readFiles, writeFile } from "./files.js";
import { LocalAligner } from "./local.js";

const ROOT = new URL("../../", import.meta.url);
const API = String(new URL("api/", ROOT));
const REFUSAL = "this page has no server behind it; `weft serve` can do that.";

const asked = window.fetch.bind(window);
const offer = asked(new URL("page.json", ROOT)).then((response) => response.json());
const aligner = new LocalAligner(new Worker(new URL("./worker.js", import.meta.url), { type: "module" }));

window.fetch = async (address, options = {}) => {
  const { href } = new URL(address?.url ?? address, location.href);
  return href.startsWith(API) ? answer(href.slice(API.length), options) : asked(address, options);
};

const ANSWERS = { align: alignments, "files/read": readFiles, "files/write": writeFile };

async function answer(name, { body, signal }) {
  if (name === "models") return json(await offer);
  if (name === "projects") return json({ available: false, can_create: false, projects: [] });
  if (!(name in ANSWERS)) return json({ detail: REFUSAL }, 404);
  try {
    const answered = await ANSWERS[name](JSON.parse(body), signal);
    return typeof answered === "string" ? new Response(answered) : json(answered);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return json({ detail: error.message }, 422);
  }
}

async function alignments(request, signal) {
  const { models, limits } = await offer;
  const { source, target, pairs, raw, source_language, target_language, model, scores, ...settings } = request;
  const wanted = pairs ?? [{ source, target }];
  if (wanted.length > limits.pairs) throw new Error(`at most ${limits.pairs} pairs at a time.`);
  const chosen = models.find((known) => known.name === model) ?? models[0];
  const options = { raw, sourceLanguage: source_language ?? undefined, targetLanguage: target_language ?? undefined };
  const found = [];
  for (const pair of wanted) {
    const alignment = await aligner.align(chosen.name, pair, { ...options, ...settings }, signal);
    found.push(scores === "none" ? { ...alignment, links: alignment.links.map((link) => link.slice(0, 2)) } : alignment);
  }
  const method = settings.method ?? chosen.method;
  return { model: chosen.name, method, threshold: settings.threshold ?? chosen.threshold, alignments: found };
}

function json(value, status = 200) {
  return new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json" } });
}

// Offline: once the model is there, a service worker keeps every file of the page.
aligner.ready.then(() => {
  document.documentElement.dataset.aligner = "ready";
  if ("serviceWorker" in navigator) return navigator.serviceWorker.register(new URL("offline.js", ROOT));
});
