"""Tables 5 and 12: what each objective is worth. All, all but one, and all with CO (table 2).

    python benchmarks/paper/objectives.py --encoder FOLDER [--pairs 200000] [--bilingual de,ja] [--method entmax]

Multilingual by default; `--bilingual` trains a model of its own for each language that is named.
"""

from __future__ import annotations

import argparse

from common import LANGUAGES, TESTS, Model, Row, Scores, Table, columns, parsed, parser_of, test_set
from training import ALL, multilingual, sizes, text, trained

PAPER = {
    ("multilingual", "softmax"): {
        "all": (15.3, 4.4, 22.6, 37.9, 13.6),
        "mlm": (15.3, 4.4, 22.8, 38.6, 13.7),
        "tlm": (15.5, 4.7, 22.9, 39.7, 14.0),
        "so": (16.9, 4.8, 23.0, 39.1, 15.4),
        "psi": (15.4, 4.4, 22.7, 37.9, 13.8),
        "co": (15.1, 4.5, 20.7, 38.4, 14.5),
    },
    ("multilingual", "entmax"): {
        "all": (15.4, 4.1, 22.9, 37.4, 13.9),
        "mlm": (15.1, 4.2, 22.8, 37.8, 13.7),
        "tlm": (16.4, 4.4, 23.3, 39.7, 14.4),
        "so": (17.5, 4.6, 23.6, 40.0, 15.6),
        "psi": (15.5, 3.9, 23.0, 38.2, 14.1),
        "co": (15.0, 4.5, 20.8, 38.7, 14.5),
    },
    ("bilingual", "softmax"): {
        "all": (15.6, 4.4, 23.0, 38.4, 15.3),
        "mlm": (15.5, 4.2, 23.2, 38.9, 14.9),
        "tlm": (15.9, 4.5, 23.7, 40.1, 15.1),
        "so": (17.4, 4.7, 23.2, 38.6, 16.3),
        "psi": (15.6, 4.3, 23.1, 38.8, 15.4),
    },
    ("bilingual", "entmax"): {
        "all": (16.1, 4.1, 23.4, 38.6, 15.4),
        "mlm": (15.6, 4.2, 23.3, 38.8, 15.1),
        "tlm": (16.4, 4.3, 23.7, 40.1, 15.3),
        "so": (17.8, 4.7, 23.9, 39.4, 16.3),
        "psi": (16.5, 4.2, 23.1, 38.5, 15.4),
    },
}
WITHOUT_TRAINING = {"softmax": (17.4, 5.6, 27.9, 45.6, 18.1), "entmax": (18.1, 5.6, 29.0, 46.3, 18.4)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--method", default="softmax", choices=["softmax", "entmax"])
    parser.add_argument("--bilingual", help="languages that get a model of their own, as de,ja")
    parser.add_argument("--no-co", action="store_true", help="leave out the run with CO")
    options = parsed(parser)
    way = "bilingual" if options.bilingual else "multilingual"
    languages = options.bilingual.split(",") if options.bilingual else LANGUAGES
    table = Table(f"Objectives {way} {options.method}", languages, options, notes=sizes(options))
    paper = PAPER[way, options.method]
    tests = {language: TESTS[language] for language in languages}
    before = Model(options.encoder, options.layer).row(tests, method=options.method)
    table.add(Row("no training", columns(WITHOUT_TRAINING[options.method], languages), before))
    everything = _scores(options, languages, ALL)
    table.add(Row("all", columns(paper["all"], languages), everything, before))
    for objective in ("so", "tlm", "psi", "mlm"):
        rest = tuple(name for name in ALL if name != objective)
        scores = _scores(options, languages, rest)
        table.add(Row(f"all w/o {objective.upper()}", columns(paper[objective], languages), scores, everything))
    if way == "multilingual" and not options.no_co:
        scores = _scores(options, languages, (*ALL, "co"))
        table.add(Row("all + CO (β = 1)", columns(paper["co"], languages), scores, everything))


def _scores(options: argparse.Namespace, languages: list[str] | tuple[str, ...], objectives: tuple[str, ...]) -> Scores:
    """Train with some objectives and score; bilingual models one by one."""
    changes = {"objectives": objectives, "method": options.method}
    if not options.bilingual:
        return Model(multilingual(options, **changes)).row(TESTS, method=options.method)
    models = {language: trained(options, text(options, [language]), **changes) for language in languages}
    return {
        language: Model(folder).score(test_set(language), method=options.method) for language, folder in models.items()
    }


if __name__ == "__main__":
    main()
