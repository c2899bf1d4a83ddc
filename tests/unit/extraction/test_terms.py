from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.extraction.terms import Term, TermIndex, keep_terms, read_terms
from weft.types import Alignment, Link, SentencePair


def kept(source, target, links, *terms, **options):
    pair = SentencePair(tuple(source.split()), tuple(target.split()))
    alignment = Alignment.of(Link(*map(int, link.split("-"))) for link in links.split())
    split = [Term(tuple(left.split()), tuple(right.split())) for left, right in terms]
    done = keep_terms(pair, alignment, split, **options)
    return " ".join(f"{i}-{j}" for i, j in sorted(done.alignment.pairs)), [str(term) for term in done.missing]


@pytest.mark.parametrize(
    ("source", "target", "links", "terms", "expected"),
    [
        # A link that leads out of a term gives way.
        ("das Amt tagt", "the public office sits", "0-0 1-3 2-3", [("amt", "public office")], "0-0 1-1 1-2 2-3"),
        # Links within a term stay as they are.
        ("New York", "ville de New York", "0-2 1-3 1-0", [("new york", "New York")], "0-2 1-3"),
        # A word without a link does not get those of its neighbours,
        ("Kosten des Verfahrens", "costs of the proceedings", "0-0 1-1 2-3",
         [("Kosten des Verfahrens", "costs of the proceedings")], "0-0 1-1 2-3"),
        # but what is left on both sides is linked,
        ("New York liegt", "in Nueva York", "1-2 0-0", [("New York", "Nueva York")], "0-1 1-2"),
        # and so are all words of the translation of a single one.
        ("das Amt", "the public office", "0-0 1-2", [("Amt", "public office")], "0-0 1-1 1-2"),
        ("the public office", "das Amt", "2-1", [("public office", "Amt")], "1-1 2-1"),
        # The longer term wins.
        ("a b c", "x y z", "", [("a", "x"), ("a b", "y z")], "0-1 0-2 1-1 1-2"),
        # Of several occurrences those that are linked already belong together.
        ("a b a", "x y x", "0-2 2-0", [("a", "x")], "0-2 2-0"),
        ("a b a", "x y x", "", [("a", "x")], "0-0 2-2"),
        # A second translation counts where the first does not occur.
        ("a b", "y", "1-0", [("a", "x"), ("a", "y")], "0-0"),
    ],
)  # fmt: skip
def test_terms_are_linked_and_the_rest_fits_around_them(source, target, links, terms, expected):
    assert kept(source, target, links, *terms) == (expected, [])


def test_a_term_that_the_target_does_not_have_is_named():
    assert kept("das Amtsgericht", "the court", "1-1", ("amtsgericht", "district court")) == (
        "1-1",
        ["amtsgericht = district court"],
    )
    assert kept("A", "x", "0-0", ("a", "y"), lowercase=False) == ("0-0", [])


sentence = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)
term = st.lists(st.sampled_from("abc"), min_size=1, max_size=2)


@given(
    sentence,
    sentence,
    st.lists(st.tuples(term, term), max_size=3),
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))),
)
def test_a_word_of_a_kept_term_is_linked_with_words_of_its_translation_alone(source, target, terms, links):
    pair = SentencePair(tuple(source), tuple(target))
    inside = [Link(*link) for link in links if link[0] < len(source) and link[1] < len(target)]
    done = keep_terms(pair, Alignment.of(inside), [Term(tuple(a), tuple(b)) for a, b in terms])
    new = done.alignment.pairs - {link.indices for link in inside}
    for i, j in new:
        assert any(source[i] in term.source and target[j] in term.target for term in done.kept)
    if not done.kept:
        assert not new


def test_an_index_finds_the_terms_a_sentence_may_have():
    terms = [Term(("New", "York"), ("x",)), Term(("new",), ("y",)), Term(("old",), ("z",))]
    assert TermIndex(terms).of(("a", "NEW", "b")) == terms[:2]


def test_reading(tmp_path):
    file = tmp_path / "terms.tsv"
    file.write_text("# terms\nAmtsgericht\tdistrict court\tlaw\n\nAmtsgericht\tdistrict court\n", "utf-8")
    assert read_terms(file) == [Term(("Amtsgericht",), ("district", "court"))]
    file.write_text("Amtsgericht\n")
    with pytest.raises(FormatError, match=r"terms\.tsv:1: expected a tab between source and target, found none"):
        read_terms(file)


