"""Long text: n sentences of a gold set joined into one pair; AER, seconds and links across sentences by n.

    python benchmarks/accuracy/long_text.py [--model FOLDER] [--sets zh-en/test de-en/test] [--joined 1 5 50]

Reads `$WEFT_DATA/gold/<set>.{src,tgt,talp}`. Tune on dev sets; test sets are for reporting.
"""

from __future__ import annotations

import time

from aligners import DATA, aligner_options, chosen_aligner

from weft.scoring.corpus import score
from weft.tuning import DevSet
from weft.types import GoldAlignment, SentencePair, WordPair


def main() -> None:
    parser = aligner_options(__doc__)
    parser.add_argument("--sets", nargs="+", default=["zh-en/test", "de-en/test"])
    parser.add_argument("--joined", nargs="+", type=int, default=[1, 3, 5, 10, 20, 50])
    options = parser.parse_args()
    aligner = chosen_aligner(options)
    for name in options.sets:
        gold = DevSet.read(str(DATA / "gold" / name))
        for count in options.joined:
            joined = join(gold, count)
            start = time.perf_counter()
            alignments = aligner.align_batch(joined.pairs, scores="none")
            seconds = time.perf_counter() - start
            print(
                f"{name}  n = {count:3d}  AER {score(joined.gold, alignments).rates.aer:5.2f}  {seconds:5.1f} s",
                flush=True,
            )


def join(gold: DevSet, count: int) -> DevSet:
    """Every `count` sentences as one pair, with their gold links."""
    firsts = range(0, len(gold.pairs), count)
    return DevSet(
        gold.name,
        tuple(_joined_pair(gold.pairs[first : first + count]) for first in firsts),
        tuple(_joined_gold(gold.pairs[first : first + count], gold.gold[first : first + count]) for first in firsts),
    )


def _joined_pair(pairs: tuple[SentencePair, ...]) -> SentencePair:
    source = tuple(word for pair in pairs for word in pair.source)
    return SentencePair(source, tuple(word for pair in pairs for word in pair.target))


def _joined_gold(pairs: tuple[SentencePair, ...], golds: tuple[GoldAlignment, ...]) -> GoldAlignment:
    sure: set[WordPair] = set()
    possible: set[WordPair] = set()
    source = target = 0
    for pair, gold in zip(pairs, golds, strict=True):
        sure.update((i + source, j + target) for i, j in gold.sure)
        possible.update((i + source, j + target) for i, j in gold.possible)
        source, target = source + len(pair.source), target + len(pair.target)
    return GoldAlignment(frozenset(sure), frozenset(possible))


if __name__ == "__main__":
    main()
