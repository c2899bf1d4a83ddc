"""Table 10: two English sentences. The encoder as it is, trained on all languages, and trained on English gold links.

    python benchmarks/paper/monolingual.py --encoder FOLDER [--untrained]

The set is MultiMWA's MTRef (800 test and 200 dev sentences), not the one of the paper, so only differences between rows
can be compared. Supervised is SO on the links of the dev set, after training on all languages.
"""

from __future__ import annotations

import argparse

from common import Model, Row, Table, parsed, parser_of
from training import gold, multilingual, sizes, trained

PAPER = {"no training": (87.0, 89.0, 88.0), "multilingual": (87.0, 89.3, 88.1), "supervised": (87.2, 89.8, 88.5)}
TEST = "en-en/test"


def main() -> None:
    options = parsed(parser_of(__doc__))
    table = Table("Monolingual", ("en-en",), options, rates=("precision", "recall", "f1"), notes=sizes(options))
    before = Model(options.encoder, options.layer).score(TEST)
    table.add(Row("no training", PAPER["no training"], {"en-en": before}))
    if not options.untrained:
        folder = multilingual(options)
        table.add(Row("multilingual", PAPER["multilingual"], {"en-en": Model(folder).score(TEST)}, {"en-en": before}))
        after = argparse.Namespace(**{**vars(options), "encoder": str(folder)})
        taught = trained(after, [gold("en")], objectives=("so",), epochs=options.gold_epochs)
        table.add(Row("supervised", PAPER["supervised"], {"en-en": Model(taught).score(TEST)}, {"en-en": before}))


if __name__ == "__main__":
    main()
