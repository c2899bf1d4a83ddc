// What is worked on: works of this browser, projects of the server, files, and pairs that came with a link.
import { getProject, getProjects, makeProject, readFiles, writeFile } from "./api.js";
import { download, el, remember, remembered } from "./dom.js";
import { dialog } from "./keys.js";
import { ProjectStore } from "./project.js";
import { addressOf, stateOfAddress } from "./share.js";
import { BrowserStore, bringOver, database } from "./store.js";
import { EXAMPLES } from "./examples.js";
import { Works } from "./works.js";
import { Work, asGold, blankPair, isPair, mended, pairOfWords } from "./work.js";

const at = (id) => document.getElementById(id);
const LAST = "weft-last";
const GUIDELINES = "weft-guidelines";
const UNNAMED = "Sentences";
const QUESTION = at("title").textContent;

export class Opening {
  constructor(app) {
    this.app = app;
    this.works = new Works(app, this);
    this.begun = new Promise((resolve) => (this.hasBegun = resolve));
    const actions = {
      works: () => this.works.list(),
      open: () => this.pick((files) => this.openFiles(files)),
      gold: () => this.pick((files) => this.loadGold(files)),
      share: () => this.share(),
      clear: () => this.anew(),
    };
    for (const [id, action] of Object.entries(actions)) at(id).addEventListener("click", () => app.attempt(action));
    for (const format of ["jsonl", "talp", "naacl", "pharaoh"])
      at(`save-${format}`).addEventListener("click", () => app.attempt(() => this.save(format)));
    const guidelines = at("guidelines");
    guidelines.firstElementChild.addEventListener("click", () => remember(GUIDELINES, guidelines.open ? "closed" : "open"));
    this.listenToDrops();
  }

  async begin() {
    try {
      await this.load();
    } finally {
      this.hasBegun();
    }
  }

  async load() {
    this.db = await database().catch(() => null);
    if (!this.db) this.app.tell("This browser cannot store your work. Save it as a file.", true);
    const { available, can_create } = await getProjects();
    this.projects = available;
    at("clear").hidden = available;
    if (available) at("works").textContent = "Projects…";
    at("open").hidden = available && !can_create;
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
    else await this.create(UNNAMED, [blankPair(...EXAMPLES[0].slice(1))]);
  }

  async create(name, pairs) {
    const more = { settings: this.app.settings.state };
    const store = this.db ? await BrowserStore.create(this.db, name, pairs, more) : null;
    if (store) remember(LAST, store.about.id);
    this.entitle(name);
    this.app.use(new Work(pairs, store));
  }

  // A work without a name of its own leaves the page its question.
  entitle(name) {
    at("title").textContent = name === UNNAMED ? QUESTION : name;
  }

