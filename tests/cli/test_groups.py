"""Options that several commands take mean the same in each of them."""

from __future__ import annotations

import json

import pytest

SENTENCES = [("Das ist gut.", "That is good."), ("Ein kleines Haus.", "A small house.")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same raw text in every form that people have it in."""
    place = tmp_path_factory.mktemp("forms")
    rows = [{"id": number, "de": source, "en": target} for number, (source, target) in enumerate(SENTENCES)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "rows.tsv").write_text("".join(f"id-{row['id']}\t{row['de']}\t{row['en']}\n" for row in rows))
    units = (
        f'<tu><tuv xml:lang="en-GB"><seg>{target}</seg></tuv><tuv xml:lang="it-IT"><seg>no</seg></tuv>'
        f'<tuv xml:lang="de-DE"><seg>{source}</seg></tuv></tu>\n'
        for source, target in SENTENCES
    )
    (place / "memory.tmx").write_text(f'<tmx><header srclang="en"/><body>\n{"".join(units)}</body></tmx>\n')
    (place / "src").write_text("".join(f"{source}\n" for source, _ in SENTENCES))
    (place / "tgt").write_text("".join(f"{target}\n" for _, target in SENTENCES))
    return place


FORMS = [
    ("rows.jsonl", "--source-field", "de", "--target-field", "en"),
    ("rows.tsv", "--columns", "id,source,target"),
    ("src", "tgt"),
    ("memory.tmx",),  # the codes choose two of its languages
]
RAW = ("--raw", "--source-language", "de", "--target-language", "en")


@pytest.mark.parametrize(
    "command",
    [("lexicon", "--punctuation"), ("phrases", "--max-length", "2"), ("filter", "--keep", "1", "--scores"), ("view",)],
)
def test_every_form_of_the_same_text_gives_the_same(weft, folder, command):
    done = [weft(*command, *form, *RAW, cwd=folder) for form in FORMS]
    assert [run.returncode for run in done] == [0, 0, 0, 0], [run.stderr for run in done]
    if command[0] == "filter":  # lines stay as they were, but for the score before them
        assert len({tuple(line.split("\t")[0] for line in run.stdout.splitlines()) for run in done}) == 1
    else:
        assert done[0].stdout == done[1].stdout == done[2].stdout == done[3].stdout
        # Only text that was cut has the full stop as a word of its own.
        assert "." in done[0].stdout.replace("\t", " ").split()


def test_methods_and_thresholds_are_those_of_weft_align(weft, folder):
    links = weft("align", "src", "tgt", *RAW, "--method", "softmax", "--threshold", "0.9", cwd=folder)
    (folder / "links").write_text(links.stdout)
    given = weft("lexicon", "src", "tgt", *RAW, "--links", "links", cwd=folder)
    found = weft("lexicon", "src", "tgt", *RAW, "--method", "softmax", "--threshold", "0.9", cwd=folder)
    assert given.stdout == found.stdout != ""
    both = weft("lexicon", "src", "tgt", "--links", "links", "--method", "softmax", cwd=folder)
    assert both.returncode == 2
    assert "leave out --method, or --links" in both.stderr


def test_mistakes_are_sentences(weft, folder):
    for options, message in (
        (("lexicon", "src", "tgt", "--source-language", "de"), "--source-language and --target-language"),
        (("phrases", "rows.jsonl", "--source-field", "de"), "or neither"),
        (("project", "rows.jsonl", "--from", "jsonl", "--columns", "source,target"), "--columns needs --from markup"),
        (("view", "src", "tgt", "-o", "page.docx"), "cannot write .docx files"),
    ):
        done = weft(*options, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
    assert not (folder / "page.docx").exists()


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (("align", "rows.jsonl"), "y.tmx"),
        (("lexicon", "rows.jsonl"), "y.xlsx"),
        (("phrases", "rows.jsonl"), "y.XLSX.gz"),
        (("filter", "rows.jsonl", "--keep", "1"), "y.ods"),
        (("symmetrize", "links", "links"), "y.pdf"),
        (("score", "links", "links"), "y.png"),
    ],
)
def test_a_name_of_another_kind_of_file_is_refused(weft, folder, command, output):
    (folder / "links").write_text("0-0\n")
    done = weft(*command, "-o", output, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot write .{output.lower().split('.')[1]} files; " in done.stderr
    assert not (folder / output).exists()


def test_convert_writes_no_documents_but_tmx(weft, tmp_path):
    (tmp_path / "pairs.tsv").write_text("gut\tgood\n")
    languages = ("--source-language", "de", "--target-language", "en")
    for output, code in (("y.docx", 2), ("y.xlf", 2), ("y.tmx", 0), ("y.tmx.gz", 0)):
        done = weft("convert", "pairs.tsv", output, *languages, cwd=tmp_path)
        assert (done.returncode, (tmp_path / output).exists()) == (code, not code)


def test_a_language_that_the_model_lacks_is_named_in_every_command(weft, folder):
    for command in (("lexicon",), ("view",), ("filter", "--keep", "1")):
        done = weft(*command, "src", "tgt", "--raw", "--source-language", "tlh", cwd=folder)
        assert done.returncode == 0
        assert "--source-language tlh is not a language that the model was trained on" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("align", "rows"),
        ("lexicon", "rows"),
        ("phrases", "rows"),
        ("filter", "rows", "--keep", "1"),
        ("project", "rows", "--from", "markup"),
        ("project", "rows", "--from", "jsonl"),
        ("view", "rows"),
        ("convert", "rows", "out", "--from", "bars", "--to", "tsv"),
    ],
)
def test_a_file_of_bad_lines_has_failed_in_every_command(weft, tmp_path, command):
    (tmp_path / "rows").write_text("nothing\n" * 12)
    done = weft(*command, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("rows:") <= 10
    assert "Traceback" not in done.stderr


def test_tags_are_read_from_any_fields(weft, tmp_path):
    (tmp_path / "rows").write_text('{"a": "das <b>Haus</b>", "b": "the house"}\n')
    done = weft("project", "rows", "--from", "markup", "--source-field", "a", "--target-field", "b", cwd=tmp_path)
    assert done.stdout == "the <b>house</b>\n"


@pytest.mark.parametrize(
    "command",
    [
        ("align",),
        ("lexicon", "--examples"),
        ("phrases", "--max-length", "2"),
        ("filter", "--min-score", "0", "--strict"),
        ("view",),
        ("convert", "-", "--to", "jsonl"),
    ],
)
def test_cells_with_line_breaks_are_read_from_a_pipe_as_from_a_file(weft, tmp_path, command):
    table = 'nr;de;en\n1;"das ist\ngut";"that is\ngood"\n2;ja;yes\n'
    (tmp_path / "table.csv").write_text(table)
    options = ("--source-field", "de", "--target-field", "en")
    format_option = "--from" if command[0] == "convert" else "--input-format"
    file = weft(command[0], "table.csv", *(part for part in command[1:] if part != "-"), *options, cwd=tmp_path)
    pipe = weft(*command, *options, format_option, "csv", stdin=table)
    assert (pipe.returncode, pipe.stdout) == (0, file.stdout), pipe.stderr
    assert "CSV" not in pipe.stderr
