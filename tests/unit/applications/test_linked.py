from __future__ import annotations

import pytest

from weft.aligner import Aligner
from weft.applications.linked import LinkFile, with_links
from weft.errors import FormatError, LineCountError
from weft.text.pairs import NOTHING
from weft.types import SentencePair

PAIRS = [SentencePair(("a", "b"), ("x",)), NOTHING, SentencePair(("a",), ("x", "y"))]


def joined(tmp_path, text, **options):
    (tmp_path / "links").write_text(text)
    source = LinkFile(tmp_path / "links", **options)
    return list(with_links(iter(PAIRS), lambda pair: pair, source, name="pairs"))


def test_a_file(tmp_path):
    rows = joined(tmp_path, "0-0 1-0\n0-0\n0-1:0.5\n")
    assert [pair for pair, _ in rows] == PAIRS
    assert [alignment.pairs for _, alignment in rows] == [{(0, 0), (1, 0)}, set(), {(0, 1)}]
    assert rows[2][1].links[0].score == 0.5
    assert joined(tmp_path, "1-1 2-1\n\n1-2\n", base=1)[0][1].pairs == {(0, 0), (1, 0)}


def test_files_that_do_not_belong_together(tmp_path):
    with pytest.raises(FormatError, match=r"links:3: the link 0-2 is out of range"):
        joined(tmp_path, "\n\n0-2\n")
    with pytest.raises(LineCountError, match=r"pairs has 3 lines but .*links has 1 line"):
        joined(tmp_path, "\n")
    with pytest.raises(LineCountError, match=r"pairs has 3 lines but .*links has 4 lines"):
        joined(tmp_path, "\n\n\n\n")


def test_an_aligner():
    rows = list(with_links(iter(PAIRS), lambda pair: pair, Aligner.from_pretrained(), name="pairs"))
    assert [pair for pair, _ in rows] == PAIRS
    assert rows[1][1].links == ()
    assert rows[2][1].links


def test_links_that_are_not_there_are_missed(tmp_path, caplog):
    joined(tmp_path, "\n0-0\n\n")
    assert [record.getMessage() for record in caplog.records] == [f"{tmp_path / 'links'} contains no links."]
    caplog.clear()
    aligner = Aligner.from_pretrained(threshold=1.0)
    list(with_links(iter(PAIRS), lambda pair: pair, aligner, name="pairs"))
    assert caplog.records[0].getMessage().startswith("none of the 2 pairs has a link. Perhaps")
    caplog.clear()
    joined(tmp_path, "0-0\n\n\n")
    assert caplog.records == []
