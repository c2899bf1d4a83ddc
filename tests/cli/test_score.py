from __future__ import annotations

import json

import pytest

from weft import Link, SentencePair
from weft.annotation.project import Project, create_project
from weft.annotation.record import Annotation, State
from weft.annotation.sentences import ProjectPair


@pytest.fixture
def files(tmp_path):
    contents = {
        "gold": "0-0 1-1 2p2\n0-0\n\n",
        "good": "0-0 1-1 2-2\n0-0\n\n",
        "poor": "0-0 1-2\n1-1\n0-0\n",
        "source": "das ist gut\nja doch\nnein\n",
        "target": "that is good\nyes really\nno\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_the_table_shows_rates_intervals_tests_and_signature(weft, files):
    done = weft("score", "gold", "good", "poor", cwd=files)
    assert done.returncode == 0
    header, good, poor, difference, *rest = done.stdout.splitlines()
    assert header.split() == ["AER", "precision", "recall", "F1"]
    assert good.startswith("good  0.0 [0.0, 0.0]")
    assert poor.startswith("poor  71.4 [")  # A∩S = 1, A∩P = 1, A = 4, S = 3
    assert difference.strip().startswith("+71.4 (p = ")
    assert rest[-1].startswith("sentences:3|gold:sure+possible|gold-base:0|system-base:0|")


def test_json_holds_everything(weft, files):
    done = weft(
        "score", "gold", "good", "poor", "--format", "json", "--source", "source", "--target", "target", cwd=files
    )
    record = json.loads(done.stdout)
    poor = record["systems"][1]
    assert poor["counts"] == {"sure_hits": 1, "possible_hits": 1, "links": 4, "sure": 3}
    assert poor["aer"] == pytest.approx(100 * 5 / 7)
    assert poor["baseline"] == "good"
    assert 0 < poor["p_values"]["aer"] <= 1
    assert poor["errors"]["wrong"] == [["doch", "really", 1], ["ist", "good", 1], ["nein", "no", 1]]
    assert poor["errors"]["missing"] == [["ist", "is", 1], ["ja", "yes", 1]]
    assert [sentence["line"] for sentence in poor["errors"]["worst_sentences"]] == [1, 2, 3]


def test_the_error_report_can_be_read(weft, files):
    done = weft("score", "gold", "poor", "--source", "source", "--target", "target", cwd=files)
    assert "    1  ist - is\n" in done.stdout
    assert "line 1: 1 wrong, 1 missing\n      das ist gut\n      that is good\n" in done.stdout


def test_possible_links_can_be_ignored(weft, files):
    done = weft("score", "gold", "good", "--ignore-possible", "--format", "json", cwd=files)
    assert json.loads(done.stdout)["systems"][0]["counts"] == {
        "sure_hits": 3,
        "possible_hits": 3,
        "links": 4,
        "sure": 3,
    }
    assert "gold:sure|" in done.stdout


def test_one_input_may_be_stdin(weft, files):
    assert (
        weft("score", "gold", "-", cwd=files, stdin="0-0 1-1\n0-0\n\n").stdout.splitlines()[1].startswith("stdin  0.0")
    )
    assert (
        weft("score", "-", "good", cwd=files, stdin="1-1 2-2\n1-1\n\n").stdout.splitlines()[1].startswith("good  14.3")
    )
    done = weft("score", "-", "-", cwd=files)
    assert (done.returncode, done.stderr) == (2, "weft: only one input can be stdin.\n")


def test_wrong_bases_and_ranges_are_refused(weft, files):
    (files / "contradiction").write_text("0-0 3-3\n0-0\n\n")
    done = weft("score", "contradiction", "good", "--source", "source", "--target", "target", cwd=files)
    assert done.returncode == 1
    assert done.stderr.startswith("weft: contradiction:1: the link 3-3 is out of range: source and target have 3 and 3")
    done = weft("score", "gold", "good", "--gold-base", "1", cwd=files)
    assert done.returncode == 1
    assert "gold:1: found '0-0', but --gold-base is 1, so words are counted from 1." in done.stderr
    (files / "far").write_text("0-0\n0-9\n\n")
    done = weft("score", "gold", "far", "--source", "source", "--target", "target", cwd=files)
    assert done.stderr.startswith("weft: far:2: the link 0-9 is out of range: source and target have 2 and 2 words")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["gold", "missing"], 1, "weft: missing: No such file or directory.\n"),
        (["gold", "."], 1, "weft: .: Is a directory.\n"),
        (
            ["gold", "short"],
            1,
            "weft: gold has 3 lines but short has 1 line; line n of one must correspond to line n of the other.\n",
        ),
        (
            ["gold", "good", "--source", "source"],
            2,
            "weft: give both --source and --target, or neither.\n",
        ),
        (["gold", "good", "--source", "brief", "--target", "brief"], 1, "weft: gold has 3 lines but brief has 1 line;"),
        (["gold"], 2, "Missing argument"),
        (["gold", "good", "--format", "xml"], 2, "'xml'"),
    ],
)
def test_bad_input_gets_one_sentence_and_no_traceback(weft, files, arguments, code, message):
    (files / "short").write_text("0-0\n")
    (files / "brief").write_text("one two three\n")
    done = weft("score", *arguments, cwd=files)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_scoring_needs_neither_torch_nor_onnxruntime(loaded_by, files):
    loaded, printed = loaded_by({"torch", "transformers", "scipy", "onnxruntime"}, "score", "gold", "good", cwd=files)
    assert not loaded
    assert printed.splitlines()[1].startswith("good")


