"""Models trained through `weft.training` with one change at a time; what was trained once is kept and found again."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from common import DATA, LANGUAGES, Model
from corpora import sampled

from weft.models.files import folder_checksum
from weft.models.resolve import resolve_model
from weft.text.files import checksum
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.defaults import settled
from weft.training.loop import train

ALL = ("mlm", "tlm", "so", "psi")
_SIZES = ("pairs", "bilingual_pairs", "longest", "learning_rate", "batch_size", "epochs", "gold_epochs", "precision")


def sizes(options: argparse.Namespace) -> dict[str, Any]:
    """What the JSON file says of the training."""
    return {} if options.untrained else {"training": {name: getattr(options, name) for name in (*_SIZES, "seed")}}


def test_sets() -> tuple[str, ...]:
    """Prefixes of all sets whose sentences are never trained on."""
    links = [*DATA.glob("gold/*/test.talp"), *DATA.glob("gold/*/trial.talp")]
    return tuple(sorted(str(path.with_suffix("")) for path in links))


def text(options: argparse.Namespace, languages: Sequence[str]) -> list[CorpusConfig]:
    """Unlabelled pairs of some languages; one language alone gets more of them."""
    alone = len(languages) == 1
    pairs = (options.bilingual_pairs or 2 * options.pairs) if alone else options.pairs
    return [CorpusConfig(str(sampled(one, pairs, options.longest, options.cache))) for one in languages]


def gold(language: str) -> CorpusConfig:
    """The dev set of a language with its links."""
    prefix = DATA / "gold" / f"{language}-en" / "dev"
    return CorpusConfig(f"{prefix}.src", target=f"{prefix}.tgt", links=f"{prefix}.talp")


def trained(options: argparse.Namespace, corpora: Sequence[CorpusConfig], **changes: Any) -> Path:
    """The folder of a model trained on corpora; `changes` are settings of `TrainingConfig`."""
    given: dict[str, Any] = {
        "model": str(options.encoder),
        "layer": options.layer,
        "objectives": ALL,
        "epochs": options.epochs,
        "batch_size": options.batch_size,
        "learning_rate": options.learning_rate,
        "precision": options.precision,
        "seed": options.seed,
        "exclude": test_sets(),
        "overlap": "drop",
        **changes,
    }
    config, _ = settled(TrainingConfig(output="", corpora=tuple(corpora), **given))
    folder: Path = options.cache / "models" / _fingerprint(config)
    if not (folder / "weft.json").is_file():
        never = 10**9
        run = replace(config, output=str(folder), workers=options.workers, save_every=never)
        train(run, overwrite=True)
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    return folder


def before_and_after(options: argparse.Namespace) -> dict[str, Model]:
    """The encoder as it is and, unless only that is asked for, trained on all languages."""
    models = {"before": Model(options.encoder, options.layer)}
    if not options.untrained:
        models["after"] = Model(multilingual(options))
    return models


def multilingual(options: argparse.Namespace, *, without: str | None = None, **changes: Any) -> Path:
    """One model for all languages, or for all but one."""
    languages = [language for language in LANGUAGES if language != without]
    return trained(options, text(options, languages), **changes)


def _fingerprint(config: TrainingConfig) -> str:
    """The same for the same run from the same weights, whatever their folder is called."""
    record = asdict(config)
    record["model"] = folder_checksum(resolve_model(config.model).local_folder())
    return checksum(json.dumps(record, sort_keys=True).encode(), size=8).hexdigest()
