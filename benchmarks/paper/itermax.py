"""Appendix, "Comparisons with IterMax": precision and recall of IterMax and softmax, before and after training.

    python benchmarks/paper/itermax.py --encoder FOLDER [--untrained]

The paper shows an example and says that IterMax gives up precision for a little recall; it has no table of this.
An encoder with a method of its own, such as weft-mini, is compared with that instead of softmax.
"""

from __future__ import annotations

from common import LANGUAGES, TESTS, Row, Table, parsed, parser_of
from training import before_and_after, sizes


def main() -> None:
    options = parsed(parser_of(__doc__))
    table = Table("IterMax", LANGUAGES, options, rates=("precision", "recall", "aer"), notes=sizes(options))
    for when, model in before_and_after(options).items():
        softmax = model.row(TESTS)
        table.add(Row(f"{when}: own method", (), softmax))
        table.add(Row(f"{when}: itermax", (), model.row(TESTS, method="itermax"), softmax))


if __name__ == "__main__":
    main()
