from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.extraction.calibration import Calibration
from weft.extraction.methods import METHODS
from weft.extraction.settings import ExtractionSettings
from weft.models.known import built_in_models
from weft.models.settings import ExportKind, ModelSettings

curves = st.integers(1, 5).flatmap(
    lambda count: st.builds(Calibration, *[st.tuples(*[st.floats(0, 1) for _ in range(count)]) for _ in range(2)])
)
records = st.builds(
    ModelSettings,
    layer=st.none() | st.integers(0, 48),
    joint=st.booleans(),
    max_length=st.none() | st.integers(8, 8192),
    languages=st.lists(st.text(max_size=3)).map(tuple),
    export=st.none() | st.sampled_from(ExportKind),
    extraction=st.builds(
        ExtractionSettings,
        method=st.sampled_from(list(METHODS)),
        threshold=st.none() | st.floats(0, 1),
        calibration=st.none() | curves,
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(record=records)
def test_what_is_written_is_read(tmp_path, record):
    record.write(tmp_path)
    assert ModelSettings.read(tmp_path) == record
    assert [path.name for path in tmp_path.iterdir()] == ["weft.json"]


def test_a_folder_without_the_file_has_the_defaults(tmp_path):
    assert ModelSettings.read(tmp_path) == ModelSettings()


def test_a_null_similarity_is_kept(tmp_path):
    record = ModelSettings(layer=6, extraction=ExtractionSettings(null=15.5))
    record.write(tmp_path)
    assert json.loads((tmp_path / "weft.json").read_text())["null"] == 15.5
    assert ModelSettings.read(tmp_path).extraction.null == 15.5


def test_the_built_in_model_keeps_all_of_its_settings_when_they_are_written_anew(tmp_path):
    folder = built_in_models()["weft-mini"]
    ModelSettings.read(folder).write(tmp_path)
    before, after = (json.loads((place / "weft.json").read_text()) for place in (folder, tmp_path))
    assert {**before, "weft": None} == {**after, "weft": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a JSON object, found"),
        ("[]", "expected a JSON object, found"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"layer": "6"}', '`layer` must be a whole number from 0 to 1,000, got "6"'),
        ('{"layer": true}', "`layer` must be a whole number"),
        ('{"layer": 6.0}', r"`layer` must be a whole number from 0 to 1,000, got 6\.0"),
        ('{"layer": -1}', "`layer` must be a whole number from 0"),
        ('{"max_length": 0}', "`max_length` must be a whole number from 8"),
        ('{"max_length": 99999999999999999999}', "`max_length` must be a whole number from 8 to 1,000,000"),
        ('{"joint": 1}', "`joint` must be true or false, got 1"),
        ('{"languages": "de"}', "`languages` must be a list of language codes"),
        ('{"languages": ["de", 3]}', "`languages` must be a list of language codes"),
        ('{"export": "coreml"}', "`export` must be one of onnx, onnx-int8, torch, got \"coreml\""),
        ('{"export": [1]}', "`export` must be one of"),
        ('{"method": "magic"}', "`method` must be one of softmax"),
        ('{"threshold": [1]}', "`threshold` must be"),
        ('{"calibration": {"scores": [0.1]}}', "`calibration` must hold two lists"),
        ('{"treshold": 0.1}', "there is no setting 'treshold'; did you mean `threshold`?"),
        ('{"colour": 1}', "there is no setting 'colour'; known are layer, joint, max_length"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_with_the_file(tmp_path, text, message):
    (tmp_path / "weft.json").write_text(text)
    with pytest.raises(FormatError, match=message) as raised:
        ModelSettings.read(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path / 'weft.json'}: ")
    assert len(str(raised.value)) < 400 + len(str(tmp_path))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    ModelSettings(layer=3).write(tmp_path)
    monkeypatch.setattr("os.replace", _full_disk)
    with pytest.raises(OSError, match="No space left"):
        replace(ModelSettings(), layer=4).write(tmp_path)
    assert ModelSettings.read(tmp_path).layer == 3
    assert [path.name for path in tmp_path.iterdir()] == ["weft.json"]


def _full_disk(*arguments):
    raise OSError(28, "No space left on device")
