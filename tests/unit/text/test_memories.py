from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import SettingError
from weft.text.fields import PairFields, TextPair
from weft.text.memories import MemoryWriter, Unit, unit_of
from weft.text.pairs import read_text_pairs

_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
_units = st.lists(st.builds(Unit, _text, _text, _text), max_size=5)


@given(units=_units, reverse=st.booleans())
def test_what_is_written_is_read_again(tmp_path_factory, units, reverse):
    path = tmp_path_factory.mktemp("memory") / "memory.tmx"
    writer = MemoryWriter(("pt_BR", "zh"))
    path.write_text("".join(writer.lines(units)), encoding="utf-8", newline="\n")
    ElementTree.parse(path)
    fields = PairFields.of(languages=("zh", "pt") if reverse else (None, None))
    read = [
        (*(row.sides[::-1] if reverse else row.sides), row.extra.get("id", ""))
        for row in read_text_pairs(path, fields=fields)
    ]
    allowed = [Unit(*map(_allowed, unit)) for unit in units]
    expected = [unit for unit in allowed if unit.source.strip() and unit.target.strip()]
    assert [row[:2] for row in read] == [tuple(" ".join(side.split()) for side in unit[:2]) for unit in expected]
    assert [row[2].split() for row in read] == [unit.id.split() for unit in expected]
    assert writer.changed == sum(one != other for one, other in zip(units, allowed, strict=True))


def _allowed(text: str) -> str:
    """Without what no XML may hold (XML 1.0, production 2)."""
    return "".join(
        letter for letter in text if letter in "\t\n\r" or (letter >= " " and ord(letter) not in (0xFFFE, 0xFFFF))
    )


def test_words_that_weft_split_are_text_again():
    record = {"source_text": "L'eau,   \n    oui.", "id": 7}
    pair = TextPair((("L'", "eau", ",", "oui", "."), ("Water", ",", "yes", ".")), record)
    assert unit_of(pair) == Unit("L'eau, oui.", "Water , yes .", "7")
    assert unit_of(TextPair(("a\r\nb", "10\xa0000  \tc "))) == Unit("a b", "10\xa0000  \tc ")
    assert unit_of(TextPair(None)) is None


@pytest.mark.parametrize(
    ("languages", "sentence"),
    [
        ((None, "en"), "TMX names the languages of its sentences; give `source_language` and `target_language`"),
        (("de", "English"), "`target_language` must be a language code, such as de or pt-BR, got 'English'."),
        (("de", "DE"), "must differ"),
    ],
)
def test_languages_must_be_two_codes(languages, sentence):
    with pytest.raises(SettingError, match=sentence):
        MemoryWriter(languages)
