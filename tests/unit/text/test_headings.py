from __future__ import annotations

import logging

import pytest

from weft.text.headings import name_columns, text_columns
from weft.text.pairs import read_pairs


@pytest.mark.parametrize(
    ("row", "chosen"),
    [
        (["Kunde", "Deutsch", "Englisch"], ("Deutsch", "Englisch")),
        (["Müller AG", "de-DE", "en_US", "pt_BR"], ("de-DE", "en_US")),
        (["id", "lang", "source text", "target text"], ("source text", "target text")),
        (["English", "Source (de)", "Target (en)"], ("Source (de)", "Target (en)")),
        (["source language", "target language", "de", "en"], ("de", "en")),
        (["Nr", "中文", "English"], ("中文", "English")),
        (["id", "text"], None),
        (["Text", "Text"], None),
    ],
)
def test_rows_that_name_columns(row, chosen):
    assert name_columns(row)
    assert text_columns(row) == chosen


@pytest.mark.parametrize(
    "row",
    [
        ["das Haus", "the house"],
        ["no", "id"],
        ["ja", "yes", "0.9"],
        ["Ich lerne Deutsch .", "I learn German .", "0-0 1-1"],
        ["de en it fr", "el es"],
        ["Deutsch!", "German!", "x"],
        ["English", "x", "y"],
        ["de"],
        [],
    ],
)
def test_rows_that_do_not(row):
    assert not name_columns(row)


PAIRS = "Der Hund schläft\tThe dog sleeps\tTED\nGuten Tag\tGood day\tQED\nDas ist gut\tThat is good\tTED\n"


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("Kunde\tDeutsch\tEnglisch", "as in `source_field` Deutsch `target_field` Englisch; weft then skips the line."),
        ("Nr\tGerman text\tEnglish text", 'as in `source_field` "German text" `target_field` "English text"; weft'),
        ("Vorgang\tFrage\tAntwort", "choose the columns by their names, with `source_field` and `target_field`;"),
        ("Danke\tThanks\tQED", None),  # the third column is no name, as it comes again
        ("Guten Tag\tHello\tnoun", None),
        ("Hallo\tHello\t0-0", None),
        ("Hallo\tHello\t0.98", None),
        ("Hallo .\tHello .", None),
    ],
)
def test_names_in_the_first_of_several_columns_are_noticed_once(tmp_path, caplog, first, said):
    caplog.set_level(logging.WARNING, "weft")
    (tmp_path / "t.tsv").write_text(f"{first}\n{PAIRS}", encoding="utf-8")
    assert len(list(read_pairs(tmp_path / "t.tsv"))) == 4
    assert len(caplog.records) == bool(said)
    assert said is None or said in caplog.text


def test_short_words_alone_are_a_list_of_words(tmp_path, caplog):
    (tmp_path / "t.tsv").write_text("Hund\tdog\tnoun\nKatze\tcat\tx\nlaufen\trun\tverb\nrot\tred\ty\n")
    assert len(list(read_pairs(tmp_path / "t.tsv"))) == 4
    assert caplog.messages == []
