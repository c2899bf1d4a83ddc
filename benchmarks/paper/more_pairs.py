"""Table 13: further languages, Czech and Hindi, without training, with three thresholds, beside SimAlign's IterMax.

    python benchmarks/paper/more_pairs.py [--encoder FOLDER --layer 7]

Czech is the dev set that weft has (500 sentences, sure links only): where an encoder was trained with its links, as
weft-mini was, the column says nothing. Hindi is the set of WPT 2005 with 115 sentences.
"""

from __future__ import annotations

from common import Model, Row, Table, parsed, parser_of

SETS = {"cs": "cs-en/dev", "hi": "hi-en/test"}
PAPER = {1e-3: (12.3, 41.2), 1e-5: (12.7, 39.5), 1e-7: (13.3, 39.2)}


def main() -> None:
    options = parsed(parser_of(__doc__))
    table = Table("More pairs", tuple(SETS), options)
    model = Model(options.encoder, options.layer)
    table.add(Row("SimAlign (itermax)", (13.4, 40.2), model.row(SETS, method="itermax")))
    table.add(Row("own method", (), model.row(SETS)))
    for threshold, paper in PAPER.items():
        table.add(Row(f"softmax, {threshold:.0e}", paper, model.row(SETS, method="softmax", threshold=threshold)))


if __name__ == "__main__":
    main()
