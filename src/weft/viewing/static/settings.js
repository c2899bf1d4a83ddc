// Model, method, threshold, splitting: what goes along with every request.
import { el } from "./dom.js";

const DECADES = 6;

export class Settings {
  constructor(offer, changed) {
    this.offer = offer;
    this.parts = Object.fromEntries(
      ["model", "method", "threshold", "raw"].map((id) => [id, document.getElementById(id)]),
    );
    this.shown = document.getElementById("threshold-value");
    this.parts.model.append(...offer.models.map((model) => el("option", { value: model.name }, model.name)));
    this.parts.method.append(
      el("option", { value: "" }, "the model's own"),
      ...offer.methods.map((method) => el("option", { value: method }, method)),
    );
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

  // From one in a million to one, by powers of ten; the left end is zero.
  get threshold() {
    const place = Number(this.parts.threshold.value);
    return place === 0 ? 0 : Math.min(0.999, 10 ** (DECADES * (place / 100 - 1)));
  }

  set threshold(value) {
    this.parts.threshold.value = value > 0 ? Math.max(1, Math.round(100 * (1 + Math.log10(value) / DECADES))) : 0;
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

  get state() {
    return {
      model: this.own.name,
      method: this.parts.method.value,
      threshold: this.moved ? this.threshold : null,
      raw: this.parts.raw.checked,
    };
  }

  // From an address, which may name a model that is not here.
  set state({ model, method, threshold, raw }) {
    if (this.offer.models.some((known) => known.name === model)) this.parts.model.value = model;
    if (this.offer.methods.includes(method)) this.parts.method.value = method;
    this.usual();
    if (typeof threshold === "number" && threshold >= 0 && threshold <= 1) {
      this.threshold = threshold;
      this.moved = true;
      this.show();
    }
    this.parts.raw.checked = raw !== false;
  }
}
