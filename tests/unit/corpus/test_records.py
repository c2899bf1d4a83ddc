from __future__ import annotations

import json
import logging

import pytest

from weft.corpus.records import OutputFormat, read_records, record_writer
from weft.text.pair_formats import PairFormat
from weft.text.segment import segmenter_for
from weft.types import Alignment, Link

ALIGNMENT = Alignment((Link(0, 0, 0.5),), 0.25)
SIDES = {"source": "das ist", "target": "that is"}


@pytest.fixture
def written(tmp_path, caplog):
    """What becomes of the fields of JSONL records, and what is said of them."""

    def write(*rows, raw=False, alignment=ALIGNMENT):
        path = tmp_path / "in.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        cut = (segmenter_for("de"), segmenter_for("en")) if raw else None
        errors = []
        with caplog.at_level(logging.WARNING):
            records = list(
                read_records(
                    path, None, format=PairFormat.JSONL, keep_extra=True, segmenters=cut, on_error=errors.append
                )
            )
        lines = record_writer(OutputFormat.JSONL, scores=False)(records, [alignment] * len(records), 1)
        return list(map(json.loads, lines.splitlines())), [record.getMessage() for record in caplog.records]

    return write


def test_fields_that_weft_does_not_write_are_kept_and_others_named_once(written):
    own = {"id": 1, "unknown": "x", "source_text": "orig"}
    row = {**SIDES, **own, "score": 0.123, "links": ["http://a"]}
    found, said = written(row, row)
    assert (
        found
        == [{**own, "source": ["das", "ist"], "target": ["that", "is"], "links": [[0, 0, 0.5]], "score": 0.25}] * 2
    )
    [warning] = said
    assert "in.jsonl: weft writes fields with these names itself, so yours are lost: " in warning
    assert "yours are lost: unknown (in lines where weft writes one), score, links. To keep them, rename" in warning


def test_raw_text_replaces_more(written):
    [found], [warning] = written({**SIDES, "source_text": "orig"}, raw=True)
    assert found["source_text"] == "das ist"
    assert "lost: source_text." in warning


def test_an_unknown_of_the_user_gives_way_only_where_there_are_unknown_words(written):
    [found], _ = written({**SIDES, "unknown": "x"}, alignment=Alignment((), 0.0, unknown=3))
    assert found["unknown"] == 3


@pytest.mark.parametrize(
    "old",
    [
        {
            "links": [[1, 1, 0.9]],
            "score": 0.9,
            "unknown": 4,
            "source_text": "das ist",
            "source_offsets": [[0, 3], [4, 7]],
        },
        {"links": [], "score": 0.0, "unknown": 1},
        {"sure": [[0, 0]], "possible": [[1, 1]]},
    ],
)
def test_old_results_are_replaced_without_a_word(written, old):
    row = {"id": 1, "source": ["das", "ist"], "target": ["that", "is"], **old}
    [found], said = written(row)
    new = {"source": ["das", "ist"], "target": ["that", "is"], "links": [[0, 0, 0.5]], "score": 0.25}
    assert (found, said) == ({"id": 1, **new}, [])


def test_what_would_be_read_as_links_is_not_kept(written):
    [found], [warning] = written({**SIDES, "sure": True})
    assert "sure" not in found
    assert "lost: sure." in warning


def test_an_empty_list_of_addresses_is_no_result(written):
    [found], [warning] = written({**SIDES, "links": [], "unknown": "x"})
    assert found["unknown"] == "x"
    assert "links" in warning