def test_a_row_without_a_translation_is_skipped_and_reported(tmp_path, caplog):
    rows = ["zwei,two", "drei,", ",,", ",four", *(f"wort{number}, " for number in range(5)), "neun,nine"]
    (tmp_path / "terms.csv").write_text("\n".join(rows) + "\n")
    assert read_terms(tmp_path / "terms.csv") == [Term(("zwei",), ("two",)), Term(("neun",), ("nine",))]
    name = tmp_path / "terms.csv"
    assert [record.getMessage() for record in caplog.records] == [
        f"{name}:2: the translation of 'drei' is missing. This row is skipped.",
        f"{name}:4: the term for 'four' is missing. This row is skipped.",
        f"{name}:5: the translation of 'wort0' is missing. This row is skipped.",
        f"{name}: 4 more rows without a term or a translation are skipped.",
    ]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("terms.tsv", "allein\nAmt\toffice\nnoch # eins\n"),
        ("terms.csv", "allein\nAmt;office\nnoch # eins\n"),
        ("terms.csv", "allein\nAmt\toffice\nnoch # eins\n"),
    ],
)
def test_a_row_with_one_cell_has_no_translation(tmp_path, caplog, name, rows):
    (tmp_path / name).write_text(rows)
    assert read_terms(tmp_path / name) == [Term(("Amt",), ("office",))]
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / name}:1: the translation of 'allein' is missing. This row is skipped.",
        f"{tmp_path / name}:3: the translation of 'noch # eins' is missing. This row is skipped.",
    ]


UNITS = """<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="de-DE"><seg>Amtsgericht</seg></tuv><tuv xml:lang="en"><seg>district court</seg></tuv></tu>
<tu><tuv xml:lang="de-DE"><seg>allein</seg></tuv></tu>MORE
</body></tmx>
"""


def test_units_of_a_translation_memory_are_terms(tmp_path, caplog):
    path = tmp_path / "terms.tmx"
    path.write_text(UNITS.replace("MORE", ""))
    assert read_terms(path) == [Term(("district", "court"), ("Amtsgericht",))]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}:3: found text in de-DE only, and no translation of it. This row is skipped."
    ]
    assert read_terms(path, languages=("de", "en")) == [Term(("Amtsgericht",), ("district", "court"))]


def test_of_three_languages_two_are_chosen(tmp_path):
    path = tmp_path / "terms.tmx"
    third = "".join(f'<tuv xml:lang="{code}"><seg>{code}</seg></tuv>' for code in ("fr", "de", "en"))
    path.write_text(UNITS.replace("MORE", f"<tu>{third}</tu>"))
    message = "found text in en, fr and de; choose two of these languages with `raw`, `source_language` and `target_lan"
    with pytest.raises(FormatError, match=message):
        read_terms(path)
    assert read_terms(path, languages=("fr", "de")) == [Term(("fr",), ("de",))]


def test_other_files_of_terms_are_refused_with_a_way_out(tmp_path):
    (tmp_path / "terms.tbx").write_text('<?xml version="1.0"?>\n<martif type="TBX"/>\n')
    with pytest.raises(FormatError, match="Export the terms as a table, such as CSV"):
        read_terms(tmp_path / "terms.tbx")


@pytest.mark.parametrize(
    "names", ["Term;Translation", "# ours\nGerman;English;Domain", "de-DE;en", "sep=;\nTerm;Translation"]
)
def test_a_line_of_column_names_is_skipped_and_reported(tmp_path, caplog, names):
    (tmp_path / "terms.csv").write_text(f"{names}\nHaus;house\nGerman;English\n")
    assert read_terms(tmp_path / "terms.csv") == [Term(("Haus",), ("house",)), Term(("German",), ("English",))]
    line, (source, target) = 1 + names.count("\n"), names.split("\n")[-1].split(";")[:2]
    [message] = caplog.messages
    assert f"terms.csv:{line}: this line of column names is skipped, and terms are read from the columns" in message
    assert f"the columns {source} and {target}. If it is a term, move it below another one." in message


