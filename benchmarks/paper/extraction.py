"""Table 3: ways to take links (softmax, entmax, optimal transport; SimAlign's for comparison) and their speed.

    python benchmarks/paper/extraction.py [--encoder FOLDER --layer 7]

Every method has its default threshold: 0.001 for softmax, 0 for entmax, and for optimal transport 0.3 of a word's mass
(docs/methods.md), where the paper compares the plan itself with 0.001.
Speed is in sentence pairs a second over all five test sets: links alone (the best of three), and with the encoder.
"""

from __future__ import annotations

import time

from common import LANGUAGES, TESTS, Model, Row, Table, gold_set, parsed, parser_of

from weft.extraction.extractor import extract

PAPER = {
    "softmax": (17.4, 5.6, 27.9, 45.6, 18.1, None, 33.2),
    "entmax": (18.1, 5.6, 29.0, 46.3, 18.4, None, 32.4),
    "ot, cosine": (24.4, 15.7, 33.7, 54.0, 31.1, None, 3.4),
    "ot, dot": (25.4, 17.1, 34.1, 54.2, 30.9, None, 3.8),
    "ot, euclidean": (20.7, 15.1, 33.3, 53.2, 29.8, None, 3.1),
    "itermax": (18.8, 7.6, 27.2, 46.6, 21.6, None, None),  # SimAlign in table 2
}
REPEATS = 3
SETTINGS = {
    "softmax": {"method": "softmax"},
    "entmax": {"method": "entmax"},
    "ot, cosine": {"method": "ot", "cost": "cosine"},
    "ot, dot": {"method": "ot", "cost": "dot"},
    "ot, euclidean": {"method": "ot", "cost": "euclidean"},
    "argmax": {"method": "argmax"},
    "itermax": {"method": "itermax"},
    "match": {"method": "match"},
}


def main() -> None:
    options = parsed(parser_of(__doc__))
    model = Model(options.encoder, options.layer)
    for name in TESTS.values():
        model.encoded(name)
    pairs = sum(len(gold_set(name).pairs) for name in TESTS.values())
    encoding = sum(model.seconds.values())
    table = Table("Extraction", (*LANGUAGES, "pairs/s links alone", "pairs/s"), options)
    first = None
    for name, settings in SETTINGS.items():
        scores = model.row(TESTS, **settings)
        seconds = min(_seconds(model, settings) for _ in range(REPEATS))
        speed = {"pairs/s links alone": f"{pairs / seconds:.0f}", "pairs/s": f"{pairs / (seconds + encoding):.0f}"}
        table.add(Row(name, PAPER.get(name, ()), {**scores, **speed}, first or {}))
        first = first or scores


def _seconds(model: Model, settings: dict[str, str]) -> float:
    """How long it takes to make links of the states of all test sets."""
    chosen = model.stored.updated(**settings)
    began = time.perf_counter()
    for name in TESTS.values():
        encoded, numbers = model.encoded(name)
        extract(encoded, numbers, chosen)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
