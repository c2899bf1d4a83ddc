// The web app: type, look, mend, save.
import { align, getModels } from "./api.js";
import { choice, download, el, themeButton } from "./dom.js";
import { exportMenu } from "./export.js";
import { asGold, asJsonl, asTalp, countedFromZero, readFile } from "./files.js";
import { drawLines, wordAt } from "./lines.js";
import { drawMatrix } from "./matrix.js";
import { marksOf, percent } from "./pair.js";
import { Settings } from "./settings.js";
import { addressOf, stateOfAddress } from "./share.js";
import { totalsOf } from "./totals.js";
import { Work, blankPair, cycled, isPair, pairOfWords, toggled } from "./work.js";

const at = (id) => document.getElementById(id);
const EXAMPLE = ["Ieri am citit o carte foarte bună.", "Yesterday I read a very good book."];
const PAUSE = 160;

let work = Work.kept() ?? new Work([blankPair(...EXAMPLE)]);
let view = "lines";
let chosen = null;
let typing = 0;
let settings;

start().catch((error) => tell(error.message, true));

async function start() {
  document.querySelector(".masthead").append(themeButton());
  settings = new Settings(await getModels(), changed);
  const shared = await stateOfAddress(location.hash);
  if (shared && isPair(shared.pair)) {
    const { texts, source, target, links, edited, gold } = shared.pair;
    work = new Work([{ ...blankPair(), texts, source, target, links, edited: edited === true, gold, ready: true }]);
    settings.state = shared.settings ?? {};
    view = shared.view === "matrix" ? "matrix" : "lines";
  }
  at("views").append(
    choice(
      "View",
      [
        ["lines", "Lines"],
        ["matrix", "Matrix"],
      ],
      view,
      (next) => {
        view = next;
        draw();
      },
    ),
  );
  at("foot").append(
    `At most ${settings.offer.limits.words} words a sentence. `,
    el("a", { href: "api" }, "REST API"),
  );
  listen();
  showPair();
}

function listen() {
  at("source").addEventListener("input", typed);
  at("target").addEventListener("input", typed);
  const actions = {
    undo: () => work.undo() && showPair(),
    redo: () => work.redo() && showPair(),
    again: () => realign({ force: true }),
    previous: () => go(-1),
    next: () => go(1),
    open: () => pick(openPairs),
    gold: () => pick(loadGold),
    share,
    clear: () => begin([blankPair()]),
    "save-jsonl": () => save("gold.jsonl", asJsonl),
    "save-talp": () => save("gold.talp", asTalp),
  };
  for (const [id, action] of Object.entries(actions)) at(id).addEventListener("click", action);
  document.addEventListener("keydown", shortcut);
  new ResizeObserver(() => drawIfWider()).observe(at("canvas"));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? document.body.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    dropped(event.dataTransfer.files[0]);
  });
}

function shortcut(event) {
  if (event.target.closest("textarea, input, select") || !(event.ctrlKey || event.metaKey)) return;
  const redo = event.key === "y" || (event.shiftKey && event.key.toLowerCase() === "z");
  if (!redo && event.key !== "z") return;
  event.preventDefault();
  if (redo ? work.redo() : work.undo()) showPair();
}

function typed() {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const texts = [at("source").value, at("target").value];
    if (texts.join("\n") === work.pair.texts.join("\n")) return;
    work.change({ texts, edited: false, gold: null, ready: false }, { step: work.pair.edited });
    realign();
  }, PAUSE);
}

// A setting was moved: what was mended by hand stays as it is.
function changed({ texts = false } = {}) {
  if (work.pair.edited) tell("You edited these links, so they stay; 'Align again' replaces them.");
  else if (texts || work.pair.ready) realign();
}

async function realign({ force = false } = {}) {
  const [pair, place] = [work.pair, work.current];
  if (!pair.texts.every((text) => text.trim())) {
    work.change({ source: [], target: [], links: [], score: null, ready: false }, { step: false });
    return draw();
  }
  at("status").closest(".card").classList.add("busy");
  try {
    const words = pair.gold
      ? { source: pair.source, target: pair.target }
      : { source: pair.texts[0], target: pair.texts[1], raw: settings.parts.raw.checked };
    const {
      alignments: [found],
    } = await align({ ...words, ...settings.request() });
    if (work.current !== place || work.pair.texts !== pair.texts) return;
    work.change(
      {
        source: found.source,
        target: found.target,
        links: found.links.map(([i, j, score]) => [i, j, score, true]),
        score: found.score,
        edited: false,
        ready: true,
      },
      { step: force },
    );
    tell("");
    draw();
  } catch (error) {
    if (error.name !== "AbortError") tell(error.message, true);
  } finally {
    at("status").closest(".card").classList.remove("busy");
  }
}

function showPair() {
  [at("source").value, at("target").value] = work.pair.texts;
  chosen = null;
  draw();
  if (!work.pair.ready) realign();
}

function asDrawn(pair, number) {
  return {
    number: number + 1,
    source: pair.source,
    target: pair.target,
    systems: [{ links: pair.links, score: pair.score }],
    gold: pair.gold,
  };
}

function draw() {
  const focused = rememberFocus();
  const pair = asDrawn(work.pair, work.current);
  const marks = marksOf(pair);
  const options = {
    say: tell,
    onWord: chooseWord,
    onLink: (i, j) => edit(cycled(work.pair.links, i, j)),
    onCell: (i, j) => edit(cycled(work.pair.links, i, j), [i, j]),
  };
  if (!pair.source.length || !pair.target.length) at("canvas").replaceChildren();
  else (view === "lines" ? drawLines : drawMatrix)(at("canvas"), pair, marks, options);
  draw.width = at("canvas").clientWidth;
  at("export").replaceChildren(exportMenu(pair, marks, () => [...at("canvas").children]));
  showState();
  focused?.();
}

