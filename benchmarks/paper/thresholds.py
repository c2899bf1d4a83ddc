"""Table 11: softmax with thresholds over five orders of magnitude, before and after training on all languages.

python benchmarks/paper/thresholds.py --encoder FOLDER [--untrained]
"""

from __future__ import annotations

from common import LANGUAGES, TESTS, Row, Scores, Table, parsed, parser_of
from training import before_and_after, sizes

PAPER = {
    "before": {
        1e-6: (17.3, 6.0, 27.2, 45.2, 18.9),
        1e-5: (17.3, 5.9, 27.4, 45.1, 18.6),
        1e-4: (17.3, 5.7, 27.6, 45.3, 18.3),
        1e-3: (17.4, 5.6, 27.9, 45.6, 18.1),
        1e-2: (17.7, 5.6, 28.4, 45.8, 18.2),
        1e-1: (18.1, 5.6, 28.9, 46.3, 18.3),
        5e-1: (18.4, 5.6, 29.5, 47.0, 18.7),
    },
    "after": {
        1e-6: (15.4, 4.6, 22.7, 38.2, 14.1),
        1e-5: (15.4, 4.5, 22.7, 38.1, 14.0),
        1e-4: (15.3, 4.5, 22.6, 37.9, 13.9),
        1e-3: (15.3, 4.4, 22.6, 37.9, 13.8),
        1e-2: (15.3, 4.3, 22.7, 37.9, 13.8),
        1e-1: (15.4, 4.3, 22.8, 38.0, 13.8),
        5e-1: (15.4, 4.2, 23.0, 38.2, 13.9),
    },
}


def main() -> None:
    options = parsed(parser_of(__doc__))
    table = Table("Thresholds", LANGUAGES, options, notes=sizes(options))
    for when, model in before_and_after(options).items():
        rows: list[Scores] = []
        for threshold, paper in PAPER[when].items():
            rows.append(model.row(TESTS, method="softmax", threshold=threshold))
            table.add(Row(f"{when}: {threshold:.0e}", paper, rows[-1]))
        papers = PAPER[when].values()
        spread = {language: _spread([row[language].rates.aer for row in rows]) for language in LANGUAGES}
        table.add(Row(f"{when}: largest change", [_spread(column) for column in zip(*papers, strict=True)], spread))


def _spread(values: list[float] | tuple[float, ...]) -> float:
    return round(max(values) - min(values), 2)


if __name__ == "__main__":
    main()
