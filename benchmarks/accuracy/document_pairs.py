"""Documents with unequal numbers of sentences: F1 of sentence pairs, beside Gale and Church's lengths.

    python benchmarks/accuracy/document_pairs.py [--sets de-en/test] [--drop 0.1] [--merge 0.1] [--sentences 150]

The sentences of a gold set are a document and its translation. On either side some are left out, and some are joined
with the next one. A pair counts if it has exactly the sentences that belong together. Gale and Church's algorithm is
nltk's, on numbers of characters.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from aligners import DATA, aligner_options, chosen_aligner
from nltk.translate.gale_church import align_blocks

from weft.tuning import DevSet
from weft.types import Words

Group = list[int]
"""The numbers of the gold sentences that a sentence of a document consists of."""
Pairs = set[tuple[int, int, int, int]]


def main() -> None:
    parser = aligner_options(__doc__)
    parser.add_argument("--sets", nargs="+", default=["de-en/test", "fr-en/test", "ja-en/test", "zh-en/test"])
    parser.add_argument("--drop", type=float, default=0.1)
    parser.add_argument("--merge", type=float, default=0.1)
    parser.add_argument("--sentences", type=int, help="only so many of each set")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    aligner = chosen_aligner(options)
    for name in options.sets:
        pairs = DevSet.read(str(DATA / "gold" / name)).pairs[: options.sentences]
        draws = random.Random(options.seed)
        sides = [document(len(pairs), draws, options.drop, options.merge) for _ in range(2)]
        texts = [text_of([pair[side] for pair in pairs], groups) for side, groups in enumerate(sides)]
        expected = right_pairs(sides[0], sides[1])
        start = time.perf_counter()
        parts = aligner.align_texts(texts[0], texts[1], scores="none")
        seconds = time.perf_counter() - start
        found = {(s.start, s.stop, t.start, t.stop) for s, t, _ in parts if s and t}
        lengths = [[len("".join(words)) for words in text] for text in texts]
        by_length = _ranges(align_blocks(*lengths))
        print(
            f"{name}  {len(texts[0])} and {len(texts[1])} sentences  F1 {f1(found, expected):.1f}  by length "
            f"{f1(by_length, expected):.1f}  {seconds:.1f} s",
            flush=True,
        )


def document(count: int, draws: random.Random, drop: float, merge: float) -> list[Group]:
    """Some of so many sentences, a few of them joined with the next."""
    kept = [number for number in range(count) if draws.random() >= drop]
    groups: list[Group] = []
    while kept:
        # Only neighbours are joined: what stood between them would belong to nothing.
        neighbours = len(kept) > 1 and kept[1] == kept[0] + 1
        size = 2 if draws.random() < merge and neighbours else 1
        groups.append(kept[:size])
        kept = kept[size:]
    return groups


def text_of(sentences: Sequence[Words], groups: Sequence[Group]) -> list[Words]:
    """The words of each sentence of a document."""
    return [tuple(word for number in group for word in sentences[number]) for group in groups]


def right_pairs(source: Sequence[Group], target: Sequence[Group]) -> Pairs:
    """The smallest stretches of both documents whose gold sentences meet nothing else."""
    links = [(i, j) for i, ours in enumerate(source) for j, theirs in enumerate(target) if set(ours) & set(theirs)]
    return _ranges(links)


def _ranges(links: Sequence[tuple[int, int]]) -> Pairs:
    """Links in order as pairs of stretches: those that share a sentence belong to one pair."""
    found: list[list[int]] = []
    for i, j in sorted(links):
        if found and (i < found[-1][1] or j < found[-1][3]):
            found[-1][1], found[-1][3] = max(i + 1, found[-1][1]), max(j + 1, found[-1][3])
        else:
            found.append([i, i + 1, j, j + 1])
    return {(a, b, c, d) for a, b, c, d in found}


def f1(found: Pairs, expected: Pairs) -> float:
    """The harmonic mean of the shares of what was found that is right, and of what is right that was found."""
    return 200 * len(found & expected) / max(1, len(found) + len(expected))


if __name__ == "__main__":
    main()
