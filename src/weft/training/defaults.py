"""What a run does if nobody says otherwise: chosen by the kind of base model, and said in words."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from weft.errors import SettingError, install_command
from weft.models.resolve import resolve_model
from weft.models.settings import ModelSettings
from weft.training.config import (
    PAPER_OBJECTIVES,
    STATISTICAL,
    STATISTICAL_LIBRARY,
    CorpusConfig,
    GuideConfig,
    TrainingConfig,
)

# weft-mini's words that belong together have dot products around 30, others lie around 0.
USUAL_NULL = 15.0
_WITH_NULL = {"teacher", "unrelated", "gold"}
_FLAT = {*_WITH_NULL, "masked"}
_GOLD_REPEATS = 8.0
# What the statistical aligner, which keeps all text in memory, reads in minutes: some 300,000 pairs.
_MOST_BYTES = 1 << 26

_PLAIN_GUIDE = GuideConfig(denoise_after=1.0, denoise_keep=0.05, denoise_add=0.5, share=1.0)


@dataclass(frozen=True, slots=True)
class Defaults:
    """Settings that belong together, and why they were chosen."""

    objectives: tuple[str, ...]
    learning_rate: float
    batch_size: int
    held_out: float
    reason: str
    dropout: float | None = None
    warmup: float = 0.0
    epochs: float | None = 1.0
    guide: GuideConfig = _PLAIN_GUIDE
    silver_stray: float = 0.0
    start_share: float = 0.0


_PAPER = Defaults(
    PAPER_OBJECTIVES, 2e-5, 8, 0.0, "the base reads sentences apart, and these are the paper's settings for that"
)
_JOINT = Defaults(
    ("teacher", "unrelated"),
    3e-5,  # with 1e-4, other languages drift twice as far
    64,
    0.02,
    "the base reads both sentences together and is good already, so it learns from a frozen copy of itself "
    "and from pairs that are not translations",
    dropout=0.0,  # a copy of the teacher that drops activations begins by unlearning
    warmup=0.1,
)
# Links that another kind of aligner finds are news to the base, as its own are not (docs/training.md has the figures).
# The other half of the text holds what it knows.
_JOINT_GUIDED = replace(
    _JOINT,
    objectives=("gold", "teacher", "unrelated"),
    guide=GuideConfig(denoise_after=0.0, denoise_keep=0.1, denoise_add=0.3, share=0.5),
    silver_stray=0.5,
    start_share=1 / 3,
    reason="the base reads both sentences together and is good already. In half of the text, it learns links that a "
    "statistical aligner finds and that it does not rule out itself; in the other half, it learns from a frozen copy "
    "of itself. Pairs that are not translations are added. The run keeps a mean of two thirds trained and one third "
    "starting weights",
)
_JOINT_WITH_GOLD = replace(
    _JOINT,
    objectives=("gold", "teacher", "unrelated"),
    learning_rate=2e-4,
    batch_size=16,  # a hundred sentences are few: with 64 at once, nothing is learned from them
    dropout=0.1,
    reason="there are links to learn from; a frozen copy of the base keeps what it knows",
)


_NEW_LANGUAGE = Defaults(
    ("gold",),
    3e-4,
    32,
    0.02,
    "the language is new to the base, so it learns links that a statistical aligner finds in the text",
    dropout=0.1,
    warmup=0.1,
    epochs=None,  # see `epochs_by_size`
    guide=replace(_PLAIN_GUIDE, denoise_after=0.5),
    silver_stray=2.0,
)
# Rounds through the text of a new language: as many as show it so many pairs, which two cores do in about an hour.
_PAIRS_SEEN = 20_000
_FEWEST_ROUNDS, _MOST_ROUNDS = 2.0, 8.0


def settled(config: TrainingConfig) -> tuple[TrainingConfig, str]:
    """A configuration in which nothing is left open, and a sentence on what was chosen and why.

    Args:
        config: what the user gave.

    Returns:
        The configuration, and the sentence; it is empty if objectives were given.
    """
    stored = ModelSettings() if config.architecture else resolve_model(config.model).settings
    config = config.with_extraction_of(stored.extraction)
    chosen = _chosen(config, joint=stored.joint)
    said = "" if config.objectives else f"objectives {', '.join(chosen.objectives)}: {chosen.reason}."
    corpora = config.corpora
    if chosen is _JOINT and _could_be_guided(config):
        said += f" With a statistical aligner it would learn more from this text: {install_command('guide')}."
    if chosen is _JOINT_GUIDED:
        corpora = tuple(replace(corpus, links=STATISTICAL, silver=True) for corpus in corpora)
    objectives = config.objectives or chosen.objectives
    with_null = bool(_WITH_NULL & set(objectives))
    if config.step_tokens is not None and not _FLAT & set(objectives):
        raise SettingError(f"`step_tokens` needs one of the objectives {', '.join(sorted(_FLAT))}.")
    return replace(
        config,
        objectives=objectives,
        learning_rate=config.learning_rate or chosen.learning_rate,
        batch_size=config.batch_size or chosen.batch_size,
        dropout=chosen.dropout if config.dropout is None else config.dropout,
        warmup=_first(config.warmup, chosen.warmup),
        held_out=_held_out(config, chosen),
        start_share=_first(config.start_share, chosen.start_share),
        null=_null(config, stored, with_null=with_null),
        epochs=chosen.epochs if _has_no_end(config) else config.epochs,
        guide=_filled(config.guide, chosen.guide),
        gold=replace(config.gold, silver_stray=_silver_stray(config, chosen)),
        dev=tuple(chain.from_iterable(map(prefixes, config.dev))),
        exclude=tuple(chain.from_iterable(map(prefixes, config.exclude))),
        corpora=tuple(_repeated(corpus, objectives) for each in corpora for corpus in expanded(each)),
    ), said


def _has_no_end(config: TrainingConfig) -> bool:
    return config.epochs is None and config.minutes is None and config.step_tokens is None


def epochs_by_size(config: TrainingConfig, pairs: int) -> TrainingConfig:
    """The run with as many epochs as its text is worth, if nobody has said: small ones are seen more often."""
    if config.epochs is not None or config.minutes is not None or config.max_steps is not None:
        return config
    rounds = _PAIRS_SEEN / max(1, pairs)
    return replace(config, epochs=float(round(min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, rounds)))))


def prefixes(pattern: str) -> list[str]:
    """The prefixes of the sets that a pattern stands for: PREFIX.src and the rest."""
    if "*" not in pattern:
        return [pattern]
    found = [path.removesuffix(".src") for path in sorted(glob.glob(f"{pattern}.src"))]
    if not found:
        raise SettingError(f"no file is called {pattern}.src.")
    return found


def expanded(corpus: CorpusConfig) -> list[CorpusConfig]:
    """A corpus whose path is a pattern as one corpus a file or folder, which have their share together.

    A `*` in its other paths stands for what the one in `path` stands for.
    """
    if "*" not in corpus.path or Path(corpus.path).exists():
        return [corpus]
    before, after = corpus.path.split("*", 1)
    found = sorted(glob.glob(corpus.path))
    if not found:
        raise SettingError(f"no file is called {corpus.path}.")
    group = corpus.group or corpus.path + (" others" if corpus.others else "")
    names = [path[len(before) : len(path) - len(after.split("*")[-1])] for path in found]

    def filled(pattern: str | None, name: str) -> str | None:
        return pattern if pattern is None else pattern.replace("*", name)

    return [
        replace(
            corpus,
            path=path,
            group=group,
            target=filled(corpus.target, name),
            links=filled(corpus.links, name),
            through=filled(corpus.through, name),
        )
        for path, name in zip(found, names, strict=True)
    ]


def _null(config: TrainingConfig, stored: ModelSettings, *, with_null: bool) -> float | None:
    """The null given, or the base's own, or the usual one for objectives that need one."""
    if config.null is not None or stored.extraction.null is not None:
        return stored.extraction.null if config.null is None else config.null
    return USUAL_NULL if with_null else None


