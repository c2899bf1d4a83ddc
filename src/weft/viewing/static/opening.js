// What is worked on: works of this browser, projects of the server, files, and pairs that came with a link.
import { getProject, getProjects, makeProject, readFiles, writeFile } from "./api.js";
import { download, el, remember, remembered } from "./dom.js";
import { dialog } from "./keys.js";
import { ProjectStore } from "./project.js";
import { addressOf, stateOfAddress } from "./share.js";
import { BrowserStore, bringOver, database } from "./store.js";
import { EXAMPLES } from "./examples.js";
import { Work, asGold, blankPair, isPair, mended, pairOfWords } from "./work.js";

const at = (id) => document.getElementById(id);
const LAST = "weft-last";

export class Opening {
  constructor(app) {
    this.app = app;
    const actions = {
      works: () => this.list(),
      open: () => this.pick((files) => this.openFiles(files)),
      gold: () => this.pick((files) => this.loadGold(files)),
      share: () => this.share(),
      clear: () => this.anew(),
    };
    for (const [id, action] of Object.entries(actions)) at(id).addEventListener("click", () => app.attempt(action));
    for (const format of ["jsonl", "talp", "naacl", "pharaoh"])
      at(`save-${format}`).addEventListener("click", () => app.attempt(() => this.save(format)));
    this.listenToDrops();
  }

  async begin() {
    this.db = await database().catch(() => null);
    if (!this.db) this.app.tell("This browser keeps nothing between visits; save your work as a file.", true);
    this.projects = (await getProjects()).available;
    const shared = await stateOfAddress(location.hash);
    window.addEventListener("hashchange", async () => this.visit(await stateOfAddress(location.hash)));
    if (!this.visit(shared)) await this.goOn();
  }

  // The project or the work of the last visit.
  async goOn() {
    if (this.projects) return this.firstProject();
    const moved = this.db && (await bringOver(this.db, mended));
    const known = this.db ? await BrowserStore.list(this.db) : [];
    const last = moved ?? known.find((work) => work.id === remembered(LAST))?.id ?? known[0]?.id;
    if (last) await this.openWork(last);
    else await this.create("Sentences", [blankPair(...EXAMPLES[0].slice(1))]);
  }

  async create(name, pairs) {
    const more = { settings: this.app.settings.state };
    const store = this.db ? await BrowserStore.create(this.db, name, pairs, more) : null;
    if (store) remember(LAST, store.about.id);
    at("title").textContent = name;
    this.app.use(new Work(pairs, store));
  }

  async openWork(id) {
    const { store, pairs } = await BrowserStore.open(this.db, id);
    const work = new Work(pairs.map(mended), store);
    work.current = Math.min(store.about.current | 0, pairs.length - 1);
    remember(LAST, id);
    if (store.about.settings) this.app.settings.state = store.about.settings;
    at("title").textContent = store.about.name;
    this.app.use(work);
  }

  // A pair that came with an address is looked at; the own work stays where it is.
  visit(shared) {
    if (!shared || !isPair(shared.pair)) return false;
    const { texts, source, target, links, edited, gold } = shared.pair;
    const pair = { ...blankPair(), texts, source, target, links, edited: edited === true, gold, ready: true };
    this.app.settings.state = shared.settings ?? {};
    if (shared.view === "matrix") document.querySelector('#views [data-value="matrix"]').click();
    this.app.use(new Work([pair]), { visitor: true });
    const back = async () => {
      history.replaceState(null, "", location.pathname + location.search);
      this.notice(null);
      await this.goOn();
    };
    const add = async () => {
      const added = { ...this.app.work.pair, given: true };
      await back();
      if (!this.projects) await this.create("From a link", [added]);
    };
    this.notice("This pair came with a link. Your own work is kept as it was.", {
      ...(this.projects ? {} : { "Add it to my works": add }),
      "Back to my work": back,
    });
    return true;
  }

  notice(text, choices = {}) {
    at("banner").hidden = !text;
    const buttons = Object.entries(choices).map(([name, act]) =>
      el("button", { type: "button", click: () => this.app.attempt(act) }, name),
    );
    at("banner").replaceChildren(...(text ? [el("span", {}, text), ...buttons] : []));
  }

  // Projects.

