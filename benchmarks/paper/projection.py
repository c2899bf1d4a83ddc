"""Table 8: named entities projected through links, with the measurement of `benchmarks/applications/ner_projection.py`.

    python benchmarks/paper/projection.py [--encoder FOLDER --layer 7] [--untrained]

The paper labels translations of a Spanish test set with an English tagger. Neither translations nor English labels are
at hand here, so labels of a German tagger go to English through annotators' links and through those of an aligner: what
is scored is how often both arrive at the same words. The numbers cannot be compared with the paper's, only their order.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import Row, Table, parsed, parser_of
from training import multilingual, sizes

from weft import Aligner

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "applications"))
from ner_projection import gold_links

PAPER = {
    "BERT-En (zero-shot)": (53.1, 54.3, 52.7),
    "fast_align": (51.5, 59.8, 55.2),
    "GIZA++": (56.5, 64.1, 60.0),
    "SimAlign": (59.9, 67.6, 63.5),
    "trained": (60.6, 68.5, 64.3),
}


def main() -> None:
    options = parsed(parser_of(__doc__))
    aligners = {
        "SimAlign": Aligner.from_pretrained(options.encoder, layer=options.layer, method="itermax"),
        "own method": Aligner.from_pretrained(options.encoder, layer=options.layer),
    }
    if not options.untrained:
        aligners["trained"] = Aligner.from_pretrained(multilingual(options))
    found = {name: rates for (name, gaps), rates in gold_links(aligners).items() if gaps == "fill"}
    columns = ("precision", "recall", "F1")
    table = Table("Projection", columns, options, notes=sizes(options))
    for name in [*PAPER, *(name for name in found if name not in PAPER)]:
        rates = (round(rate, 1) for rate in found[name]) if name in found else ()
        table.add(Row(name, PAPER.get(name, ()), dict(zip(columns, rates, strict=False))))


if __name__ == "__main__":
    main()
