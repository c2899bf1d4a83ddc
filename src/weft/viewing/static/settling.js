// Two annotators: how far they agree, where they differ, and the settling of it. Also two models beside each other.
import { align, getAgreement, getGold } from "./api.js";
import { shortened } from "./desk.js";
import { download, el } from "./dom.js";
import { legend } from "./legend.js";
import { drawLines } from "./lines.js";
import { isolated, marksOf } from "./pair.js";
import { FILTERS } from "./queue.js";

const ADJUDICATED = "adjudicated"; // the name that the server keeps for what is settled
const ALL_SETTLED = "Every disagreement is settled.";
const at = (id) => document.getElementById(id);

export class Settling {
  constructor(app) {
    this.app = app;
    this.comparison = null; // { first, second, disagreements by number }
    at("second-model").addEventListener("change", () => this.besides());
  }

  // Who annotates, and how far everybody is; with two, a comparison.
  others(project, { annotators, confirmed }) {
    const text = JSON.stringify([project.name, annotators, confirmed]);
    if (this.shown === text) return;
    this.shown = text;
    this.project = project;
    const people = annotators.filter((each) => each.name !== ADJUDICATED);
    const lines = people.map((each) => el("span", { class: "person" }, `${each.name}: ${each.done} of ${each.total}`));
    this.app.panel.others.replaceChildren(...lines, ...(people.length > 1 ? [this.chooser(people)] : []), this.saving(confirmed));
  }

  saving(confirmed) {
    const { pairs } = this.project;
    const done = `${confirmed} of ${pairs} ${pairs === 1 ? "pair" : "pairs"} ${confirmed === 1 ? "is" : "are"} confirmed`;
    const them = confirmed === 1 ? "it" : "them";
    const count = `${done}. weft train and weft score use ${them} as gold.`;
    const what = { talp: "The file has a line for every pair; the others are blank.", jsonl: "The file has them alone, each with its number." };
    const save = (format) => () =>
      this.app.attempt(async () => {
        download(`gold.${format}`, await getGold(this.project.name, format));
        this.app.tell(`${done}. ${what[format]}`);
      });
    const buttons = ["talp", "jsonl"].map((format) =>
      el("button", { type: "button", click: save(format), title: "Pairs that were settled, or on which everyone who finished them agrees" }, `Save the project's gold as ${format}`),
    );
    return el("span", { class: "goldsave" }, el("span", { class: "confirmed" }, count), ...buttons);
  }

  chooser(people) {
    const before = [this.comparison?.first, this.comparison?.second];
    const select = (label, chosen) =>
      el(
        "select",
        { "aria-label": label },
        ...people.map(({ name }, k) => el("option", { value: name, selected: before[chosen] ? name === before[chosen] : k === chosen }, name)),
      );
    const [first, second] = [select("First annotator", 0), select("Second annotator", 1)];
    const compare = () => this.app.attempt(() => this.compare(first.value, second.value));
    return el("span", { class: "chooser" }, first, " and ", second, el("button", { type: "button", click: compare }, "Compare"));
  }

  async compare(first, second) {
    const found = await getAgreement(this.project.name, first, second);
    this.comparison = { ...found, links: new Map(found.disagreements.map((each) => [each.number, each])) };
    this.app.queue.disputed = new Set(this.comparison.links.keys());
    this.showAgreement();
    this.app.panel.show(this.app.work);
  }

