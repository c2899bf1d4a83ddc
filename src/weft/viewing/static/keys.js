// Keys for everything, and the list of them.
import { el } from "./dom.js";

const PARTS = [
  [
    "Pairs",
    [
      ["j", "next pair"],
      ["k", "previous pair"],
      ["u", "next unmarked pair"],
      ["g", "go to a pair by number"],
      ["d", "mark as done, go to the next"],
      ["o", "mark as doubtful, go to the next"],
      ["s", "skip, go to the next"],
      ["c", "write a comment"],
    ],
  ],
  [
    "The page",
    [
      ["v", "switch between lines and matrix"],
      ["a", "align again"],
      ["q, e", "when settling: take the first or the second annotator's links"],
      ["?", "show this list"],
    ],
  ],
  [
    "Words and links",
    [
      ["← → ↑ ↓", "move along a sentence or to the partner; in the matrix, from cell to cell"],
      ["Enter", "choose a word, or link it with the words chosen on the other side"],
      ["Space", "choose several words on either side; Enter links them all"],
      ["1", "mark as sure"],
      ["2", "mark as possible"],
      ["0", "remove the link"],
      ["Escape", "clear the chosen words"],
      ["w", "go to the first word; ← or → does so too if no word has the focus"],
      ["Ctrl+Z", "undo"],
      ["Ctrl+Shift+Z", "redo"],
    ],
  ],
];

export function showKeys() {
  const lists = PARTS.map(([title, keys]) =>
    el(
      "section",
      {},
      el("h2", {}, title),
      el("dl", {}, ...keys.flatMap(([key, meaning]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, meaning)])),
    ),
  );
  dialog("Keys", el("div", { class: "keys" }, ...lists));
}

// A dialog that Escape closes; it is gone when it is closed.
export function dialog(title, ...content) {
  const heading = el("h1", { id: "dialog-title" }, title);
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", click: () => box.close() }, "×");
  const box = el("dialog", { class: "dialog", "aria-labelledby": "dialog-title" }, close, heading, ...content);
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  return box;
}

// A list that was used with the mouse lets go of the keys: the next letter is meant for the pairs.
function freeKeysOfLists() {
  let byMouse = false;
  document.addEventListener("pointerdown", () => (byMouse = true));
  document.addEventListener("keydown", () => (byMouse = false));
  document.addEventListener("change", ({ target }) => byMouse && target.matches("select") && target.blur());
}

// `actions` has a function for each key; a function that returns false did not want the key.
export function listenToKeys(actions) {
  freeKeysOfLists();
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest?.("textarea, select, input:not([type=checkbox]):not([type=range])");
    const command = event.ctrlKey || event.metaKey;
    if (typing) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target.id === "comment")) event.target.blur();
      return;
    }
    if (command && !"zyZ".includes(event.key)) return;
    const name = command ? (event.key === "y" || event.shiftKey ? "redo" : "undo") : event.key;
    const action = actions[name];
    if (!action || action() === false) return;
    event.preventDefault();
  });
}
