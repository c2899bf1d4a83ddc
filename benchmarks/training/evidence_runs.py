"""The runs of `evidence.py`: what each of them trains, on what, and which gold sets it is scored on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from evidence_data import GOLD_SIZES, NEW_LANGUAGES, TEXT_LANGUAGES

Settings = dict[str, Any]

MINI, FOURTH = "weft-mini", "fourth"
TESTS = ("test/de-en", "test/fr-en", "test/ro-en", "test/ja-en", "test/zh-en")
EVERYTHING = ("pud/*", "verses/*", *TESTS)
_WITHOUT_LINKS = ["teacher", "unrelated"]
# Gold verses to learn from where the others of 500 choose the weights.
_LEARNED = 450


@dataclass(frozen=True, slots=True)
class Run:
    """One model to score, after one or more trainings of which each goes on from the one before.

    Attributes:
        name: PART/LANGUAGE/WHAT.
        stages: what each `weft train` is given, beside model and output: the content of a settings file.
        base: the model that the first one starts from; the model itself is scored if there are no stages.
        sets: patterns of the gold sets to score.
        alone: whether nothing else may run beside it, because its time is taken.
        statistical: text that the statistical aligner aligns together with the gold sets; then no model is scored.
    """

    name: str
    stages: tuple[Settings, ...] = ()
    base: str = MINI
    sets: tuple[str, ...] = EVERYTHING
    alone: bool = False
    statistical: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the unpacked files are, and how much of them is used."""

    folder: Path
    lines: int | None = None
    extra: Settings = field(default_factory=dict)

    def corpus(self, name: str, *, lines: int | None = None, **settings: Any) -> Settings:
        """A corpus of the first lines of a file."""
        most = min((count for count in (lines, self.lines) if count is not None), default=None)
        found: Settings = {"path": str(self._cut(name, most)), **settings}
        if "links" in settings and settings["links"] != "eflomal":
            found["links"] = str(self._cut(settings["links"], most))
        return found

    def _cut(self, name: str, most: int | None) -> Path:
        path = self.folder / name
        if most is None:
            return path
        cut = self.folder / "cut" / f"{name}.{most}"
        cut.parent.mkdir(exist_ok=True)
        if not cut.exists():
            lines = path.read_text(encoding="utf-8").split("\n")[:-1]
            cut.write_text("".join(f"{line}\n" for line in lines[:most]), encoding="utf-8")
        return cut

    def dev(self, name: str, first: int) -> str:
        """Gold from a line on as a dev set."""
        pairs, links = (
            (self.folder / file).read_text(encoding="utf-8").split("\n")[first:-1] for file in (name, f"{name}.links")
        )
        sides = zip(*(line.split(" ||| ") for line in pairs), strict=True)
        prefix = self.folder / "cut" / f"{name}.dev"
        prefix.parent.mkdir(exist_ok=True)
        for ending, lines in zip(("src", "tgt", "talp"), (*sides, links), strict=True):
            Path(f"{prefix}.{ending}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(prefix)

    def settings(self, *corpora: Settings, **settings: Any) -> Settings:
        """The content of a settings file."""
        return {**self.extra, **settings, "corpora": list(corpora)}


def runs(part: str, place: Place) -> list[Run]:
    """All runs of a part, the most telling first."""
    return list(PARTS[part](place))


def _text(place: Place) -> Iterator[Run]:
    yield Run("text/all/before")
    for language in TEXT_LANGUAGES:
        yield Run(f"text/{language}/default", (_default(place, language),))
        alone = {**_default(place, language), "objectives": _WITHOUT_LINKS}
        yield Run(f"text/{language}/alone", (alone,))  # as without the statistical aligner
    # Other settings where dev sets can tell which are better; without a share held out, the last weights are kept.
    for what, variant in _VARIANTS.items():
        for language in ("ar", "ko"):
            yield Run(f"text/{language}/{what}", (variant(place, language),))
    together = [place.corpus(f"text.{language}") for language in TEXT_LANGUAGES]
    yield Run("text/together/default", (place.settings(*together),))


def _default(place: Place, language: str) -> Settings:
    return place.settings(place.corpus(f"text.{language}"))


def _noisy(place: Place, language: str, **settings: Any) -> Settings:
    """Only the student drops activations; lines of 130 languages beside the text."""
    corpora = place.corpus(f"text.{language}"), place.corpus("anchor.all")
    return place.settings(*corpora, objectives=_WITHOUT_LINKS, dropout=0.1, held_out=0.0, **settings)


def _silver(place: Place, language: str, **settings: Any) -> Settings:
    """What the statistical aligner finds in the text and the model does not rule out, and what the model is sure of."""
    return place.settings(
        place.corpus(f"text.{language}", links="eflomal", silver=True),
        place.corpus("anchor.all"),
        objectives=["gold", "teacher", "unrelated"],
        **{"learning_rate": 5e-5, "dropout": 0.0, "batch_size": 64, "held_out": 0.0, **settings},
        guide={"denoise_after": 0.0, "denoise_keep": 0.1, "denoise_add": 0.3},
    )


_VARIANTS: dict[str, Callable[[Place, str], Settings]] = {
    "noisy": _noisy,
    "noisy, slow": partial(_noisy, learning_rate=3e-5),
    "silver": _silver,
    "silver, slow": partial(_silver, learning_rate=1.5e-5),
    "last": lambda place, language: {**_default(place, language), "held_out": 0.0},
    "last, all changed": lambda place, language: {**_default(place, language), "changed": 1.0, "held_out": 0.0},
}


def _language(place: Place) -> Iterator[Run]:
    sets = {name: (f"verses/{name}-en", *TESTS) for name in NEW_LANGUAGES}
    verses = tuple(f"verses/{name}-en" for name in NEW_LANGUAGES)
    yield Run("language/all/fourth", base=FOURTH, sets=(*verses, *TESTS))
    yield Run("language/all/weft-mini", sets=(*verses, *TESTS))
    for name in NEW_LANGUAGES:
        yield Run(f"language/{name}/eflomal", statistical=f"verses.{name}", sets=sets[name][:1])
    for name in NEW_LANGUAGES:
        yield Run(f"language/{name}/default", (_new(place, name),), base=FOURTH, sets=sets[name])
    for name in NEW_LANGUAGES:
        yield Run(f"language/{name}/gold", (_new(place, name, gold=True),), base=FOURTH, sets=sets[name])
    for name in NEW_LANGUAGES:
        lenient = {**_new(place, name), "gold": {"silver_stray": 0.0}}
        yield Run(f"language/{name}/lenient", (lenient,), base=FOURTH, sets=sets[name])
    # Is the loss on held-out pairs a good judge? Beside it, weights with the best AER on gold, and the last ones.
    for name in NEW_LANGUAGES:
        judged = {**_new(place, name, gold=True, lines=_LEARNED), "dev": [place.dev(f"gold.{name}", _LEARNED)]}
        yield Run(f"language/{name}/gold, dev", (judged,), base=FOURTH, sets=sets[name])
    for name in NEW_LANGUAGES[:3]:
        kept = {**_new(place, name, gold=True), "held_out": 0.0}
        yield Run(f"language/{name}/gold, last", (kept,), base=FOURTH, sets=sets[name])
        beside = _new(place, name)
        beside["corpora"].append(place.corpus("anchor.old"))
        yield Run(f"language/{name}/anchor", (beside,), base=FOURTH, sets=sets[name])
        last = {**_new(place, name), "held_out": 0.0}
        yield Run(f"language/{name}/last", (last,), base=FOURTH, sets=sets[name])
        then_text = (_new(place, name), _taught(place, name))
        yield Run(f"language/{name}/twice", then_text, base=FOURTH, sets=sets[name])


def _new(place: Place, language: str, *, gold: bool = False, lines: int | None = None) -> Settings:
    corpora = [place.corpus(f"verses.{language}")]
    if gold:
        corpora.insert(0, place.corpus(f"gold.{language}", lines=lines, links=f"gold.{language}.links"))
    return place.settings(*corpora, extend_vocabulary=3000)


def _taught(place: Place, language: str) -> Settings:
    """Afterwards, what is the default for text in a language that the model knows."""
    return place.settings(place.corpus(f"verses.{language}"))


def _gold(place: Place) -> Iterator[Run]:
    yield Run("gold/all/fourth", base=FOURTH)
    yield Run("gold/all/weft-mini")
    for language, base, anchor in (("fi", FOURTH, "old"), ("ar", FOURTH, "old"), ("ja", MINI, "all")):
        for size in GOLD_SIZES:
            gold = place.corpus(f"gold.{language}", lines=size, links=f"gold.{language}.links")
            stage = place.settings(gold, place.corpus(f"anchor.{anchor}", lines=4000))
            yield Run(f"gold/{language}/{size}", (stage,), base=base)


def _speed(place: Place) -> Iterator[Run]:
    yield Run("speed/hu/float32", (_default(place, "hu"),), sets=(), alone=True)
    yield Run("speed/hu/bf16", ({**_default(place, "hu"), "precision": "bf16"},), sets=(), alone=True)
    yield Run("speed/te/new", (_new(place, "te"),), base=FOURTH, sets=("verses/te-en",), alone=True)


PARTS = {"text": _text, "language": _language, "gold": _gold, "speed": _speed}