  async openWork(id) {
    const { store, pairs } = await BrowserStore.open(this.db, id);
    const work = new Work(pairs.map(mended), store);
    work.current = Math.min(store.about.current | 0, pairs.length - 1);
    remember(LAST, id);
    if (store.about.settings) this.app.settings.state = store.about.settings;
    this.entitle(store.about.name);
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
    this.notice("This pair came with a link. Your own work is unchanged.", {
      ...(this.projects ? {} : { "Add to my work": add }),
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
      return projects.length ? this.works.list() : null;
    }
    const [first, second] = [asked.get("first"), asked.get("second")];
    if (first && second) return this.app.settling.resume(name, first, second);
    await this.chooseProject(name, asked.get("annotator"));
  }

  askName(then) {
    const name = el("input", { "aria-label": "Your name", maxlength: 40, autocomplete: "off", required: true });
    const act = async (event) => {
      event.preventDefault();
      this.notice(null);
      box.close();
      await this.app.attempt(() => then(name.value.trim()));
    };
    const form = el("form", { submit: act }, name, el("button", { type: "submit", class: "main" }, "Start"));
    const box = dialog("Your name", el("p", {}, "Your links are saved under this name. Annotators do not see each other's links."), form);
    // Whoever closes it without a name finds the way back.
    if (!this.app.work.store) this.notice("Enter your name to start annotating.", { "Enter name": () => this.askName(then) });
    name.focus();
  }

  // `more` stands in the address too.
  async openProject(name, annotator, more = {}) {
    const project = await getProject(name, annotator);
    if (annotator !== "adjudicated") remember("weft-annotator", project.annotator);
    history.replaceState(null, "", `?${new URLSearchParams({ project: name, annotator: project.annotator, ...more })}`);
    const pairs = project.sentences.map((sentence, number) => {
      const given = project.suggestions[number];
      const pair = { ...pairOfWords(sentence, given?.links ?? null, given?.score ?? null), edited: false };
      const said = project.said[number];
      return said ? { ...pair, ...said, edited: true, ready: true } : pair;
    });
    const store = new ProjectStore(this.db, project);
    store.onConflict = (number, mine, theirs, act) => this.dispute(number, act);
    store.onProgress = (news) => this.app.settling.others(project, news);
    for (const { number, saying } of await store.leftOver()) {
      if (!pairs[number]) continue;
      pairs[number] = { ...pairs[number], ...saying, edited: true, ready: true };
      delete saying.disputed;
      store.waiting.set(number, saying);
    }
    at("title").textContent = `${project.title} · ${project.annotator}`;
    at("guidelines").hidden = !project.guidelines;
    at("guidelines").open = remembered(GUIDELINES) !== "closed";
    at("guidelines").querySelector("pre").textContent = project.guidelines;
    const work = new Work(pairs, store);
    const open = pairs.findIndex((pair) => pair.state === "open" && !pair.problem);
    work.current = store.lastPlace in pairs ? store.lastPlace : Math.max(0, open);
    this.app.use(work);
    this.app.settling.others(project, project);
    for (const number of store.waiting.keys()) store.send(number);
    if (!store.waiting.size) store.onSaved(Date.now());
    store.sendForOthers().catch(() => {}); // they wait on, until the next visit
  }

  dispute(number, { mine, theirs }) {
    const after = (act) => async () => (this.notice(null), act());
    this.notice(`Pair ${number + 1} was changed in another tab.`, { "Keep mine": after(mine), "Take theirs": after(theirs) });
  }

  async backToOwn(name) {
    this.notice(null);
    await this.chooseProject(name);
  }

  async chooseProject(name, asked = null) {
    const annotator = asked ?? remembered("weft-annotator");
    if (annotator) await this.openProject(name, annotator);
    else this.askName((chosen) => this.openProject(name, chosen));
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

  // A file may be there before the page knows whether the server keeps projects.
  async dropped(files) {
    await this.begun;
    const content = await readFiles(files, this.app.work.pairs);
    if (content.pairs.length) await this.offerPairs(files, content);
    else this.useGold(content);
  }

  async openFiles(files) {
    await this.begun;
    const content = await readFiles(files);
    if (!content.pairs.length) throw new Error("This file holds links, not pairs. Press Load gold… to use it.");
    await this.offerPairs(files, content);
  }

  // What looks as if it were read in the wrong way is for the user to decide, before it becomes work.
  async offerPairs(files, content) {
    if (!content.remarks?.length) return this.usePairs(files, content);
    const how = files.length === 1 ? ": the first two columns must be source and target" : "";
    this.notice(`${content.remarks.join(" ")} If this is wrong, correct the file and open it again${how}.`, {
      "Open anyway": () => this.usePairs(files, content),
      Cancel: () => this.notice(null),
    });
  }

  // A file becomes a work of its own, or a project: what was there before is in the list.
  async usePairs(files, content) {
    const name = files[0].name.replace(/\.(\w{1,6})$/, "").replace(/[^\p{L}\p{N} .@+-]+/gu, " ").trim().slice(0, 36) || "Pairs";
    this.notice(null);
    const { raw } = this.app.settings.parts;
    const isGiven = (k) => Boolean(content.listed?.[k] || content.links[k]);
    const isPlain = content.pairs.some((pair, k) => !pair.problem && !isGiven(k));
    if (this.projects) {
      const cut = raw.checked && content.unsplit && !content.links.some(Boolean);
      const made = await makeProject(name, files, cut ? this.app.settings.splitting() : {});
      return this.chooseProject(made.name);
    }
    // Text that is split into words already keeps its words, on which gold may count.
    if (isPlain) raw.checked = content.unsplit;
    const pairs = content.pairs.map((pair, k) => pairOfWords(pair, content.links[k] ?? null, content.scores[k] ?? null, isGiven(k)));
    await this.create(files[0].name, pairs);
  }

  async loadGold(files) {
    const content = await readFiles(files, this.app.work.pairs);
    this.useGold(content);
  }

  useGold(content) {
    const { work } = this.app;
    if (content.links.length !== work.pairs.length)
      throw new Error(`The gold has ${content.links.length} lines, but there ${work.pairs.length === 1 ? "is 1 pair" : `are ${work.pairs.length} pairs`} here.`);
    this.app.tell(content.base === 1 ? "The gold counts words from 1." : "");
    work.pairs = work.pairs.map((pair, number) => ({ ...pair, gold: asGold(content.links[number] ?? []) }));
    if (!work.store?.project) work.keep([...work.pairs.keys()]);
    this.app.draw();
  }

  async save(format) {
    const { pairs } = this.app.work;
    const waiting = pairs.filter((pair) => !pair.ready).length;
    if (waiting) {
      const said = waiting === 1 ? "1 pair is not aligned yet. It was" : `${waiting} pairs are not aligned yet. They were`;
      this.app.tell(`${said} saved without links.`, true);
    }
    const scored = format === "jsonl";
    const written = pairs.map(({ source, target, links }) => ({
      source,
      target,
      links: links.map(([i, j, score, sure = true]) => [i, j, scored ? score : null, sure]),
    }));
    download(`gold.${format}`, await writeFile(format, written));
    if (this.app.work.store?.project && !waiting) {
      const done = pairs.filter((pair) => pair.state === "done").length;
      this.app.tell(`Your links of all ${pairs.length} pairs are saved; ${done} of them are done.`);
    }
  }

  // A new work; the old one is in the list.
  async anew() {
    this.notice(null);
    const { pairs, store } = this.app.work;
    if (store && pairs.length === 1 && !pairs[0].texts.join("")) return this.app.tell("This is already empty.");
    this.app.settings.parts.raw.checked = true; // what is typed is text
    await this.create(UNNAMED, [blankPair()]);
    this.app.tell("This is new work. Your earlier work is under “My work…”.");
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
