"""What is written beside a trained model: the settings weft aligns with, the configuration, and a card for people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.encoding.torch import library_silence
from weft.errors import number_of
from weft.models.files import set_usual_permissions
from weft.models.resolve import resolve_model
from weft.models.settings import ModelSettings
from weft.text.files import files_moved_in, writes_explained
from weft.text.languages import listed_code
from weft.training.checkpoints import Progress
from weft.training.config import TrainingConfig, known
from weft.training.corpus import in_words
from weft.training.model import TrainableEncoder
from weft.version import __version__

CONFIG_FILE = "training.json"


def trained_settings(config: TrainingConfig, layer: int, *, joint: bool) -> ModelSettings:
    """What is known of a trained model: all that was known of its base, but for what the run has changed.

    Args:
        config: the run, settled.
        layer: the layer that is aligned with.
        joint: whether both sentences of a pair are read together.
    """
    base = ModelSettings() if config.architecture else resolve_model(config.model).settings
    way = base.extraction if layer == base.layer else base.extraction.at_another_layer()
    given = {"method": config.method, "threshold": config.guide.threshold, "alpha": config.alpha, "null": config.null}
    codes = {code for corpus in config.corpora for code in (corpus.source_language, corpus.target_language)}
    new = set(filter(None, map(listed_code, codes)))
    # A base that does not say what it can read is not made to say that it reads this text alone.
    languages = tuple(sorted({*base.languages, *new})) if base.languages else ()
    return replace(base, layer=layer, joint=joint, languages=languages, export=None, extraction=way.updated(**given))


def step_size(config: TrainingConfig) -> str:
    """How much a step learns from, for people."""
    if config.step_tokens is not None:
        return f"{config.step_tokens:,} subwords"
    return number_of(known(config.batch_size), "pair")


def run_summary(config: TrainingConfig, counts: dict[str, int], held_out: int, steps: int | None) -> str:
    """How much text a run has and how long it is, for people.

    Args:
        config: the run, settled.
        counts: pairs, and those that were left out, by reason.
        held_out: pairs that are kept back.
        steps: how many steps there are, unless the clock says when it ends.
    """
    left_out = in_words({name: count for name, count in counts.items() if name not in ("pairs", "with links")})
    kept_back = f", {held_out:,} of them held out" if held_out else ""
    batch = step_size(config)
    length = f"{number_of(steps, 'step')} of {batch}" if steps else f"{config.minutes:g} minutes, {batch} a step"
    said = f" (left out: {', '.join(left_out)})" if left_out else ""
    return f"{number_of(counts['pairs'], 'pair')}{kept_back}{said}; {length}."


def save_trained(
    folder: Path,
    model: TrainableEncoder,
    tokenizer: Any,
    config: TrainingConfig,
    settings: ModelSettings,
    progress: Progress,
    counts: dict[str, int],
) -> None:
    """Write a folder that `Aligner.from_pretrained` and plain `AutoModel.from_pretrained` both load.

    Everything is written elsewhere first and then moved, so that a kill does not leave half a model.
    """
    with writes_explained(folder), files_moved_in(folder) as partial:
        library: Any = model.library
        with library_silence():
            library.save_pretrained(partial)
        model.save_heads(partial)
        tokenizer.save_pretrained(partial)
        config.save(partial / CONFIG_FILE)
        settings.write(partial)
        (partial / "README.md").write_text(model_card(config, model.layer, progress, counts), encoding="utf-8")
        set_usual_permissions(partial)


def model_card(config: TrainingConfig, layer: int, progress: Progress, counts: dict[str, int]) -> str:
    """A model card: data, settings and dev scores."""
    base = config.model if config.architecture is None else f"trained from scratch ({config.architecture})"
    lines = [
        "---",
        "library_name: weft",
        "tags: [word-alignment]",
        "---",
        "",
        f"# {Path(config.output).name}",
        "",
        f"A word aligner trained with weft {__version__}. Use it with `weft align --model FOLDER`. With its torch "
        "weights, as trained, its encoder also loads with `AutoModel.from_pretrained`.",
        "",
        f"- base: {base}",
        f"- objectives: {', '.join(config.chosen_objectives)}",
        f"- alignment layer: {layer}",
        f"- steps: {progress.step:,} of {step_size(config)}, learning rate {config.learning_rate:g}",
        f"- data: {', '.join(in_words(counts))}",
        *(f"  - {corpus.path}{' with links' if corpus.links else ''}" for corpus in config.corpora),
    ]
    if config.exclude:
        lines.append(f"- no sentence of these test sets was trained on: {', '.join(config.exclude)}")
    if progress.best is not None and progress.before is not None:
        sets = ", ".join(Path(prefix).name for prefix in config.dev)
        score = f"mean dev AER ({sets})" if sets else "loss on held-out pairs"
        lines.append(f"- {score}: {progress.best:.2f} at step {progress.best_step:,}, {progress.before:.2f} before")
    lines += ["", f"All settings are in `{CONFIG_FILE}`.", ""]
    return "\n".join(lines)
