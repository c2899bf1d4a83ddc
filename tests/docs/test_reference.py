"""docs/api.md is what the docstrings say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import weft

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(reference):
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run `make docs`"


def test_every_public_name_is_explained(reference):
    page = reference.page()
    for name in weft.__all__:
        assert name.startswith("_") or f"from weft import {name}\n" in page, name


def test_signatures_and_arguments_are_shown_as_a_caller_writes_them(reference):
    page = reference.page()
    assert "\nswapped() -> Alignment\n" in page
    assert "\nalign(\n    source: Sentence,\n    target: Sentence,\n    *,\n    scores: Scores | str = " in page
    assert "\n- `device`: `auto`, `cpu` or `cuda`.\n" in page
    assert "self" not in page.split("### `Aligner`")[1].split("###")[0]
