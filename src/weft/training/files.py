"""What a run's files allow, checked before anything is loaded: torch alone takes seconds."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain, islice
from pathlib import Path

from weft.errors import FormatError, SettingError, number_of
from weft.text.lines import check_readable
from weft.training.config import STATISTICAL, CorpusConfig, TrainingConfig
from weft.training.corpus import corpus_lines, corpus_pairs, language_files, language_lines, letters_of
from weft.training.defaults import expanded, prefixes
from weft.tuning import DevSet
from weft.types import Words

_FEW_GOLD = 20
_LOOKED_AT = 100  # pairs that show whether text is split into words
_ONE_BY_ONE = (
    " If the corpora need different names, use a settings file, in which each [[corpus]] has a source_field and "
    "target_field of its own (docs/training.md)."
)


def check_files(config: TrainingConfig, *, resume: bool, overwrite: bool) -> list[DevSet]:
    """Make sure that there is something to read, and a place to write to.

    Args:
        config: the run.
        resume: whether it goes on from a checkpoint.
        overwrite: whether it replaces a model that is there already.

    Returns:
        The dev sets.

    Raises:
        SettingError: the output folder contains a model.
        WeftError: a dev set cannot be read, or a corpus contains no pair.
        OSError: a corpus cannot be opened.
    """
    output = Path(config.output)
    taken = (output / "config.json").exists() or any((output / "checkpoints").glob("step-*"))
    if taken and not resume and not overwrite:
        raise SettingError(f"{output} already contains a model. Use `resume` to continue or `overwrite` to replace it.")
    for corpus in (each for given in config.corpora for each in expanded(given)):
        if corpus.hub is not None:
            if not Path(corpus.path).is_dir():
                raise SettingError(f"{corpus.path} is no folder; `hub` is for folders with a text in each language.")
            continue
        for path in (corpus.path, corpus.target, corpus.links, corpus.through):
            if path is not None and path != STATISTICAL:
                check_readable(path)
        _check_pairs(corpus, config.corpora)
    return [DevSet.read(prefix) for pattern in config.dev for prefix in prefixes(pattern)]


def _check_pairs(corpus: CorpusConfig, corpora: Sequence[CorpusConfig]) -> None:
    """A file without a single pair is of another format than it seems, or one side of a text."""
    if not _are_files(corpus.path, corpus.target):
        return
    try:
        # Gold and other links count the words as they are.
        pairs = corpus_pairs(corpus, watch=corpus.links in (None, STATISTICAL))
        if any(pair.source and pair.target for pair in pairs):
            deque(islice(pairs, _LOOKED_AT), maxlen=0)
            return
    except SettingError as error:
        raise SettingError(f"{corpus.path}: {error}{_ONE_BY_ONE if len(corpora) > 1 else ''}") from error
    paths = [each.path for each in corpora]
    sides = len(paths) == 2 and all(each.target is None for each in corpora)
    advice = (
        f" If {paths[0]} and {paths[1]} are the two sides of one text, join them first: "
        f"paste {shlex.join(paths)} > pairs.tsv"
        if sides
        else ""
    )
    raise FormatError(corpus.path, None, f"expected sentence pairs in a format that weft reads, found none.{advice}")


def _are_files(*paths: str | None) -> bool:
    """Whether paths are files, as far as there are any: a pipe can be read only once."""
    return all(path is None or Path(path).is_file() for path in paths)


def few_gold_remark(config: TrainingConfig) -> str:
    """What to say of gold that is hardly any; nothing if there is enough, or none at all."""
    given = [each for corpus in config.corpora for each in expanded(corpus)]
    gold = [each for each in given if each.links not in (None, STATISTICAL) and not each.silver]
    if not gold or not all(_are_files(each.path, each.target, each.links, each.through) for each in gold):
        return ""
    lines = chain.from_iterable(corpus_lines(each, config.use_possible) for each in gold)
    pairs = sum(1 for _ in islice((line for line in lines if line.links), _FEW_GOLD))
    if pairs >= _FEW_GOLD:
        return ""
    only = "only 1 pair has" if pairs == 1 else f"only {pairs} pairs have"
    return f"{only} gold links. That is too few to learn from: a gain takes a hundred or more."


def known_dev_remark(config: TrainingConfig, dev_sets: Sequence[DevSet]) -> str:
    """What to say of dev pairs with a sentence that is trained on; nothing if there are none.

    Dev sets that no corpus may hold, because they are excluded, are not looked for.
    """
    excluded = [prefix for pattern in config.exclude for prefix in prefixes(pattern)]
    pairs = [pair for dev in dev_sets if dev.name not in excluded for pair in dev.pairs]
    sides = [{letters_of(side) for side in pair} - {""} for pair in pairs]
    wanted = set().union(*sides)
    found: set[str] = set()
    corpora = [each for corpus in config.corpora for each in expanded(corpus)]
    for words in chain.from_iterable(map(_sentences, corpora)):
        if len(found) == len(wanted):
            break
        if (letters := letters_of(words)) in wanted:
            found.add(letters)
    count = sum(1 for letters in sides if letters & found)
    if not count:
        return ""
    have = "has" if count == 1 else "have"
    return (
        f"{count:,} of {number_of(len(pairs), 'dev pair')} {have} a source or target sentence that is also in the text "
        "to train on, so dev AER is better than it will be on other text. To find these sentences, name the dev set "
        "with `exclude` too."
    )


def _sentences(corpus: CorpusConfig) -> Iterator[Words]:
    """All sentences of a corpus, not split into words, except of pipes."""
    whole = replace(corpus, raw=False)
    if corpus.hub is not None:
        for language, path in language_files(Path(corpus.path)).items():
            yield from language_lines(whole, language, path)
    elif _are_files(corpus.path, corpus.target):
        for pair in corpus_pairs(whole):
            yield from pair


def check_same(config: TrainingConfig, before: TrainingConfig, folder: Path) -> None:
    """A run goes on only as what it was; half of one run and half of another would be neither."""
    names = [item.name for item in fields(TrainingConfig) if getattr(before, item.name) != getattr(config, item.name)]
    if names:
        raise SettingError(
            f"the run in {folder} had other settings: {', '.join(names)}. Use the same ones, or `overwrite` it."
        )
