"""Nothing where there is nothing? Links between sentences, and to clauses, that have no counterpart.

    python benchmarks/accuracy/nothing.py --model FOLDER [--null 15] [--pairs de-en,fr-en] [--set test]

For each set, one line:

- true: links per word of the shorter side and their mean probability, in pairs as they are.
- unrelated: the same for each source with the target 37 lines on.
- added: how many words of a clause that was added to one side (the first half of the sentence 37 lines on, behind the
  source in every other pair, else behind the target) have a link, in percent.
- filter: how often a true pair scores higher than an unrelated one (AUC), as `weft filter` scores pairs.

Test sets are for reporting; choose settings with `--set dev`.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import mean

from aligners import DATA, aligner_options, chosen_aligner

from weft import Aligner, Alignment, SentencePair
from weft.applications.filtering import pair_score
from weft.tuning import DevSet

SHIFT = 37


def main() -> None:
    parser = aligner_options(__doc__)
    parser.add_argument("--pairs", default="de-en,fr-en,ro-en,ja-en,zh-en")
    parser.add_argument("--set", default="test")
    options = parser.parse_args()
    aligner = chosen_aligner(options)
    print("pair    true: links/word, probability   unrelated: links/word, probability   added: linked   filter: AUC")
    for pair in options.pairs.split(","):
        prefix = DATA / "gold" / pair / options.set
        if not prefix.with_suffix(".talp").is_file():
            sys.exit(f"There is no {prefix}.talp; set WEFT_DATA to the folder that holds gold/.")
        print(measured(aligner, pair, DevSet.read(str(prefix)).pairs), flush=True)


def measured(aligner: Aligner, name: str, true: Sequence[SentencePair]) -> str:
    others = [*true[SHIFT:], *true[:SHIFT]]
    unrelated = [SentencePair(pair.source, other.target) for pair, other in zip(true, others, strict=True)]
    with_clause = [
        added(pair, other, side=number % 2) for number, (pair, other) in enumerate(zip(true, others, strict=True))
    ]
    found, stray = aligner.align_batch(true), aligner.align_batch(unrelated)
    wrong = aligner.align_batch(with_clause, scores="none")
    linked = [
        added_words_linked(pair, alignment, side=number % 2)
        for number, (pair, alignment) in enumerate(zip(true, wrong, strict=True))
    ]
    words = sum(
        len(longer[number % 2]) - len(pair[number % 2])
        for number, (longer, pair) in enumerate(zip(with_clause, true, strict=True))
    )
    rows = (links_per_word(true, found), mean_score(found), links_per_word(unrelated, stray), mean_score(stray))
    scores = [
        [pair_score(pair, alignment) for pair, alignment in zip(pairs, alignments, strict=True)]
        for pairs, alignments in ((true, found), (unrelated, stray))
    ]
    return (
        f"{name}   {rows[0]:5.2f}        {rows[1]:.2f}               {rows[2]:5.2f}        {rows[3]:.2f}"
        f"                     {100 * sum(linked) / words:4.1f} %           {area_under_curve(*scores):.4f}"
    )


def added(pair: SentencePair, other: SentencePair, *, side: int) -> SentencePair:
    """The pair with the first half of another sentence behind its source (side 0) or target (side 1)."""
    sides = list(pair)
    sides[side] = sides[side] + other[side][: (len(other[side]) + 1) // 2]
    return SentencePair(*sides)


def added_words_linked(pair: SentencePair, alignment: Alignment, *, side: int) -> int:
    """How many words behind the end of the true sentence have a link."""
    return len({link[side] for link in alignment.pairs if link[side] >= len(pair[side])})


def links_per_word(pairs: Sequence[SentencePair], alignments: Sequence[Alignment]) -> float:
    """Links per word of the shorter side, over all pairs."""
    return sum(map(len, alignments)) / sum(min(map(len, pair)) for pair in pairs)


def mean_score(alignments: Sequence[Alignment]) -> float:
    scores = [link.score or 0.0 for alignment in alignments for link in alignment.links]
    return mean(scores) if scores else 0.0


def area_under_curve(high: Sequence[float], low: Sequence[float]) -> float:
    """How often one of `high` is above one of `low`; equals count half."""
    ordered = sorted(low)
    wins = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in high) / 2
    return wins / len(high) / len(low)


if __name__ == "__main__":
    main()