  async firstProject() {
    const { projects } = await getProjects();
    const asked = new URLSearchParams(location.search);
    const name = asked.get("project") ?? (projects.length === 1 ? projects[0].name : null);
    if (!projects.some((project) => project.name === name)) {
      at("title").textContent = "Choose a project, or open pairs to make one";
      this.app.use(new Work([blankPair()]));
      return projects.length ? this.list() : null;
    }
    const annotator = asked.get("annotator") ?? remembered("weft-annotator");
    if (annotator) return this.openProject(name, annotator);
    this.askName((chosen) => this.openProject(name, chosen));
  }

  askName(then) {
    const name = el("input", { "aria-label": "Your name", maxlength: 40, autocomplete: "off", required: true });
    const act = async (event) => {
      event.preventDefault();
      box.close();
      await this.app.attempt(() => then(name.value.trim()));
    };
    const form = el("form", { submit: act }, name, el("button", { type: "submit", class: "main" }, "Begin"));
    const box = dialog("Who annotates?", el("p", {}, "Your links are kept under your name. You do not see what others did."), form);
    name.focus();
  }

  async openProject(name, annotator) {
    const project = await getProject(name, annotator);
    if (annotator !== "adjudicated") remember("weft-annotator", project.annotator);
    history.replaceState(null, "", `?${new URLSearchParams({ project: name, annotator: project.annotator })}`);
    const pairs = project.sentences.map((sentence, number) => {
      const given = project.suggestions[number];
      const pair = { ...pairOfWords(sentence, given?.links ?? null, given?.score ?? null), edited: false };
      const said = project.said[number];
      return said ? { ...pair, ...said, edited: true, ready: true } : pair;
    });
    const store = new ProjectStore(this.db, project);
    store.onConflict = (number, mine, theirs, act) => this.dispute(number, act);
    store.onProgress = (annotators) => this.app.settling.others(project, annotators);
    for (const { number, saying } of await store.leftOver()) {
      if (!pairs[number]) continue;
      pairs[number] = { ...pairs[number], ...saying, edited: true, ready: true };
      delete saying.disputed;
      store.waiting.set(number, saying);
    }
    at("title").textContent = `${project.title} · ${project.annotator}`;
    at("guidelines").hidden = !project.guidelines;
    at("guidelines").querySelector("pre").textContent = project.guidelines;
    const work = new Work(pairs, store);
    work.current = Math.max(0, pairs.findIndex((pair) => pair.state === "open" && !pair.problem));
    this.app.use(work);
    this.app.settling.others(project, project.annotators);
    for (const number of store.waiting.keys()) store.send(number);
    if (!store.waiting.size) store.onSaved(Date.now());
  }

  dispute(number, { mine, theirs }) {
    const after = (act) => async () => (this.notice(null), act());
    this.notice(`Pair ${number + 1} was changed in another tab.`, { "Keep mine": after(mine), "Take theirs": after(theirs) });
  }

  // The list to go back to.
  async list() {
    const works = this.db ? await BrowserStore.list(this.db) : [];
    const { projects } = await getProjects();
    const when = (time) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
    const rows = [
      ...projects.map((project) => this.row(project.title, `${project.pairs} pairs · ${project.confirmed} confirmed`, () => this.chooseProject(project.name))),
      ...(this.projects ? [] : works).map((work) =>
        this.row(work.name, `${work.count} ${work.count === 1 ? "pair" : "pairs"} · saved ${when(work.saved)}`, () => this.openWork(work.id), {
          Rename: (row) => this.rename(work, row),
          Delete: (row) => this.remove(work, row),
        }),
      ),
    ];
    this.listed = dialog(this.projects ? "Projects" : "Works in this browser", el("ul", { class: "works" }, ...rows));
  }

  row(name, about, open, more = {}) {
    const act = (action) => () => this.app.attempt(async () => action(row));
    const opened = async () => {
      this.listed.close();
      this.notice(null);
      if (location.hash) history.replaceState(null, "", location.pathname + location.search);
      await open();
    };
    const buttons = Object.entries(more).map(([label, action]) =>
      el("button", { type: "button", class: "quiet", "aria-label": `${label} ${name}`, click: act(action) }, label),
    );
    const row = el("li", {}, el("button", { type: "button", class: "name", click: act(opened) }, name), el("span", {}, about), ...buttons);
    return row;
  }

  async chooseProject(name) {
    const annotator = remembered("weft-annotator");
    if (annotator) await this.openProject(name, annotator);
    else this.askName((chosen) => this.openProject(name, chosen));
  }

