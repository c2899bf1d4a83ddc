from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

LABELS = "El DA O\nmuseo NC B-ORG\nabre V O\nlos DA O\ndomingos NC B-TIME\n. F O\n\nRoma NP B-LOC\n\n"
TARGET = "The museum opens on Sundays .\nRome\n"
LINKS = "0-0 1-1 2-2 3-3 4-4 5-5\n0-0\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "labels").write_text(LABELS)
    (tmp_path / "target").write_text(TARGET)
    (tmp_path / "links").write_text(LINKS)
    return tmp_path


def test_columns(weft, files):
    done = weft("project", "labels", "target", "--links", "links", cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The O\nmuseum B-ORG\nopens O\non O\nSundays B-TIME\n. O\n\nRome B-LOC\n\n"


def test_there_and_back(weft, files):
    there = weft("project", "labels", "target", "--links", "links", "-o", "projected.gz", cwd=files)
    assert (there.returncode, there.stdout) == (0, "")
    (files / "source").write_text("El museo abre los domingos .\nRoma\n")
    back = weft("project", "projected.gz", "source", "--links", "links", "--reverse", cwd=files)
    assert [line.split() for line in back.stdout.splitlines()] == [line.split()[::2] for line in LABELS.splitlines()]


@pytest.mark.parametrize(("scheme", "label"), [("auto", "U-X"), ("bio", "B-X"), ("iob1", "I-X"), ("bioes", "S-X")])
def test_schemes(weft, files, scheme, label):
    (files / "labels").write_text("a U-X\n")
    (files / "target").write_text("b\n")
    (files / "links").write_text("0-0\n")
    done = weft("project", "labels", "target", "--links", "links", "--scheme", scheme, cwd=files)
    assert done.stdout == f"b {label}\n\n"


def test_labels_without_a_place_are_counted_and_listed(weft, files):
    (files / "links").write_text("1-1 1-4\n\n")
    done = weft("project", "labels", "target", "--links", "links", "--gaps", "longest", "--report", "lost", cwd=files)
    assert done.stdout.splitlines()[1] == "museum B-ORG"
    assert (files / "lost").read_text() == (
        "1\tORG\t1\t2\tmuseo\ta part that is not contiguous\n"
        "1\tTIME\t4\t5\tdomingos\tits words have no links\n"
        "2\tLOC\t0\t1\tRoma\tits words have no links\n"
    )
    assert done.stderr == (
        "weft: 2 of 3 labels could not be placed (2: its words have no links).\n"
        "weft: 1 of 3 labels could be carried over only in part, because other words come in between.\n"
    )


def test_a_report_named_csv_is_csv(weft, files):
    (files / "labels").write_text("Roma B-LOC,X\n")
    (files / "target").write_text("Rome\n")
    (files / "links").write_text("\n")
    weft("project", "labels", "target", "--links", "links", "--report", "lost.csv", cwd=files)
    assert (files / "lost.csv").read_text() == (
        'sentence,label,start,end,words,reason\n1,"LOC,X",0,1,Roma,its words have no links\n'
    )


@pytest.mark.parametrize("other", ["Angela schläft\nRom\n", "-DOCSTART-\nAngela schläft\n-DOCSTART-\nRom\n"])
def test_lines_that_begin_a_document_are_no_sentences_and_stay_where_they_are(weft, files, other):
    start = "-DOCSTART- -X- O\n\n"
    (files / "labels").write_text(f"{start}Angela NNP B-PER\nsleeps VBZ O\n\n{start}Rome NNP B-LOC\n")
    (files / "target").write_text(other)
    (files / "links").write_text("0-0 1-1\n0-0\n" if "DOC" not in other else "0-0\n0-0 1-1\n0-0\n0-0\n")
    for options in ((), ("--raw",)):
        done = weft("project", "labels", "target", "--links", "links", *options, cwd=files)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "-DOCSTART- O\n\nAngela B-PER\nschläft O\n\n-DOCSTART- O\n\nRom B-LOC\n\n"


def test_parts_of_speech(weft, files):
    (files / "links").write_text("0-0 1-1 2-2\n\n")
    chosen = ("project", "labels", "target", "--links", "links", "--label-column", "2")
    done = weft(*chosen, "--scheme", "word", cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The DA\nmuseum NC\nopens V\non _\nSundays _\n. _\n\nRome _\n\n"
    done = weft(*chosen, "-o", "out", cwd=files)
    assert done.returncode == 1
    assert done.stderr == (
        "weft: labels:1: expected O or a label such as B-PER, found 'DA'. No line can be read this way. "
        "--word-column and --label-column choose columns. "
        "For labels of single words, such as parts of speech, set --scheme to word.\n"
    )
    assert not (files / "out").exists()


def test_bad_lines_keep_their_place(weft, files):
    (files / "labels").write_bytes(b"a B-X\nb\n\xff B-X\n\nc B-Y\n")
    (files / "target").write_bytes(b"\xfe u\nv\n")
    (files / "links").write_text("\n0-0\n")
    done = weft("project", "labels", "target", "--links", "links", cwd=files)
    assert (done.returncode, done.stdout) == (0, "\nv B-Y\n\n")
    for place in ("labels:2: expected at least 2 columns", "labels:3:1: expected UTF-8", "target:1:1: expected UTF-8"):
        assert place in done.stderr
    assert "weft: 3 bad lines.\n" in done.stderr
    assert weft("project", "labels", "target", "--links", "links", "--strict", cwd=files).returncode == 1


def test_files_that_do_not_belong_together(weft, files):
    (files / "target").write_text("The museum\n")
    done = weft("project", "labels", "target", "--links", "links", "-o", "out", cwd=files)
    assert done.returncode == 1
    assert (
        done.stderr
        == "weft: links:1: the link 2-2 is out of range: source and target have 6 and 2 words, counted from 0.\n"
    )
    assert not (files / "out").exists()
    (files / "target").write_text(TARGET + "more\n")
    done = weft("project", "labels", "target", "--links", "links", cwd=files)
    assert done.returncode == 1
    assert "labels (a blank line ends a sentence) has 2 lines but target has 3 lines" in done.stderr


def test_spans(weft, tmp_path):
    records = [
        {"source": "El museo abre", "target": "The museum opens", "spans": [[3, 8, "ORG"]], "id": 1},
        {"source": ["a"], "target": ["x"], "spans": []},
    ]
    text = json.dumps(records[0]) + "\nrubbish\n" + json.dumps(records[1]) + "\n"
    done = weft("project", "--from", "jsonl", stdin=text)
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert first == records[0] | {"target_spans": [[4, 10, "ORG"]]}
    assert second == {}
    assert third == records[1] | {"target_spans": []}
    assert "stdin:2: expected a JSON object" in done.stderr


def test_records_keep_their_fields_whatever_their_spans_are(weft):
    pair = {"source": "El museo abre", "target": "The museum opens"}
    records = [{**pair, "id": 1}, {**pair, "spans": [[3, 80, "ORG"]]}, {**pair, "spans": [[3, 8, "ORG"]]}]
    done = weft("project", "--from", "jsonl", stdin="".join(json.dumps(record) + "\n" for record in records))
    spans = [[], [], [[4, 10, "ORG"]]]
    expected = [record | {"target_spans": found} for record, found in zip(records, spans, strict=True)]
    assert list(map(json.loads, done.stdout.splitlines())) == expected
    assert done.stderr.splitlines()[:-1] == [
        "weft: stdin:2: the span '[3, 80, \"ORG\"]' does not lie within the 13 characters of its side. "
        "This sentence gets no labels."
    ]


def test_no_record_has_spans(weft, tmp_path):
    (tmp_path / "r.jsonl").write_text('{"source": "a", "target": "x", "ner": []}\n')
    done = weft("project", "r.jsonl", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "has the fields 'source, target, ner'. Name the field with --spans-field.\n" in done.stderr
    assert not (tmp_path / "out").exists()


def test_records_of_weft_align_hold_their_links(weft):
    pairs = "Das Museum öffnet. ||| The museum opens.\n"
    aligned = weft("align", "--raw", "--output-format", "jsonl", stdin=pairs).stdout
    record = json.loads(aligned) | {"spans": [[4, 10, "ORG"]]}
    done = weft("project", "-", "--links", "-", "--from", "jsonl", stdin=json.dumps(record))
    assert json.loads(done.stdout)["target_spans"] == [[4, 10, "ORG"]]
    record = json.loads(done.stdout)
    del record["spans"]
    done = weft("project", "-", "--links", "-", "--from", "jsonl", "--reverse", stdin=json.dumps(record))
    assert json.loads(done.stdout)["source_spans"] == [[4, 10, "ORG"]]


def test_markup(weft, tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n\n0-0\n")
    pairs = gzip.compress(b"<b>das</b> Haus<br>\tthe house & home\n\nx\t</b>y\n")
    done = weft("project", "--from", "markup", "--links", "links", stdin=pairs, cwd=tmp_path)
    assert done.stdout == "<b>the</b> house &amp; home<br/>\n\n&lt;/b&gt;y\n"
    assert "stdin:2: the line is blank" in done.stderr


def test_markup_in_two_files_with_labels_on_the_target_side(weft, tmp_path):
    (tmp_path / "tagged").write_text("the <b>house</b>\n")
    (tmp_path / "plain").write_text("Haus das\n")
    (tmp_path / "links").write_text("0-1\n")
    done = weft("project", "tagged", "plain", "--from", "markup", "--reverse", "--links", "links", cwd=tmp_path)
    assert done.stdout == "<b>Haus</b> das\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels", "--links", "links"], "add a file with the sentences of the other"),
        (["labels", "target", "--from", "jsonl"], "JSONL records contain both sides"),
        (["labels", "target", "--links", "links", "--model", "x"], "leave out --model"),
        (["labels", "target", "--links", "links", "--source-language", "de"], "need --raw"),
        (["labels", "target", "--spans-field", "x"], "--spans-field needs --from jsonl."),
        (["-", "--spans-field", "x"], "--spans-field needs --from jsonl."),
        (["labels", "target", "--from", "jsonl", "--reverse"], 'add its lines to the records as "source": `jq '),
        (
            ["labels", "target", "--from", "jsonl", "--source-field", "a"],
            " labels`. Then add `--target-field target`",
        ),
        (["labels", "target", "--source-field", "a", "--target-field", "b"], "need --from jsonl or --from markup."),
        (["labels", "target", "--links", "links", "--report", "-"], "two outputs have the same name"),
        (["-", "-", "--links", "links"], "only one input can be stdin"),
    ],
)
def test_bad_usage(weft, files, arguments, message):
    done = weft("project", *arguments, cwd=files)
    assert done.returncode == 2
    assert message in done.stderr


