"""Checkpoints that are complete or not there: written under another name first, renamed when done.

They are as large as several models. When a run is complete, a small record of it takes their place.
"""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from accelerate import Accelerator

from weft.models.files import has_weights
from weft.text.files import WholeFolder, write_whole, writes_explained
from weft.text.json_objects import read_json_object
from weft.training.config import TrainingConfig
from weft.training.files import check_same

_STATE = "state.json"
_FINISHED = "finished.json"
# It remarks on tied weights at every checkpoint, and ties them again when it reads one.
logging.getLogger("accelerate.utils.other").setLevel(logging.ERROR)


@dataclass(slots=True)
class Progress:
    """Where a run stands: steps done, and scores, of which lower ones are better.

    Attributes:
        step: steps done.
        seconds: time spent on them.
        before: the score of the starting weights; a dev AER, or a loss on pairs that were kept back.
        best: the best score, and `best_step` when that was; 0 for the starting weights.
        last: the newest score.
        without_gain: scores since the best one.
    """

    step: int = 0
    seconds: float = 0.0
    before: float | None = None
    best: float | None = None
    best_step: int | None = None
    last: float | None = None
    without_gain: int = 0

    def scored(self, score: float) -> Progress:
        """The same after another score."""
        if self.best is not None and not score < self.best:
            return replace(self, last=score, without_gain=self.without_gain + 1)
        before = score if self.before is None else self.before
        return replace(self, before=before, best=score, best_step=self.step, last=score, without_gain=0)


def latest(folder: Path) -> Path | None:
    """The newest complete checkpoint in a run's folder."""
    found = sorted(path for path in folder.glob("step-*") if (path / _STATE).is_file())
    return found[-1] if found else None


def save(accelerator: Accelerator, folder: Path, progress: Progress, *, keep: int = 2) -> None:
    """Write model, optimizer and random states with the run's progress; older checkpoints are removed."""
    whole = WholeFolder(folder / f"step-{progress.step:09d}")
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        whole.begin()
    accelerator.wait_for_everyone()
    with writes_explained(whole.partial):
        accelerator.save_state(str(whole.partial))
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        (whole.partial / _STATE).write_text(json.dumps(asdict(progress)) + "\n", encoding="utf-8")
        whole.keep()
        for old in sorted(folder.glob("step-*"))[:-keep]:
            shutil.rmtree(old)
    accelerator.wait_for_everyone()


def load(accelerator: Accelerator, checkpoint: Path) -> Progress:
    """Put a checkpoint's states back and say where it stood."""
    accelerator.load_state(str(checkpoint))
    return Progress(**json.loads((checkpoint / _STATE).read_text(encoding="utf-8")))


def finish(accelerator: Accelerator, folder: Path, config: TrainingConfig, progress: Progress) -> None:
    """The model is in its place: put down what the run was and what came of it, and remove its checkpoints."""
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        folder.mkdir(exist_ok=True)
        record = {"settings": asdict(config), "progress": asdict(progress)}
        write_whole(folder / _FINISHED, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
        for old in folder.glob("step-*"):
            shutil.rmtree(old)
    accelerator.wait_for_everyone()


def finished(config: TrainingConfig) -> Progress | None:
    """What came of a run, if it is complete and its model is there.

    Raises:
        SettingError: the complete run is another one.
    """
    output = Path(config.output)
    path = output / "checkpoints" / _FINISHED
    if not path.is_file() or not has_weights(output):
        return None
    record = read_json_object(path)
    check_same(config, TrainingConfig.from_record(record["settings"]), output)
    return Progress(**record["progress"])
