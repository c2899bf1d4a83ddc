// The web app: type, look, mend, save.
import { align, getModels } from "./api.js";
import { Aligning, isRefusal, progressOf } from "./aligning.js";
import { DeskPanel } from "./desk.js";
import { choice, clockOf, el, themeButton } from "./dom.js";
import { exampleButtons } from "./examples.js";
import { exportMenu } from "./export.js";
import { factsOf, unreadOf, waiting } from "./facts.js";
import { Grouping } from "./grouping.js";
import { listenToKeys, showKeys } from "./keys.js";
import { drawLines, wordAt } from "./lines.js";
import { Linking } from "./linking.js";
import { drawMatrix } from "./matrix.js";
import { Opening } from "./opening.js";
import { marksOf } from "./pair.js";
import { Queue, STATES } from "./queue.js";
import { Selection } from "./selection.js";
import { Settings } from "./settings.js";
import { Settling } from "./settling.js";
import { totalsOf } from "./totals.js";
import { Work, blankPair, cycled, isStill, isText, sidesOf, suggested } from "./work.js";

const at = (id) => document.getElementById(id);
const PAUSE = 160;
const STATE_KEYS = { done: "d", doubtful: "o", skipped: "s" };

// What the parts of the page share. `visitor` holds a pair that came with a link and is only looked at.
const app = {
  work: new Work([blankPair()]),
  view: "lines",
  settings: null,
  visitor: false,
  selection: new Selection(at("canvas")),
  queue: new Queue(),
  tell,
  showPair,
  draw,
  edit,
  use,
  attempt,
};
app.aligning = new Aligning(app);
app.grouping = new Grouping(app);
app.linking = new Linking(app);
app.settling = new Settling(app);
app.opening = new Opening(app);
app.panel = new DeskPanel(at("desk"), app.queue, { go: goTo, changed: showState });

start().catch((error) => tell(error.message, true));

async function start() {
  document.querySelector(".masthead").append(themeButton());
  app.settings = new Settings(await getModels(), settingMoved);
  at("views").append(
    choice("View", [["lines", "Lines"], ["matrix", "Matrix"]], app.view, changeView),
  );
  const { server, limits } = app.settings.offer;
  if (server === false) at("foot").append("Nothing leaves this browser.");
  else at("foot").append(`At most ${limits.words} words per sentence. `, el("a", { href: "api" }, "REST API"));
  at("examples").append(...exampleButtons(tryOut));
  at("states").append(
    ...Object.entries(STATES).map(([state, name]) =>
      el("button", { type: "button", "data-state": state, title: STATE_KEYS[state], "aria-pressed": "false", click: () => mark(state) }, name),
    ),
  );
  listen();
  await app.opening.begin();
}

// Go on with other work. What was there before is in its store.
function use(work, { visitor = false } = {}) {
  if (app.work.store !== work.store) app.work.store?.close();
  app.work = work;
  app.visitor = visitor;
  if (work.store) {
    work.store.onSaved = saved;
    work.store.onPair = fromElsewhere;
  }
  saved(work.store?.about?.saved);
  app.queue.only = null;
  tell("");
  showPair();
  app.aligning.rest();
}

function saved(time, trouble = "") {
  const clock = time && clockOf(time);
  const text = clock ? `saved ${clock}` : trouble;
  if (at("saved").textContent !== text) at("saved").textContent = text;
  at("saved").classList.toggle("trouble", !clock && trouble !== "saving…");
}

// Another tab changed a pair, or the server answered.
function fromElsewhere(number, fields) {
  const known = app.work.pairs[number];
  if (!known || (fields.revision && fields.revision < known.revision)) return;
  const said = fields.links !== undefined && app.work.store.project;
  app.work.pairs[number] = { ...known, ...fields, ...(said ? { edited: true, ready: true } : {}) };
  if (fields.links === undefined) return;
  if (number === app.work.current) showPair({ keep: true });
  else showState();
}