def _first(given: float | None, chosen: float) -> float:
    return chosen if given is None else given


def _chosen(config: TrainingConfig, *, joint: bool) -> Defaults:
    if config.extend_vocabulary and joint:
        several = len(config.corpora) > 1
        return replace(_NEW_LANGUAGE, objectives=("gold", "teacher")) if several else _NEW_LANGUAGE
    if not joint:
        return _PAPER
    if not any(corpus.links for corpus in config.corpora):
        return _JOINT_GUIDED if _can_be_guided(config) else _JOINT
    if all(corpus.links for corpus in config.corpora):
        return replace(_JOINT_WITH_GOLD, objectives=("gold", "unrelated"), reason="there are links to learn from")
    return _JOINT_WITH_GOLD


def _can_be_guided(config: TrainingConfig) -> bool:
    """Whether the statistical aligner is here and the text is of its size; a teacher that was named teaches alone."""
    return _could_be_guided(config) and find_spec(STATISTICAL_LIBRARY) is not None


def _could_be_guided(config: TrainingConfig) -> bool:
    plain = not any(corpus.hub or corpus.through for corpus in config.corpora)
    chosen_freely = config.objectives is None and config.teacher is None and config.step_tokens is None
    return plain and chosen_freely and _can_be_read_twice(config)


def _can_be_read_twice(config: TrainingConfig) -> bool:
    """Whether the statistical aligner can read the text before the run does: no pipes, and not too much of it.

    Files that are not there count as empty; they are named later.
    """
    texts = (text for each in config.corpora for corpus in expanded(each) for text in (corpus.path, corpus.target))
    paths = [path for path in texts if path and os.path.exists(path)]
    return all(map(os.path.isfile, paths)) and sum(map(os.path.getsize, paths)) <= _MOST_BYTES


def _silver_stray(config: TrainingConfig, chosen: Defaults) -> float:
    """As given; by default, links that are missing say nothing where others than the statistical aligner made them."""
    others = any(corpus.silver and corpus.links not in (None, STATISTICAL) for corpus in config.corpora)
    return _first(config.gold.silver_stray, 0.0 if others else chosen.silver_stray)


def _filled(given: GuideConfig, chosen: GuideConfig) -> GuideConfig:
    """What was given, and for what was not, what was chosen."""
    missing = {item.name: getattr(chosen, item.name) for item in fields(given) if getattr(given, item.name) is None}
    return replace(given, **missing)


def _held_out(config: TrainingConfig, chosen: Defaults) -> float:
    if config.dev:
        return 0.0
    return chosen.held_out if config.held_out is None else config.held_out


def _repeated(corpus: CorpusConfig, objectives: tuple[str, ...]) -> CorpusConfig:
    if corpus.repeat is not None:
        return corpus
    gold = "gold" in objectives and corpus.links not in (None, STATISTICAL) and not corpus.silver
    return replace(corpus, repeat=_GOLD_REPEATS if gold else 1.0)
