"""The settings files in the recipe of weft-mini."""

from pathlib import Path

import pytest

RECIPE = Path(__file__).resolve().parents[2] / "recipes" / "weft-mini"


@pytest.mark.parametrize("path", sorted(RECIPE.glob("*.toml")), ids=lambda path: path.name)
def test_settings_are_those_of_a_run(path):
    pytest.importorskip("torch")
    from weft.training.config import TrainingConfig

    config = TrainingConfig.read(path, output="out", model="student", teacher="teacher")
    assert config.step_tokens
    assert sum(corpus.share for corpus in config.corpora) == pytest.approx(1)
    assert set(config.weights) == set(config.objectives)


def test_little_python_is_left():
    assert sum(len(path.read_text().splitlines()) for path in RECIPE.rglob("*.py")) < 600
