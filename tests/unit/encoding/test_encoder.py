from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from models import CONFIGS, N_LAYERS, SENTENCES, encode, make_model
from weft.encoding.onnx import OnnxEncoder
from weft.encoding.torch import TorchEncoder, never_ask_for_masks
from weft.errors import SettingError, WeftError

WORDS = [tuple(sentence.split()) for sentence in SENTENCES]


@pytest.fixture(scope="module", params=CONFIGS)
def model(request, tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / request.param, request.param)


def full_states(folder, words, layer):
    """One sentence through the whole model, unpadded; the states of one layer without the special tokens."""
    library = transformers.AutoModel.from_pretrained(folder).eval()
    if library.config.is_encoder_decoder:
        library = library.get_encoder()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(list(words), is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        hidden = library(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], output_hidden_states=True
        )
    return hidden.hidden_states[layer][0, 1:-1].numpy()


@pytest.mark.parametrize("layer", range(N_LAYERS + 1))
def test_a_cut_encoder_gives_the_states_of_its_layer(model, layer):
    encoded = encode(TorchEncoder(model, layer=layer, device="cpu"), WORDS)
    for number, words in enumerate(WORDS):
        ours = encoded.states[encoded.starts[number] : encoded.starts[number + 1]].numpy()
        np.testing.assert_allclose(ours, full_states(model, words, layer), atol=2e-4)


def test_masks_that_are_always_made_change_nothing(model):
    """What CUDA's encoders do; the arithmetic is the same everywhere."""
    encoder = TorchEncoder(model, layer=N_LAYERS, device="cpu")
    alike, padded = [WORDS[0]] * 2, WORDS
    before = [encode(encoder, sentences).states for sentences in (alike, padded)]
    never_ask_for_masks(encoder.model)
    for states, sentences in zip(before, (alike, padded), strict=True):
        torch.testing.assert_close(encode(encoder, sentences).states, states)


def test_layers_above_are_not_kept(tiny_bert):
    def size(layer):
        return sum(p.numel() for p in TorchEncoder(tiny_bert, layer=layer).model.parameters())

    assert size(1) < size(2) < size(3)


@pytest.mark.parametrize("batch_tokens", [1, 17, 64, 10_000])
def test_batches_do_not_change_states(tiny_bert, batch_tokens):
    whole = encode(TorchEncoder(tiny_bert, layer=2), WORDS)
    batched = encode(TorchEncoder(tiny_bert, layer=2, batch_tokens=batch_tokens), WORDS)
    np.testing.assert_allclose(batched.states.numpy(), whole.states.numpy(), atol=2e-5)
    assert (batched.words == whole.words).all()


def test_onnx_gives_the_same_states_without_torch(tiny_bert, tiny_onnx):
    theirs = encode(TorchEncoder(tiny_bert, layer=2), WORDS)
    ours = encode(OnnxEncoder(tiny_onnx, max_length=64), WORDS)
    assert isinstance(ours.states, np.ndarray)
    np.testing.assert_allclose(ours.states, theirs.states.numpy(), atol=2e-4)
    assert (ours.words == theirs.words).all()
    assert (ours.starts == theirs.starts).all()


@pytest.mark.parametrize("kind", ["torch", "onnx"])
def test_long_sentences_are_read_in_windows(tiny_bert, tiny_onnx, kind):
    encoder = TorchEncoder(tiny_bert, layer=2) if kind == "torch" else OnnxEncoder(tiny_onnx, max_length=64)
    long = tuple(word for _ in range(15) for words in WORDS for word in words)
    encoded = encode(encoder, [long, WORDS[0]])
    assert encoder.long_sentences == 1
    assert set(encoded.words[: encoded.starts[1]]) == set(range(len(long)))
    assert np.isfinite(np.asarray(encoded.states)).all()
    # The start of the sentence comes from the first window alone.
    window = encoder.window
    subwords = encoder.tokenizer.split([long])[0]
    first_words = tuple(long[: subwords.words[window]])
    alone = encode(encoder, [first_words])
    np.testing.assert_allclose(
        np.asarray(encoded.states[: window // 4]), np.asarray(alone.states[: window // 4]), atol=0.5
    )


def test_positions_that_models_reserve_are_not_used(tmp_path):
    # XLM-R style models begin to count positions after the padding index: 64 positions serve 63 subwords.
    encoder = TorchEncoder(make_model(tmp_path / "m", "xlm-roberta"), layer=1)
    encoded = encode(encoder, [("das",) * 200])
    assert np.isfinite(encoded.states.numpy()).all()
    assert encoder.window == 64 - 1 - 2


def test_bfloat16_is_close_and_handed_over_in_float32(tiny_bert):
    exact = encode(TorchEncoder(tiny_bert, layer=2), WORDS).states
    rough = encode(TorchEncoder(tiny_bert, layer=2, dtype="bfloat16"), WORDS).states
    assert rough.dtype == torch.float32
    assert torch.nn.functional.cosine_similarity(exact, rough).min() > 0.99


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"layer": 4}, SettingError, "there is no layer 4: .* has layers 0 \\(embeddings\\) to 3"),
        ({"layer": -1}, SettingError, "there is no layer -1"),
        ({"layer": 1, "dtype": "int8"}, SettingError, "`dtype` must be one of auto, float32"),
        ({"layer": 1, "device": "abacus"}, SettingError, "there is no device 'abacus'"),
    ],
)
def test_settings_that_make_no_sense(tiny_bert, options, error, message):
    with pytest.raises(error, match=message):
        TorchEncoder(tiny_bert, **options)


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(WeftError, match="cannot load the model"):
        TorchEncoder(tmp_path, layer=1)


def test_a_folder_without_weights(tmp_path, tiny_bert):
    (tmp_path / "config.json").write_bytes((tiny_bert / "config.json").read_bytes())
    with pytest.raises(WeftError, match="cannot load the weights"):
        TorchEncoder(tmp_path, layer=1)
