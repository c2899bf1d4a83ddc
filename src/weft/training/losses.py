"""A piece of a batch to the losses of all objectives asked for; the module that accelerate wraps and trains."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from weft.training.config import GuideConfig, TrainingConfig
from weft.training.model import TrainableEncoder
from weft.training.objectives import (
    Directions,
    consistency,
    directions,
    masked_language_model,
    parallel_identification,
    self_training,
)
from weft.training.steps import Piece


class Losses(nn.Module):
    """All objectives of a run, each summed over the piece."""

    def __init__(self, model: TrainableEncoder, config: TrainingConfig, *, prefix: int) -> None:
        super().__init__()
        self.model = model
        self.objectives = config.objectives
        self.guide = config.guide
        self.extraction = config.extraction
        self.prefix = prefix

    def forward(self, piece: Piece, *, denoise: bool = False) -> dict[str, Tensor]:
        """The summed losses of one piece by objective; `denoise` checks given links against the model."""
        losses: dict[str, Tensor] = {}
        if "so" in self.objectives or "co" in self.objectives:
            losses |= self._alignment(piece, denoise)
        for name in ("mlm", "tlm"):
            if name in self.objectives:
                losses[name] = self._language_model(piece, name)
        if "psi" in self.objectives:
            states = self.model.top_states(piece["psi_ids"], piece["psi_attention"], piece["psi_positions"])
            losses["psi"] = parallel_identification(self.model.parallel_scores(states), piece["psi_parallel"])
        return losses

    def _alignment(self, piece: Piece, denoise: bool) -> dict[str, Tensor]:
        source, target = piece["source_words"] >= 0, piece["target_words"] >= 0
        # Source rows come first, then target rows; special tokens stand before and after the subwords.
        states = self.model.pair_states(piece["ids"], piece["attention"])[:, self.prefix :]
        count = len(source)
        probabilities = directions(
            states[:count, : source.shape[1]],
            states[count:, : target.shape[1]],
            source,
            target,
            alpha=self.extraction.exponent,
        )
        losses = {}
        if "so" in self.objectives:
            threshold = max(self.extraction.effective_threshold, self.guide.strict)
            links = guide_links(probabilities, piece, self.guide, threshold=threshold, denoise=denoise)
            losses["so"] = self_training(probabilities, links, piece["weights"])
        if "co" in self.objectives:
            losses["co"] = consistency(probabilities, piece["weights"])
        return losses

    def _language_model(self, piece: Piece, name: str) -> Tensor:
        states = self.model.top_states(piece[f"{name}_ids"], piece[f"{name}_attention"], piece[f"{name}_positions"])
        # Only the masked tokens go through the head: its matrix is as large as the vocabulary.
        chosen = states.reshape(-1, states.shape[-1])[piece[f"{name}_chosen"]]
        return masked_language_model(self.model.predictions(chosen), piece[f"{name}_labels"])


@torch.no_grad()
def guide_links(
    probabilities: Directions, piece: Piece, guide: GuideConfig, *, threshold: float, denoise: bool
) -> Tensor:
    """The links that SO learns from, shape (b, n, m): given ones where there are any, else the model's own.

    Both are whole words: words that are linked are linked with all their subwords.
    """
    weakest = torch.minimum(probabilities.forward, probabilities.backward)
    own = between_words(weakest > threshold, piece)
    given = piece["links"]
    if denoise:
        strongest = torch.maximum(probabilities.forward, probabilities.backward)
        kept = given & between_words(strongest > guide.denoise_keep, piece)
        given = kept | between_words(weakest > guide.denoise_add, piece)
    return torch.where(piece["given"][:, None, None], given, own)


def between_words(links: Tensor, piece: Piece) -> Tensor:
    """Spread subword links over all subwords of the two words, shape (b, n, m) to (b, n, m)."""
    source, target = (_same_word(piece[name]) for name in ("source_words", "target_words"))
    spread: Tensor = source @ links.to(source.dtype) @ target
    return spread > 0


def _same_word(words: Tensor) -> Tensor:
    """Which subwords of a sentence belong to the same word, shape (b, n) to (b, n, n); padding to none."""
    return ((words[:, :, None] == words[:, None, :]) & (words[:, :, None] >= 0)).float()
