from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from weft.encoding.batches import RowSpans, cell_batches, pad_rows, token_batches

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
    batch, stored_at = pad_rows(RowSpans(*np.array(drawn).transpose(2, 0, 1)), library(IDS), tokenizer)
    expected = [by_hand(row, tokenizer) for row in drawn]
    longest = max(map(len, expected))
    for number, row in enumerate(expected):
        padding = longest - len(row)
        assert batch.ids[number].tolist() == [token for token, _, _, _ in row] + [tokenizer.pad] * padding
        assert batch.mask[number].tolist() == [1] * len(row) + [0] * padding
        assert batch.types[number].tolist() == [side for _, side, _, _ in row] + [0] * padding
        assert batch.positions[number].tolist() == [place for _, _, place, _ in row] + [0] * padding
        kept = [N_SUBWORDS if subword is None else subword for _, _, _, subword in row]
        assert stored_at[number].tolist() == kept + [N_SUBWORDS] * padding


sizes = st.integers(1, 60)


@given(st.lists(st.tuples(sizes, sizes)), st.integers(1, 5000))
def test_every_matrix_is_in_one_batch_and_batches_keep_to_the_budget(shapes, budget):
    batches = cell_batches(np.array(shapes, dtype=np.int64).reshape(-1, 2), budget)
    assert sorted(number for batch in batches for number in batch) == list(range(len(shapes)))
    for batch in batches:
        padded = len(batch) * max(shapes[n][0] for n in batch) * max(shapes[n][1] for n in batch)
        assert padded <= budget or len(batch) == 1


@given(st.lists(st.integers(1, 200), min_size=1), st.integers(1, 2000))
def test_token_batches_group_like_with_like(lengths, budget):
    batches = token_batches(lengths, budget)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[number] for number in batch)
        assert len(batch) * longest <= budget or len(batch) == 1
    # Like with like: no row is shorter than one of a later batch.
    shortest = [min(lengths[number] for number in batch) for batch in batches]
    assert all(shortest[k] >= max(lengths[number] for number in batches[k + 1]) for k in range(len(batches) - 1))


def test_little_is_padding():
    lengths = [(7 * number) % 64 + 1 for number in range(2000)]
    padded = sum(len(batch) * max(lengths[n] for n in batch) for batch in token_batches(lengths, 1024))
    assert padded < 1.1 * sum(lengths)
