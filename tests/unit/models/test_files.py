from __future__ import annotations

import json
import shutil

import pytest

from weft import Aligner
from weft.errors import FormatError, SettingError, WeftError
from weft.models.files import check_folder, folder_checksum


@pytest.mark.parametrize("value", ["6", [6], {"a": 1}, True, 0, -3, float("nan")])
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("config.json", "num_hidden_layers"),
        ("config.json", "hidden_size"),
        ("config.json", "vocab_size"),
        ("config.json", "max_position_embeddings"),
        ("tokenizer_config.json", "model_max_length"),
    ],
)
def test_sizes_that_are_no_numbers_are_one_sentence(tiny_bert, tmp_path, file, name, value):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    record = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**record, name: value}))
    with pytest.raises(FormatError, match=f"{file}: `{name}` must be a number of at least 1, got "):
        check_folder(folder)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.json", "[" * 100_000),
        ("config.json", '{"a":' * 100_000),
        ("config.json", "[]"),
        ("tokenizer_config.json", "{"),
        ("model.safetensors.index.json", '{"weight_map": []}'),
    ],
)
def test_a_damaged_configuration_is_named(tiny_bert, tmp_path, file, text):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / file).write_text(text)
    with pytest.raises(FormatError, match=file):
        check_folder(folder)


@pytest.mark.parametrize(
    "changes",
    [{"model_type": 3}, {"model_type": "nonsense"}, {"hidden_act": 7}, {"hidden_act": "magic"},
     {"layer_norm_eps": "small"}, {"pad_token_id": "zero"}, {"hidden_size": 7}, {"num_attention_heads": 5}],
)  # fmt: skip
def test_a_model_with_one_wrong_field_is_one_sentence_or_works(tiny_bert, tmp_path, changes):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    record = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**record, **changes}))
    with pytest.raises(WeftError):
        Aligner.from_pretrained(folder, layer=2).align("das ist gut", "that is good")


def test_pickles_beside_safetensors_are_never_read(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle that nobody opens")
    assert Aligner.from_pretrained(folder, layer=2).align("das", "das").links


def test_a_device_without_memory_is_no_device(tiny_bert):
    with pytest.raises(SettingError, match="there is no device 'meta'"):
        Aligner.from_pretrained(tiny_bert, layer=2, device="meta")


def test_a_checksum_changes_with_weights_and_not_with_the_card(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    before = folder_checksum(folder)
    (folder / "README.md").write_text("a card")
    assert folder_checksum(folder) == before
    (folder / "weft.json").write_text("{}")
    assert folder_checksum(folder) != before


def test_links_that_are_no_part_of_the_model_do_not_matter(tiny_bert, tmp_path):
    """Packed text of a training run may lie on another disk."""
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "notes").write_text("mine")
    before = folder_checksum(folder)
    (folder / "corpus-0123").symlink_to(tmp_path / "elsewhere")
    (folder / "notes").symlink_to(tmp_path / "notes")
    assert Aligner.from_pretrained(folder, layer=2).align("das", "das").links
    assert folder_checksum(folder) == before
    for name in ("config.json", "model.safetensors", "vocab.txt", "weft.json"):
        copy = shutil.copytree(folder, tmp_path / f"with {name}", symlinks=True)
        (copy / name).unlink(missing_ok=True)
        (copy / name).symlink_to(tmp_path / "notes")
        with pytest.raises(WeftError, match=f"{name} is a link that leads out of the model's folder"):
            check_folder(copy)


def test_a_graph_may_name_any_file_so_no_link_may_lead_out(tiny_onnx, tmp_path):
    folder = shutil.copytree(tiny_onnx, tmp_path / "model")
    (tmp_path / "notes").write_text("mine")
    (folder / "notes").symlink_to(tmp_path / "notes")
    with pytest.raises(WeftError, match="notes is a link that leads out"):
        check_folder(folder)
