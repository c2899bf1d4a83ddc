"""The helpers of `benchmarks/paper` that need neither data nor an encoder."""

import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from weft import Alignment, GoldAlignment, Link, score

PAPER = Path(__file__).resolve().parents[2] / "benchmarks" / "paper"


@pytest.fixture(autouse=True)
def _paper_modules(monkeypatch):
    monkeypatch.syspath_prepend(str(PAPER))
    yield
    for name in ("common", "corpora", "report"):
        sys.modules.pop(name, None)


def scored(*links):
    gold = [GoldAlignment.of([Link(0, 0), Link(1, 1)])] * 40
    return score(gold, [Alignment(tuple(Link(*words) for words in links))] * 40)


def test_our_row_stands_under_the_papers(tmp_path, capsys):
    from common import Row, Table

    options = Namespace(label="Our Encoder", layer=7, results=tmp_path)
    table = Table("Some table", ("de", "fr"), options)
    right, half = scored((0, 0), (1, 1)), scored((0, 0))
    table.add(Row("first", (17.4, None), {"de": right, "fr": half}))
    table.add(Row("second", (), {"de": half}, {"de": right}))
    table.save()
    assert capsys.readouterr().out.splitlines() == [
        "| Some table | | de | fr |",
        "|---|---|---|---|",
        "| first | paper, mBERT | 17.4 | - |",
        "|  | Our Encoder | 0.0 | 33.3 |",
        "| second | Our Encoder | 33.3* | - |",
    ]
    record = json.loads((tmp_path / "some-table-our-encoder.json").read_text())
    assert record["rows"][0]["ours"]["fr"]["aer"] == 33.333333
    assert record["rows"][1]["ours"]["de"]["p"] < 0.05


def test_text_that_comes_cut_keeps_its_words():
    from corpora import words_of

    from weft.text.segment import segmenter_for

    english = segmenter_for("en")
    assert words_of("it 's U.S.-made", english, "kftt-30k") == ("it", "'s", "U.S.-made")
    assert words_of("Good, it is.", english, "europarl-uds") == ("Good", ",", "it", "is", ".")


def test_romanian_loses_its_marks():
    from corpora import without_marks

    assert without_marks("știință în țară\n") == "stiinta in tara\n"


def test_encoders_stand_under_one_another():
    from report import rendered

    record = {"table": "T", "columns": ["de"], "rates": ["aer"], "paper_encoder": "mBERT"}
    rows = [{"name": "softmax", "paper": [17.4], "ours": {"de": {"aer": 15.04, "p": 0.01}}}]
    table = rendered([{**record, "encoder": "a", "rows": rows}, {**record, "encoder": "b", "rows": rows}], "T")
    assert table.splitlines()[2:] == [
        "| softmax | paper, mBERT | 17.4 |",
        "|  | a | 15.0* |",
        "|  | b | 15.0* |",
    ]
