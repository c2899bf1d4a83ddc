from __future__ import annotations

import json

import pytest

from weft.errors import SettingError
from weft.extraction.calibration import Calibration
from weft.extraction.settings import ExtractionSettings


def test_defaults_are_the_papers():
    assert ExtractionSettings().effective_threshold == 0.001
    assert ExtractionSettings(method="entmax").effective_threshold == 0.0
    assert ExtractionSettings(method="entmax").exponent == 1.5
    assert ExtractionSettings(method="softmax", alpha=1.5).exponent == 1


def test_entmax_without_sparsity_needs_the_threshold_of_softmax():
    assert ExtractionSettings(method="entmax", alpha=1.0).effective_threshold == 0.001


def test_settings_survive_a_file():
    settings = ExtractionSettings("entmax", 0.1, 1.7, "dot", "union", Calibration((0.1, 0.9), (0.2, 0.8)), 15.5)
    record = json.loads(json.dumps({"layer": 7, **settings.to_json()}))
    assert ExtractionSettings.from_json(record) == settings


def test_another_method_forgets_threshold_and_calibration():
    tuned = ExtractionSettings(threshold=0.2, calibration=Calibration((0.0, 1.0), (0.0, 1.0)))
    assert tuned.updated(method="entmax").threshold is None
    assert tuned.updated(method="entmax").calibration is None
    assert tuned.updated(method="softmax", alpha=None) == tuned
    assert tuned.updated(cost="dot", alpha=1.7).calibration == tuned.calibration
    assert tuned.updated(cost="dot").threshold == 0.2
    assert tuned.updated(threshold=0.3).calibration == tuned.calibration
    assert tuned.updated(method="entmax", threshold=0.5).threshold == 0.5


def test_a_null_stays_with_another_method_and_goes_with_off():
    curve = Calibration((0.0, 1.0), (0.0, 1.0))
    tuned = ExtractionSettings(method="entmax", threshold=0.1, calibration=curve, null=15)
    assert tuned.updated(method="softmax").null == 15
    assert tuned.updated(null=None) == tuned
    assert tuned.updated(null=15, calibration=None) == tuned
    for off in ("off", float("-inf")):
        assert tuned.updated(null=off) == ExtractionSettings(method="entmax", threshold=0.1)
    assert tuned.updated(null=12).threshold == 0.1
    assert tuned.updated(null=12).calibration is None
    assert ExtractionSettings.from_json(tuned.updated(null="off").to_json()).null is None
    assert tuned.at_another_layer() == ExtractionSettings(method="entmax", threshold=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.5}, "`threshold` must be between 0 and 1, got 1.5"),
        ({"threshold": -0.1}, "`threshold` must be between 0 and 1"),
        ({"threshold": float("nan")}, "`threshold` must be between 0 and 1"),
        ({"alpha": 0.5}, "`alpha` must be at least 1"),
        ({"alpha": float("inf")}, "`alpha` must be at least 1"),
        ({"alpha": 1e308}, "`alpha` must be at least 1"),
        (
            {"method": "magic"},
            "`method` must be one of softmax, entmax, geometric, ot, argmax, itermax, match, got 'magic'",
        ),
        ({"method": ["softmax"]}, "`method` must be one of softmax"),
        ({"null": float("nan")}, "`null` must be a number from -1,000,000 to 1,000,000, or off, got nan"),
        ({"null": float("inf")}, "`null` must be a number from -1,000,000 to 1,000,000, or off, got inf"),
        ({"null": 2e6}, "`null` must be a number from -1,000,000 to 1,000,000, or off, got 2000000.0"),
        ({"null": "none"}, "`null` must be a number from -1,000,000 to 1,000,000, or off, got none"),
        ({"cost": "free"}, "`cost` must be one of cosine"),
        ({"symmetrize": "x"}, "`symmetrize` must be one of intersection"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(SettingError, match=message):
        ExtractionSettings(**options)
