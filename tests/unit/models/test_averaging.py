from __future__ import annotations

import json
import shutil
import stat

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from models import make_model
from weft import Aligner
from weft.errors import SettingError, WeftError
from weft.extraction.calibration import Calibration
from weft.extraction.settings import ExtractionSettings
from weft.models.averaging import average
from weft.models.settings import ModelSettings


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Three models that differ in their weights alone."""
    folder = tmp_path_factory.mktemp("runs")
    made = [make_model(folder / str(seed), seed=seed) for seed in range(3)]
    for place in made[1:]:
        shutil.copy(made[0] / "tokenizer.json", place / "tokenizer.json")
    return made


def changed(models, tmp_path, **files):
    """The first model, and a copy of the second with some files changed."""
    copy = shutil.copytree(models[1], tmp_path / "changed")
    for name, change in files.items():
        path = copy / name.replace("_json", ".json")
        path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **change}))
    return [models[0], copy]


def test_every_tensor_is_the_mean_of_all(models, tmp_path):
    average(models, tmp_path / "mean")
    tables = [load_file(folder / "model.safetensors") for folder in models]
    mean = load_file(tmp_path / "mean" / "model.safetensors")
    assert mean.keys() == tables[0].keys()
    for name, value in mean.items():
        torch.testing.assert_close(value, (tables[0][name] + tables[1][name] + tables[2][name]) / 3)


def test_the_mean_of_a_model_with_itself_is_the_model(models, tmp_path):
    average([models[0], models[0]], tmp_path / "mean")
    transformers.AutoModel.from_pretrained(tmp_path / "mean")
    pair = ("das ist ein kleines Haus .", "that is a small house .")
    first, mean = (Aligner.from_pretrained(place, layer=2) for place in (models[0], tmp_path / "mean"))
    assert mean.align(*pair) == first.align(*pair)


def test_runs_with_different_dropout_are_alike(models, tmp_path):
    average(changed(models, tmp_path, config_json={"hidden_dropout_prob": 0.3}), tmp_path / "mean")
    assert (tmp_path / "mean" / "model.safetensors").is_file()


def test_half_precision_and_several_files_are_kept_or_joined(models, tmp_path):
    tables = [{name: value.bfloat16() for name, value in load_file(m / "model.safetensors").items()} for m in models]
    copies = [shutil.copytree(model, tmp_path / f"half{number}") for number, model in enumerate(models)]
    for copy, table in zip(copies, tables, strict=True):
        (copy / "model.safetensors").unlink()
        names = sorted(table)
        halves = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
        for file, held in halves.items():
            save_file({name: table[name] for name in held}, copy / file)
        index = {"weight_map": {name: file for file, held in halves.items() for name in held}}
        (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    average(copies, tmp_path / "mean")
    mean = load_file(tmp_path / "mean" / "model.safetensors")
    assert not (tmp_path / "mean" / "model.safetensors.index.json").exists()
    for name, value in mean.items():
        assert value.dtype == torch.bfloat16
        torch.testing.assert_close(value, torch.stack([table[name].double() for table in tables]).mean(0).bfloat16())


def test_settings_are_the_first_models_without_its_calibration(models, tmp_path):
    pair = changed(models, tmp_path)
    first = shutil.copytree(models[0], tmp_path / "first")
    extraction = ExtractionSettings(method="entmax", calibration=Calibration((0.0, 1.0), (0.2, 0.8)))
    ModelSettings(layer=2, languages=("de", "en"), extraction=extraction).write(first)
    ModelSettings(layer=2, languages=("en", "fr")).write(pair[1])
    average([first, pair[1]], tmp_path / "mean")
    found = ModelSettings.read(tmp_path / "mean")
    assert (found.layer, found.languages) == (2, ("de", "en", "fr"))
    assert found.extraction == ExtractionSettings(method="entmax")


def test_others_may_read_what_is_written(models, tmp_path):
    average(models[:2], tmp_path / "mean")
    (tmp_path / "any").touch()
    usual = stat.S_IMODE((tmp_path / "any").stat().st_mode)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "mean").iterdir()} == {usual}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"config_json": {"hidden_act": "relu"}}, "`hidden_act` in their config.json is gelu and relu"),
        ({"tokenizer_json": {"normalizer": None}}, "their tokenizers differ"),
        ({"weft_json": {"layer": 1}}, "`layer` in their weft.json is None and 1"),
        ({"weft_json": {"joint": True}}, "`joint` in their weft.json is False and True"),
    ],
)
def test_models_that_are_not_alike_are_refused(models, tmp_path, files, message):
    with pytest.raises(WeftError, match=message):
        average(changed(models, tmp_path, **files), tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.pop("embeddings.LayerNorm.bias"), "has the tensor embeddings.LayerNorm.bias"),
        (lambda table: table["pooler.dense.bias"].fill_(float("nan")), "bias holds values that are not numbers"),
        (lambda table: table.update({"pooler.dense.bias": torch.zeros(3)}), "pooler.dense.bias differs in shape"),
    ],
)  # fmt: skip
def test_tensors_that_have_no_mean_are_refused(models, tmp_path, change, message):
    pair = changed(models, tmp_path)
    table = load_file(pair[1] / "model.safetensors")
    change(table)
    save_file(table, pair[1] / "model.safetensors")
    with pytest.raises(WeftError, match=message):
        average(pair, tmp_path / "mean")
    assert not list((tmp_path / "mean").iterdir())


def test_what_has_no_weights_is_refused(models, tiny_onnx, tmp_path):
    with pytest.raises(SettingError, match="two or more models, got 1"):
        average(models[:1], tmp_path / "mean")
    with pytest.raises(WeftError, match=r"has no weights in safetensors .* --to torch"):
        average([models[0], tiny_onnx], tmp_path / "mean")
    with pytest.raises(SettingError, match="must not be one of the models' own"):
        average(models, models[1])
    (tmp_path / "damaged").mkdir()
    pair = changed(models, tmp_path)
    (pair[1] / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(WeftError, match="cannot load the weights in"):
        average(pair, tmp_path / "mean")


@pytest.mark.parametrize("first", [0, 1])
def test_an_encoder_is_the_same_with_and_without_a_name_of_its_own(models, tmp_path, first, caplog):
    """Libraries write an encoder with a head as `bert.embeddings...` and `cls...`, and one alone as `embeddings...`."""
    copy = shutil.copytree(models[1], tmp_path / "with head")
    table = load_file(copy / "model.safetensors")
    named = {f"bert.{name}": value for name, value in table.items() if not name.startswith("pooler.")}
    save_file({**named, "cls.predictions.bias": torch.ones(3)}, copy / "model.safetensors", metadata={"format": "pt"})
    both = [models[0], copy]
    average([both[first], both[1 - first]], tmp_path / "mean")
    heads = "pooler, cls" if first == 0 else "cls, pooler"
    assert caplog.messages == [f"left out what not all of the models have: {heads}."]
    mean = load_file(tmp_path / "mean" / "model.safetensors")
    assert len(mean) == len(named)
    other = load_file(models[0] / "model.safetensors")
    for name, value in mean.items():
        short = name.removeprefix("bert.")
        torch.testing.assert_close(value, (table[short] + other[short]) / 2)
    pair = ("das ist ein kleines Haus .", "that is a small house .")
    Aligner.from_pretrained(tmp_path / "mean", layer=2).align(*pair)


def test_a_part_of_the_encoder_that_one_lacks_is_named(models, tmp_path):
    copy = shutil.copytree(models[1], tmp_path / "less")
    table = load_file(copy / "model.safetensors")
    missing = next(name for name in table if name.startswith("encoder."))
    save_file({f"bert.{name}": value for name, value in table.items() if name != missing}, copy / "model.safetensors")
    with pytest.raises(WeftError, match=f"only {models[0]} has the tensor {missing}"):
        average([models[0], copy], tmp_path / "mean")
