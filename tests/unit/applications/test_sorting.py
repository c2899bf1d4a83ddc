from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.applications import sorting

cells = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\t\n"), max_size=4)


@settings(deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=40), st.integers(1, 5))
def test_rows_come_out_in_order(rows, in_memory):
    assert list(sorting.sorted_rows(rows, in_memory=in_memory)) == sorted(rows)


def test_many_pieces_are_merged_on_the_way(monkeypatch):
    monkeypatch.setattr(sorting, "_MOST_FILES", 3)
    rows = [(str(number * 7919 % 1000), "x") for number in range(1000)]
    assert list(sorting.sorted_rows(rows, in_memory=10)) == sorted(rows)