def test_a_system_that_may_count_from_1_is_doubted_aloud(weft, files):
    (files / "one").write_text("1-1\n1-1\n\n")
    done = weft("score", "one", "one", cwd=files)
    assert "one has no index 0. If its word indices start at 1, add --system-base 1." in done.stderr
    assert weft("score", "one", "one", "--system-base", 1, cwd=files).stdout.splitlines()[1].startswith("one  0.0")


def test_the_error_report_ignores_possible_links_too(weft, files):
    options = ["--ignore-possible", "--format", "json", "--source", "source", "--target", "target"]
    [system] = json.loads(weft("score", "gold", "good", *options, cwd=files).stdout)["systems"]
    assert system["errors"]["wrong"] == [["gut", "good", 1]]


def test_agreement_of_two_annotators(weft, files):
    done = weft("score", "--agreement", "gold", "good", cwd=files)
    # |A| = |B| = 4, all shared, of which 3 and 4 are sure: AER = 1 - (8 + 3 + 4) / (8 + 7).
    assert done.stdout.startswith(
        "AER  0.0 [0.0, 0.0]\nF1   100.0 [100.0, 100.0]\n\n3 sentences; the annotators disagree"
    )
    assert done.stdout.endswith("For kappa, add --source and --target.\n")
    done = weft(
        "score",
        "--agreement",
        "good",
        "poor",
        "--source",
        "source",
        "--target",
        "target",
        "--format",
        "json",
        cwd=files,
    )
    record = json.loads(done.stdout)
    # 4 and 4 links, 1 in both; 14 cells, of which 8 alike; by chance (4 * 4 + 10 * 10) / 14 ** 2.
    chance = 116 / 196
    assert record["f1"] == pytest.approx(25)
    assert record["kappa"] == pytest.approx((8 / 14 - chance) / (1 - chance))
    assert [each["line"] for each in record["disagreements"]] == [2, 3, 1]
    assert "give two files" in weft("score", "--agreement", "gold", "good", "poor", cwd=files).stderr


def test_tables_for_papers_pages_and_scripts(weft, tmp_path):
    """Three sentences against a system that is right and one that is wrong; names that TeX and Markdown would obey."""
    gold, right, wrong = (tmp_path / name for name in ("gold.talp", "my_right", "wrong|100%"))
    gold.write_text("0-0 1-1\n" * 40)
    right.write_text("0-0 1-1\n" * 40)
    wrong.write_text("0-0 1-0\n" * 40)
    tables = {
        kind: weft("score", gold, wrong, right, "--format", kind).stdout
        for kind in ("latex", "markdown", "tsv", "json")
    }
    rows = [line.split("\t") for line in tables["tsv"].splitlines()]
    assert rows[0][:5] == ["system", "aer", "aer_low", "aer_high", "aer_p"]
    record = json.loads(tables["json"])
    for row, system in zip(rows[1:], record["systems"], strict=True):
        assert row[1:4] == [f"{value:.2f}" for value in (system["aer"], *system["interval"]["aer"])]
    assert (rows[1][4], float(rows[2][4])) == ("", round(record["systems"][1]["p_values"]["aer"], 4))
    assert r"my\_right & \textbf{0.0}\rlap{$^*$} & \textbf{100.0}\rlap{$^*$}" in tables["latex"]
    assert r"wrong|100\% & 50.0 &" in tables["latex"]
    assert tables["latex"].count("\\begin{tabular}") == tables["latex"].count("\\end{tabular}") == 1
    assert r"my\_right | **0.0**\* [0.0, 0.0] |" in tables["markdown"]
    assert r"wrong\|100% | 50.0 [" in tables["markdown"]
    assert record["signature"] in tables["latex"]
    alone = weft("score", gold, right, "--format", "markdown").stdout
    assert "**" not in alone
    assert "star" not in alone
    wide = weft("score", gold, wrong, right, "--format", "latex", "--intervals").stdout
    assert r"my\_right & \textbf{0.0}$^*$ {\scriptsize [0.0, 0.0]} & \textbf{100.0}$^*$ {\scriptsize" in wide


