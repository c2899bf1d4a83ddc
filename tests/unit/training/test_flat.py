from __future__ import annotations

import pytest
import torch
import transformers

from weft.training.flat import can_be_flat, flat_states, padded_states, places_of

SIZES = {"vocab_size": 40, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 32,
         "max_position_embeddings": 12}  # fmt: skip


@pytest.fixture
def bert():
    torch.manual_seed(1)
    return transformers.BertModel(transformers.BertConfig(**SIZES, num_hidden_layers=3)).eval()


@pytest.fixture
def rows():
    """Three rows of 9, 4 and 1 tokens."""
    attention = (torch.arange(9) < torch.tensor([[9], [4], [1]])).long()
    return {"input_ids": torch.randint(40, (3, 9)) * attention, "attention_mask": attention}


@pytest.mark.parametrize("joint", [False, True])
def test_states_and_gradients_are_those_of_the_library(bert, rows, joint):
    if joint:
        rows["position_ids"] = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]] * 3)
        rows["token_type_ids"] = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1, 1]] * 3)
    real = rows["attention_mask"].bool()
    found = []
    for states in (
        bert(**rows, output_hidden_states=True).hidden_states[2],
        padded_states(bert, 2, **rows),
    ):
        bert.zero_grad()
        states[real].square().sum().backward()
        gradients = torch.cat([p.grad.flatten() for p in bert.parameters() if p.grad is not None])
        found.append((states[real].detach(), gradients))
    torch.testing.assert_close(found[1][0], found[0][0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1][1], found[0][1], atol=1e-4, rtol=1e-4)


def test_padding_is_zero_and_dropout_drops_in_training_alone(bert, rows):
    real = rows["attention_mask"].bool()
    with torch.no_grad():
        assert not padded_states(bert, 3, **rows)[~real].any()
        assert torch.equal(padded_states(bert, 3, **rows), padded_states(bert, 3, **rows))
        bert.train()
        assert not torch.equal(padded_states(bert, 3, **rows), padded_states(bert, 3, **rows))


@pytest.mark.parametrize("kind", ["bert", "electra"])
def test_flat_rows_have_the_states_of_padded_ones(rows, kind):
    """Two layers of three, and the last; rows that are none change nothing."""
    torch.manual_seed(1)
    options = {**SIZES, "num_hidden_layers": 3}
    encoder = transformers.BertModel(transformers.BertConfig(**options))
    if kind == "electra":
        encoder = transformers.ElectraModel(transformers.ElectraConfig(**options, embedding_size=8))
    encoder = encoder.eval()
    ends = torch.tensor([0, 9, 13, 14, 14, 14], dtype=torch.int32)
    real, places = places_of(ends)
    assert torch.equal(real, rows["attention_mask"].bool())
    ids, positions = rows["input_ids"][places], places[1]
    with torch.no_grad():
        found = flat_states(encoder, (2, 3), ids, positions, torch.zeros_like(ids), ends)
        expected = encoder(**rows, output_hidden_states=True).hidden_states
    for states, layer in zip(found, (2, 3), strict=True):
        torch.testing.assert_close(states, expected[layer][places], atol=1e-5, rtol=1e-5)


def test_other_encoders_are_left_to_the_library(bert):
    assert can_be_flat(bert)
    assert not can_be_flat(transformers.XLMRobertaModel(transformers.XLMRobertaConfig(**SIZES, num_hidden_layers=1)))
