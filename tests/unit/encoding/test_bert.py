from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import chain

import pytest
import safetensors.torch
import torch
import transformers

from models import N_LAYERS, SENTENCES, encode, make_model
from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert
from weft.encoding.torch import TorchEncoder
from weft.errors import SettingError, WeftError

WORDS = [tuple(sentence.split()) for sentence in SENTENCES]


@pytest.fixture(scope="module", params=["bert", "xlm-roberta"])
def folder(request, tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / request.param, request.param)


def changed(folder, copy, name, **changes):
    """A copy of a model with other settings in one of its files."""
    shutil.copytree(folder, copy)
    settings = json.loads((copy / name).read_text("utf-8"))
    (copy / name).write_text(json.dumps({**settings, **changes}), "utf-8")
    return copy


@pytest.mark.parametrize("layer", range(N_LAYERS + 1))
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_states_are_those_of_transformers(folder, layer, dtype):
    ours = encode(BertEncoder(read_bert(folder), layer=layer, dtype=dtype, device="cpu"), WORDS)
    theirs = encode(TorchEncoder(folder, layer=layer, dtype=dtype, device="cpu"), WORDS)
    tolerance = 1e-5 if dtype == "float32" else 0.05
    torch.testing.assert_close(ours.states, theirs.states, atol=tolerance, rtol=tolerance)
    assert (ours.words == theirs.words).all()
    assert (ours.starts == theirs.starts).all()


def test_pairs_see_each_other_as_in_transformers(tiny_bert):
    pairs = [(WORDS[0], WORDS[1]), (WORDS[2], WORDS[0] * 3)]
    ours = encode(BertEncoder(read_bert(tiny_bert), layer=2, device="cpu", joint=True), chain.from_iterable(pairs))
    theirs = encode(TorchEncoder(tiny_bert, layer=2, device="cpu", joint=True), chain.from_iterable(pairs))
    torch.testing.assert_close(ours.states, theirs.states)


def test_long_sentences_have_the_same_windows(folder):
    long = [WORDS[0] * 40]
    ours, theirs = BertEncoder(read_bert(folder), layer=1), TorchEncoder(folder, layer=1)
    assert ours.window == theirs.window
    torch.testing.assert_close(encode(ours, long).states, encode(theirs, long).states)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_activations(tiny_bert, tmp_path, activation):
    folder = changed(tiny_bert, tmp_path / "m", "config.json", hidden_act=activation)
    ours = encode(BertEncoder(read_bert(folder), layer=3, device="cpu"), WORDS)
    torch.testing.assert_close(ours.states, encode(TorchEncoder(folder, layer=3, device="cpu"), WORDS).states)


def test_weights_that_were_saved_with_a_head(tiny_bert, tmp_path):
    model = transformers.BertForMaskedLM.from_pretrained(tiny_bert)
    model.save_pretrained(tmp_path)
    shutil.copy(tiny_bert / "tokenizer.json", tmp_path)
    assert any(name.startswith("bert.") for name in safetensors.torch.load_file(tmp_path / "model.safetensors"))
    ours = encode(BertEncoder(read_bert(tmp_path), layer=2, device="cpu"), WORDS)
    torch.testing.assert_close(ours.states, encode(TorchEncoder(tiny_bert, layer=2, device="cpu"), WORDS).states)


def test_weights_with_the_names_of_the_first_bert(tiny_bert, tmp_path):
    folder = changed(tiny_bert, tmp_path / "m", "config.json")
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    for new_name, old_name in old.items():
        weights = {
            f"bert.{name}".replace("bert.bert.", "bert.").replace(new_name, old_name): value
            for name, value in weights.items()
        }
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    ours = encode(BertEncoder(read_bert(folder), layer=2, device="cpu"), WORDS)
    torch.testing.assert_close(ours.states, encode(TorchEncoder(folder, layer=2, device="cpu"), WORDS).states)
    torch.testing.assert_close(ours.states, encode(TorchEncoder(tiny_bert, layer=2, device="cpu"), WORDS).states)


def test_a_model_that_the_hub_gave_before_is_found_without_it(tiny_bert, tmp_path):
    kept = tmp_path / "hub" / "models--some--bert"
    shutil.copytree(tiny_bert, kept / "snapshots" / "abc")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    code = (
        "import sys; from weft import Aligner; "
        "found = Aligner.from_pretrained('some/bert', layer=2, device='cpu'); "
        "first = found.align('das ist gut', 'that is good').links[0][:2]; "
        "print(type(found.encoder).__name__, 'transformers' in sys.modules, first)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    there = Aligner.from_pretrained(tiny_bert, layer=2, device="cpu").align("das ist gut", "that is good").links[0][:2]
    assert done.stdout.strip() == f"BertEncoder False {there}"


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"hidden_act": "silu"}),
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("config.json", {"num_hidden_layers": N_LAYERS + 1}),
        ("config.json", {"vocab_size": 1_000_000}),
        ("tokenizer.json", {"post_processor": None}),
    ],
)
def test_what_is_not_known_is_left_to_transformers(tiny_bert, tmp_path, file, changes):
    assert read_bert(changed(tiny_bert, tmp_path / "m", file, **changes)) is None


@pytest.mark.parametrize("lower_case", [False, True])
def test_a_tokenizer_whose_files_contradict_each_other_is_left_to_transformers(tiny_bert, tmp_path, lower_case):
    rules = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
    folder = changed(tiny_bert, tmp_path / "a", "tokenizer.json", normalizer={**rules, "lowercase": True})
    folder = changed(folder, tmp_path / "b", "tokenizer_config.json", do_lower_case=lower_case)
    assert (read_bert(folder) is not None) == lower_case


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"[1]", b"\x00\xff"])
def test_missing_and_damaged_files_end_in_a_sentence(tiny_bert, tmp_path, file, content):
    broken = tmp_path / "m"
    shutil.copytree(tiny_bert, broken)
    (broken / file).unlink()
    if content is not None:
        (broken / file).write_bytes(content)
    assert read_bert(broken) is None
    with pytest.raises(WeftError, match=r"cannot load|tokenizer|config\.json: expected"):
        Aligner.from_pretrained(broken, layer=1, device="cpu").align("das ist", "that is")


def test_settings_that_make_no_sense(tiny_bert):
    model = read_bert(tiny_bert)
    with pytest.raises(SettingError, match=r"there is no layer 4: .* has layers 0 \(embeddings\) to 3"):
        BertEncoder(model, layer=4)
    with pytest.raises(SettingError, match="`dtype` must be one of"):
        BertEncoder(model, layer=1, dtype="int8")


def test_nobody_waits_for_transformers(tiny_bert):
    code = (
        "import sys; from weft import Aligner; "
        f"Aligner.from_pretrained({str(tiny_bert)!r}, layer=2, device='cpu').align('das ist gut', 'that is good'); "
        "print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
