"""Table 6: gold links in the self-training objective. Unsupervised, supervised, and both together.

    python benchmarks/paper/supervised.py --encoder FOLDER

Supervised is SO on the gold links of the language's dev set alone (ja 637 sentences, zh 150; the paper has 653 and
40,000). Semi-supervised is all objectives on those and on unlabelled pairs of the language. The stars compare with the
column before.
"""

from __future__ import annotations

from common import Model, Row, Table, parsed, parser_of, test_set
from training import gold, sizes, text, trained

PAPER = {"zh": (18.1, 15.3, 12.5, None), "ja": (45.6, 38.4, 31.6, 30.0), "ro": (27.9, 23.0, None, None)}
COLUMNS = ("no training", "unsupervised", "supervised", "semi-supervised")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--languages", default="ja,zh,ro", help="languages with a dev set")
    parser.add_argument("--semi", default="ja,zh,ro", help="those of them that are trained semi-supervised too")
    options = parsed(parser)
    table = Table("Supervised", COLUMNS, options, notes=sizes(options))
    for language in options.languages.split(","):
        unlabelled = text(options, [language])
        folders = [
            trained(options, unlabelled),
            trained(options, [gold(language)], objectives=("so",), epochs=options.gold_epochs),
        ]
        if language in options.semi.split(","):
            folders.append(trained(options, [gold(language), *unlabelled]))
        test = test_set(language)
        scores = [Model(options.encoder, options.layer).score(test), *(Model(folder).score(test) for folder in folders)]
        baselines = dict(zip(COLUMNS[1:], scores, strict=False))
        table.add(Row(language, PAPER[language], dict(zip(COLUMNS, scores, strict=False)), baselines))


if __name__ == "__main__":
    main()
