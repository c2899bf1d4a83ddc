from __future__ import annotations

from dataclasses import replace

import pytest

from weft.extraction.calibration import Calibration
from weft.extraction.settings import ExtractionSettings
from weft.models.settings import ModelSettings
from weft.training.card import trained_settings
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.defaults import settled

CURVE = Calibration((0.2, 0.8), (0.1, 0.9))
BASE = ModelSettings(
    layer=2, joint=True, max_length=64, languages=("de", "en"),
    extraction=ExtractionSettings(method="geometric", threshold=0.15, null=18.0, calibration=CURVE),
)  # fmt: skip


@pytest.fixture
def base(toy, tmp_path):
    (tmp_path / "base").mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "base" / name).write_bytes((toy / "base" / name).read_bytes())
    BASE.write(tmp_path / "base")
    return tmp_path / "base"


def settings_of(base, layer=2, **changes):
    corpus = CorpusConfig("text", raw=True, source_language="sl", target_language="en")
    config, _ = settled(TrainingConfig("out", (corpus,), model=str(base), **changes))
    return trained_settings(config, layer, joint=True)


def test_what_is_known_of_the_base_is_known_of_the_trained_model(base):
    assert settings_of(base) == replace(BASE, languages=("de", "en", "sl"))


@pytest.mark.parametrize(("code", "listed"), [("osa", "osa"), ("swh_Latn", "sw"), ("EN-gb", "en"), ("und", "en")])
def test_languages_are_listed_by_their_usual_codes(base, code, listed):
    """Whoever names the languages of a text need not have it split into words."""
    corpus = CorpusConfig("text", source_language=code)
    config, _ = settled(TrainingConfig("out", (corpus,), model=str(base)))
    assert trained_settings(config, 2, joint=True).languages == tuple(sorted({"de", "en", listed}))


def test_what_no_longer_holds_is_forgotten(base):
    """Probabilities were fitted with one null and one layer."""
    assert settings_of(base, null=15.0).extraction == replace(BASE.extraction, null=15.0, calibration=None)
    at_another = settings_of(base, layer=1).extraction
    assert at_another.calibration is None
    assert at_another.method == "geometric"
