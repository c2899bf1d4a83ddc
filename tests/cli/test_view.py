from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from weft.viewing.png import find_browser

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


def data_of(page: Path) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"))[1])


def test_the_terminal_shows_words_under_words(weft, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    done = weft("view", "pairs.txt", "first.links", "--gold", "gold.talp", "--pair", 2, "--text", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    number, source, first, gold, *_ = done.stdout.splitlines()
    assert number == "2"
    assert source.split() == ["Nous", "avons", "trouvé", "deux", "solutions", "différentes", "."]
    assert first.split()[:4] == ["first.links", "We", "found", "found"]
    assert gold.split()[:3] == ["gold", "We", "found?"]
    assert "\x1b" not in done.stdout


def test_a_page_holds_pairs_systems_gold_and_totals(weft, folder):
    arguments = ["pairs.txt", "first.links", "second.links", "--gold", "gold.talp", "-o", "page.html"]
    done = weft("view", *arguments, "--title", "Two systems", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    data = data_of(folder / "page.html")
    assert data["title"] == "Two systems"
    assert [system["name"] for system in data["systems"]] == ["first.links", "second.links"]
    score = json.loads(weft("score", "gold.talp", "first.links", "--format", "json", cwd=folder).stdout)
    assert data["systems"][0]["rates"]["aer"] == pytest.approx(score["systems"][0]["aer"])
    assert data["pairs"][1]["gold"]["possible"] == [[1, 1]]


def test_two_files_and_gold_that_counts_from_1(weft, folder):
    weft("convert", "gold.talp", "one.talp", "--to", "talp", "--to-base", 1, cwd=folder)
    arguments = ["gold.src", "first.links", "--target", "gold.tgt", "--gold", "one.talp", "-o", "page.html"]
    assert weft("view", *arguments, cwd=folder).returncode == 0
    assert data_of(folder / "page.html")["pairs"][0]["gold"]["sure"][0] == [0, 0]


def test_records_bring_their_links_along(weft, folder):
    weft("align", "pairs.txt", "--output-format", "jsonl", "-o", "all.jsonl", cwd=folder)
    assert weft("view", "all.jsonl", "-o", "page.html", cwd=folder).stderr == ""
    data = data_of(folder / "page.html")
    assert data["systems"] == [{"name": "all.jsonl"}]
    assert 0 < data["pairs"][0]["systems"][0]["links"][0][2] <= 1
    assert data["pairs"][0]["systems"][0]["score"] is not None


def test_a_field_of_another_kind_called_links_is_passed_over(weft, folder):
    (folder / "pages.jsonl").write_text('{"en": "hi", "fr": "salut", "links": "none"}\n')
    fields = ("--source-field", "en", "--target-field", "fr")
    done = weft("view", "pages.jsonl", *fields, "--format", "csv", cwd=folder)
    assert done.stdout.splitlines()[0] == "pair,i,j,source,target,weft-mini"
    assert done.stderr == (
        'weft: pages.jsonl: the field "links" does not contain links as weft writes them, so a model aligns the '
        "pairs.\n"
    )


def test_a_model_aligns_where_there_are_no_links(weft, folder):
    done = weft("view", "-", stdin="Ja , Berlin . ||| Yes , Berlin .\n", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2].split() == ["weft-mini", "Yes", ",", "Berlin", "."]


def test_links_and_a_model_side_by_side(weft, folder):
    weft("view", "pairs.txt", "first.links", "--model", "weft-mini", "-o", "page.html", cwd=folder)
    assert [system["name"] for system in data_of(folder / "page.html")["systems"]] == ["first.links", "weft-mini"]


def test_one_pair_as_a_file(weft, folder):
    view = ["view", "pairs.txt", "first.links", "--pair", 3, "-o"]
    for name, start in (("pair.svg", "<svg "), ("pair.tex", "\\begin{tikzpicture}"), ("pair.csv", "pair,i,j,")):
        assert weft(*view, name, cwd=folder).returncode == 0
        assert (folder / name).read_text(encoding="utf-8").startswith(start)
    rows = list(csv.DictReader(io.StringIO((folder / "pair.csv").read_text(encoding="utf-8"))))
    assert list(rows[0].values()) == ["3", "0", "0", "Ieri", "Yesterday", "1"]


@pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")
@pytest.mark.parametrize(("name", "begins"), [("pair.png", b"\x89PNG"), ("pair.pdf", b"%PDF")])
def test_one_pair_as_a_picture(weft, folder, name, begins):
    assert weft("view", "pairs.txt", "first.links", "--pair", 3, "-o", name, cwd=folder).returncode == 0
    assert (folder / name).read_bytes().startswith(begins)


def test_similarities_of_two_models(weft, folder, tiny_bert):
    arguments = ["--similarity", "--model", tiny_bert, "--layer", 1, "--model", tiny_bert, "--layer", 2]
    assert weft("view", "pairs.txt", *arguments, "-o", "page.html", cwd=folder).returncode == 0
    data = data_of(folder / "page.html")
    assert data["models"] == ["bert, layer 1", "bert, layer 2"]
    before, after = data["pairs"][0]["similarities"]
    assert len(before) == len(after) == 5
    assert before != after
    assert weft("view", "pairs.txt", *arguments, "--pair", 1, "-o", "pair.svg", cwd=folder).returncode == 0


def test_bad_lines_are_named_and_left_out(weft, folder):
    (folder / "some").write_text("a ||| b\n\nc ||| d\n")
    (folder / "links").write_text("0-0\n\n0-0\n")
    done = weft("view", "some", "links", cwd=folder)
    assert done.stderr == (
        "weft: some:2: the line is blank; expected a sentence and its translation. This pair is left out.\n"
    )
    assert [line for line in done.stdout.splitlines() if line.isdigit()] == ["1", "3"]


def test_long_files_are_cut_aloud(weft, folder):
    done = weft("view", "pairs.txt", "first.links", "--limit", 2, cwd=folder)
    assert done.stderr == "weft: only the first 2 lines are shown; use --limit to change that.\n"
    assert weft("view", "pairs.txt", "first.links", "--limit", 6, cwd=folder).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["pairs.txt", "first.links", "-o", "x.svg"], 2, "svg output shows one pair; choose it with --pair."),
        (["pairs.txt", "first.links", "--pair", "99"], 1, "there is no pair 99 in pairs.txt."),
        (["pairs.txt", "first.links", "first.links", "--model", "weft-mini"], 2, "at most two systems can be compared"),
        (["pairs.txt", "--similarity"], 2, "--similarity draws a page or a picture"),
        (["pairs.txt", "first.links", "--layer", "1"], 2, "there are more layers than models"),
        (["pairs.txt", "--text", "--format", "svg"], 2, "--text and --format svg cannot be combined."),
        (["pairs.txt", "nothing"], 1, "weft: nothing: No such file or directory."),
        (["pairs.txt", "short"], 1, "weft: pairs.txt has 6 lines but short has 1 line;"),
        (["pairs.txt", "far"], 1, "far:1: the link 9-9 is out of range"),
        (["empty", "first.links"], 1, "weft: empty has 0 lines but first.links has 6 lines"),
        (["-", "-"], 2, "only one input can be stdin."),
    ],
)
def test_bad_input_gets_one_sentence(weft, folder, arguments, code, message):
    (folder / "short").write_text("0-0\n")
    (folder / "far").write_text("9-9\n" * 6)
    (folder / "empty").write_text("")
    done = weft("view", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["first.links", "gold.talp", "scored"])
