from __future__ import annotations

import json
import shutil
import stat

import numpy as np
import pytest
import torch
import transformers

from models import make_model
from weft import Aligner
from weft.encoding.torch import TorchEncoder
from weft.errors import SettingError
from weft.extraction.settings import ExtractionSettings
from weft.models.save import save_model

PAIR = ("das ist ein kleines Haus .", "that is a small house .")


@pytest.mark.parametrize("architecture", ["bert", "nllb"])
def test_weights_that_were_changed_in_memory_are_saved(tmp_path, architecture):
    source = make_model(tmp_path / "model", architecture)
    encoder = TorchEncoder(source, layer=2, device="cpu")
    first = Aligner(encoder)
    before, seen = first.align(*PAIR), first.similarity(*PAIR)
    with torch.no_grad():
        for parameter in encoder.model.parameters():
            parameter.mul_(torch.rand_like(parameter) + 0.5)
    changed = first.align(*PAIR)
    assert not np.allclose(first.similarity(*PAIR), seen)
    first.save_pretrained(tmp_path / "saved")
    assert Aligner.from_pretrained(tmp_path / "saved", device="cpu").align(*PAIR).pairs == changed.pairs
    assert Aligner.from_pretrained(source, layer=2, device="cpu").align(*PAIR).pairs == before.pairs
    # The layer above the one used is there as well, and as it was.
    whole, old = (transformers.AutoModel.from_pretrained(place).state_dict() for place in (tmp_path / "saved", source))
    upper = [name for name in whole if "encoder" in name and ".2." in name]
    assert upper
    assert all(torch.equal(whole[name], old[name]) for name in upper)


def test_a_models_own_folder_takes_changes_and_loses_a_graph_of_other_weights(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"made before")
    encoder = TorchEncoder(folder, layer=2, device="cpu")
    save_model(folder, encoder, ExtractionSettings(method="itermax"))
    assert (folder / "model.onnx").is_file()
    with torch.no_grad():
        encoder.model.embeddings.word_embeddings.weight.neg_()
    save_model(folder, encoder, ExtractionSettings(method="itermax"))
    assert not (folder / "model.onnx").exists()
    assert json.loads((folder / "weft.json").read_text())["method"] == "itermax"
    now, before = (transformers.AutoModel.from_pretrained(place).embeddings for place in (folder, tiny_bert))
    torch.testing.assert_close(now.word_embeddings.weight, -before.word_embeddings.weight)


def test_half_precision_does_not_round_what_is_saved(tiny_bert, tmp_path):
    save_model(
        tmp_path / "saved", TorchEncoder(tiny_bert, layer=2, device="cpu", dtype="bfloat16"), ExtractionSettings()
    )
    assert (tmp_path / "saved" / "model.safetensors").read_bytes() == (tiny_bert / "model.safetensors").read_bytes()


def test_others_may_read_what_is_saved(tmp_path):
    Aligner.from_pretrained(device="cpu").save_pretrained(tmp_path / "saved")
    (tmp_path / "any").touch()
    usual = stat.S_IMODE((tmp_path / "any").stat().st_mode)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "saved").iterdir()} == {usual}


def test_a_file_is_no_place_for_a_model(tiny_bert, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="is not a writable folder"):
        Aligner.from_pretrained(tiny_bert, layer=2).save_pretrained(tmp_path / "file")
