"""What model and teacher make of a batch: each pass through an encoder is run when it is first asked for, and once."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from weft.training.batches import ALIGNED, AlignedRows, Batch, Part, PredictedRows
from weft.training.config import GuideConfig, TrainingConfig, known
from weft.training.flat_batches import FLAT
from weft.training.grids import FlatPasses
from weft.training.losses import Directions, directions
from weft.training.model import TrainableEncoder


class Passes:
    """The passes over one batch, for objectives to share.

    Rows have special tokens before and after their subwords, `special` says how many.

    Attributes:
        model: the encoder that is trained.
        batch: what it reads.
        config: the run.
        denoise: whether given links that are not gold are checked against the model by now.
        masking: how strongly words are masked where alignments are learned, 0 if they are not.
    """

    def __init__(
        self,
        model: TrainableEncoder,
        batch: Batch,
        config: TrainingConfig,
        *,
        teacher: TrainableEncoder | None,
        special: tuple[int, int],
        denoise: bool,
        masking: float,
    ) -> None:
        self.model, self.batch, self.config, self.denoise, self.masking = model, batch, config, denoise, masking
        self._teacher, self._special = teacher, special

    @property
    def aligned(self) -> AlignedRows:
        """The pairs as they are."""
        return self.batch.part(ALIGNED)

    @cached_property
    def probabilities(self) -> Directions:
        """Both directions of the pairs as they are, by the run's method."""
        source, target = self.aligned.source_words >= 0, self.aligned.target_words >= 0
        return directions(*self.pair_states, source, target, alpha=self.config.extraction.exponent)

    @cached_property
    def flat(self) -> FlatPasses:
        """The passes over rows that are laid flat."""
        config = self.config
        return FlatPasses(
            self.model,
            self._teacher,
            self.batch.part(FLAT),
            null=config.null,
            through=config.through,
            masking=self.masking if "masked" in config.chosen_objectives else 0.0,
        )

    @cached_property
    def pair_states(self) -> tuple[Tensor, Tensor]:
        """The model's states of the pairs as they are, shapes (b, n, d) and (b, m, d)."""
        aligned = self.aligned
        return self._states(self.model, aligned, aligned.source_words, aligned.target_words)

    def _states(self, model: TrainableEncoder, rows: Part, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        # Special tokens stand before and after the subwords, in a row that may be as long as all of it.
        before, after = self._special
        n, m = source.shape[1], target.shape[1]
        states = model.pair_states(rows.ids, rows.attention, (before + n + after, before + m + after))
        return states[0][:, before : before + n], states[1][:, before : before + m]

    def predictions(self, rows: PredictedRows) -> Tensor:
        """Logits over the vocabulary at the masked places, shape (tokens, v)."""
        states = self.model.top_states(rows.ids, rows.attention, rows.positions)
        # Only the masked tokens go through the head: its matrix is as large as the vocabulary.
        return self.model.predictions(states.reshape(-1, states.shape[-1])[rows.chosen])


@torch.no_grad()
def guide_links(
    probabilities: Directions, rows: AlignedRows, guide: GuideConfig, *, threshold: float, denoise: bool
) -> Tensor:
    """The links that SO learns from, shape (b, n, m): given ones where there are any, else the model's own.

    Both are whole words: words that are linked are linked with all their subwords.
    """
    words = rows.source_words, rows.target_words
    own = between_words(torch.minimum(probabilities.forward, probabilities.backward) > threshold, words)
    given = rows.sure | rows.possible
    if denoise:
        given = denoised(given, probabilities, words, guide)
    return torch.where(rows.given[:, None, None], given, own)


@torch.no_grad()
def denoised(given: Tensor, probabilities: Directions, words: tuple[Tensor, Tensor], guide: GuideConfig) -> Tensor:
    """Given links that one direction believes in, and those that both are sure of, shape (b, n, m)."""
    weakest = torch.minimum(probabilities.forward, probabilities.backward)
    strongest = torch.maximum(probabilities.forward, probabilities.backward)
    kept = given & between_words(strongest > known(guide.denoise_keep), words)
    return kept | between_words(weakest > known(guide.denoise_add), words)


def between_words(links: Tensor, words: tuple[Tensor, Tensor]) -> Tensor:
    """Spread subword links over all subwords of the two words, shape (b, n, m) to (b, n, m).

    Args:
        links: between subwords.
        words: the words of the subwords of both sides, (b, n) and (b, m), -1 for padding.
    """
    source, target = map(_same_word, words)
    spread: Tensor = source @ links.to(source.dtype) @ target
    return spread > 0


def _same_word(words: Tensor) -> Tensor:
    """Which subwords of a sentence belong to the same word, shape (b, n) to (b, n, n); padding to none."""
    return ((words[:, :, None] == words[:, None, :]) & (words[:, :, None] >= 0)).float()
