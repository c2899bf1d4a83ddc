from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Aligner
from weft.models.export import export_model
from weft.models.known import built_in_models
from weft.models.load import load_encoder
from weft.models.rounding import rounded
from weft.models.unpack import unpack_model

LARGEST = 63
TEXT = """das Haus ist klein . ||| the house is small .
wir haben gestern lange über den neuen Plan gesprochen . ||| yesterday we talked about the new plan for a long time .
ieri am citit o carte foarte bună despre oraș . ||| yesterday I read a very good book about the city .
el museo es muy grande y está cerrado los lunes . ||| the museum is very big and is closed on Mondays .
la commission a adopté le rapport à une large majorité . ||| the committee adopted the report by a large majority .
il governo non ha ancora deciso se aumentare le tasse . ||| the government has not yet decided whether to raise taxes .
dzieci bawiły się w ogrodzie , dopóki nie zaczął padać deszcz . ||| the children played until it began to rain .
никто не знает , почему он ушёл так рано . ||| nobody knows why he left so early .
lapset leikkivät puutarhassa koko päivän . ||| the children played in the garden all day .
ele comprou um carro velho porque não tinha dinheiro . ||| he bought an old car because he had no money .
"""
PAIRS = [tuple(line.split(" ||| ")) for line in TEXT.splitlines()]


def correlated(random, rows, width):
    return (
        random.normal(size=(rows, 12)) @ random.normal(size=(12, width)) + 0.3 * random.normal(size=(rows, width))
    ).astype(np.float32)


def moments(inputs):
    return inputs.T @ inputs / np.float32(len(inputs))


def on_a_grid(random, inputs, outputs):
    """A matrix that int8 weights restore to, with the step of each column."""
    whole = random.integers(-LARGEST, LARGEST + 1, size=(inputs, outputs))
    whole[0] = LARGEST
    scale = random.uniform(0.5, 2, size=outputs).astype(np.float32) / 100
    return (whole * scale).astype(np.float32), scale


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 80), st.integers(1, 20))
def test_weights_that_are_whole_numbers_of_steps_stay_as_they_are(seed, inputs, outputs):
    random = np.random.default_rng(seed)
    weight, scale = on_a_grid(random, inputs, outputs)
    codes, found = rounded(weight, moments(correlated(random, 200, inputs)), largest=LARGEST)
    np.testing.assert_allclose(found, scale, rtol=1e-6)
    np.testing.assert_allclose(codes * found, weight, atol=1e-5)


def test_changes_smaller_than_half_a_step_reach_the_outputs():
    random = np.random.default_rng(0)
    seen = correlated(random, 2000, 96)
    weight, scale = on_a_grid(random, 96, 40)
    # What training does: every weight goes a fifth of a step in the direction that its inputs have in common.
    direction = np.sign(np.linalg.svd(seen, full_matrices=False)[2][0])[:, None]
    moved = (weight + 0.2 * scale * direction).astype(np.float32)
    moved[0] = weight[0]  # the largest weights, and so the scales, are those of before
    assert (np.round(moved / scale) == np.round(weight / scale)).all()
    codes, found = rounded(moved, moments(seen), largest=LARGEST)
    fresh = correlated(np.random.default_rng(0), 2000, 96)[1000:]
    learned = np.linalg.norm(fresh @ (moved - weight))
    assert np.linalg.norm(fresh @ (codes * found - moved)) < 0.2 * learned
    assert np.abs(codes).max() <= LARGEST


def test_inputs_that_are_never_there_and_columns_of_zeros_do_no_harm():
    random = np.random.default_rng(0)
    weight = random.normal(size=(10, 4)).astype(np.float32)
    weight[:, 2] = 0
    codes, scale = rounded(weight, np.zeros((10, 10), dtype=np.float32), largest=LARGEST)
    np.testing.assert_allclose(codes * scale, weight, atol=np.abs(weight).max() / LARGEST)


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """weft-mini in torch, and after one step of training: every weight goes 0.0005 along the sign of its gradient."""
    folder = tmp_path_factory.mktemp("moved")
    unpack_model(built_in_models()["weft-mini"], folder / "base")
    encoder = load_encoder(folder / "base", device="cpu")[0]
    model = transformers.AutoModel.from_pretrained(folder / "base").eval()
    loss = torch.zeros(())
    for batch in encoder.batches([(tuple(a.split()), tuple(b.split())) for a, b in PAIRS]):
        given = {name: torch.from_numpy(value) for name, value in batch.inputs().items()}
        words = (given["attention_mask"] > 0) & (given["input_ids"] > 2)
        for states, real, side in zip(model(**given).last_hidden_state, words, given["token_type_ids"], strict=True):
            products = states[real & (side == 0)] @ states[real & (side == 1)].T
            loss = loss - (products.softmax(0) * products.softmax(1)).sum() / products.shape[0]
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter -= 5e-4 * parameter.grad.sign()
    shutil.copytree(folder / "base", folder / "moved")
    model.save_pretrained(folder / "moved")
    return folder


def links(model):
    found = Aligner.from_pretrained(model, device="cpu").align_batch(PAIRS)
    return {(number, *pair) for number, alignment in enumerate(found) for pair in alignment.pairs}


def agreement(ours, theirs):
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def states(model):
    from weft.encoding.encoder import encode_pairs
    from weft.types import SentencePair

    pairs = [SentencePair(tuple(a.split()), tuple(b.split())) for a, b in PAIRS]
    return np.asarray(encode_pairs(Aligner.from_pretrained(model, device="cpu").encoder, pairs)[0].states)


@pytest.mark.exhaustive
@pytest.mark.parametrize("with_text", [True, False])
def test_what_was_learned_survives_int8(moved, tmp_path, with_text):
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    export_model(moved / "moved", tmp_path / "int8", text=text if with_text else None)
    before, after, int8 = (links(place) for place in (moved / "base", moved / "moved", tmp_path / "int8"))
    assert agreement(after, int8) >= 0.99
    assert agreement(after, int8) > agreement(before, int8) + 0.02
    old, new, found = (states(place) for place in (moved / "base", moved / "moved", tmp_path / "int8"))
    assert np.linalg.norm(found - new) < 0.25 * np.linalg.norm(old - new)
