"""Table 2: no training, bilingual, multilingual (β = 0 and 1) and zero-shot (all languages but that one).

    python benchmarks/paper/main_results.py --encoder FOLDER [--methods softmax,entmax]
        [--settings multilingual,zero-shot] [--pairs 200000 --learning-rate 2e-5 --longest 100]

The stars compare with the row "no training".
"""

from __future__ import annotations

import argparse

from common import LANGUAGES, TESTS, Model, Row, Scores, Table, columns, parsed, parser_of
from training import ALL, multilingual, sizes, text, trained

PAPER = {
    "softmax": {
        "no training": (17.4, 5.6, 27.9, 45.6, 18.1),
        "bilingual": (15.6, 4.4, 23.0, 38.4, 15.3),
        "multilingual": (15.3, 4.4, 22.6, 37.9, 13.6),
        "multilingual, β = 1": (15.1, 4.5, 20.7, 38.4, 14.5),
        "zero-shot": (15.7, 4.6, 27.2, 43.7, 14.0),
    },
    "entmax": {
        "no training": (18.1, 5.6, 29.0, 46.3, 18.4),
        "bilingual": (16.1, 4.1, 23.4, 38.6, 15.4),
        "multilingual": (15.4, 4.1, 22.9, 37.4, 13.9),
        "multilingual, β = 1": (15.0, 4.5, 20.8, 38.7, 14.5),
        "zero-shot": (16.0, 4.3, 28.4, 44.0, 13.9),
    },
}
SETTINGS = ("no training", "bilingual", "multilingual", "multilingual, β = 1", "zero-shot")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--methods", default="softmax", help="softmax, entmax or both with a comma")
    parser.add_argument("--settings", default="all", help="some of bilingual,multilingual,consistent,zero-shot")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="languages that are tested")
    options = parsed(parser)
    languages = options.languages.split(",")
    tests = {language: TESTS[language] for language in languages}
    names = {"bilingual": SETTINGS[1], "multilingual": SETTINGS[2], "consistent": SETTINGS[3], "zero-shot": SETTINGS[4]}
    wanted = SETTINGS[1:] if options.settings == "all" else [names[name] for name in options.settings.split(",")]
    for method in options.methods.split(","):
        table = Table(f"Main results {method}", languages, options, notes=sizes(options))
        before = Model(options.encoder, options.layer).row(tests, method=method)
        table.add(Row("no training", columns(PAPER[method]["no training"], languages), before))
        for setting in wanted:
            ours = _scores(options, setting, method, tests)
            table.add(Row(setting, columns(PAPER[method][setting], languages), ours, before))


def _scores(options: argparse.Namespace, setting: str, method: str, tests: dict[str, str]) -> Scores:
    """Train what a setting needs for the languages that are tested, and score it."""
    if setting == "bilingual":
        models = {one: trained(options, text(options, [one]), method=method) for one in tests}
    elif setting == "zero-shot":
        models = {one: multilingual(options, without=one, method=method) for one in tests}
    else:
        objectives = (*ALL, "co") if setting.endswith("1") else ALL
        return Model(multilingual(options, objectives=objectives, method=method)).row(tests, method=method)
    return {one: Model(folder).score(tests[one], method=method) for one, folder in models.items()}


if __name__ == "__main__":
    main()
