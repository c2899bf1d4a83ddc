"""Table 4: encoders and layers. One encoder a run; every layer is tried, the best three on the dev sets are shown.

    python benchmarks/paper/layers.py [--encoder FOLDER] [--layers 6,7,8]

The layers are chosen by the mean AER on the dev sets (ro, ja, zh, cs), the test sets are only reported.
"""

from __future__ import annotations

import sys

from common import DEV_SETS, LANGUAGES, TESTS, Model, Row, Table, parsed, parser_of

from weft.encoding.torch import load_config

PAPER = {
    "mBERT": {7: (18.7, 6.1, 19.1), 8: (17.4, 5.6, 18.1), 9: (18.8, 6.1, 20.1)},
    "XLM-15 (MLM)": {4: (21.1, 6.8, 25.3), 5: (20.4, 6.1, 26.1), 6: (23.2, 7.7, 33.3)},
    "XLM-15 (MLM+TLM)": {4: (16.4, 4.9, 18.6), 5: (16.2, 4.7, 23.7), 6: (18.8, 5.7, 26.2)},
    "XLM-100 (MLM)": {7: (20.5, 8.5, 30.8), 8: (19.8, 8.2, 28.6), 9: (19.9, 8.8, 29.3)},
    "XLM-R": {7: (24.4, 10.3, 33.2), 8: (23.1, 9.2, 30.7), 9: (24.7, 11.5, 28.1)},
}

SHOWN = 3


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--layers", help="layers to try, as 6,7,8; all by default")
    options = parsed(parser)
    layers = [int(layer) for layer in options.layers.split(",")] if options.layers else None
    table = Table("Layers", (*LANGUAGES, "dev mean"), options, paper_encoder="")
    for encoder, rows in PAPER.items():
        for layer, (german, french, chinese) in rows.items():
            table.add(Row(f"{encoder}, layer {layer}", (german, french, None, None, chinese, None)))
    means = {}
    for layer in layers or range(1, load_config(options.encoder).num_hidden_layers + 1):
        model = Model(options.encoder, layer)
        aers = [model.score(name).rates.aer for name in DEV_SETS]
        means[layer] = sum(aers) / len(aers)
        print(f"layer {layer}: dev mean {means[layer]:.2f} ({' '.join(f'{aer:.1f}' for aer in aers)})", file=sys.stderr)
    table.notes = {"dev mean by layer": {layer: round(aer, 2) for layer, aer in means.items()}}
    for layer in sorted(sorted(means, key=means.__getitem__)[:SHOWN]):
        scores = Model(options.encoder, layer).row(TESTS)
        table.add(Row(f"{options.label}, layer {layer}", (), {**scores, "dev mean": means[layer]}))


if __name__ == "__main__":
    main()