  async rename(work, row) {
    const field = el("input", { value: work.name, "aria-label": "New name", maxlength: 80 });
    const keep = async () => {
      const { store } = await BrowserStore.open(this.db, work.id);
      await store.keepAbout({ name: field.value.trim() || work.name });
      if (this.app.work.store?.about?.id === work.id) {
        this.app.work.store.about.name = store.about.name;
        at("title").textContent = store.about.name;
      }
      store.close();
      this.listed.close();
      await this.list();
    };
    row.replaceChildren(field, el("button", { type: "button", click: () => this.app.attempt(keep) }, "Keep"));
    field.focus();
  }

  // Only this takes something away, and it asks.
  async remove(work, row) {
    const sure = async () => {
      await BrowserStore.remove(this.db, work.id);
      this.listed.close();
      if (this.app.work.store?.about?.id === work.id) await this.goOn();
      await this.list();
    };
    row.replaceChildren(
      el("span", {}, `Delete ${work.name} with ${work.count} pairs for good?`),
      el("button", { type: "button", click: () => this.app.attempt(sure) }, "Delete for good"),
      el("button", { type: "button", click: () => (this.listed.close(), this.list()) }, "Keep it"),
    );
  }

  // Files.

  pick(then) {
    at("file").onchange = async () => {
      const files = [...at("file").files];
      at("file").value = "";
      if (files.length) await this.app.attempt(() => then(files));
    };
    at("file").click();
  }

  listenToDrops() {
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    document.addEventListener("dragleave", (event) => event.relatedTarget ?? document.body.classList.remove("dropping"));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("dropping");
      const files = [...event.dataTransfer.files];
      if (files.length) this.app.attempt(() => this.dropped(files));
    });
  }

  async dropped(files) {
    const content = await readFiles(files, this.app.work.pairs);
    if (content.pairs.length) await this.usePairs(files, content);
    else this.useGold(content);
  }

  async openFiles(files) {
    const content = await readFiles(files);
    if (!content.pairs.length) throw new Error("this file holds links; load it as gold, or open the pairs.");
    await this.usePairs(files, content);
  }

  // A file becomes a work of its own, or a project: what was there before is in the list.
  async usePairs(files, content) {
    const name = files[0].name.replace(/\.(\w{1,6})$/, "").replace(/[^\p{L}\p{N} .@+-]+/gu, " ").trim().slice(0, 36) || "Pairs";
    this.notice(null);
    if (this.projects) {
      const made = await makeProject(name, files);
      return this.chooseProject(made.name);
    }
    const pairs = content.pairs.map((pair, k) => pairOfWords(pair, content.links[k] ?? null, content.scores[k] ?? null));
    await this.create(files[0].name, pairs);
  }

  async loadGold(files) {
    const content = await readFiles(files, this.app.work.pairs);
    this.useGold(content);
  }

  useGold(content) {
    const { work } = this.app;
    if (content.links.length !== work.pairs.length)
      throw new Error(`the gold has ${content.links.length} lines, but there ${work.pairs.length === 1 ? "is 1 pair" : `are ${work.pairs.length} pairs`} here.`);
    this.app.tell(content.base === 1 ? "The gold counts words from 1, and was read that way." : "");
    work.pairs = work.pairs.map((pair, number) => ({ ...pair, gold: asGold(content.links[number] ?? []) }));
    if (!work.store?.project) work.keep([...work.pairs.keys()]);
    this.app.draw();
  }

  async save(format) {
    const { pairs } = this.app.work;
    const waiting = pairs.filter((pair) => !pair.ready).length;
    if (waiting) this.app.tell(`${waiting} pairs are not aligned yet and were saved without links.`, true);
    const scored = format === "jsonl";
    const written = pairs.map(({ source, target, links }) => ({
      source,
      target,
      links: links.map(([i, j, score, sure = true]) => [i, j, scored ? score : null, sure]),
    }));
    download(`gold.${format}`, await writeFile(format, written));
  }

  // A new work; the old one is in the list.
  async anew() {
    this.notice(null);
    if (this.projects) throw new Error("open a file of pairs to make a new project.");
    await this.create("Sentences", [blankPair()]);
    this.app.tell("This is a new work. The one before is under 'Works…'.");
  }

  async share() {
    const { texts, source, target, links, edited, gold } = this.app.work.pair;
    const pair = { texts, source, target, links, edited, gold };
    const address = await addressOf({ pair, settings: this.app.settings.state, view: this.app.view });
    try {
      await navigator.clipboard.writeText(address);
      this.app.tell("The link is copied.");
    } catch {
      const field = el("input", { readonly: true, value: address, "aria-label": "Link to this pair" });
      dialog("Link to this pair", field);
      field.select();
    }
  }
}
