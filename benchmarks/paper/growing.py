"""Table 7: growing heuristics before and after training on all languages.

    python benchmarks/paper/growing.py --encoder FOLDER [--untrained]

Links are taken by the encoder's own method, softmax if it has none. The stars compare with the intersection.
"""

from __future__ import annotations

from common import LANGUAGES, TESTS, Row, Table, parsed, parser_of
from training import before_and_after, sizes

WAYS = {
    "intersection": "intersection",
    "X-En": "forward",
    "En-X": "backward",
    "gd": "grow-diag",
    "gd-final": "grow-diag-final",
}
PAPER = {
    "before": {
        "X-En": (24.7, 14.4, 31.9, 54.7, 27.4),
        "En-X": (22.6, 12.2, 32.0, 52.7, 29.9),
        "intersection": (17.4, 5.6, 27.9, 45.6, 18.1),
        "gd": (18.7, 9.2, 27.0, 48.5, 23.4),
        "gd-final": (18.6, 9.3, 26.9, 48.7, 23.2),
    },
    "after": {
        "X-En": (20.2, 12.9, 25.4, 42.1, 19.3),
        "En-X": (18.1, 9.3, 25.9, 41.7, 23.5),
        "intersection": (15.3, 4.4, 22.6, 37.9, 13.6),
        "gd": (16.3, 8.1, 23.1, 38.2, 18.3),
        "gd-final": (16.5, 8.3, 23.2, 38.7, 18.5),
    },
}


def main() -> None:
    options = parsed(parser_of(__doc__))
    table = Table("Growing", LANGUAGES, options, notes=sizes(options))
    for when, model in before_and_after(options).items():
        intersection = model.row(TESTS)
        for name, way in WAYS.items():
            scores = intersection if name == "intersection" else model.row(TESTS, symmetrize=way)
            table.add(Row(f"{when}: {name}", PAPER[when][name], scores, {} if name == "intersection" else intersection))


if __name__ == "__main__":
    main()
