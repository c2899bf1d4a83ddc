from __future__ import annotations

import json
from itertools import pairwise

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from weft.applications.remapping import in_pieces, places, remap, remapped, sentencepieces
from weft.errors import FormatError, WeftError
from weft.types import Alignment, Link, SentencePair


def test_words_to_pieces_and_back():
    words = [(0, 3), (4, 9)]
    pieces = [(0, 2), (2, 3), (3, 6), (6, 9)]
    there = places(words, pieces)
    assert there == [[0, 1], [2, 3]]
    assert places(pieces, words) == [[0], [0], [1], [1]]
    alignment = Alignment.of([Link(0, 1, 0.5)], 0.7)
    assert remap(alignment, there, [[0], [1]]) == Alignment((Link(0, 1, 0.5), Link(1, 1, 0.5)), 0.7)


cuts = st.sets(st.integers(1, 11)).map(lambda inner: list(pairwise(sorted({0, 12} | inner))))


@given(cuts, cuts)
def test_pieces_share_characters(old, new):
    expected = [
        [number for number, (start, end) in enumerate(new) if max(start, left) < min(end, right)] for left, right in old
    ]
    assert places(old, new) == expected


def records(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_raw_words_become_words_at_blanks(tmp_path):
    row = {
        "source": ["Ja", ",", "gut", "."], "target": ["Yes", ",", "fine", "."],
        "links": [[0, 0], [1, 1], [2, 2], [3, 3]],
        "source_text": "Ja, gut.", "source_offsets": [[0, 2], [2, 3], [4, 7], [7, 8]],
        "target_text": "Yes, fine.", "target_offsets": [[0, 3], [3, 4], [5, 9], [9, 10]],
    }  # fmt: skip
    empty = {"source": [], "target": [], "links": []}
    alone = {**row, "source": [], "source_text": "", "source_span": None, "target_span": [0, 10], "links": []}
    first, *others = remapped(records(tmp_path / "in", row, empty, alone))
    assert (first.source, first.target, first.alignment.pairs) == ("Ja, gut.", "Yes, fine.", {(0, 0), (1, 1)})
    assert [(other.source, other.target, other.alignment.links) for other in others] == [("", "", ())] * 2


def test_pieces_become_words(tmp_path):
    row = {"source": ["▁Ha", "us", "▁", "klein"], "target": ["small", "house"], "links": [[1, 1], [3, 0]]}
    [only] = remapped(records(tmp_path / "in", row))
    assert (only.source, only.alignment.pairs) == ("Haus klein", {(0, 1), (1, 0)})


def test_bad_records_are_named(tmp_path):
    with pytest.raises(FormatError, match="in:1: a link points after the end of its sentence"):
        list(remapped(records(tmp_path / "in", {"source": "a", "target": "x", "links": [[0, 4]]})))
    with pytest.raises(FormatError, match='in:1: expected "target"'):
        list(remapped(records(tmp_path / "in", {"source": "a", "links": []})))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spm")
    (folder / "text").write_text("das kleine Haus ist klein\nthe small house is small\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"), model_prefix=str(folder / "m"), vocab_size=40, hard_vocab_limit=False, minloglevel=2
    )
    return folder / "m.model"


def test_words_become_pieces(model):
    pair = SentencePair(("das", "kleine", "Haus"), ("the", "small", "house"))
    alignment = Alignment.of([Link(0, 0), Link(1, 1), Link(2, 2)])
    cut = sentencepieces(model)
    pieces, links = in_pieces(pair, alignment, (cut, cut))
    owners = []
    for side in pieces:
        owner, of = -1, []
        for piece in side:
            owner += piece.startswith("▁")
            of.append(None if piece == "▁" else owner)
        owners.append(of)
    expected = {
        (i, j)
        for i, word in enumerate(owners[0])
        for j, other in enumerate(owners[1])
        if word == other and word is not None
    }
    assert links.pairs == expected
    assert "".join(pieces.source).replace("▁", " ").strip() == "das kleine Haus"


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "m").write_text("no")
    with pytest.raises(WeftError, match="this is not a SentencePiece model"):
        sentencepieces(tmp_path / "m")
    with pytest.raises(FileNotFoundError):
        sentencepieces(tmp_path / "none")
