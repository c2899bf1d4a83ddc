"""The parts of a run's settings: corpora, the guide, gold, changed rows, masks; and how numbers are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite

from weft.errors import SettingError
from weft.text.fields import PairFields
from weft.text.languages import checked_code
from weft.text.pair_formats import PairFormat

Range = tuple[Callable[[float], bool], str]
POSITIVE: Range = (lambda value: value > 0, "above 0")
NOT_NEGATIVE: Range = (lambda value: value >= 0, "at least 0")
ONE_OR_MORE: Range = (lambda value: value >= 1, "at least 1")
UNDER_ONE: Range = (lambda value: 0 <= value < 1, "at least 0 and under 1")
SHARE: Range = (lambda value: 0 <= value <= 1, "between 0 and 1")


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """One source of sentence pairs."""

    path: str
    """Pairs in any format, or the source side if `target` is given."""
    target: str | None = None
    """The target side of two parallel files."""
    links: str | None = None
    """Gold or silver links, line by line. An empty line means that no links are given for that pair. `eflomal` means
    that a statistical aligner finds the links."""
    through: str | None = None
    """The same sentences in a third language, line by line, which the teacher aligns with both sides. A blank line
    means that there is no such sentence."""
    silver: bool = False
    """Whether an aligner made the links. `gold` then learns nothing from missing links."""
    weight: float = 1.0
    """How much a pair of this corpus counts in everything that is learned from links or probabilities."""
    limit: int | None = None
    """The maximum number of pairs, drawn at random."""
    repeat: float | None = None
    """How often each pair is seen in an epoch; 8 times for gold links that the objective `gold` learns from."""
    raw: bool = False
    """Whether the text is not split into words yet."""
    source_language: str | None = None
    """Language code of the source side, such as de or ja. It decides how raw text is split into words, and is added to
    the languages that the trained model knows."""
    target_language: str | None = None
    through_language: str | None = None
    input_format: str = "auto"
    """Format of the input: `auto`, `bars`, `tsv`, `csv` or `jsonl`."""
    source_field: str | None = None
    """For JSONL: the field that contains the source sentence."""
    target_field: str | None = None
    columns: str | None = None
    """For TSV: the names of the columns, such as id,source,target."""
    unlinked: bool = True
    """For gold links: whether words without a link are known to have no counterpart."""
    hub: str | None = None
    """For multi-parallel text (a folder with LANG.txt for each language, where the same line is the same sentence): the
    language that all others are paired with, such as en."""
    others: bool = False
    """Take pairs of two other languages from such text instead. The teacher aligns both with the hub's language."""
    languages: tuple[str, ...] = ()
    """Take only these languages from such text, in addition to the hub."""
    share: float | None = None
    """Share of a run with `step_tokens` that comes from this corpus; its languages or files divide it by
    size^(1/temperature)."""
    group: str | None = None
    """Corpora in the same group have one share together."""

    def __post_init__(self) -> None:
        ranges = {"weight": NOT_NEGATIVE, "limit": ONE_OR_MORE, "repeat": POSITIVE, "share": POSITIVE}
        check_ranges(self, ranges)
        check(self.hub is not None or not self.others, "others", "needs a `hub`")
        check(self.hub is not None or not self.languages, "languages", "needs a `hub`")
        given = self.target or self.links or self.through
        check(self.hub is None or not given, "hub", "is for a folder alone, without `target`, `links` and `through`")
        check_choice(self, "input_format", tuple(PairFormat))
        # Names that make no sense are known at once.
        PairFields.of(self.source_field, self.target_field, self.columns)
        for language in (self.source_language, self.target_language, self.through_language):
            checked_code(language)


