"""What model and teacher make of a batch: each pass through an encoder is run when it is first asked for, and once."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from weft.training.batches import ALIGNED, AlignedRows, Batch, Part, PredictedRows
from weft.training.config import GuideConfig, TrainingConfig
from weft.training.losses import Directions, NullDirections, directions, null_directions
from weft.training.model import TrainableEncoder
from weft.training.through import THROUGH, replaced
from weft.training.unrelated import UNRELATED


class Passes:
    """The passes over one batch, for objectives to share.

    Rows have special tokens before and after their subwords, `special` says how many.

    Attributes:
        model: the encoder that is trained.
        batch: what it reads.
        config: the run.
        denoise: whether given links that are not gold are checked against the model by now.
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
    ) -> None:
        self.model, self.batch, self.config, self.denoise = model, batch, config, denoise
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
    def logs(self) -> NullDirections:
        """Log probabilities of the pairs as they are, with a null."""
        source, target = self.aligned.source_words >= 0, self.aligned.target_words >= 0
        return null_directions(*self.pair_states, source, target, null=self.config.null)

    @cached_property
    def unrelated(self) -> NullDirections:
        """The same of pairs that are no translations."""
        rows = self.batch.part(UNRELATED)
        source, target = rows.source_origin > -2, rows.target_origin > -2
        return null_directions(*self.unrelated_states, source, target, null=self.config.null)

    @cached_property
    def taught(self) -> NullDirections:
        """What the teacher says of the pairs as they are; of some by way of a third language."""
        source, target = self.aligned.source_words >= 0, self.aligned.target_words >= 0
        with torch.no_grad():
            direct = null_directions(*self.taught_states, source, target, null=self.config.null)
            return self._by_way_of_a_third(direct) if THROUGH.name in self.batch.parts else direct

    def _by_way_of_a_third(self, direct: NullDirections) -> NullDirections:
        rows = self.batch.part(THROUGH)
        if not len(rows.chosen):
            return direct
        assert self._teacher is not None, "whoever is taught has a teacher"
        source, target = rows.source >= 0, rows.target >= 0
        states = self._states(self._teacher, rows, source, target)
        halves = null_directions(*states, source, target, null=self.config.null)
        return replaced(direct, halves, rows.chosen)

    @cached_property
    def pair_states(self) -> tuple[Tensor, Tensor]:
        """The model's states of the pairs as they are, shapes (b, n, d) and (b, m, d)."""
        aligned = self.aligned
        return self._states(self.model, aligned, aligned.source_words, aligned.target_words)

    @cached_property
    def taught_states(self) -> tuple[Tensor, Tensor]:
        """The teacher's states of the same."""
        assert self._teacher is not None, "objectives that need a teacher say so"
        aligned = self.aligned
        with torch.no_grad():
            return self._states(self._teacher, aligned, aligned.source_words, aligned.target_words)

    @cached_property
    def unrelated_states(self) -> tuple[Tensor, Tensor]:
        """The model's states of pairs that are no translations."""
        rows = self.batch.part(UNRELATED)
        return self._states(self.model, rows, rows.source_origin, rows.target_origin)

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
    own = between_words(torch.minimum(probabilities.forward, probabilities.backward) > threshold, rows)
    given = rows.sure | rows.possible
    if denoise:
        given = denoised(given, probabilities, rows, guide)
    return torch.where(rows.given[:, None, None], given, own)


@torch.no_grad()
def denoised(given: Tensor, probabilities: Directions, rows: AlignedRows, guide: GuideConfig) -> Tensor:
    """Given links that one direction believes in, and those that both are sure of, shape (b, n, m)."""
    weakest = torch.minimum(probabilities.forward, probabilities.backward)
    strongest = torch.maximum(probabilities.forward, probabilities.backward)
    kept = given & between_words(strongest > guide.denoise_keep, rows)
    return kept | between_words(weakest > guide.denoise_add, rows)


def between_words(links: Tensor, rows: AlignedRows) -> Tensor:
    """Spread subword links over all subwords of the two words, shape (b, n, m) to (b, n, m)."""
    source, target = (_same_word(words) for words in (rows.source_words, rows.target_words))
    spread: Tensor = source @ links.to(source.dtype) @ target
    return spread > 0


def _same_word(words: Tensor) -> Tensor:
    """Which subwords of a sentence belong to the same word, shape (b, n) to (b, n, n); padding to none."""
    return ((words[:, :, None] == words[:, None, :]) & (words[:, :, None] >= 0)).float()
