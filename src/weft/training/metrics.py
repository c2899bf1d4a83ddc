"""What is told of a run while it goes: a file of records, TensorBoard, and whoever listens."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from weft.errors import WeftError

Report = Callable[[dict[str, float]], None]
METRICS_FILE = "metrics.jsonl"


@dataclass(slots=True)
class Totals:
    """Sums of losses and tokens since the last report, kept on the device until then."""

    losses: dict[str, Tensor] = field(default_factory=dict)
    tokens: int = 0
    steps: int = 0

    def add(self, losses: dict[str, Tensor], tokens: int) -> None:
        """Add one step."""
        for name, loss in losses.items():
            self.losses[name] = self.losses.get(name, torch.zeros_like(loss)) + loss
        self.tokens += tokens
        self.steps += 1

    def check(self, step: int) -> None:
        """Stop a run whose weights are no numbers any more, before they are saved."""
        broken = [name for name, loss in self.losses.items() if not math.isfinite(float(loss))]
        if broken:
            raise WeftError(
                f"the loss of {' and '.join(broken)} is not a number at step {step:,}: lower learning_rate, or "
                "set precision to no or bf16. Earlier checkpoints are intact."
            )


class Metrics:
    """Writes records and hands them on; in all processes but one it does nothing."""

    def __init__(self, output: Path, report: Report, *, speaks: bool, tensorboard: bool) -> None:
        self._path, self._report, self._speaks = output / METRICS_FILE, report, speaks
        self._board = _board(output) if tensorboard and speaks else None

    def forget_after(self, step: int) -> None:
        """Drop records of steps that are about to be done again."""
        if self._speaks:
            lines = self._path.read_text().splitlines(keepends=True) if self._path.exists() and step else []
            self._path.write_text("".join(line for line in lines if json.loads(line)["step"] <= step))

    def write(self, record: dict[str, float]) -> None:
        """Put down one record."""
        if not self._speaks:
            return
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        if self._board is not None:
            for name, value in record.items():
                self._board.add_scalar(name, value, int(record["step"]))
        self._report(record)


def _board(output: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise WeftError("metrics for TensorBoard need its package: pip install tensorboard.") from error
    make: Any = SummaryWriter
    return make(str(output / "tensorboard"))
