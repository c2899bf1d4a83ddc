from __future__ import annotations

import numpy as np
import pytest
import torch

from weft.encoding.encoder import Encoded


def random_encoded(seed: int, sentences: int = 12, width: int = 16, longest: int = 14) -> Encoded:
    """Sentences with random states; about every third subword continues the word before it."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, longest + 1, size=sentences)
    words = [np.cumsum(np.concatenate([[0], generator.random(length - 1) > 0.3])) for length in lengths]
    states = generator.normal(size=(lengths.sum(), width)).astype(np.float32)
    return Encoded(states, np.concatenate(words).astype(np.int64), np.concatenate([[0], np.cumsum(lengths)]))


def on_torch(encoded: Encoded) -> Encoded:
    return Encoded(torch.from_numpy(encoded.states), encoded.words, encoded.starts)


@pytest.fixture(scope="session", params=["numpy", "torch"])
def library(request):
    """Both array libraries: a function that moves numpy arrays there."""
    return np.asarray if request.param == "numpy" else torch.as_tensor
