// Model, method, threshold, splitting: what goes along with every request.
import { el } from "./dom.js";

// The slider goes by odds: half way is one to one thousand, and both ends have room for what is nearly certain.
const LEAST = Math.log(1e-6);
const MOST = Math.log(999);
const LANGUAGES = { "": "language: automatic", ja: "Japanese", zh: "Chinese", ko: "Korean", th: "Thai" };

export class Settings {
  constructor(offer, changed) {
    this.offer = offer;
    this.parts = Object.fromEntries(
      ["model", "method", "threshold", "raw", "source-language", "target-language"].map((id) => [id, document.getElementById(id)]),
    );
    this.shown = document.getElementById("threshold-value");
    this.parts.model.append(...offer.models.map((model) => el("option", { value: model.name }, model.name)));
    this.parts.method.append(
      el("option", { value: "" }, "model default"),
      ...offer.methods.map((method) => el("option", { value: method }, method)),
    );
    for (const side of ["source-language", "target-language"]) {
      this.parts[side].append(...Object.entries(LANGUAGES).map(([value, name]) => el("option", { value }, name)));
      this.parts[side].addEventListener("change", () => changed({ texts: true }));
    }
    this.usual();
    for (const id of ["model", "method"]) this.parts[id].addEventListener("change", () => (this.usual(), changed()));
    this.parts.threshold.addEventListener("input", () => ((this.moved = true), this.show(), changed()));
    this.parts.raw.addEventListener("change", () => changed({ texts: true }));
  }

  get own() {
    return this.offer.models.find((model) => model.name === this.parts.model.value) ?? this.offer.models[0];
  }

  get method() {
    return this.parts.method.value || this.own.method;
  }

  // From odds of one in a million to a thousand to one, evenly; the left end is zero.
  get threshold() {
    const place = Number(this.parts.threshold.value);
    const odds = Math.exp(LEAST + (place / 100) * (MOST - LEAST));
    return place === 0 ? 0 : odds / (1 + odds);
  }

  set threshold(value) {
    const odds = value / Math.max(1e-9, 1 - value);
    const place = Math.round((100 * (Math.log(odds) - LEAST)) / (MOST - LEAST));
    this.parts.threshold.value = value > 0 ? Math.max(1, Math.min(100, place)) : 0;
  }

  // The threshold that the model or the method comes with.
  usual() {
    this.moved = false;
    this.threshold =
      this.parts.method.value && this.method !== this.own.method
        ? (this.offer.thresholds[this.method] ?? 0)
        : this.own.threshold;
    this.show();
  }

  show() {
    const used = this.method in this.offer.thresholds;
    this.parts.threshold.disabled = !used;
    this.parts.threshold.closest("label").classList.toggle("off", !used);
    const value = this.moved ? this.threshold : this.usualValue();
    this.shown.textContent = used ? Number(value.toPrecision(2)).toString() : "none";
    this.parts.threshold.setAttribute("aria-valuetext", this.shown.textContent);
  }

  usualValue() {
    return this.method !== this.own.method ? (this.offer.thresholds[this.method] ?? 0) : this.own.threshold;
  }

  request() {
    const used = this.moved && this.method in this.offer.thresholds;
    return {
      model: this.own.name,
      ...(this.parts.method.value ? { method: this.parts.method.value } : {}),
      ...(used ? { threshold: this.threshold } : {}),
    };
  }

  // How texts become words.
  splitting() {
    const raw = this.parts.raw.checked;
    const chosen = ["source", "target"].map((side) => [`${side}_language`, this.parts[`${side}-language`].value]);
    return { raw, ...Object.fromEntries(raw ? chosen.filter(([, language]) => language) : []) };
  }

  get state() {
    return {
      model: this.own.name,
      method: this.parts.method.value,
      threshold: this.moved ? this.threshold : null,
      raw: this.parts.raw.checked,
      languages: [this.parts["source-language"].value, this.parts["target-language"].value],
    };
  }

  // From an address, which may name a model that is not here.
  set state({ model, method, threshold, raw, languages }) {
    if (this.offer.models.some((known) => known.name === model)) this.parts.model.value = model;
    if (this.offer.methods.includes(method)) this.parts.method.value = method;
    this.usual();
    if (typeof threshold === "number" && threshold >= 0 && threshold <= 1) {
      this.threshold = threshold;
      this.moved = true;
      this.show();
    }
    this.parts.raw.checked = raw !== false;
    ["source-language", "target-language"].forEach((side, k) => {
      this.parts[side].value = languages?.[k] in LANGUAGES ? languages[k] : "";
    });
  }
}
