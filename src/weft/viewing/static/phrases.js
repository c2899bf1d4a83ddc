// The phrase around a word: the smallest pair of stretches, one a side, with links only between each other.

// `links` are [source, target, …]; `side` is 0 or 1. Returns { source: [first, last], target: [first, last] }, or null for
// a word without a link.
export function phraseOf(links, side, word) {
  const spans = [null, null];
  spans[side] = [word, word];
  for (let grown = true; grown; ) {
    grown = false;
    for (const from of [side, 1 - side]) {
      const to = 1 - from;
      for (const link of links) {
        if (!spans[from] || link[from] < spans[from][0] || link[from] > spans[from][1]) continue;
        const [first, last] = spans[to] ?? [link[to], link[to]];
        const wider = [Math.min(first, link[to]), Math.max(last, link[to])];
        grown ||= !spans[to] || wider[0] !== first || wider[1] !== last;
        spans[to] = wider;
      }
    }
  }
  return spans[1 - side] ? { source: spans[0], target: spans[1] } : null;
}