@pytest.mark.parametrize("format", ["latex", "markdown"])
def test_a_star_is_explained_only_where_there_is_one(weft, files, format):
    same = weft("score", "gold", "good", "good", "--format", format, cwd=files).stdout
    assert "star" not in same
    assert "No difference from good is significant (paired permutation test, p < 0.05)." in same


def test_agreement_as_a_table(weft, files):
    command = ("score", "--agreement", "good", "poor", "--source", "source", "--target", "target", "--format")
    names, values = (line.split("\t") for line in weft(*command, "tsv", cwd=files).stdout.splitlines())
    record = json.loads(weft(*command, "json", cwd=files).stdout)
    found = dict(zip(names, values, strict=True))
    assert (found["f1"], found["sentences"], found["disagreements"]) == ("25.00", "3", "3")
    assert (found["kappa_low"], found["kappa_high"]) == tuple(f"{end:.4f}" for end in record["interval"]["kappa"])
    markdown = weft(*command, "markdown", cwd=files).stdout.splitlines()
    assert markdown[0] == "| AER | F1 | kappa |"
    assert markdown[2].split(" | ")[1].startswith("25.0 [")
    latex = weft(*command, "latex", cwd=files).stdout
    assert r"AER & F1 & $\kappa$ \\" in latex
    assert r"25.0 {\scriptsize [" in latex


@pytest.mark.parametrize("agreement", [(), ("--agreement",)])
def test_a_table_named_csv_is_csv(weft, files, agreement):
    command = ("score", "gold", "good", "--format", "tsv", *agreement)
    printed = weft(*command, cwd=files).stdout
    assert weft(*command, "-o", "table.csv", cwd=files).stdout == ""
    assert (files / "table.csv").read_text() == printed.replace("\t", ",")


def test_agreement_without_the_sentences_has_no_kappa(weft, files):
    done = weft("score", "--agreement", "good", "poor", "--format", "tsv", cwd=files)
    assert "kappa" not in done.stdout
    assert done.stderr.endswith("weft: for kappa, add --source and --target.\n")


def test_systems_are_called_what_they_are_told(weft, files):
    done = weft("score", "gold", "good", "poor", "--names", "ours, theirs", "--format", "json", cwd=files)
    systems = json.loads(done.stdout)["systems"]
    assert [system["name"] for system in systems] == ["ours", "theirs"]
    assert systems[1]["baseline"] == "ours"
    refused = weft("score", "gold", "good", "poor", "--names", "ours", cwd=files)
    assert (refused.returncode, refused.stderr) == (2, "weft: --names needs 2 names, one per system; got 1.\n")


def test_annotators_who_differ_only_in_what_is_sure(weft, tmp_path):
    (tmp_path / "anna").write_text("0-0 1-1\n0-0\n")
    (tmp_path / "bert").write_text("0-0 1p1\n0-1\n")
    done = weft("score", "--agreement", "anna", "bert", cwd=tmp_path)
    about = "about which links are sure and which are possible"
    assert f"\n2 sentences; the annotators disagree on 2 of them, in 1 only {about}\n" in done.stdout
    assert "  line 1: AER 0.0, F1 100.0, sure or possible\n" in done.stdout
    for name in ("anna", "bert"):
        (tmp_path / name).write_text((tmp_path / name).read_text().splitlines()[0] + "\n")
    done = weft("score", "--agreement", "anna", "bert", cwd=tmp_path)
    assert f"\n1 sentence; the annotators disagree on it, only {about}\n" in done.stdout


