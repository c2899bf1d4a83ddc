from __future__ import annotations

import csv
import json
import re
import shlex

import pytest

from weft import Aligner, SettingError, align_documents
from weft.corpus.documents import read_text, write_aligned_documents
from weft.text.sentences import split_sentences

GERMAN = """Das Museum ist von Dienstag bis Sonntag geöffnet. Am Montag bleibt es geschlossen.
Der Eintritt kostet acht Euro, und Kinder zahlen nichts. Bitte lassen Sie Ihre Taschen an der Garderobe.

  Im Erdgeschoss finden Sie die römischen Münzen. Das Café im ersten Stock bietet Kuchen an.
"""
ENGLISH = """The museum is open from Tuesday to Sunday and closed on Monday.
Admission is eight euros. Children pay nothing. Free guided tours start at noon.

You will find the Roman coins on the ground floor. The café on the first floor offers cakes.
"""


@pytest.fixture(scope="module")
def aligner():
    return Aligner.from_pretrained()


@pytest.fixture(scope="module")
def parts(aligner):
    return align_documents(GERMAN, ENGLISH, aligner=aligner, source_language="de", target_language="en")


def test_sentences_that_are_joined_divided_and_missing(parts):
    found = {(part.source.text[:10], part.target.text[:10]) for part in parts}
    assert found == {
        ("Das Museum", "The museum"),  # two sentences and one
        ("Der Eintri", "Admission "),  # one and two
        ("Bitte lass", ""),
        ("", "Free guide"),
        ("Im Erdgesc", "You will f"),
        ("Das Café i", "The café o"),
    }
    assert parts[0].source.text.endswith("geschlossen.")
    assert parts[1].target.text.endswith("nothing.")


def test_half_a_surrogate_pair_is_refused(aligner):
    with pytest.raises(SettingError, match=r"`target`: .* half of a surrogate pair"):
        align_documents("Das Museum.", "The museum \ud83d.", aligner=aligner)


RECIPE = """Beat the eggs with the sugar. Stir in the flour and a pinch of salt. Pour the batter into a buttered tin.
Bake the cake for forty minutes. Let it cool before you cut it.
"""


def test_a_paragraph_that_is_missing_is_skipped_whole(aligner):
    english = ENGLISH + RECIPE
    parts = align_documents(GERMAN, english, aligner=aligner, source_language="de", target_language="en")
    alone = [part.target.text for part in parts if part.target.words and not part.source.words]
    recipe = [RECIPE[start:end] for start, end in split_sentences(RECIPE, "en")]
    assert alone == ["Free guided tours start at noon.", *recipe]
    assert sum(bool(part.source.words and part.target.words) for part in parts) == 4


def test_offsets_lead_back_to_the_documents(parts):
    for text, sides in ((GERMAN, [part.source for part in parts]), (ENGLISH, [part.target for part in parts])):
        for side in filter(lambda side: side.span, sides):
            assert text[slice(*side.span)] == side.text
            assert tuple(side.text[start:end] for start, end in side.offsets) == side.words
        assert "".join("".join(side.words) for side in sides) == "".join(text.split())


def test_words_are_linked_within_pairs(parts):
    words = {pair for part in parts for pair in part.alignment.word_pairs}
    assert {("Montag", "Monday"), ("Eintritt", "Admission"), ("Münzen", "coins"), ("Kuchen", "cakes")} <= words
    assert all(0 < link.score <= 1 for part in parts for link in part.alignment)
    assert all(part.alignment.score <= 1 for part in parts)


def test_lines_of_json_say_the_same(parts):
    records = [json.loads(part.to_json()) for part in parts]
    assert [record["source_text"] for record in records] == [part.source.text for part in parts]
    assert {record["source_span"] is None for record in records if not record["source"]} == {True}
    assert [len(record["links"]) for record in records] == [len(part.alignment) for part in parts]


def test_empty_documents(aligner):
    assert align_documents("", " \n\n", aligner=aligner) == []
    [part] = align_documents("Allein.", "", aligner=aligner)
    assert (part.source.text, part.target.span, len(part.alignment)) == ("Allein.", None, 0)


def test_lines_that_are_sentences_stay_whole(aligner):
    parts = align_documents(
        "Ja. Nein.\nGut.", "Yes. No.\nGood.", aligner=aligner, sentence_per_line=True, scores="none"
    )
    assert [part.source.text for part in parts] == ["Ja. Nein.", "Gut."]
    assert all(link.score is None for part in parts for link in part.alignment)


def test_lines_that_are_wrapped_are_joined(aligner):
    german, english = "Die Katze schläft auf\ndem Sofa. Es regnet.", "The cat is sleeping on the sofa. It is\nraining."
    parts = align_documents(german, english, aligner=aligner, wrapped=True)
    assert [part.source.text for part in parts] == ["Die Katze schläft auf dem Sofa.", "Es regnet."]
    assert [part.target.span for part in parts] == [(0, 32), (33, 47)]
    with pytest.raises(SettingError, match="exclude each other"):
        align_documents(german, english, aligner=aligner, wrapped=True, sentence_per_line=True)


