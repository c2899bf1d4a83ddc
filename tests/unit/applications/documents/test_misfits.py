import pytest

from weft import Aligner
from weft.applications.documents.inline import Languages
from weft.applications.documents.misfits import first_misfit, optional_translated, other_verse
from weft.applications.documents.usfm import UsfmDocument
from weft.text.segment import segmenter_for

GERMAN = ["Mietvertrag", "Der Keller ist nicht Teil der Mietsache.", "Haustiere brauchen eine Erlaubnis.", "Seite 1"]
ENGLISH = ["Tenancy agreement", "The cellar is not part of the premises.", "Pets need permission.", "Page 1"]


@pytest.fixture(scope="module")
def aligner():
    return Aligner.from_pretrained()


def _misfit(aligner, source, target):
    return first_misfit(source, target, (segmenter_for("de"), segmenter_for("en")), aligner)


def test_a_segment_without_a_translation_is_named(aligner):
    said = "This segment seems to have no translation: 'Haustiere brauchen eine Erlaubnis.'."
    assert _misfit(aligner, GERMAN, [*ENGLISH[:2], ENGLISH[3]]) == said


def test_a_line_too_many_is_named(aligner):
    said = "This line of the translation seems to belong to no segment: 'Pets need permission.'."
    assert _misfit(aligner, [*GERMAN[:2], GERMAN[3]], ENGLISH) == said


def test_where_nothing_can_be_said_nothing_is(aligner):
    assert _misfit(aligner, GERMAN, ENGLISH) == ""
    assert _misfit(aligner, GERMAN, []) == ""


def _optional_translated(aligner, optional, translation):
    return optional_translated(GERMAN, optional, translation, (segmenter_for("de"), segmenter_for("en")), aligner)


@pytest.mark.parametrize("missing", range(4))
def test_a_line_that_translates_what_may_be_left_out_is_named(aligner, missing):
    translation = [*ENGLISH[:missing], *ENGLISH[missing + 1 :], "Picture of a dog"]
    assert _optional_translated(aligner, ["Bild eines Hundes"], translation) == (
        "The line 'Picture of a dog' seems to translate 'Bild eines Hundes', which may be left out, so another line is "
        "missing."
    )


@pytest.mark.parametrize("optional", ["Bild eines Hundes", "Seite 1", "MIETVERTRAG"])
def test_a_translation_without_what_may_be_left_out_is_complete(aligner, optional):
    assert _optional_translated(aligner, [optional], ENGLISH) == ""


def _other_verse(source, target):
    sides = [UsfmDocument(text.encode(), "book", Languages()).segments for text in (source, target)]
    return other_verse(*sides, ("s", "t"))


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("\\id MRK\n\\c 1\n\\p\n\\v 1 a\n\\v 3 b", "t has MRK 1:3 where s has MRK 1:2."),
        ("\\id MRK\n\\c 1\n\\p\n\\v 1 a", "t ends where s has MRK 1:2."),
        ("\\id MRK\n\\c 1\n\\p\n\\v 1 a\n\\v 2 b\n\\v 3 c", "s ends where t has MRK 1:3."),
        ("\\id MRK\n\\c 1\n\\p\n\\v 1 a\n\\v 2-3 b", "t has MRK 1:2-3 where s has MRK 1:2."),
        ("\\id MRK\n\\c 2\n\\p\n\\v 1 a\n\\v 2 b", "t has MRK 2:1 where s has MRK 1:1."),
        ("\\id LUK\n\\c 1\n\\p\n\\v 1 a\n\\v 2 b", "t has LUK 1:1 where s has MRK 1:1."),
        ("\\id MRK\n\\c 1\n\\s h\n\\p\n\\v 1 a", "t has text that is no verse ('h') where s has MRK 1:1."),
        ("\\v 1 a\n\\v 3 b", "t has verse 3 where s has MRK 1:2."),
    ],
)
def test_the_first_verse_that_is_another_one_is_named(target, said):
    assert _other_verse("\\id MRK x\n\\c 1\n\\p\n\\v 1 a\n\\v 2 b", target) == said


@pytest.mark.parametrize(
    ("source", "target"),
    [
        # Titles, markers of paragraphs, footnotes and what follows the code of the book are free.
        ("\\id MRK a\n\\mt a\n\\c 1\n\\p\n\\v 1 a\\f + \\ft b\\f*\n\\v 2 b",
         "\\id mrk b\n\\mt1 a\n\\c 1\n\\q1\n\\v 1 a\n\\p\n\\v 2 b"),
        ("\\c 1\n\\v 1-2 a\n\\v 3 b", "\\c ١\n\\v ١\u200f–٢ a\n\\v ٣ b"),
        ("\\id MRK\n\\c 1\n\\v 1 a\n\\s h\n\\p b", "\\v 1 a\n\\s h\n\\p b"),
        ("\\id FRT\n\\p a\n\\p b", "\\id FRT\n\\p\n\\v 1 a"),
    ],
)  # fmt: skip
def test_verses_that_are_the_same_raise_no_alarm(source, target):
    assert _other_verse(source, target) == ""
