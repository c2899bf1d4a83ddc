"""What a run's files allow, checked before anything is loaded: torch alone takes seconds."""

from __future__ import annotations

from pathlib import Path

from weft.errors import SettingError
from weft.text.lines import check_readable
from weft.training.config import STATISTICAL, TrainingConfig
from weft.tuning import DevSet


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
        WeftError: a dev set cannot be read; an OSError says that a corpus cannot be opened.
    """
    output = Path(config.output)
    taken = (output / "config.json").exists() or any((output / "checkpoints").glob("step-*"))
    if taken and not resume and not overwrite:
        raise SettingError(f"{output} already contains a model. Use `resume` to continue or `overwrite` to replace it.")
    for corpus in config.corpora:
        for path in (corpus.path, corpus.target, corpus.links, corpus.through):
            if path is not None and path != STATISTICAL:
                check_readable(path)
    return [DevSet.read(prefix) for prefix in config.dev]
