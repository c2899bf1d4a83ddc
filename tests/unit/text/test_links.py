from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import alignments
from weft.errors import FormatError
from weft.text.links import LinkFormat, format_links, read_links, read_numbered_links, recognised_links
from weft.types import Alignment, Link


@pytest.fixture
def read(tmp_path):
    def read(content: str | bytes, **options):
        path = tmp_path / "gold.talp"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_links(path, **options))

    return read


def test_pharaoh(read):
    assert read("0-0 2-1\n\n1-1\n") == [Alignment((Link(0, 0), Link(2, 1))), Alignment(), Alignment((Link(1, 1),))]


def test_pharaoh_with_scores(read):
    assert read("0-0:0.93 2-1:1e-05\n") == [Alignment((Link(0, 0, 0.93), Link(2, 1, 1e-05)))]


def test_talp(read):
    assert read("10-9 11p42\n") == [Alignment((Link(10, 9), Link(11, 42, None, False)))]


def test_talp_counted_from_1(read):
    assert read("1-1 2p3\n", base=1) == [Alignment((Link(0, 0), Link(1, 2, None, False)))]


def test_naacl_counts_from_1_drops_null_and_fills_gaps(read):
    content = "0001 1 1 S\n0001 2 3 P 0.5\n0001 0 4\n\n3 5 5\n3 6 0 S\n"
    expected = [Alignment((Link(0, 0), Link(1, 2, 0.5, False))), Alignment(), Alignment((Link(4, 4),))]
    assert read(content) == expected


def test_jsonl(read):
    content = '{"links": [[0, 0], [1, 2, 0.5]], "possible": [[2, 2]], "score": 0.25}\n\n{"sure": [[3, 3]]}\n'
    first = Alignment((Link(0, 0), Link(1, 2, 0.5), Link(2, 2, None, False)), 0.25)
    assert read(content) == [first, Alignment(), Alignment((Link(3, 3),))]


def test_double_links_are_one_and_the_sure_one_wins(read):
    assert read("1p1 0-0 1-1 0-0\n") == [Alignment((Link(0, 0), Link(1, 1)))]


@pytest.mark.parametrize(
    ("content", "format", "message"),
    [
        ("0-0\n1-1 3_4\n", "auto", "gold.talp:2: expected 'i-j' or 'ipj', found '3_4'."),
        ("# Sentence pair (1)\n", "auto", "docs/coming-from.md says how."),
        ("0-0 1p1\n", "pharaoh", "gold.talp:1: expected 'i-j', found '1p1'."),
        ("1-\n", "talp", "gold.talp:1: expected 'i-j' or 'ipj', found '1-'."),
        ("-1-1\n", "talp", "found '-1-1'"),
        ("1-1:nan\n", "auto", "found '1-1:nan'"),
        ("1-1:1e999\n", "auto", "expected a number as score, found '1e999'"),
        ("1-1:1-2\n", "auto", "expected a number as score"),
        ("99999999999-1\n", "auto", "found '99999999999-1'"),
        (b"1-1 \xff-2\n", "talp", "found '\\\\xff-2'"),
        ("٣-١\n", "talp", "expected 'i-j' or 'ipj'"),
        ("1 2 3\n1 2\n", "auto", "gold.talp:2: expected 'sentence i j [S|P] [confidence]', found '1 2'."),
        ("2 1 1\n1 1 1\n", "naacl", "gold.talp:2: sentence 1 after sentence 2; sort the file"),
        ("0 1 1\n", "naacl", "counted from 1"),
        ("999999999 1 1\n", "naacl", "sentence 999999999 after sentence 0"),
        ("1 1 1 S 1e999\n", "naacl", "gold.talp:1: expected a number"),
        ('{"links": 3}\n', "auto", 'expected "links" to be a list'),
        ('{"links": [[0]]}\n', "auto", "expected a link [i, j] or [i, j, score], found '[0]'."),
        ('{"links": [[true, 1]]}\n', "auto", "expected a link"),
        ('{"links": [[0, -1]]}\n', "auto", "expected a link"),
        ('{"links": [[0, 1, NaN]]}\n', "auto", "expected a number as score, found 'NaN'."),
        ('{"links": [[0, 1, 1' + "0" * 400 + "]]}\n", "auto", "expected a number as score"),
        ('{"foo": 1}\n', "auto", "expected \"links\", found 'foo'."),
        (b'{"links": "\xff"}\n', "auto", "expected UTF-8, found the byte ff"),
    ],
)
def test_bad_links_are_named(read, content, format, message):
    with pytest.raises(FormatError) as caught:
        read(content, format=format)
    assert message in str(caught.value)


def test_an_index_0_where_words_count_from_1(read):
    with pytest.raises(FormatError, match=r"gold\.talp:2: found '0-1', but .* counted from 1"):
        read("1-1\n0-1\n", base=1)


def test_numbered_links_keep_what_the_file_says(tmp_path):
    path = tmp_path / "links"
    path.write_text("1-1 0-0 1-1\n")
    assert list(read_numbered_links(path)) == [(1, [Link(1, 1), Link(0, 0), Link(1, 1)], None)]


@pytest.mark.parametrize(
    ("content", "format"),
    [("\n\n0-0", "talp"), ("1 1 1", "naacl"), ("\n{}", "jsonl"), ("", "talp"), ("\n", "talp")],
)
def test_formats_are_recognised(tmp_path, content, format):
    path = tmp_path / "links"
    path.write_text(content)
    assert recognised_links(path)[0] == format


KEEPS = {
    "pharaoh": {"scores": False, "possible": False},
    "pharaoh-scores": {"scores": True, "possible": False},
    "talp": {"scores": True, "possible": True},
    "naacl": {"scores": True, "possible": True},
    "jsonl": {"scores": True, "possible": True},
}


@pytest.mark.parametrize("format", KEEPS)
@given(data=st.data())
def test_what_is_written_is_read_back(tmp_path_factory, format, data):
    written = data.draw(st.lists(alignments(**KEEPS[format]), min_size=1))
    if format == "jsonl":
        score = data.draw(st.none() | st.floats(0, 1))
        written = [Alignment(alignment.links, score) for alignment in written]
    path = tmp_path_factory.mktemp("links") / "file"
    path.write_text("".join(format_links(written, format)))
    assert list(read_links(path, format=format)) == written


@pytest.mark.parametrize("format", ["pharaoh", "talp"])
@given(written=st.lists(alignments(scores=False, possible=False), min_size=1))
def test_counting_from_1_goes_round(tmp_path_factory, format, written):
    path = tmp_path_factory.mktemp("links") / "file"
    path.write_text("".join(format_links(written, format, base=1)))
    assert list(read_links(path, format=format, base=1)) == written


@given(st.binary(max_size=200), st.sampled_from(list(LinkFormat)))
def test_random_bytes_give_links_or_a_format_error(tmp_path_factory, content, format):
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(content)
    try:
        assert all(isinstance(alignment, Alignment) for alignment in read_links(path, format=format))
    except FormatError as error:
        assert str(path) in str(error)


@given(st.text(st.sampled_from('0123 -p:.eES{}[]",links\n')), st.sampled_from(list(LinkFormat)))
def test_nearly_valid_text_gives_links_or_a_format_error(tmp_path_factory, content, format):
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text(content)
    try:
        for alignment in read_links(path, format=format):
            assert list(alignment.links) == sorted(alignment.links, key=lambda link: link.indices)
    except FormatError as error:
        assert str(path) in str(error)
