import pytest

from weft import Aligner
from weft.applications.documents.misfits import first_misfit, optional_translated
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