function listen() {
  at("source").addEventListener("input", typed);
  at("target").addEventListener("input", typed);
  const actions = {
    undo: () => app.work.undo() && showPair(),
    redo: () => app.work.redo() && showPair(),
    again: () => realign({ force: true }),
    "all-again": () => app.aligning.again(),
    previous: () => step(-1),
    next: () => step(1),
    help: showKeys,
  };
  for (const [id, action] of Object.entries(actions)) at(id).addEventListener("click", action);
  at("comment").addEventListener("input", () => app.work.change({ comment: at("comment").value }, { step: false }));
  at("go").addEventListener("change", () => (goTo(Number(at("go").value) - 1), (at("go").value = ""), focusWord()));
  listenToKeys({
    ...{ undo: actions.undo, redo: actions.redo, j: () => step(1), k: () => step(-1), "?": showKeys },
    ...{ u: nextOpen, g: () => many() && at("go").focus(), a: () => realign({ force: true }), w: focusWord },
    ...{ ArrowLeft: enterWords, ArrowRight: enterWords },
    ...Object.fromEntries(Object.entries(STATE_KEYS).map(([state, key]) => [key, () => mark(state)])),
    c: () => many() && at("comment").focus(),
    v: () => document.querySelector('#views button[aria-pressed="false"]').click(),
    ...{ 1: () => app.linking.linkAs("sure"), 2: () => app.linking.linkAs("possible"), 0: () => app.linking.linkAs("none") },
    ...{ q: () => app.settling.take("first"), e: () => app.settling.take("second") },
    Enter: () => app.linking.linkChosen(),
    Escape: () => (app.grouping.turn(false), tell("Nothing is chosen.")),
  });
  new ResizeObserver(() => drawIfWider()).observe(at("canvas"));
}

const many = () => app.work.pairs.length > 1;

function typed() {
  const texts = [at("source").value, at("target").value];
  if (texts.join("\n") === app.work.pair.texts.join("\n")) return;
  clearTimeout(typed.waiting);
  // What is typed is kept at once; only aligning waits for a pause.
  const step = app.work.pair.edited;
  app.work.change({ texts, edited: false, gold: null, ready: false, given: false, state: "open" }, { step });
  typed.waiting = setTimeout(realign, PAUSE);
}

function tryOut(source, target) {
  [at("source").value, at("target").value] = [source, target];
  app.settings.parts.raw.checked = true;
  typed();
}

// A setting was moved: what was mended by hand stays as it is.
function settingMoved({ texts = false } = {}) {
  app.work.store?.keepAbout({ settings: app.settings.state });
  app.settling.besides();
  if (app.work.pair.edited) tell("You edited these links, so they stay. Press Align again to replace them.");
  else if (texts || app.work.pair.ready) realign();
  if (texts && many()) app.aligning.cutAnew();
}

async function realign({ force = false } = {}) {
  const [work, number] = [app.work, app.work.current];
  const pair = work.pair;
  if (pair.problem) return draw();
  if (!pair.texts.every((text) => text.trim())) {
    work.change({ source: [], target: [], links: [], score: null, unknown: 0, ready: false }, { step: false });
    return draw();
  }
  const rest = waiting(at("status").closest(".card"), tell);
  try {
    const splitting = isText(pair) ? app.settings.splitting() : {};
    const { alignments } = await align({ ...sidesOf(pair), ...splitting, ...app.settings.request() });
    // Whatever was done to the pair meanwhile is newer than this answer.
    if (app.work !== work || !isStill(work.pairs[number], pair)) return;
    const fields = suggested(alignments[0]);
    if (force) work.change(fields, { number });
    else work.suggest(number, fields);
    if (work.current !== number) return;
    tell(progressOf(work));
    draw();
  } catch (error) {
    if (error.name === "AbortError") return;
    tell(error.message, true);
    if (many() && isRefusal(error)) {
      app.aligning.refuse(work, number, pair, error.message);
      showState();
    }
  } finally {
    rest();
  }
}

// `keep` leaves the focus and the chosen words where they are.
function showPair({ keep = false } = {}) {
  const { texts, comment, ready } = app.work.pair;
  for (const [side, k] of [["source", 0], ["target", 1]]) {
    if (!keep || document.activeElement !== at(side)) at(side).value = texts[k];
    at(side).readOnly = Boolean(app.work.store?.project);
  }
  if (!keep || document.activeElement !== at("comment")) at("comment").value = comment;
  if (!keep) app.selection.clear();
  draw();
  if (!ready) realign();
}

function asDrawn(pair, number) {
  const { source, target, links, score, gold } = pair;
  return { number: number + 1, source, target, systems: [{ links, score }], gold };
}

