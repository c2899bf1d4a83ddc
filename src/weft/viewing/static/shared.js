// The pair that an address carries, as pages draw it; null where there is none, or one that makes no sense.
import { stateOfAddress } from "./share.js";

export async function sharedPair(hash) {
  const state = await stateOfAddress(hash);
  if (!state?.pair || typeof state.pair !== "object") return null;
  const { source, target, links, gold = null } = state.pair;
  const inside = (link) =>
    Array.isArray(link) && [source, target].every((words, side) => Number.isInteger(link[side]) && link[side] in words);
  const areLinks = (value) => Array.isArray(value) && value.every(inside);
  if (![source, target].every(areWords) || !areLinks(links)) return null;
  if (gold !== null && ![gold?.sure, gold?.possible].every(areLinks)) return null;
  const pair = { number: 1, source, target, systems: [{ links: links.map(plain), score: null }], gold };
  return { view: state.view, pair };
}

const areWords = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");

const plain = ([i, j, score, sure]) => [i, j, typeof score === "number" ? score : null, sure !== false];
