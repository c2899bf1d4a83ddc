"""Any inline content, and any links, for tests of all formats."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from weft.applications.documents.inline import Document
from weft.applications.spans import split_at_blanks
from weft.applications.tagging import MarkupRecord, Tagged, project_markup
from weft.types import Alignment, Link

WORDS = ("a", "b", "c", "d")


def trees(kinds: st.SearchStrategy[str], points: st.SearchStrategy[str]) -> st.SearchStrategy[list[Any]]:
    """Lists of words, points and `(kind, list)`, nested; the first item is a word, so that there is a segment."""
    word = st.sampled_from(WORDS)
    content = st.recursive(
        st.lists(word | points.map(lambda name: (name, None)), max_size=4),
        lambda inner: st.lists(word | st.tuples(kinds, inner) | points.map(lambda name: (name, None)), max_size=4),
        max_leaves=8,
    )
    return content.map(lambda items: ["w", *items])


targets = st.lists(st.sampled_from(["x", "y", "z", "*", "_", "1.", "<", "&"]), max_size=7).map(" ".join)
links = st.sets(st.tuples(st.integers(0, 12), st.integers(0, 6)), max_size=20)


def filled(document: Document, target: str, pairs: set[tuple[int, int]]) -> tuple[Tagged, list[str]]:
    """Put a translation into a document with one segment, through the links that there can be."""
    [segment] = document.segments
    record = MarkupRecord.of(segment.markup, target, (split_at_blanks, split_at_blanks))
    sizes = (len(record.tagged.words), len(record.plain.words))
    alignment = Alignment.of(Link(*pair) for pair in pairs if pair[0] < sizes[0] and pair[1] < sizes[1])
    tagged = project_markup(record, alignment)
    return tagged, document.fill(0, tagged.pieces)


def unspaced(text: str) -> str:
    return "".join(text.split())
