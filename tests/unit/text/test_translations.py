"""Which texts of a translation memory, or of a record with texts by language, are the pair."""

import json

import pytest

from weft.errors import FormatError, SettingError
from weft.text.fields import PairFields
from weft.text.pairs import read_text_pairs
from weft.text.translations import LanguageOrder, NoTextError, chosen_pair, matching_language

UNITS = """<tmx version="1.4"><header srclang="it-IT"/><body>
<tu tuid="1"><tuv xml:lang="it-IT"><seg>sì</seg></tuv><tuv xml:lang="de-DE"><seg>ja</seg></tuv></tu>
<tu tuid="2"><tuv xml:lang="it-IT"><seg>no</seg></tuv><tuv xml:lang="de-DE"><seg>nein</seg></tuv>
<tuv xml:lang="en-GB"><seg>no!</seg></tuv><tuv xml:lang="en-US"><seg>nope</seg></tuv></tu>
<tu tuid="3"><tuv xml:lang="it-IT"><seg>solo</seg></tuv></tu>
</body></tmx>
"""


@pytest.fixture
def read(tmp_path):
    """What is read from the units above with some choice of languages: sides, ids, and what is said of bad units."""
    path = tmp_path / "memory.tmx"
    path.write_text(UNITS)

    def read(*fields, languages=(None, None)):
        bad: list[FormatError] = []
        chosen = PairFields.of(*fields, languages=languages)
        found = list(read_text_pairs(path, fields=chosen, on_error=bad.append))
        assert [pair.extra["id"] for pair in found] == ["1", "2", "3"]
        return [pair.sides for pair in found], [str(error).rpartition(": ")[2] for error in bad]

    return read


@pytest.mark.parametrize("fields", [("it", "de"), ("IT_it", "de-DE"), ("it-IT", "de")])
def test_the_language_alone_is_enough_where_one_country_has_it(read, fields):
    sides, bad = read(*fields)
    assert sides == [("sì", "ja"), ("no", "nein"), None]
    assert bad == [f"there is no text in {fields[1]} here, only in it-IT."]


def test_languages_choose_as_fields_do(read):
    assert read(languages=("it", "de"))[0] == [("sì", "ja"), ("no", "nein"), None]
    assert read(languages=("de", "it"))[0] == [("ja", "sì"), ("nein", "no"), None]


def test_a_field_counts_more_than_a_language(read):
    assert read("it", "de", languages=("de", "it"))[0] == [("sì", "ja"), ("no", "nein"), None]


def test_a_unit_without_the_language_says_which_it_has(read):
    sides, bad = read("it", "en-GB")
    assert sides == [None, ("no", "no!"), None]
    assert bad == ["there is no text in en-GB here, only in it-IT and de-DE.", "there is no text in en-GB here, only "
                   "in it-IT."]  # fmt: skip
    assert read(languages=("it", "fr"))[1][1] == "there is no text in fr here, only in it-IT, de-DE, en-GB and en-US."


def test_a_language_of_two_countries_is_not_guessed(read):
    assert read("it", "en")[1][1] == "en may be en-GB or en-US; use one of these codes."


def test_without_a_choice_the_first_unit_decides_also_where_there_are_more_languages(read):
    sides, bad = read()
    assert sides == [("sì", "ja"), ("no", "nein"), None]
    assert bad == ["found text in it-IT only, and no translation of it."]


@pytest.mark.parametrize("languages", [(None, None), ("de", None), (None, "fr")])
def test_a_file_that_begins_with_more_languages_needs_a_choice(tmp_path, languages):
    path = _records(tmp_path, {"it": "solo"}, {"de": "ja", "en": "yes", "it": "sì"})
    if languages == (None, "fr"):
        path = _records(tmp_path, {"de": "ja", "en": "yes", "fr": "oui"})
    advice = (
        r"^the file has text in de, en and (it|fr)\. Choose two of these languages with `source_language` and "
        r"`target_language` or, without `raw`, with `source_field` and `target_field`\.$"
    )
    with pytest.raises(SettingError, match=advice):
        list(read_text_pairs(path, fields=PairFields.of(languages=languages), on_error=lambda error: None))


@pytest.mark.parametrize(
    ("languages", "codes", "pair"),
    [
        (["de", "en"], (None, None), ("de", "en")),
        (["de", "en"], ("en", None), ("en", "de")),
        (["de", "en"], (None, "de"), ("en", "de")),
        (["de", "en", "fr"], ("fr", "en_US"), ("fr", "en")),
        # Names that are no codes, and codes of another kind, cannot be compared: their order counts.
        (["german", "english"], ("de", "en"), ("german", "english")),
        (["de", "en"], ("deu", "eng"), ("de", "en")),
    ],
)
def test_codes_choose_source_and_target(languages, codes, pair):
    assert chosen_pair(dict.fromkeys(languages, "text"), codes) == pair


