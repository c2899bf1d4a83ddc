// Long pairs are cut into bands, each a stretch of both sentences, so that few links run from one band to another.

const MOST_TRIED = 24;
const LEAST_FULL = 0.8; // a band of two words would tear no link, but many such bands tear them all

// `widths` are two lists of word widths; returns [{ source: [from, to], target: [from, to] }, ...].
export function bandsOf(widths, links, room) {
  const ends = widths.map((side) => side.length);
  const bands = [];
  let [i, j] = [0, 0];
  while (i < ends[0] || j < ends[1]) {
    const [nextI, nextJ] = nextCut(widths, links, room, i, j);
    bands.push({ source: [i, nextI], target: [j, nextJ] });
    [i, j] = [nextI, nextJ];
  }
  return bands.length ? bands : [{ source: [0, 0], target: [0, 0] }];
}

function nextCut(widths, links, room, i, j) {
  const last = [fitting(widths[0], i, room), fitting(widths[1], j, room)];
  if (last[0] === widths[0].length && last[1] === widths[1].length) return last;
  const rest = [total(widths[0], i), total(widths[1], j)];
  const bandsLeft = Math.ceil(Math.max(...rest) / room);
  // Links that lie wholly before or behind this band cannot be torn by it.
  const open = links.filter(
    ([source, target]) => (source >= i || target >= j) && (source < last[0] || target < last[1]),
  );
  let best = { cost: Infinity, cut: last };
  const ideal = rest.map((width) => width / bandsLeft);
  const ends = candidates(widths[1], j, last[1], ideal[1]);
  for (const a of candidates(widths[0], i, last[0], ideal[0])) {
    const wasteA = waste(widths[0], i, a, ideal[0]);
    for (const b of ends) {
      const torn = open.filter(([source, target]) => source < a !== target < b).length;
      const cost = torn + 6 * (wasteA + waste(widths[1], j, b, ideal[1]));
      if (cost < best.cost) best = { cost, cut: [a, b] };
    }
  }
  return best.cut;
}

// Ends that fill the band well enough, the fullest first.
function candidates(widths, start, end, ideal) {
  const first = Math.min(end, fitting(widths, start, LEAST_FULL * ideal));
  return Array.from({ length: Math.min(MOST_TRIED, end - first) + 1 }, (_, step) => end - step);
}

function fitting(widths, start, room) {
  let end = start;
  let used = 0;
  while (end < widths.length && (end === start || used + widths[end] <= room)) used += widths[end++];
  return end;
}

function total(widths, start, end = widths.length) {
  let sum = 0;
  for (let k = start; k < end; k++) sum += widths[k];
  return sum;
}

function waste(widths, start, end, ideal) {
  return ideal > 0 ? (1 - total(widths, start, end) / ideal) ** 2 : 0;
}
