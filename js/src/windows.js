// Sentences that are too long for the encoder, in overlapping windows: [start, end, keepStart, keepEnd].

export function countWindows(length, size) {
  return length <= size ? 1 : Math.ceil((length - size) / Math.max(1, Math.floor(size / 2))) + 1;
}

// Every subword is taken from the window in which it is farthest from the edges.
export function windows(length, size) {
  const starts = evenStarts(length, size, countWindows(length, size));
  const cuts = starts.slice(1).map((following, k) => Math.floor((starts[k] + size + following) / 2));
  return between(starts, [0, ...cuts, length], Math.min(length, size));
}

// As many windows as the longer sentence beside it takes: every stretch meets the same stretch of the other.
export function windowsAbreast(length, size, count) {
  const edges = Array.from({ length: count + 1 }, (_, k) => toEven((k * length) / count));
  return between(evenStarts(length, size, count), edges, Math.min(length, size));
}

function evenStarts(length, size, count) {
  return Array.from({ length: count }, (_, k) => toEven((k * Math.max(0, length - size)) / Math.max(1, count - 1)));
}

function between(starts, edges, width) {
  return starts.map((start, k) => [start, start + width, edges[k], edges[k + 1]]);
}

// Halves go to the even neighbour, as Python rounds.
function toEven(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
