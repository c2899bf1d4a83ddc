"""Does `weft filter` tell translations from other sentences? True pairs of a gold set among as many false ones.

False pairs are made of the same sentences: each source with the target of the pair that is next in length, so that
lengths give nothing away. Printed: how often a true pair scores higher than a false one (AUC), and how many of the kept
pairs are true when the better half is kept.

    python benchmarks/applications/filter_noise.py --aligner weft-mini --aligner FOLDER:7 [--pair de-en]

Reads the sentences of `$WEFT_DATA/gold/<pair>/test`; its links are not used.
"""

from __future__ import annotations

import argparse
import os
from bisect import bisect_left, bisect_right
from pathlib import Path

from weft import Aligner, Alignment, SentencePair
from weft.applications.filtering import keep_share, pair_score
from weft.tuning import DevSet

DATA = Path(os.environ.get("WEFT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aligner", action="append", default=[], help="NAME or FOLDER, with :LAYER if need be")
    parser.add_argument("--pair", default="de-en")
    options = parser.parse_args()
    true = DevSet.read(str(DATA / "gold" / options.pair / "test")).pairs
    by_length = sorted(true, key=lambda pair: (len(pair.target), pair.target))
    false = [
        SentencePair(pair.source, other.target)
        for pair, other in zip(by_length, [*by_length[1:], by_length[0]], strict=True)
    ]
    for name in options.aligner or ["weft-mini"]:
        folder, _, layer = name.partition(":")
        aligner = Aligner.from_pretrained(folder, layer=int(layer) if layer else None)
        pairs = [*true, *false]
        alignments = aligner.align_batch(pairs)
        report(f"{name}, coverage x probability", pairs, alignments, len(true))
        bare = [Alignment(tuple(link._replace(score=None) for link in item.links)) for item in alignments]
        report(f"{name}, coverage alone", pairs, bare, len(true))


def report(name: str, pairs: list[SentencePair], alignments: list[Alignment], true: int) -> None:
    """Print how well scores part the first `true` pairs from the others."""
    scores = [pair_score(pair, alignment) for pair, alignment in zip(pairs, alignments, strict=True)]
    false = sorted(scores[true:])
    wins = sum(bisect_left(false, score) + bisect_right(false, score) for score in scores[:true]) / 2
    # Of equals earlier ones are kept; false pairs first, so that ties count against us.
    kept = [keep for _, keep in keep_share(scores[true:] + scores[:true], true / len(scores))]
    share = sum(kept[len(false) :]) / true
    print(f"{name:60}  AUC {wins / true / len(false):.4f}  true among the kept half {100 * share:.1f} %", flush=True)


if __name__ == "__main__":
    main()
