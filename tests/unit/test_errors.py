from __future__ import annotations

import json
import pickle
from enum import StrEnum

import pytest

from weft.errors import (
    FormatError,
    LineCountError,
    MissingExtraError,
    SettingError,
    WeftError,
    check_names,
    chosen,
    first_line,
    install_command,
    number_of,
)


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@pytest.mark.parametrize(
    "error",
    [
        WeftError("sorry."),
        FormatError("gold.talp", 3, "expected 'i-j'."),
        FormatError("text", 1, "expected UTF-8.", byte=7),
        LineCountError([("a", 1), ("b", 2)]),
        MissingExtraError("zh", "Chinese"),
        SettingError("`threshold` must be between 0 and 1."),
    ],
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_bad_choice_is_answered_with_the_choices():
    assert chosen("colour", Colour, "red") is Colour.RED
    with pytest.raises(SettingError, match=r"`colour` must be one of red, green, got 'blue'\.$"):
        chosen("colour", Colour, "blue")
    with pytest.raises(SettingError, match=r"got 'gren'\. Did you mean green\?"):
        chosen("colour", Colour, "gren")
    with pytest.raises(SettingError, match="got 3"):
        chosen("colour", Colour, 3)


def test_a_misspelt_name_is_answered_with_the_names():
    check_names(["alpha"], ["alpha", "beta"])
    with pytest.raises(SettingError, match=r"no setting 'alhpa'\. Did you mean alpha\? There are alpha, beta\."):
        check_names(["alhpa"], ["alpha", "beta"])


def test_the_first_line_of_another_library_s_error():
    assert first_line(ValueError("one\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'weft[zh]'"),
        ({"url": "https://example.org/weft.whl", "archive_info": {}}, "pip install 'weft[zh]'"),
        ({"url": "file:///tmp/my%20weft", "dir_info": {}}, "pip install '/tmp/my weft[zh]'"),
        ({"url": "file:///src/weft", "dir_info": {"editable": True}}, "pip install --editable '/src/weft[zh]'"),
    ],
)
def test_an_extra_is_installed_from_where_weft_came_from(tmp_path, monkeypatch, origin, command):
    record = tmp_path / "weft-9.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: weft\nVersion: 9\n")
    if origin is not None:
        (record / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("zh") == command


@pytest.mark.parametrize(("count", "words"), [(0, "0 pairs"), (1, "1 pair"), (2000, "2,000 pairs")])
def test_one_is_not_many(count, words):
    assert number_of(count, "pair") == words