@pytest.mark.parametrize("name", ["terms", "terms.txt"])
def test_commas_and_semicolons_separate_columns_where_there_is_no_tab(tmp_path, name):
    (tmp_path / name).write_text('"Amt, klein";office;law\nHaus;house;\n')
    assert read_terms(tmp_path / name) == [Term(("Amt,", "klein"), ("office",)), Term(("Haus",), ("house",))]
    (tmp_path / name).write_text("Amt, klein\toffice\nHaus\thouse\n")
    assert read_terms(tmp_path / name) == [Term(("Amt,", "klein"), ("office",)), Term(("Haus",), ("house",))]
    (tmp_path / "terms.tsv").write_text("Amt, klein\n")
    with pytest.raises(FormatError, match="expected a tab"):
        read_terms(tmp_path / "terms.tsv")


@pytest.mark.parametrize("text", ['{"de": "x", "en": "y"}\n', '[\n  {"de": "x", "en": "y"}\n]\n', '{\n  "x": "y",\n'])
def test_json_is_answered_with_what_terms_are_read_from(tmp_path, text):
    (tmp_path / "terms.json").write_text(text)
    with pytest.raises(
        FormatError, match=r"terms\.json:1: this looks like JSON, .* tables \(TSV or CSV\), TMX or XLIFF"
    ):
        read_terms(tmp_path / "terms.json")
    (tmp_path / "terms.json").write_text('{"source": "x", "target": "y"}\n')
    assert read_terms(tmp_path / "terms.json") == [Term(("x",), ("y",))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("terms.csv", 'Amtsgericht,"district, court",law\n# a remark, and more\n\n"ein\nAmt",office\n'),
        ("terms.CSV", 'Amtsgericht;"district, court";law\n"ein\nAmt";office\n'),
        ("terms.csv", "Amtsgericht\tdistrict, court\nein Amt\toffice\n"),
        ("terms.txt", "Amtsgericht\tdistrict, court\nein Amt\toffice\n"),
    ],
)
def test_reading_tables(tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf-8")
    assert read_terms(tmp_path / name) == [
        Term(("Amtsgericht",), ("district,", "court")),
        Term(("ein", "Amt"), ("office",)),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Amt\n", r"terms\.csv:1: expected 2 columns separated by commas, found 1"),
        ('Amt,office\nAmt,"office\n', r"terms\.csv:2: this is not a row of CSV"),
    ],
)
def test_what_is_wrong_with_a_row_of_csv_is_said(tmp_path, content, message):
    (tmp_path / "terms.csv").write_text(content)
    with pytest.raises(FormatError, match=message):
        read_terms(tmp_path / "terms.csv")


@pytest.mark.parametrize(
    ("names", "languages", "term"),
    [
        ("ID;Deutsch;Englisch", (None, None), ("eins", "zwei")),
        ("Deutsch;Wortart;Englisch", (None, None), ("null", "zwei")),
        ("Englisch;Datum;Deutsch", (None, None), ("null", "zwei")),
        ("Englisch;Datum;Deutsch", ("de", "en-GB"), ("zwei", "null")),
        ("en_US;de-DE;fr", ("fr", "de"), ("zwei", "eins")),
        ("de;en;Englisch", ("en", "de"), ("null", "eins")),  # two columns for a language: by their order
        ("Term;Notiz;Domain", (None, None), None),
        ("source;target;count", (None, None), ("null", "eins")),
    ],
)
def test_columns_of_terms_are_chosen_by_the_names_of_languages(tmp_path, caplog, names, languages, term):
    (tmp_path / "terms.csv").write_text(f"{names}\nnull;eins;zwei\nnull\n")
    found = read_terms(tmp_path / "terms.csv", languages=languages)
    if term is None:  # no names of columns that are known
        assert [str(each) for each in found] == ["Term = Notiz", "null = eins"]
        return
    assert found == [Term((term[0],), (term[1],))]
    source, target = (dict(zip(("null", "eins", "zwei"), names.split(";"), strict=True))[word] for word in term)
    assert f"terms are read from the columns {source} and {target}." in caplog.messages[0]