def test_wrapped_files_are_recognised_unless_somebody_knows(tmp_path, caplog):
    path = tmp_path / "text"
    text = "It was raining again that day, and he had\nforgotten his umbrella. He went home.\nNobody came.\n"
    path.write_text(text)
    assert read_text(path) == text.rstrip().replace("had\n", "had ").replace("home.\n", "home. ")
    [message] = caplog.messages
    assert message.endswith("If each line is a sentence, add `sentence_per_line`.")
    assert read_text(path, wrapped=False) == text.rstrip()
    path.write_text("Anna saw Mrs\nMiller.\n\nYes.")
    assert read_text(path) == "Anna saw Mrs\nMiller.\n\nYes."
    assert read_text(path, wrapped=True) == "Anna saw Mrs Miller.\n\nYes."
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(("format", "between"), [("tsv", "\t"), ("csv", ",")])
def test_tables_have_a_row_for_each_pair_and_each_sentence_alone(aligner, format, between):
    written = []
    write_aligned_documents(GERMAN, ENGLISH + " Good\tbye.", output=written.append, format=format, source_language="de")
    lines = b"".join(written).decode().splitlines()
    assert lines[0] == f"source{between}target"
    rows = list(csv.reader(lines, delimiter=between))
    assert all(len(row) == 2 for row in rows)
    assert ["", "Free guided tours start at noon."] in rows
    for column, text in ((0, GERMAN), (1, ENGLISH + "Good bye.")):
        assert "".join("".join(row[column].split()) for row in rows[1:]) == "".join(text.split())


def test_a_kind_of_scores_that_does_not_exist(aligner):
    with pytest.raises(SettingError, match="scores"):
        align_documents("a", "b", aligner=aligner, scores="loud")


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("de", "Am 3. Mai kam er z. B. an. Dann ging er.", ["Am 3. Mai kam er z. B. an.", "Dann ging er."]),
        ("zh-Hant", "他來了。我走了！", ["他來了。", "我走了！"]),
        ("hi", " यह है। वह था। ", ["यह है।", "वह था।"]),
        (None, "One\nTwo. 😀 Three.", ["One", "Two.", "😀 Three."]),
        ("no-such-language", "Yes. No.", ["Yes.", "No."]),
    ],
)
def test_sentences_of_raw_text(language, text, sentences):
    assert [text[start:end] for start, end in split_sentences(text, language)] == sentences


@pytest.mark.parametrize("name", ["film.ass", "Film.SSA"])
def test_subtitles_that_are_not_read_are_not_taken_for_plain_text(tmp_path, name):
    (tmp_path / name).write_text("[Script Info]\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hallo.\n")
    with pytest.raises(SettingError, match=r"subtitles as \.srt or \.vtt\. Convert .*: ffmpeg -i .* .*\.srt"):
        read_text(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("film.vtt", ["AT&T", "&", "<i>us</i>", "it's", "a\u00a0b", "&lt;", "end"]),
        ("film.srt", ["AT&amp;T", "&amp;", "&lt;i&gt;us&lt;/i&gt;", "it&#39;s", "a&nbsp;b", "&amp;lt;", "end"]),
    ],
)
def test_references_in_webvtt_are_characters_and_every_word_stays_where_it_was(tmp_path, name, words):
    text = (
        "WEBVTT\n\n1\n00:00:01.000 --> 00:00:03.000\n"
        "<v A&amp;B>AT&amp;T &amp; &lt;i&gt;us&lt;/i&gt;\nit&#39;s <b>a&nbsp;b</b> &amp;lt; end\n"
    )
    (tmp_path / name).write_text(text)
    plain = read_text(tmp_path / name)
    assert re.findall(r"[^ \n]+", plain) == words
    assert len(plain) == len(text) - 1  # the end of the last line
    assert [plain.index(begin) for begin in ("AT", "it", "end")] == [text.index(begin) for begin in ("AT", "it", "end")]


def test_commands_to_copy_are_quoted_for_the_shell(tmp_path):
    path = tmp_path / "my film.ass"
    with pytest.raises(SettingError) as refused:
        read_text(path)
    assert shlex.split(str(refused.value))[-4:] == ["ffmpeg", "-i", str(path), str(path.with_suffix(".srt"))]


@pytest.mark.parametrize("number", ["7", "45", "- 9 -"])
def test_a_page_number_is_no_part_of_the_sentence_before_it(number):
    texts = (
        f"Elle attend quelqu’un.\n\n{number}\n\nLe maire vint.\n",
        "“It is waiting for someone.”\n\nThe mayor came.\n",
    )
    parts = align_documents(*texts, source_language="fr", target_language="en")
    assert [(part.source.text, part.target.text) for part in parts] == [
        ("Elle attend quelqu’un.", "“It is waiting for someone.”"),
        (number, ""),
        ("Le maire vint.", "The mayor came."),
    ]