  showAgreement() {
    const found = this.comparison;
    const rate = (name, digits) => {
      if (found.rates[name] === null) return "–";
      return `${found.rates[name].toFixed(digits)} [${found.low[name].toFixed(digits)}, ${found.high[name].toFixed(digits)}]`;
    };
    const cells = [["AER", rate("aer", 1)], ["F1", rate("f1", 1)], ["kappa", rate("kappa", 3)]];
    const rows = found.disagreements.map((each) => this.disagreement(each, found.settled.includes(each.number)));
    const box = el(
      "section",
      { class: "agreement", "aria-label": "Agreement" },
      el("h2", {}, `${found.first} and ${found.second}: ${found.sentences} ${found.sentences === 1 ? "pair" : "pairs"} done by both`),
      el("dl", {}, ...cells.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      this.whatIsLeft(found),
      el("ol", { class: "pairlist" }, ...rows),
    );
    this.app.panel.root.querySelector(".agreement")?.remove();
    this.app.panel.others.after(box);
  }

  whatIsLeft({ disagreements, settled }) {
    if (!disagreements.length) return el("p", {}, "They agree on every pair.");
    const left = disagreements.filter((each) => !settled.includes(each.number)).length;
    if (!left) return el("p", {}, ALL_SETTLED);
    const text = `Settle ${left} ${left === 1 ? "disagreement" : "disagreements"}`;
    return el("button", { type: "button", class: "main", click: () => this.begin(null) }, text);
  }

  // A pair was marked: what is settled now is no longer left.
  marked() {
    if (!this.settling) return;
    const { pairs } = this.app.work;
    this.comparison.settled = [...pairs.keys()].filter((number) => pairs[number].state === "done");
    this.showAgreement();
  }

  disagreement({ number, rates }, settled) {
    const about = `AER ${rates.aer.toFixed(0)} · F1 ${rates.f1.toFixed(0)}${settled ? " · settled" : ""}`;
    const text = shortened(this.app.work.pairs[number].texts[0]);
    const go = () => this.begin(number);
    return el("li", { value: number + 1 }, el("button", { type: "button", class: "quiet", click: go }, `${about} · `, el("span", { dir: "auto" }, text)));
  }

  // A page that was loaded again in the middle of settling.
  async resume(name, first, second) {
    await this.app.opening.openProject(name, ADJUDICATED);
    await this.compare(first, second);
    this.begin(null);
  }

  // Go through the disagreements under a name of its own; what is chosen there is the gold.
  begin(number) {
    this.app.attempt(async () => {
      const comparison = this.comparison;
      const { first, second } = comparison;
      await this.app.opening.openProject(this.project.name, ADJUDICATED, { first, second });
      this.comparison = comparison;
      const { work, queue } = this.app;
      queue.only = comparison.disagreements.map((each) => each.number);
      for (const each of comparison.disagreements)
        if (!work.pairs[each.number].edited)
          work.pairs[each.number] = { ...work.pairs[each.number], links: each.first, ready: true };
      work.current = number ?? queue.only.find((each) => FILTERS.open[1](work.pairs[each])) ?? queue.only[0];
      this.app.showPair();
      this.app.tell(`Press q to take ${first}'s links, e for ${second}'s, or edit them. Press d to settle.`);
      this.app.opening.notice(`You are settling the pairs on which ${first} and ${second} disagree. What you mark as done becomes gold.`, {
        "Back to my pairs": () => this.app.opening.backToOwn(this.project.name),
      });
    });
  }

  // What to say when nothing is left.
  get finished() {
    return this.settling ? ALL_SETTLED : "No pair is left to do.";
  }

  get settling() {
    return this.app.work.store?.project?.annotator === ADJUDICATED && this.comparison;
  }

  take(which) {
    const each = this.settling && this.comparison.links.get(this.app.work.current);
    if (!each) return false;
    this.app.edit(each[which].map((link) => [...link]));
  }

  // The picture above the one that is edited: both annotators, or what a second model finds.
  besides() {
    const models = this.app.settings.offer.models;
    at("second").hidden = models.length < 2;
    if (models.length > 1 && !at("second-model").options.length)
      at("second-model").append(
        el("option", { value: "" }, "none"),
        ...models.map(({ name }) => el("option", { value: name }, name)),
      );
    const each = this.settling && this.comparison.links.get(this.app.work.current);
    if (each) return this.drawDispute(each);
    const { pair } = this.app.work;
    const model = at("second-model").value;
    if (!model || !pair.source.length || !pair.ready) return this.hide();
    this.askSecond(model, pair);
  }

  async askSecond(model, pair) {
    const request = { ...this.app.settings.request(), model, source: pair.source, target: pair.target };
    const key = JSON.stringify(request);
    if (this.asked?.key !== key) {
      this.asked = { key };
      try {
        const { alignments } = await align(request, "second");
        this.asked = { key, links: alignments[0].links };
      } catch (error) {
        if (error.name !== "AbortError") this.app.tell(error.message, true);
        return;
      }
    }
    if (this.asked.links && this.app.work.pair.source === pair.source)
      this.drawBeside([this.app.work.pair.links, this.asked.links], ["the links below", model]);
  }

  drawDispute(each) {
    const { first, second } = this.comparison;
    this.drawBeside([each.first, each.second], [first, second]);
    const take = (which, name, key) =>
      el("button", { type: "button", title: key, click: () => this.take(which) }, `Take ${name}'s links`);
    const choices = el("p", { class: "choices" }, take("first", first, "q"), take("second", second, "e"));
    at("beside").append(...this.sureness(each), choices);
  }

  // A picture shows who linked what; who was sure of it has to be said.
  sureness(each) {
    const { source, target } = this.app.work.pair;
    const sure = new Map(each.first.map(([i, j, , certain]) => [`${i}-${j}`, certain !== false]));
    const { first, second } = this.comparison;
    return each.second
      .filter(([i, j, , certain]) => sure.has(`${i}-${j}`) && sure.get(`${i}-${j}`) !== (certain !== false))
      .map(([i, j]) => {
        const [certain, doubting] = sure.get(`${i}-${j}`) ? [first, second] : [second, first];
        const words = `${isolated(source[i])} – ${isolated(target[j])}`;
        return el("p", { class: "sureness" }, `${words}: sure for ${certain}, possible for ${doubting}`);
      });
  }

  drawBeside(systems, names) {
    const { source, target } = this.app.work.pair;
    const pair = { number: 0, source, target, systems: systems.map((links) => ({ links, score: null })), gold: null };
    at("beside").hidden = false;
    const canvas = el("div", { class: "canvas" });
    at("beside").replaceChildren(legend(["both", "a", "b"], names, false), canvas);
    drawLines(canvas, pair, marksOf(pair), { label: `${names[0]} and ${names[1]}` });
  }

  hide() {
    at("beside").hidden = true;
    at("beside").replaceChildren();
  }
}
