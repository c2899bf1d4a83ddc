"""What moves the weights: AdamW, and Muon for the matrices of the layers if a run asks for it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from weft.training.config import TrainingConfig, known

_MOMENTUM, _DECAY = 0.95, 0.01
_STEPS = 5


class Muon(torch.optim.Optimizer):
    """Momentum whose matrices are made orthogonal (Jordan et al. 2024), all of one shape at once."""

    def __init__(self, matrices: list[nn.Parameter], lr: float) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": _MOMENTUM, "decay": _DECAY})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Take a step; matrices without a gradient stay as they are."""
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[Tensor]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    shapes.setdefault(tuple(matrix.shape), []).append(matrix)
            for shape, matrices in shapes.items():
                gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
                buffers = [self._momentum_of(matrix) for matrix in matrices]
                torch._foreach_lerp_(buffers, gradients, 1 - group["momentum"])
                looking_ahead = torch._foreach_lerp(gradients, buffers, group["momentum"])
                updates = orthogonal(torch.stack(list(looking_ahead)))
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                torch._foreach_mul_(matrices, 1 - group["lr"] * group["decay"])
                torch._foreach_add_(matrices, list(updates.float().unbind()), alpha=-group["lr"] * scale)

    def _momentum_of(self, matrix: Tensor) -> Tensor:
        state = self.state[matrix]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(matrix)
        momentum: Tensor = state["momentum"]
        return momentum


def orthogonal(matrices: Tensor) -> Tensor:
    """The nearest orthogonal matrices, nearly: five Newton-Schulz steps; shape (k, rows, columns)."""
    x: Tensor = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        square = x @ x.transpose(1, 2)
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.transpose(1, 2) if tall else x


def optimizers_of(model: nn.Module, layers: list[nn.Module], config: TrainingConfig) -> list[torch.optim.Optimizer]:
    """AdamW for all parameters, or for all but the matrices of the layers, which Muon then moves.

    Args:
        model: everything that is trained.
        layers: the parts of it whose matrices Muon may have.
        config: the run.
    """
    chosen = layers if config.matrix_learning_rate else []
    inside = {id(value) for layer in chosen for value in layer.parameters() if value.ndim == 2}
    matrices = [value for value in model.parameters() if id(value) in inside]
    adam = torch.optim.AdamW(
        [value for value in model.parameters() if id(value) not in inside],
        lr=known(config.learning_rate),
        betas=(0.9, config.adam_beta),
        weight_decay=config.weight_decay,
        fused=torch.cuda.is_available(),
    )
    return [adam, Muon(matrices, config.matrix_learning_rate)] if matrices else [adam]
