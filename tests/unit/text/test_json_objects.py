from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.text.json_objects import parse_json_object, read_json_object, shorten

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), values))
def test_objects_are_read_as_they_were_written(record):
    assert parse_json_object(json.dumps(record)) == record


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", r"expected a JSON object, found '\[1\]'\."),
        ("{", "expected a JSON object, found '{'"),
        ("", "expected a JSON object, found ''"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", "nested too deeply"),
        ('{"a": ' * 300 + "1" + "}" * 300, "nested too deeply"),
        ('{"a": ' + "1" * 5000 + "}", "expected a JSON object"),
    ],
)
def test_what_is_wrong_is_a_sentence(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        parse_json_object(text)
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"config\.json: .*{message}"):
        read_json_object(path)


def test_many_brackets_are_not_deep():
    record = {"links": [[i, i] for i in range(500)], "open": "[" * 500}
    assert parse_json_object(json.dumps(record)) == record


def test_a_file_may_begin_with_a_byte_order_mark_but_must_be_utf_8(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json_object(path) == {"a": 1}
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(FormatError, match=r"x\.json: expected UTF-8"):
        read_json_object(path)


def test_long_input_is_quoted_in_part():
    assert shorten("abc") == "'abc'"
    assert shorten("x" * 50) == f"'{'x' * 39}…'"