function drawIfWider() {
  if (Math.abs(at("canvas").clientWidth - (draw.width ?? 0)) > 1) draw();
}

// Drawing anew must not throw anybody out who moves by keyboard.
function rememberFocus() {
  const active = document.activeElement;
  if (!at("canvas").contains(active)) return null;
  const { side, k } = active.dataset;
  return () => (side ? wordAt(at("canvas"), side, k) : at("canvas").querySelector(".cells"))?.focus();
}

function showState() {
  at("undo").disabled = !work.past.length;
  at("redo").disabled = !work.future.length;
  at("place").textContent = `${work.current + 1} of ${work.pairs.length}`;
  at("place").parentElement.hidden = work.pairs.length < 2;
  const facts = [
    work.pair.source.length ? `${work.pair.links.length} links` : "",
    work.pair.edited ? "edited" : work.pair.score === null ? "" : `score ${percent(work.pair.score)}`,
  ];
  at("facts").textContent = facts.filter(Boolean).join(" · ");
  at("totals").replaceChildren(...totalsOf(work));
}

function chooseWord(side, k) {
  if (!chosen || chosen.side === side) {
    chosen = chosen?.k === k && chosen.side === side ? null : { side, k };
    for (const word of at("canvas").querySelectorAll(".chosen")) word.classList.remove("chosen");
    if (chosen) wordAt(at("canvas"), side, k).classList.add("chosen");
    return;
  }
  const [i, j] = side === "target" ? [chosen.k, k] : [k, chosen.k];
  chosen = null;
  edit(toggled(work.pair.links, i, j));
}

function edit(links, cell = null) {
  work.change({ links, edited: true });
  draw();
  if (cell && document.activeElement?.matches(".cells")) at("canvas").firstChild.moveTo(...cell);
}

function go(step) {
  work.current = (work.current + step + work.pairs.length) % work.pairs.length;
  work.keep();
  showPair();
}

function tell(text, trouble = false) {
  at("status").textContent = text;
  at("status").classList.toggle("trouble", trouble === true);
}

// Files.

function pick(then) {
  at("file").onchange = async () => {
    const [file] = at("file").files;
    at("file").value = "";
    if (file) await attempt(async () => then(readFile(await file.text())));
  };
  at("file").click();
}

async function dropped(file) {
  if (file)
    await attempt(async () => {
      const content = readFile(await file.text());
      if (content.pairs) openPairs(content);
      else loadGold(content);
    });
}

async function attempt(action) {
  try {
    await action();
  } catch (error) {
    tell(error.message, true);
  }
}

function openPairs({ pairs }) {
  if (!pairs?.length)
    throw new Error("the file holds no sentence pairs: 'source ||| target' lines, two columns, or JSONL.");
  settings.parts.raw.checked = false;
  begin(pairs.map(pairOfWords));
  alignRest();
}

function begin(pairs) {
  work = new Work(pairs);
  work.keep();
  tell("");
  showPair();
}

// Pairs nobody looked at yet are aligned in the background, a few at a time.
async function alignRest() {
  const mine = work;
  for (;;) {
    const waiting = mine.pairs
      .map((pair, number) => [pair, number])
      .filter(([pair, number]) => !pair.ready && number !== mine.current)
      .slice(0, 20);
    if (!waiting.length || mine !== work) return;
    const pairs = waiting.map(([pair]) => ({ source: pair.source, target: pair.target }));
    const { alignments } = await align({ pairs, ...settings.request() }, "rest");
    waiting.forEach(([pair, number], k) => {
      if (mine.pairs[number] !== pair) return;
      const links = alignments[k].links.map(([i, j, score]) => [i, j, score, true]);
      mine.pairs[number] = { ...pair, links, score: alignments[k].score, ready: true };
    });
    mine.keep();
    showState();
    tell(`${mine.pairs.filter((pair) => pair.ready).length} of ${mine.pairs.length} pairs are aligned.`);
  }
}

function loadGold(content) {
  const rows = content.links ?? content.pairs.map((pair) => pair.links ?? []);
  if (rows.length !== work.pairs.length)
    throw new Error(
      `the gold has ${rows.length} lines, but there ${work.pairs.length === 1 ? "is 1 pair" : `are ${work.pairs.length} pairs`} here.`,
    );
  const links = countedFromZero(rows, work.pairs);
  tell(links === rows ? "" : "The gold counts words from 1, and was read that way.");
  const outside = links.findIndex(
    (row, number) =>
      work.pairs[number].source.length &&
      row.some(([i, j]) => i >= work.pairs[number].source.length || j >= work.pairs[number].target.length),
  );
  if (outside >= 0) throw new Error(`line ${outside + 1} of the gold has a link behind the end of a sentence.`);
  work.pairs = work.pairs.map((pair, number) => ({ ...pair, gold: asGold(links[number]) }));
  work.keep();
  draw();
}

function save(name, write) {
  const waiting = work.pairs.filter((pair) => !pair.ready).length;
  if (waiting) tell(`${waiting} pairs are not aligned yet and were saved without links.`, true);
  download(name, write(work.pairs));
}

async function share() {
  const { texts, source, target, links, edited, gold } = work.pair;
  const address = await addressOf({
    pair: { texts, source, target, links, edited, gold },
    settings: settings.state,
    view,
  });
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    tell("The link is copied; it stands in the address bar too.");
  } catch {
    tell("The link stands in the address bar.");
  }
}