@dataclass(frozen=True, slots=True)
class GuideConfig:
    """Where the links of SO come from if none are given, and how far given links are trusted."""

    threshold: float | None = None
    """The model links words to which both directions give more than this; by default, the base model's own, or the
    method's."""
    strict: float = 0.0
    """A stricter threshold for self-training: links below it are not learned from. The paper has none, which is 0."""
    denoise_after: float | None = None
    """From this share of the run on, given links that are not gold are checked against the model; by default 1, which
    means never, 0.5 for a new language, or 0 for text that the base can read."""
    denoise_keep: float | None = None
    """A given link stays only if one direction gives it more than this; by default 0.05, or 0.1 for text that the base
    can read."""
    denoise_add: float | None = None
    """A link is added to the given ones if both directions give it more than this; by default 0.5, or 0.3 for text that
    the base can read."""
    share: float | None = None
    """The share of a text that gets links of the statistical aligner. On the rest, the model learns from a teacher. By
    default 1, or 0.5 for text that the base can read."""

    def __post_init__(self) -> None:
        check_ranges(self, {item.name: SHARE for item in fields(self)})


@dataclass(frozen=True, slots=True)
class GoldConfig:
    """What the objective `gold` weighs beside giving linked words all the probability."""

    cross: float = 0.5
    """The cross entropy with each link, and with the null for words without links."""
    stray: float = 2.0
    """Pairs of subwords that are not linked and find each other."""
    silver_stray: float | None = None
    """The same for silver links, where a missing link may be the aligner's mistake: 0, or more for those of the
    statistical aligner, which come with possible ones."""

    def __post_init__(self) -> None:
        check_ranges(self, {item.name: NOT_NEGATIVE for item in fields(self)})


@dataclass(frozen=True, slots=True)
class ChangesConfig:
    """What rows are made of pairs besides the pairs themselves. The first three are kinds of `changed` rows."""

    unrelated: float = 0.5
    """Share of the changed rows in which one side is another pair's."""
    added: float = 0.25
    """Share of those in which one side has another pair's sentence added."""
    cut: float = 0.25
    """Share of those in which one side lacks a part."""
    double: float = 0.0
    """Share of the pairs that stand in one row with another."""
    near: float = 0.0
    """Share of the other pairs that stand near by in the text, as is good where that is documents."""

    def __post_init__(self) -> None:
        check_ranges(self, {item.name: SHARE for item in fields(self)})
        check(self.unrelated + self.added + self.cut > 0, "unrelated", "and `added` and `cut` must not all be 0")


@dataclass(frozen=True, slots=True)
class MaskingConfig:
    """What the objective `masked` hides in the rows that alignments are learned from."""

    share: float = 0.1
    """Share of the subwords that are predicted."""
    hidden: float = 0.0
    """Share of the subwords that are masked and not predicted."""
    halved_after: float = 1.0
    """From this share of the run on, half as many are replaced by the mask, and the loss counts half."""
    until: float = 1.0
    """Share of the run after which nothing is predicted."""

    def __post_init__(self) -> None:
        check_ranges(self, {item.name: SHARE for item in fields(self)})

    def strength(self, share: float) -> float:
        """How strongly words are masked after a share of the run; 0 for not at all."""
        return 0.0 if share >= self.until and self.until < 1 else 0.5 if share >= self.halved_after < 1 else 1.0


@dataclass(frozen=True, slots=True)
class ThroughConfig:
    """How a teacher's probabilities by way of a third language are evened: each step makes them more peaked, and gives
    more to the null.
    """  # noqa: D205

    power: float = 1.0
    """They are taken to this power; under 1 they become more even."""
    odds: float = 1.0
    """By this the odds against the null are multiplied."""

    def __post_init__(self) -> None:
        check_ranges(self, {item.name: POSITIVE for item in fields(self)})


def check(right: bool, name: str, message: str) -> None:
    """A setting that is not as it should be is an error."""
    if not right:
        raise SettingError(f"`{name}` {message}.")


def check_choice(settings: object, name: str, choices: tuple[str | None, ...]) -> None:
    """A setting must have one of some values."""
    value = getattr(settings, name)
    *some, last = (str(choice) for choice in choices if choice is not None)
    check(value in choices, name, f"must be {', '.join(some)} or {last}, got {value!r}")


def check_ranges(settings: object, ranges: dict[str, Range]) -> None:
    """Numbers that are not given are right, and those that are no numbers are not."""
    for name, (allowed, words) in ranges.items():
        value = getattr(settings, name)
        check(value is None or (isfinite(value) and allowed(value)), name, f"must be {words}, got {value}")
