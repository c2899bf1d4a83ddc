from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from weft.encoding.layout import Rows, laid_out

TOKENIZERS = [
    SimpleNamespace(prefix=(101,), suffix=(102,), pad=0),
    SimpleNamespace(prefix=(), suffix=(2, 3), pad=1),
]
N_SUBWORDS = 30
IDS = np.arange(1000, 1000 + N_SUBWORDS)


@st.composite
def stretches(draw):
    """Where a side starts and ends, and the part of it whose states are kept."""
    start, end = sorted(draw(st.lists(st.integers(0, N_SUBWORDS), min_size=2, max_size=2, unique=True)))
    keep_start, keep_end = sorted((draw(st.integers(start, end)), draw(st.integers(start, end))))
    return start, end, keep_start, keep_end


def by_hand(sides, tokenizer):
    """One row without padding: id, type, position, and the subword whose state is kept or None."""
    row = []
    for number, (start, end, keep_start, keep_end) in enumerate(sides):
        tokens = [(token, None) for token in tokenizer.prefix]
        tokens += [(IDS[k], k if keep_start <= k < keep_end else None) for k in range(start, end)]
        tokens += [(token, None) for token in tokenizer.suffix]
        row += [(token, number, place, kept) for place, (token, kept) in enumerate(tokens)]
    return row


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
@given(data=st.data(), sides=st.integers(1, 2), count=st.integers(1, 4))
def test_rows_are_padded_and_every_kept_subword_has_its_place(tokenizer, library, data, sides, count):
    drawn = data.draw(st.lists(st.lists(stretches(), min_size=sides, max_size=sides), min_size=count, max_size=count))
    batch, gives = laid_out(Rows(*np.array(drawn).transpose(2, 0, 1)), library(IDS), tokenizer)
    expected = [by_hand(row, tokenizer) for row in drawn]
    longest = max(map(len, expected))
    for number, row in enumerate(expected):
        padding = longest - len(row)
        assert batch.ids[number].tolist() == [token for token, _, _, _ in row] + [tokenizer.pad] * padding
        assert batch.mask[number].tolist() == [1] * len(row) + [0] * padding
        assert batch.types[number].tolist() == [side for _, side, _, _ in row] + [0] * padding
        assert batch.positions[number].tolist() == [place for _, _, place, _ in row] + [0] * padding
        kept = [N_SUBWORDS if subword is None else subword for _, _, _, subword in row]
        assert gives[number].tolist() == kept + [N_SUBWORDS] * padding