def test_the_very_name_comes_first():
    assert matching_language("en", ["en-US", "en", "en-GB"]) == "en"
    assert matching_language("fr", ["en", "de"]) is None


def test_other_names_of_a_language_mean_it_too():
    languages = ["en-US", "deu-DE", "pt-BR", "iw", "nb"]
    names = ("eng", "English", "de", "ger", "por", "he", "no", "pt-PT", "Klingon")
    found = [matching_language(name, languages) for name in names]
    assert found == ["en-US", "en-US", "deu-DE", "deu-DE", "pt-BR", "iw", "nb", None, None]
    with pytest.raises(ValueError, match="may be"):
        matching_language("eng", ["en-GB", "en-US"])


def _records(tmp_path, *translations):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps({"translation": texts}) + "\n" for texts in translations))
    return path


def test_the_first_record_says_which_language_is_the_source(tmp_path):
    path = _records(tmp_path, {"de": "ja", "en": "yes"}, {"en": "no way", "de": "nein"}, {"fr": "non", "en": "no"})
    bad: list[FormatError] = []
    found = [pair.sides for pair in read_text_pairs(path, on_error=bad.append)]
    assert found == [("ja", "yes"), ("nein", "no way"), None]
    assert [str(error).partition(": ")[2] for error in bad] == [
        "there is no text in de here, only in fr and en. The file begins with de and en."
    ]


def test_one_named_language_leaves_the_other_to_the_first_record(tmp_path):
    path = _records(tmp_path, {"de": "ja", "en": "yes"}, {"en": "no way", "de": "nein"}, {"fr": "non", "en": "no"})
    bad: list[FormatError] = []
    fields = PairFields.of(languages=("en", None))
    found = [pair.sides for pair in read_text_pairs(path, fields=fields, on_error=bad.append)]
    assert found == [("yes", "ja"), ("no way", "nein"), None]
    assert len(bad) == 1


def test_the_order_of_units_does_not_matter_either(tmp_path):
    path = tmp_path / "memory.tmx"
    unit = '<tu><tuv xml:lang="{}"><seg>{}</seg></tuv><tuv xml:lang="{}"><seg>{}</seg></tuv></tu>'
    units = unit.format("it", "sì", "de", "ja") + unit.format("de", "nein", "it", "no")
    path.write_text(f'<tmx version="1.4"><header srclang="*all*"/><body>{units}</body></tmx>')
    assert [pair.sides for pair in read_text_pairs(path)] == [("sì", "ja"), ("no", "nein")]


def test_countries_make_no_difference_unless_they_tell_languages_apart():
    order = LanguageOrder((None, None))
    assert order({"de": "", "en-GB": ""}) == ("de", "en-GB")
    assert order({"en-US": "", "de_AT": ""}) == ("de_AT", "en-US")
    order = LanguageOrder((None, None))
    assert order({"pt-PT": "", "pt-BR": ""}) == ("pt-PT", "pt-BR")
    assert order({"pt-BR": "", "pt-PT": ""}) == ("pt-PT", "pt-BR")


def test_one_record_in_more_languages_does_not_end_a_run(tmp_path):
    three = {"translation": {"de": "ja", "en": "yes", "fr": "oui"}}
    (tmp_path / "good").write_text(json.dumps({"source": "a", "target": "b"}) + "\n" + json.dumps(three) + "\n")
    (tmp_path / "empty").write_text(json.dumps({"source": "", "target": ""}) + "\n" + json.dumps(three) + "\n")
    bad: list[FormatError] = []
    assert [row.sides for row in read_text_pairs(tmp_path / "good", on_error=bad.append)] == [("a", "b"), None]
    assert "text in de, en and fr" in str(bad[0])
    with pytest.raises(SettingError):
        list(read_text_pairs(tmp_path / "empty", on_error=bad.append))


def test_of_more_languages_those_of_the_first_record_are_taken():
    order = LanguageOrder((None, None))
    assert order({"de": "", "en": ""}) == ("de", "en")
    assert order({"fr": "", "en-US": "", "de": "", "it": ""}) == ("de", "en-US")
    with pytest.raises(ValueError, match=r"^en may be en-US or en-GB; use one of these codes"):
        order({"fr": "", "en-US": "", "en-GB": "", "de": ""})
    with pytest.raises(NoTextError, match=r"^there is no text in en here, only in de, fr and it. The file begins with"):
        order({"de": "", "fr": "", "it": ""})