def test_links_where_the_translations_should_be(weft, folder, name):
    (folder / "scored").write_text("\n0-0:0.9 1-2:1\n")
    done = weft("view", "gold.src", name, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"weft: {name} contains links; name the file with the translations before it.\n"


def test_viewing_links_needs_no_web_framework(loaded_by, folder):
    heavy = {"torch", "fastapi", "uvicorn", "onnxruntime"}
    assert loaded_by(heavy, "view", "pairs.txt", "first.links", "-o", "page.html", cwd=folder) == (set(), "")


def test_text_that_is_not_split_is_noticed_unless_links_say_what_its_words_are(weft, tmp_path):
    (tmp_path / "pairs").write_text("他明天去北京。 ||| He goes to Beijing tomorrow.\n")
    (tmp_path / "links").write_text("0-0\n")
    assert weft("view", "pairs", cwd=tmp_path).stderr == (
        "weft: pairs: the text does not seem to be split into words (他明天去北京。). To split it, add --raw.\n"
    )
    assert weft("view", "pairs", "--raw", cwd=tmp_path).stderr == ""
    assert weft("view", "pairs", "links", cwd=tmp_path).stderr == ""


def test_an_ending_may_be_in_capitals(weft, folder):
    assert weft("view", "pairs.txt", "first.links", "--pair", 1, "-o", "pair.SVG", cwd=folder).returncode == 0
    assert (folder / "pair.SVG").read_text().startswith("<svg")


def test_of_several_files_of_links_one_may_count_from_1(weft, tmp_path):
    for name, content in {"pairs": "a b ||| c d\n", "one": "1-1 2-2\n", "zero": "0-0 1-1\n"}.items():
        (tmp_path / name).write_text(content)
    done = weft("view", "pairs", "one", "zero", cwd=tmp_path)
    assert "convert it first: weft convert one from-0-one --from-base 1" in done.stderr
    assert "--system-base" not in done.stderr
    assert "--system-base to 1" in weft("view", "pairs", "one", cwd=tmp_path).stderr
