"""Files that somebody wants to annotate keep their lines."""

from __future__ import annotations

import json

import pytest

from weft import Link, SentencePair
from weft.annotation.importing import read_files
from weft.annotation.sentences import read_project_pairs, written_pair
from weft.errors import FormatError, LineCountError, SettingError
from weft.text.fields import PairFields
from weft.text.pairs import NOTHING, PairReader


def file(tmp_path, text: str, name: str = "file"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_blank_and_bad_lines_keep_their_place(tmp_path):
    found = read_files([file(tmp_path, "a b ||| c\n\nno separator\nd ||| e f\n")])
    assert [entry.pair for entry in found.pairs] == [
        SentencePair(("a", "b"), ("c",)), NOTHING, NOTHING, SentencePair(("d",), ("e", "f")),
    ]  # fmt: skip
    assert [bool(entry.problem) for entry in found.pairs] == [False, True, True, False]
    assert "file:3" in found.pairs[2].problem
    assert found.links == []


@pytest.mark.parametrize("text", ["a b\tc d\n", '{"source": "a b", "target": ["c", "d"]}\n', "a b ||| c d\n"])
def test_formats_of_pairs_are_told_apart(tmp_path, text):
    assert read_files([file(tmp_path, text)]).pairs[0].pair == SentencePair(("a", "b"), ("c", "d"))


def test_two_files(tmp_path):
    paths = [file(tmp_path, "a\n\nb\n", "x.src"), file(tmp_path, "c\n\nd\n", "x.tgt")]
    assert [entry.pair.source for entry in read_files(paths).pairs] == [("a",), (), ("b",)]
    with pytest.raises(LineCountError):
        read_files([paths[0], file(tmp_path, "c\n", "short")])


def test_links_beside_the_pairs_keep_their_scores(tmp_path):
    text = '{"source": "a b", "target": "c", "links": [[0, 0, 0.5]], "possible": [[1, 0]], "score": 0.9}\n'
    found = read_files([file(tmp_path, text + '{"source": "x", "target": "y"}\n\n')])
    assert found.links[0] is not None
    assert found.links[0].links == (Link(0, 0, 0.5), Link(1, 0, None, False))
    assert found.links[0].score == 0.9
    assert found.links[1:] == [None, None]


@pytest.mark.parametrize("text", ["1-1 2p2\n", "1 1 1 S\n1 2 2 P\n", '{"links": [[0, 0]], "possible": [[1, 1]]}\n'])
def test_links_alone_are_counted_from_0(tmp_path, text):
    found = read_files([file(tmp_path, text)], [SentencePair(("a", "b"), ("c", "d"))])
    assert found.pairs == []
    assert [link for each in found.links for link in each] == [Link(0, 0), Link(1, 1, None, False)]


def test_links_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(FormatError, match="out of range"):
        read_files([file(tmp_path, "0-5\n")], [SentencePair(("a",), ("b",))])
    with pytest.raises(LineCountError):
        read_files([file(tmp_path, "0-0\n0-0\n")], [SentencePair(("a",), ("b",))])
    with pytest.raises(SettingError, match="no sentence pairs"):
        read_files([file(tmp_path, "nothing here\n")])


def test_a_sentence_without_a_counterpart_says_so(tmp_path):
    alone = '{"source": ["ja"], "source_span": [0, 2], "target": [], "target_span": null}\n'
    pair = '{"source": ["ja"], "source_span": [0, 2], "target": ["yes"], "target_span": [0, 3]}\n'
    found = read_files([file(tmp_path, alone + pair, "two-texts.jsonl")]).pairs
    assert [entry.problem for entry in found] == ["the sentence has no counterpart.", ""]


def test_ids_and_other_columns_stay_with_their_pairs(tmp_path):
    table = file(tmp_path, "Nr,de,en\n7,das Haus,the house\n8,,yes\n", "table.csv")
    found = read_files([table], reader=PairReader(fields=PairFields.of("de", "en"))).pairs
    assert [written_pair(entry) for entry in found] == [
        {"problem": "the line names the columns."},
        {"Nr": "7", "source": ("das", "Haus"), "target": ("the", "house")},
        {"Nr": "8", "problem": "table.csv:3: the source side is empty."},
    ]
    path = file(tmp_path, "".join(json.dumps(written_pair(entry)) + "\n" for entry in found), "pairs.jsonl")
    assert [written_pair(entry) for entry in read_project_pairs(path)] == [written_pair(entry) for entry in found]
