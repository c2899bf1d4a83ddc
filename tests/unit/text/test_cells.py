from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.cells import csv_row, row_writer


@pytest.mark.parametrize("name", ["x.csv", "X.CSV", "x.csv.gz", "x.csv.xz", "folder/x.csv.zst"])
def test_a_name_in_csv_means_csv(name):
    assert row_writer(name)(["Ja, gern", 'so "so"', "7"]) == '"Ja, gern","so ""so""",7\n'


@pytest.mark.parametrize("name", ["-", "x.tsv", "x", "x.csv.txt", "csv"])
def test_any_other_name_means_tabs(name):
    assert row_writer(name)(["Ja, gern", 'so "so"', "7"]) == 'Ja, gern\tso "so"\t7\n'


def test_cells_between_tabs_stay_cells():
    assert row_writer("-")(["a\tb", "c\nd", "e\rf"]) == "a b\tc d\te f\n"


def test_a_semicolon_is_quoted_too_as_readers_may_take_it_for_a_separator():
    assert csv_row(["a; b; c", "d"]) == '"a; b; c","d"\n'


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2), min_size=1))
def test_csv_is_read_back_as_it_was(rows):
    text = "".join(map(csv_row, rows))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == rows
