"""AER of a model on gold sets, with intervals and speed: one line a set.

    python benchmarks/accuracy/gold_sets.py --model FOLDER [--layer 7] [--sets test] [--method softmax]

Reads `$WEFT_DATA/gold/<pair>/<set>.{src,tgt,talp}`. Test sets are for reporting; choose settings on dev sets.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from weft import Aligner
from weft.scoring.corpus import score
from weft.tuning import DevSet

DATA = Path(os.environ.get("WEFT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--sets", default="test")
    parser.add_argument("--method")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--null", help="a number, or off")
    options = parser.parse_args()
    null = float(options.null) if options.null not in (None, "off") else options.null
    aligner = Aligner.from_pretrained(
        options.model, layer=options.layer, method=options.method, threshold=options.threshold, null=null
    )
    for path in sorted((DATA / "gold").glob(f"*/{options.sets}.talp")):
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