function draw() {
  const focused = rememberFocus();
  const pair = asDrawn(app.work.pair, app.work.current);
  const marks = marksOf(pair);
  const options = {
    say: tell,
    onWord: (...chosen) => app.linking.choose(...chosen),
    onLink: (i, j) => edit(cycled(app.work.pair.links, i, j)),
    onCell: (i, j) => edit(cycled(app.work.pair.links, i, j), [i, j]),
  };
  if (app.work.pair.problem) at("canvas").replaceChildren(el("p", { class: "problem" }, app.work.pair.problem));
  else if (!pair.source.length || !pair.target.length) at("canvas").replaceChildren();
  else (app.view === "lines" ? drawLines : drawMatrix)(at("canvas"), pair, marks, options);
  draw.width = at("canvas").clientWidth;
  at("export").replaceChildren(exportMenu(pair, marks, () => [...at("canvas").children]));
  app.selection.fit(app.work.pair);
  at("group").hidden = app.view !== "lines";
  app.grouping.show();
  app.settling.besides();
  showState();
  focused?.();
}

function changeView(next) {
  app.view = next;
  if (app.grouping.on) app.grouping.turn(false);
  draw();
}

function drawIfWider() {
  const width = at("canvas").clientWidth;
  if (width && Math.abs(width - (draw.width ?? 0)) > 1) draw();
}

// Drawing anew must not throw anybody out who moves by keyboard.
function rememberFocus() {
  const active = document.activeElement;
  if (!at("canvas").contains(active)) return null;
  const { side, k } = active.dataset;
  const cell = at("canvas").firstChild.cell?.();
  return () => {
    if (side) wordAt(at("canvas"), side, k)?.focus();
    else at("canvas").querySelector(".cells")?.focus();
    if (cell) at("canvas").firstChild?.moveTo?.(...cell);
  };
}

// Whoever presses an arrow before any word has the focus means the words.
function enterWords() {
  return document.activeElement === document.body && app.work.pair.source.length ? focusWord() : false;
}

function focusWord() {
  at("canvas").querySelector('.word[tabindex="0"], .cells')?.focus();
}

function showState() {
  const { work } = app;
  const { pair } = work;
  at("undo").disabled = !work.past.length;
  at("redo").disabled = !work.future.length;
  at("place").textContent = `${work.current + 1} of ${work.pairs.length}`;
  at("place").parentElement.hidden = at("states").hidden = at("remark").hidden = at("all-again").hidden = !many();
  at("examples").hidden = many() || app.visitor || Boolean(work.store?.project);
  document.body.classList.toggle("fixed", Boolean(work.store?.project));
  at("facts").textContent = factsOf(pair);
  at("unread").textContent = unreadOf(pair);
  at("unread").hidden = !at("unread").textContent;
  at("again").disabled = Boolean(pair.problem);
  for (const button of at("states").children) {
    button.disabled = Boolean(pair.problem);
    button.setAttribute("aria-pressed", String(button.dataset.state === pair.state));
  }
  at("totals").replaceChildren(...totalsOf(work));
  app.panel.show(work);
}

function edit(links, cell = null) {
  const { source, target } = app.work.pair;
  const inside = links.filter(([i, j]) => i < source.length && j < target.length);
  app.work.change({ links: inside, edited: true });
  draw();
  if (cell && document.activeElement?.matches(".cells")) at("canvas").firstChild.moveTo(...cell);
}

// Say how far a pair is, and go on to the next; the same again takes it back.
function mark(state) {
  if (!many() || app.work.pair.problem) return false;
  if (!app.work.pair.ready) return tell("This pair is not aligned yet.", true);
  const taken = app.work.pair.state === state;
  app.work.change({ state: taken ? "open" : state, edited: true });
  app.settling.marked();
  if (taken) draw();
  else nextOpen();
}

function nextOpen() {
  if (!many()) return false;
  const next = app.queue.nextOpen(app.work.pairs, app.work.current);
  if (next === null) {
    draw();
    return tell(app.settling.finished);
  }
  goTo(next);
}

function step(direction) {
  if (many()) goTo(app.queue.step(app.work.pairs, app.work.current, direction));
}

function goTo(number) {
  if (!Number.isInteger(number)) return;
  const inside = at("canvas").contains(document.activeElement);
  app.work.go(number);
  tell("");
  showPair();
  if (inside) focusWord();
}

function tell(text, trouble = false) {
  at("status").textContent = text;
  at("status").classList.toggle("trouble", trouble === true);
}

async function attempt(action) {
  try {
    await action();
  } catch (error) {
    tell(error.message, true);
  }
}

