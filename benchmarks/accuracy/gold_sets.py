"""AER of a model on gold sets, with intervals and speed: one line a set.

    python benchmarks/accuracy/gold_sets.py --model FOLDER [--layer 7] [--sets test] [--method softmax]

Reads `$WEFT_DATA/gold/<pair>/<set>.{src,tgt,talp}`; the README of this folder says where these come from. Test sets are
for reporting; choose settings on dev sets.
"""

from __future__ import annotations

import sys
import time

from aligners import DATA, aligner_options, chosen_aligner

from weft.scoring.corpus import score
from weft.tuning import DevSet

NO_DATA = """There are no gold sets: {place}.talp and others were looked for.
benchmarks/accuracy/README.md says where they can be fetched. Set WEFT_DATA to the folder that holds gold/."""


def main() -> None:
    parser = aligner_options(__doc__)
    parser.add_argument("--sets", default="test")
    options = parser.parse_args()
    gold_sets = sorted((DATA / "gold").glob(f"*/{options.sets}.talp"))
    if not gold_sets:
        sys.exit(NO_DATA.format(place=DATA / "gold" / "de-en" / options.sets))
    aligner = chosen_aligner(options)
    for path in gold_sets:
        gold = DevSet.read(str(path.with_suffix("")))
        start = time.perf_counter()
        alignments = aligner.align_batch(gold.pairs, scores="none")
        speed = len(gold.pairs) / (time.perf_counter() - start)
        result = score(gold.gold, alignments)
        lower, upper = (end.aer for end in result.interval)
        rates = result.rates
        print(
            f"{path.parent.name}/{options.sets}  AER {rates.aer:.2f} [{lower:.1f}, {upper:.1f}]  precision "
            f"{rates.precision:.1f}  recall {rates.recall:.1f}  {len(gold.pairs)} pairs  {speed:.0f} pairs/s",
            flush=True,
        )


if __name__ == "__main__":
    main()
