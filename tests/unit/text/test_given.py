import numpy as np
import pytest

from weft.errors import SettingError
from weft.text.given import to_one_pair, to_pair, to_texts
from weft.types import SentencePair

GOOD = SentencePair(("das", "ist", "gut"), ("that", "is", "good"))


@pytest.mark.parametrize(
    "pair",
    [
        GOOD,
        ("das ist gut", "that is good"),
        (["das", "ist", "gut"], "that is good"),
        ["das ist gut", GOOD.target],
        np.array(["das ist gut", "that is good"], dtype=object),
        np.array([list(GOOD.source), list(GOOD.target)]),
    ],
)
def test_whatever_people_call_a_pair_becomes_one(pair):
    assert to_pair(pair, 0) == GOOD


@pytest.mark.parametrize(
    "pair",
    [
        None,
        float("nan"),
        "das ist gut",
        ("das",),
        ("a", "b", "c"),
        {"source": "a", "target": "b"},
        ("a", None),
        (float("nan"), "b"),
        (["a", None], "b"),
        (["a", 3], "b"),
        SentencePair("das ist gut", None),
        7,
        np.array(["a", "b", "c"]),
        np.array([1.0, 2.0]),
        np.array("ab"),
    ],
)
def test_what_is_no_pair_is_named_with_its_row(pair):
    with pytest.raises(SettingError, match=r"row 5 of `pairs`(, (source|target))?: expected a sentence"):
        to_pair(pair, 5)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_whole_table_is_answered_with_how_to_take_its_columns(library):
    table = pytest.importorskip(library).DataFrame({"pt": ["das ist gut"], "en": ["that is good"]})
    assert to_pair(table.to_numpy()[0], 0) == GOOD
    with pytest.raises(SettingError, match=r"row 0 of `pairs`: .* Of a table `df`, give zip\(df\['pt'\], df\['en'\]\)"):
        to_pair(next(iter(table)), 0, pairs=table)


def test_a_table_with_numbered_columns_is_answered_with_them():
    table = pytest.importorskip("pandas").DataFrame([["das ist gut", "that is good"]])
    with pytest.raises(SettingError, match=r"give zip\(df\[0\], df\[1\]\)"):
        to_pair(next(iter(table)), 0, pairs=table)


@pytest.mark.parametrize(
    ("row", "advice"),
    [({"pt": "gut", "en": "good"}, r"row\['pt'\], row\['en'\]"), ({"x": "gut"}, r"row\['source'\], row\['target'\]")],
)
def test_records_are_answered_with_their_keys(row, advice):
    with pytest.raises(SettingError, match=rf"Give \({advice}\)\."):
        to_pair(row, 0)


def test_the_side_that_is_no_sentence_is_named():
    with pytest.raises(SettingError, match="row 2 of `pairs`, target: expected a sentence"):
        to_pair(("a", None), 2)
    with pytest.raises(SettingError, match=r"^`target`: expected a sentence as a string or a list of words, found nan"):
        to_one_pair("a", float("nan"))


class Series(list):
    """As pandas and polars have it."""

    def to_frame(self):
        raise NotImplementedError


def test_whole_columns_are_not_taken_for_the_words_of_a_sentence():
    for source, target, name in ((Series(["a b"]), Series(["c d"]), "source"), ("a", Series(["c d"]), "target")):
        with pytest.raises(
            SettingError, match=rf"`{name}`: .*column.*align_batch\(zip\(source, target, strict=True\)\)"
        ):
            to_one_pair(source, target)
    assert to_one_pair(np.array(GOOD.source), list(GOOD.target)) == GOOD


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_are_known_as_the_libraries_have_them(library):
    column = pytest.importorskip(library).Series(["das ist gut", "gut"])
    with pytest.raises(SettingError, match="whole column"):
        to_one_pair(column, column)


@pytest.mark.parametrize("pair", [("a", "A \ud83d B"), ("a", ["A", "\ud83d"]), SentencePair(("a",), ("A", "\ud83d"))])
def test_half_a_surrogate_pair_is_refused_with_its_row(pair):
    with pytest.raises(SettingError, match=r"^row 5 of `pairs`, target: .*\\ud83d.* half of a surrogate pair\.$"):
        to_pair(pair, 5)
    with pytest.raises(SettingError, match=r"^`target`: .*half of a surrogate pair"):
        to_one_pair(*pair)
    with pytest.raises(SettingError, match=r"^sentence 1 of `source`: .*half of a surrogate pair"):
        to_texts([("a",), tuple(pair[1])], [("b",)])


def test_texts_are_their_sentences():
    assert to_texts([("a", "b"), ["c"]], []) == [[("a", "b"), ("c",)], []]
