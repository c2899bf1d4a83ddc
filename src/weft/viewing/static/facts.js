// What is said beside the picture: how many links a pair has, whether they can be trusted, and that others are on their way.
import { percent } from "./pair.js";

const SLOW = 400; // milliseconds after which a wait is explained
const ALIGNING = "Aligning…";
// Whoever marks a pair has looked at its links; the mark says more than that.
const SAID = { open: "edited", done: "confirmed" };

export function factsOf(pair) {
  const count = pair.links.length;
  const facts = [
    pair.source.length && !pair.problem ? `${count} ${count === 1 ? "link" : "links"}` : "",
    pair.refused && !pair.edited ? `not aligned: ${pair.refused}` : "",
    pair.edited ? (SAID[pair.state] ?? "") : pair.score === null ? "" : `score ${percent(pair.score)}`,
  ];
  return facts.filter(Boolean).join(" · ");
}

// Links between words that a model cannot read look like any others.
export function unreadOf({ unknown, edited, source, target }) {
  if (!unknown || edited) return "";
  const count = source.length + target.length;
  return `The model cannot read ${unknown} of the ${count} words, so these links are little better than guesses.`;
}

// Show that the links on a card are being replaced. The function that is returned ends that, unless a newer wait has begun.
export function waiting(card, tell) {
  const turn = (waiting.turn = (waiting.turn ?? 0) + 1);
  card.classList.add("busy");
  clearTimeout(waiting.slow);
  waiting.slow = setTimeout(() => (card.classList.add("slow"), tell(ALIGNING)), SLOW);
  return () => {
    if (turn !== waiting.turn) return;
    clearTimeout(waiting.slow);
    card.classList.remove("busy", "slow");
    if (card.querySelector(".status").textContent === ALIGNING) tell("");
  };
}