def test_translations_of_a_program_are_named_as_weft_align_names_them(weft, tmp_path):
    (tmp_path / "fr.po").write_text('msgid "Yes"\nmsgstr "Oui"\n')
    ours, others = (weft(command, "fr.po", cwd=tmp_path) for command in ("project", "align"))
    assert (ours.returncode, ours.stderr) == (others.returncode, others.stderr)
    assert ours.stderr.startswith("weft: fr.po: this is a gettext PO file")


def test_a_missing_file(weft, tmp_path):
    done = weft("project", "none", "nor this", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "weft: none: No such file or directory.\n")


def test_a_reader_that_leaves_is_no_error(tmp_path):
    (tmp_path / "labels").write_text("a B-X\n\n" * 50_000)
    (tmp_path / "target").write_text("a\n" * 50_000)
    (tmp_path / "links").write_text("0-0\n" * 50_000)
    done = subprocess.run(
        f"set -o pipefail; {sys.executable} -m weft project labels target --links links | head -1",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("a B-X\n", "", 0)


def test_documents(weft, tmp_path):
    (tmp_path / "page.html").write_text("<h1>Das <b>Haus</b></h1><p>{name}</p>")
    (tmp_path / "other.txt").write_text("The house\n\n{name}\n")
    assert weft("project", "page.html", "--segments", cwd=tmp_path).stdout == "Das Haus\n{name}\n"
    done = weft("project", "page.html", "other.txt", "-o", "out.html", "--report", "lost", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.html").read_text() == "<h1>The <b>house</b></h1><p>{name}</p>"
    assert (tmp_path / "lost").read_text() == ""
    (tmp_path / "other.txt").write_text("The house\n")
    done = weft("project", "page.html", "other.txt", "-o", "none.html", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("weft: page.html: the document has 2 segments, but the translation has 1.")
    assert not (tmp_path / "none.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["page.txt", "--from", "document"], "the name of a document must end in one of .htm, .html"),
        (["page.html", "other", "--reverse"], "--reverse does not work with documents"),
        (
            ["target.txt", "page.docx"],
            "the document comes first, then its translation: `weft project page.docx target.txt`.",
        ),
        (["labels", "target", "--segments"], "--segments only works with documents"),
    ],
)
def test_bad_usage_of_documents(weft, files, arguments, message):
    done = weft("project", *arguments, cwd=files)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_report_named_csv_has_names_even_if_nothing_was_lost(weft, files):
    done = weft("project", "labels", "target", "--links", "links", "--report", "r.csv", cwd=files)
    assert done.returncode == 0, done.stderr
    assert (files / "r.csv").read_text() == "sentence,label,start,end,words,reason\n"


PAGE = (
    "<p>Eins zwei.</p><p>Der Hund bellt laut.</p><p>Die Katze schläft auf dem Sofa.</p><p>Es regnet.</p>"
    '<img alt="Ein Bild" src="a.png">'
)


def test_a_missing_line_is_not_made_up_for_by_one_that_may_be_left_out(weft, tmp_path):
    (tmp_path / "m.html").write_text(PAGE)
    (tmp_path / "m.txt").write_text("One two.\nThe cat sleeps on the sofa.\nIt is raining.\nA picture\n")
    done = weft("project", "m.html", "m.txt", "-o", "m.en.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the document has 5 segments, but the translation has 4." in done.stderr
    assert "'Der Hund bellt laut.'" in done.stderr
    assert not (tmp_path / "m.en.html").exists()


def test_verses_of_a_translation_that_are_others_stop_it(weft, tmp_path):
    (tmp_path / "s.usfm").write_text("\\id MRK\n\\c 1\n\\p\n\\v 1 One.\n\\v 2 Two.\n\\v 3 Three.\n")
    (tmp_path / "t.usfm").write_text("\\id MRK\n\\c 1\n\\p\n\\v 1 Eins.\n\\v 3 Drei.\n\\v 4 Vier.\n")
    done = weft("project", "s.usfm", "t.usfm", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("weft: t.usfm: this file has MRK 1:3 where s.usfm has MRK 1:2. Both files need")


def test_what_may_be_left_out_may_be_left_out(weft, tmp_path):
    (tmp_path / "m.html").write_text(PAGE)
    (tmp_path / "m.txt").write_text("One two.\nThe dog barks loudly.\nThe cat sleeps on the sofa.\nIt is raining.\n")
    done = weft("project", "m.html", "m.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '<p>It is raining.</p><img alt="Ein Bild" src="a.png">' in done.stdout


def test_the_example_documents(weft, tmp_path):
    folder = Path(__file__).parents[2] / "examples" / "documents"
    for name, other in (
        ("contract.docx", "contract.fr.txt"),
        ("letter.docx", "letter.de.txt"),
        ("bakery.html", "bakery.ar.txt"),
        ("manual.xlf", "manual.de.txt"),
        ("slides.xlf", None),
        ("README.md", "README.ja.txt"),
        ("shop.tmx", None),
        ("jonah.usfm", "jonah.de.txt"),
    ):
        result, report = tmp_path / name, tmp_path / "report"
        given = [] if other is None else [str(folder / other)]
        done = weft("project", str(folder / name), *given, "-o", str(result), "--report", str(report))
        assert (done.returncode, done.stdout) == (0, ""), (name, done.stderr)
        segments = weft("project", str(result), "--segments").stdout.splitlines()
        sources = weft("project", str(folder / name), "--segments").stdout.splitlines()
        assert len(segments) == len(sources) > 2, name
        assert all(line.endswith("a part that is not contiguous") for line in report.read_text().splitlines()), name


@pytest.mark.parametrize("name", ["out.pdf", "out.odt", "out.html"])
def test_a_word_document_gets_no_other_name(weft, tmp_path, name):
    folder = Path(__file__).parents[2] / "examples" / "documents"
    done = weft("project", folder / "letter.docx", folder / "letter.de.txt", "-o", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "the output must be a .docx document too" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["records.jsonl"], "records.jsonl: the text does not seem to be split into words (klein.)"),
        (["--from", "markup", "tags"], "tags: the text does not seem to be split into words (klein.)"),
        (["labels", "target"], "target: the text does not seem to be split into words (Sundays.)"),
    ],
)
def test_text_that_is_not_split_is_noticed_once(weft, files, arguments, place):
    (files / "records.jsonl").write_text(
        '{"source": "Es ist klein.", "target": "It is small.", "spans": [[0, 2, "X"]]}\n'
    )
    (files / "tags").write_text("Es ist <b>klein.</b> ||| It is small.\n")
    (files / "target").write_text("The museum opens on Sundays.\nRome, Italy.\n")
    hints = [line for line in weft("project", *arguments, cwd=files).stderr.splitlines() if "seem to be split" in line]
    assert hints == [f"weft: {place}. To split it, add --raw."]
    assert "seem to be split" not in weft("project", "--raw", *arguments, cwd=files).stderr


def test_records_whose_fields_have_other_names(weft):
    record = {"text": {"es": "El museo abre ."}, "en": "The museum opens .", "entities": [[3, 8, "ORG"]]}
    fields = ("--source-field", "text.es", "--target-field", "en", "--spans-field", "entities")
    done = weft("project", "--from", "jsonl", *fields, stdin=json.dumps(record) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {**record, "target_spans": [[4, 10, "ORG"]]}


def test_a_tag_for_each_word_as_hugging_face_has_them(weft, tmp_path):
    record = {"tokens": ["Maria", "lives", "here"], "ner_tags": ["B-PER", "O", "O"], "it": ["Maria", "vive", "qui"]}
    other = {**record, "ner_tags": ["B-X", "I-X", "E-X"]}
    fields = ("--from", "jsonl", "--source-field", "tokens", "--target-field", "it", "--spans-field", "ner_tags")
    (tmp_path / "links").write_text("0-0 1-1 2-2\n")
    done = weft("project", "-", "--links", "links", *fields, stdin=json.dumps(record) + "\n", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {**record, "target_spans": ["B-PER", "O", "O"]}
    (tmp_path / "links").write_text("0-0 1-1 2-2\n\n")
    both = f"{json.dumps(record)}\n{json.dumps(other)}\n"
    done = weft("project", "-", "--links", "links", "--report", "lost", *fields, stdin=both, cwd=tmp_path)
    found = [json.loads(line)["target_spans"] for line in done.stdout.splitlines()]
    assert found == [["S-PER", "O", "O"], ["O", "O", "O"]], "in the scheme that the file has"
    assert (tmp_path / "lost").read_text() == "2\tX\t0\t3\tMaria lives here\tits words have no links\n"
    done = weft("project", "-", "--links", "links", "--scheme", "word", *fields, stdin=both, cwd=tmp_path)
    assert json.loads(done.stdout.splitlines()[1])["target_spans"] == ["_", "_", "_"]


def test_what_is_wrong_with_every_record_is_said_once(weft, tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": 1, "text": "a", "label": [[0, 1, "X"]]}\n' * 30)
    done = weft("project", "r.jsonl", "--spans-field", "label", "-o", "out", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "r.jsonl:1: expected \"source\", found the fields 'id, text, label'." in done.stderr
    assert "--source-field" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("labels", ["1\tIl\til\tPRON\n2\tdort\tdormir\tVERB\n", "Il O\ndort B-X\n"])
@pytest.mark.parametrize("options", [("--scheme", "word"), ()])
def test_files_that_are_swapped(weft, tmp_path, labels, options):
    (tmp_path / "labels").write_text(labels)
    (tmp_path / "target").write_text("Dorme .\nCiao .\n")
    done = weft("project", "target", "labels", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(" Are the files swapped? The labelled file comes first.\n")
    done = weft("project", "labels", "target", *options, cwd=tmp_path)
    assert "swapped" not in done.stderr


def test_a_translation_line_by_line_is_no_markdown(weft, tmp_path):
    (tmp_path / "d.md").write_text("# A\n\nOne two.\n")
    (tmp_path / "d.de.md").write_text("B\nEin zwei.\n")
    done = weft("project", "d.md", "d.de.md", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(
        " d.de.md was read as Markdown. If it is a translation line by line, save it as a .txt file.\n"
    )
    (tmp_path / "d.de.txt").write_text("B\nEin zwei.\nDrei.\n")
    assert "was read as" not in weft("project", "d.md", "d.de.txt", cwd=tmp_path).stderr


def test_a_page_that_goes_on_naming_its_language_says_so(weft, tmp_path):
    (tmp_path / "a.html").write_text('<html lang="en"><body><p>Hi there</p></body></html>')
    (tmp_path / "a.txt").write_text("Salut\n")
    (tmp_path / "links").write_text("0-0\n")
    done = weft("project", "a.html", "a.txt", "--links", "links", cwd=tmp_path)
    assert (
        done.stderr
        == 'weft: a.html declares lang="en", and so does the translation. To change that, add --target-language.\n'
    )
    done = weft("project", "a.html", "a.txt", "--links", "links", "--target-language", "fr", cwd=tmp_path)
    assert (done.stderr, '<html lang="fr">' in done.stdout) == ("", True)


@pytest.mark.parametrize(
    ("code", "default", "own"),
    [
        ("de", {"val": "de", "eastAsia": "en-US", "bidi": "ar-SA"}, {"val": "de"}),
        ("he", {"val": "en-US", "eastAsia": "en-US", "bidi": "he"}, {"val": "en-US", "bidi": "he"}),
        ("ja", {"val": "ja", "eastAsia": "ja", "bidi": "ar-SA"}, {"val": "ja", "eastAsia": "ja"}),
        (None, {"val": "en-US", "eastAsia": "en-US", "bidi": "ar-SA"}, {"val": "en-US"}),
    ],
)
def test_a_word_document_names_the_language_of_its_translation(weft, tmp_path, code, default, own):
    document = docx.Document()
    document.add_paragraph("Hi there")
    for language in ("en-US", "fr-FR"):  # of a mark that ends a paragraph
        properties = document.add_paragraph()._p.get_or_add_pPr()
        properties.append(parse_xml(f'<w:rPr {nsdecls("w")}><w:lang w:val="{language}"/></w:rPr>'))
    document.save(tmp_path / "a.docx")
    (tmp_path / "a.txt").write_text("Salut\n")
    (tmp_path / "links").write_text("0-0\n")
    named = ["--target-language", code] if code else []
    done = weft("project", "a.docx", "a.txt", "--links", "links", "-o", "b.docx", *named, cwd=tmp_path)
    assert ('a.docx declares lang="en-US", and so does the translation' in done.stderr) == (code is None)
    written = docx.Document(tmp_path / "b.docx")
    places = [root.iter(qn("w:lang")) for root in (written.styles.element, written.element)]
    found = [{name.partition("}")[2]: value for name, value in node.items()} for nodes in places for node in nodes]
    assert found == [default, own, {"val": "fr-FR"}]


def test_commands_can_be_copied_whatever_files_are_called(weft, tmp_path):
    (tmp_path / "a b.html").write_text("<p>Hi</p>")
    (tmp_path / "a b.txt").write_text("Salut\n")
    assert "`weft project 'a b.html' 'a b.txt'`" in weft("project", "a b.txt", "a b.html", cwd=tmp_path).stderr


def test_placeholders_that_a_translation_lacks_are_said(weft, tmp_path):
    (tmp_path / "m.xlf").write_text(
        '<xliff version="1.2"><file><body><trans-unit id="1"><source>Hello <x id="N" equiv-text="{{name}}"/>, welcome.'
        "</source><target>Bonjour, bienvenue.</target></trans-unit></body></file></xliff>"
    )
    done = weft("project", "m.xlf", cwd=tmp_path)
    assert "weft: placeholders missing from the translation: 1. Their codes" in done.stderr
    assert 'Bonjour <x id="N" equiv-text="{{name}}"/>, bienvenue.' in done.stdout