def test_lines_that_one_annotator_left_blank(weft, tmp_path):
    (tmp_path / "anna").write_text("0-0 1-1\n\n0-0\n\n")
    (tmp_path / "bert").write_text("0-0 1-1\n0-0\n0-1\n\n")
    command = ("score", "--agreement", "anna", "bert", "--format", "json")
    done = weft(*command, cwd=tmp_path)
    assert json.loads(done.stdout)["sentences"] == 4
    assert "1 line has no links from one annotator, but some from the other (the first is line 2)." in done.stderr
    assert "If nobody annotated it, leave it out with --skip-unannotated." in done.stderr
    done = weft(*command, "--skip-unannotated", cwd=tmp_path)
    record = json.loads(done.stdout)
    assert (record["sentences"], record["f1"]) == (2, pytest.approx(100 * 2 / 3))
    assert [each["line"] for each in record["disagreements"]] == [3]
    assert "left out 2 lines that at least one annotator left without links (the first is line 2)." in done.stderr


def test_systems_that_count_from_different_numbers(weft, tmp_path):
    for name, content in {"gold": "0-0 1-1\n", "from 0": "0-0 1-1\n", "b.links": "1-1 2-2\n"}.items():
        (tmp_path / name).write_text(content)
    way = "convert {}: weft convert b.links from-0-b.links --from-base 1"
    done = weft("score", "gold", "from 0", "b.links", cwd=tmp_path)
    assert f"b.links has no index 0. If its word indices start at 1, {way.format('it first')}\n" in done.stderr
    done = weft("score", "gold", "from 0", "b.links", "--system-base", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "weft: from 0 has an index 0, so its word indices do not start at 1. Leave out --system-base 1, and "
        f"{way.format('the others first')}\n"
    )
    assert weft("convert", "b.links", "from-0-b.links", "--from-base", "1", cwd=tmp_path).returncode == 0
    done = weft("score", "gold", "from 0", "from-0-b.links", "--format", "json", cwd=tmp_path)
    assert [system["aer"] for system in json.loads(done.stdout)["systems"]] == [0, 0]


def test_a_system_with_an_index_0_is_not_said_to_count_from_1(weft, tmp_path):
    for name, content in {"source": "a b\na b c\n", "target": "c d\nc\n", "gold": "0-0 1-1\n0-0\n"}.items():
        (tmp_path / name).write_text(content)
    sentences = ("--source", "source", "--target", "target")
    swapped = "With source and target swapped, the links of this line would fit. Are they swapped?"
    for links, advice in (("0-0 1-1\n0-1\n", swapped), ("0-0\n1-3\n", None), ("1-1\n3-1\n", "set --system-base to 1.")):
        (tmp_path / "system").write_text(links)
        done = weft("score", "gold", "system", *sentences, cwd=tmp_path)
        assert (done.returncode, "is out of range" in done.stderr) == (1, True)
        assert ("--system-base" in done.stderr) == (advice is not None and "base" in advice)
        assert advice is None or advice in done.stderr


@pytest.mark.parametrize("order", [("source", "gold"), ("gold", "source")])
def test_sentences_where_links_belong(weft, files, order):
    done = weft("score", *order, cwd=files)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "weft: source contains text, not links. GOLD and SYSTEM are links; name sentences with --source and --target.\n"
    )


def test_the_gold_of_a_project_is_scored_against_links_for_all_its_pairs(weft, tmp_path):
    create_project(tmp_path / "work", [ProjectPair(SentencePair(("a", "b"), ("c", "d")))] * 4)
    project = Project.open(tmp_path / "work")
    for number in (1, 3):
        project.put("Ann", number, Annotation((Link(0, 0, 0.9), Link(1, 1, 0.8)), State.DONE))
    project.close()
    (tmp_path / "links").write_text("0-1\n0-0 1-1\n1-0\n0-0\n")
    for gold in ("work", "work/gold.jsonl"):
        done = weft("score", gold, "links", "--format", "json", cwd=tmp_path)
        found = json.loads(done.stdout)
        assert (found["sentences"], found["systems"][0]["counts"]["links"], done.stderr) == (2, 3, "")


def test_gold_without_links_in_some_lines_is_remarked_on(weft, files):
    done = weft("score", "gold", "poor", cwd=files)
    assert done.stderr == (
        "weft: gold: 1 of 3 lines has no links here, although a system has links there. It counts against precision. "
        "If nobody annotated these lines, leave them out with --skip-unannotated.\n"
    )
    done = weft("score", "gold", "poor", "--skip-unannotated", "--format", "json", cwd=files)
    assert (done.stderr, json.loads(done.stdout)["sentences"]) == ("", 2)
