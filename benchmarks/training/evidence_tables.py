"""Tables of what `evidence.py` measured, as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import Any

from evidence_data import GOLD_SIZES, NEW_LANGUAGES
from evidence_runs import TESTS

Result = dict[str, Any]
Results = dict[str, Result]

GROUPS: dict[str, Callable[[str], bool]] = {
    "PUD, with English": lambda name: name.startswith("pud/") and name.endswith("-en"),
    "PUD, without": lambda name: name.startswith("pud/") and not name.endswith("-en"),
    "verses, with English": lambda name: name.startswith("verses/") and name.endswith("-en"),
    "verses, without": lambda name: name.startswith("verses/") and not name.endswith("-en"),
}


def print_tables(results: Results) -> None:
    """All tables for which there is something."""
    for part, table in (("text", _text), ("language", _language), ("gold", _gold), ("speed", _speed)):
        found = {name: result for name, result in results.items() if name.startswith(f"{part}/")}
        if found:
            print(f"\n## {part}\n")
            table({name: result for name, result in found.items() if "scores" in result})
            for name, result in found.items():
                if "error" in result:
                    print(f"\n{name}: {result['error']}")


def _row(cells: list[object]) -> None:
    print("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |", flush=True)


def _title(cells: list[str]) -> None:
    _row(list(cells))
    print("|" + "---|" * len(cells))


def _aer(results: Results, name: str, gold_set: str) -> float | None:
    scores = results.get(name, {}).get("scores", {})
    return scores[gold_set]["aer"] if gold_set in scores else None


def _shown(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _groups(result: Result) -> list[object]:
    """Mean AER over groups of dev sets, and each test set."""
    scores = result["scores"]
    means = [
        _shown(mean(values)) if (values := [score["aer"] for name, score in scores.items() if belongs(name)]) else None
        for belongs in GROUPS.values()
    ]
    return [*means, *(_shown(scores[name]["aer"]) if name in scores else None for name in TESTS)]


def _seconds(result: Result) -> str:
    return ", ".join(f"{stage['seconds']:.0f}" for stage in result["stages"])


def _kept(result: Result) -> str:
    """What a run said of its outcome."""
    said = [line for stage in result["stages"] for _, line in stage["said"]]
    return next((line.removeprefix("weft: ")[:90] for line in reversed(said) if "before" in line), "")


def _text(results: Results) -> None:
    tests = [name.removeprefix("test/") for name in TESTS]
    _title(["run", "own PUD", "own verses", *GROUPS, *tests, "largest rise, tests", "seconds", "outcome"])
    before = results.get("text/all/before")
    for name, result in results.items():
        _, language, what = name.split("/")
        own = [_shown(_aer(results, name, f"{kind}/{language}-en")) for kind in ("pud", "verses")]
        if language in ("all", "together"):
            own = [
                " ".join(f"{code} {_aer(results, name, f'{kind}/{code}-en') or 0:.2f}" for code in codes)
                for kind, codes in (("pud", ("ar", "ko")), ("verses", ("ar",)))
            ]
        rises = [
            result["scores"][test]["aer"] - before["scores"][test]["aer"]
            for test in TESTS
            if before and test in result["scores"]
        ]
        outcome = [_shown(max(rises, default=None)), _seconds(result), _kept(result)]
        _row([f"{language} {what}", *own, *_groups(result), *outcome])


def _language(results: Results) -> None:
    ways = [
        "fourth",
        "eflomal",
        "default",
        "lenient",
        "gold",
        "gold, last",
        "gold, dev",
        "anchor",
        "last",
        "twice",
        "weft-mini",
    ]
    _title(["language", *ways, "seconds, default", "seconds, with gold"])
    for language in NEW_LANGUAGES:
        row: list[object] = [language]
        for way in ways:
            name = f"language/{'all' if way in ('fourth', 'weft-mini') else language}/{way}"
            row.append(_shown(_aer(results, name, f"verses/{language}-en")))
        for way in ("default", "gold"):
            result = results.get(f"language/{language}/{way}")
            row.append(_seconds(result) if result else None)
        _row(row)
    print("\nTest sets after such runs:\n")
    _title(["run", *(name.removeprefix("test/") for name in TESTS)])
    for name, result in results.items():
        if any(test in result["scores"] for test in TESTS):
            _row([name.removeprefix("language/"), *_groups(result)[len(GROUPS) :]])


def _gold(results: Results) -> None:
    for language, base in (("fi", "fourth"), ("ar", "fourth"), ("ja", "weft-mini")):
        names = [f"gold/all/{base}", *(f"gold/{language}/{size}" for size in GOLD_SIZES)]
        print(f"\n{language}, on top of {base}:\n")
        _title(["gold sentences", "0", *map(str, GOLD_SIZES)])
        for gold_set in (f"verses/{language}-en", f"pud/{language}-en", f"test/{language}-en"):
            values = [_shown(_aer(results, name, gold_set)) for name in names]
            if any(values):
                _row([gold_set, *values])
        means = [_groups(results[name]) if name in results else [None] * 9 for name in names]
        for number, title in enumerate([*GROUPS, *TESTS]):
            _row([title, *(values[number] for values in means)])
        _row(["seconds", *(_seconds(results[name]) if name in results else None for name in names)])


def _speed(results: Results) -> None:
    _title(["run", "seconds", "first word after", "first step after", "steps", "tokens/s", "AER"])
    for name, result in results.items():
        for stage in result["stages"]:
            steps = [when for when, line in stage["said"] if "step" in line and "left" in line]
            first = [when for when, line in stage["said"] if line.strip()]
            aers = " ".join(f"{score['aer']:.2f}" for score in result["scores"].values())
            rate = f"{stage['tokens/s'] or 0:,.0f}"
            _row([
                name.removeprefix("speed/"), stage["seconds"], min(first, default=None), min(steps, default=None),
                stage["steps"], rate, aers,
            ])  # fmt: skip
