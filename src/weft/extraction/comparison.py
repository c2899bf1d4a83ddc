"""Two batches of sentences side by side: every source subword compared with every target subword."""

from __future__ import annotations

from functools import cached_property

from array_api_compat import array_namespace

from weft.arrays import Cells, Marks, States
from weft.extraction.similarity import MASKED, cosines, dot_products


class Comparison:
    """The hidden states of source and target sentences, and their similarities once somebody asks.

    Attributes:
        source: states of shape (b, n, d).
        target: states of shape (b, m, d).
        valid: which cells are real and not padding, shape (b, n, m).
    """

    def __init__(self, source: States, target: States, valid: Marks) -> None:
        self.source = source
        self.target = target
        self.valid = valid

    @cached_property
    def products(self) -> Cells:
        """Dot products, very low at padding; shape (b, n, m)."""
        products = dot_products(self.source, self.target)
        xp = array_namespace(products)
        return xp.where(self.valid, products, xp.full_like(products, MASKED))

    @cached_property
    def closeness(self) -> Cells:
        """Cosines moved to the range from 0 to 1; shape (b, n, m)."""
        return (cosines(self.source, self.target) + 1) / 2
