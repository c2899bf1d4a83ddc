from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest

from processes import interruptible
from weft.errors import install_command

GOOD = "das ist ein kleines Haus ||| that is a small house\n"
LONG = " ".join(["Haus"] * 10_000) + " ||| " + " ".join(["house"] * 10_000) + "\n"
# Every kind of line that people and programs produce, and whether it can be aligned.
LINES = {
    "good": (GOOD, True),
    "blank": ("\n", False),
    "blanks": ("  \t \n", False),
    "no separator": ("das ist gut\n", False),
    "separator without blanks": ("das|||that\n", False),
    "three separators": ("a ||| b ||| c ||| d\n", False),
    "empty source": (" ||| that\n", False),
    "empty target": ("das |||\n", False),
    "control characters": ("das\x00ist\x07 \x1b[31m ||| \x7f that\n", True),
    "emoji": ("👩\u200d👩\u200d👧 🇩🇪 ||| 🎉 family\n", True),
    "right to left": ("هذا بيت صغير ||| that is a small house\n", True),
    "strange blanks": ("10\u00a0000\u3000円 ||| 10,000 yen\n", True),
    "carriage return inside": ("das\rist ||| that is\n", True),
    "zero width words": ("\u200b \ufeff das ||| that\n", True),
    "special tokens": ("[CLS] [SEP] [MASK] ||| [PAD] x\n", True),
    "windows line end": ("das ist ||| that is\r\n", True),
}
BAD_BYTES = b"das \xff ||| that\n"


@pytest.fixture(params=["torch", "onnx", "weft-mini"])
def model(request):
    folders = {"torch": "tiny_bert", "onnx": "tiny_onnx"}
    if request.param == "weft-mini":
        return ["--model", "weft-mini"]
    return ["--model", request.getfixturevalue(folders[request.param])]


def corpus() -> tuple[bytes, list[bool]]:
    lines = [(text.encode(), fine) for text, fine in LINES.values()] + [(BAD_BYTES, False), (GOOD.encode(), True)]
    return b"".join(line for line, _ in lines), [fine for _, fine in lines]


@pytest.mark.parametrize("way", ["stdin", "file", "gz"])
def test_one_line_out_for_each_line_in(weft, model, tmp_path, way):
    content, fine = corpus()
    (tmp_path / "pairs").write_bytes(gzip.compress(content) if way == "gz" else content)
    done = weft("align", *model, stdin=content) if way == "stdin" else weft("align", tmp_path / "pairs", *model)
    assert done.returncode == 0
    lines = done.stdout.split("\n")
    assert lines.pop() == ""
    assert [bool(line) for line in lines] == fine
    name = "stdin" if way == "stdin" else str(tmp_path / "pairs")
    for number, aligned in enumerate(fine, start=1):
        assert (f"weft: {name}:{number}:" in done.stderr) is not aligned
    assert f"weft: {fine.count(False)} of {len(fine)} lines could not be aligned.\n" in done.stderr


def test_bad_lines_say_what_is_wrong_with_them(weft):
    done = weft("align", stdin=corpus()[0])
    for sentence in (
        "stdin:2: the line is blank;",
        "stdin:4: expected one ' ||| ' separator, found 0.",
        "stdin:6: expected one ' ||| ' separator, found 3.",
        "stdin:7: the source side is empty.",
        "stdin:8: the target side is empty.",
        "stdin:17:5: expected UTF-8, found the byte ff.",
    ):
        assert sentence in done.stderr


def test_strict_stops_at_the_first_bad_line(weft, tmp_path):
    (tmp_path / "pairs").write_text(GOOD + "rubbish\n" + GOOD)
    done = weft("align", "pairs", "-o", "links", "--strict", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "weft: pairs:2: expected one ' ||| ' separator, found 0.\n"
    assert not (tmp_path / "links").exists()


def test_ten_thousand_words(weft, model):
    done = weft("align", *model, "--scores", stdin=GOOD + LONG + GOOD)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    # Batches differ, so the last digit of a score may too.
    assert [token.split(":")[0] for token in lines[0].split()] == [token.split(":")[0] for token in lines[2].split()]
    assert lines[0].count(":") > 0


def test_long_sentences_are_announced(weft, tiny_bert):
    done = weft("align", "--model", tiny_bert, "--layer", 2, stdin=" ||| ".join(["Haus " * 100] * 2) + "\n")
    assert "weft: 1 sentence was too long for the encoder and was read in pieces." in done.stderr


@pytest.mark.parametrize("end", ["", "."])
def test_the_pieces_of_long_sentences_are_not_counted(weft, tiny_bert, end):
    pair = " ||| ".join([f"{' '.join(['Haus'] * 40)} {end} " * 40] * 2) + "\n"
    for options in ((), ("--model", tiny_bert, "--layer", 2)):
        done = weft("align", *options, stdin=pair + "ja ||| yes\n")
        assert "weft: 2 sentences were too long for the encoder and were read in pieces." in done.stderr


@pytest.mark.parametrize(("name", "begins"), [("o.jsonl", '{"source"'), ("o.naacl", "1 1 1"), ("o.txt", "0-0")])
def test_the_name_of_the_output_says_its_format(weft, tmp_path, name, begins):
    weft("align", "-o", name, stdin="ja ||| yes\n", cwd=tmp_path)
    assert (tmp_path / name).read_text().startswith(begins)
    weft("align", "-o", name, "--output-format", "words", stdin="ja ||| yes\n", cwd=tmp_path)
    assert (tmp_path / name).read_text() == "ja<sep>yes\n"


def test_two_files_tsv_and_json_give_the_same(weft, tmp_path):
    (tmp_path / "s").write_text("das ist gut\nja\n")
    (tmp_path / "t").write_text("that is good\nyes\n")
    expected = "0-0 1-1 2-2\n0-0\n"
    assert weft("align", "s", "t", cwd=tmp_path).stdout == expected
    assert weft("align", stdin="das ist gut\tthat is good\nja\tyes\n").stdout == expected
    record = (
        json.dumps({"source": ["das", "ist", "gut"], "target": "that is good"})
        + '\n{"source": "ja", "target": "yes"}\n'
    )
    assert weft("align", stdin=record).stdout == expected
    (tmp_path / "t").write_text("that is good\n")
    done = weft("align", "s", "t", "-o", "links", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "weft: s has 2 lines but t has 1 line; line n of one must correspond to line n of the other. "
        "If they do not, weft align --documents pairs the sentences of two texts.\n",
    )
    assert not (tmp_path / "links").exists()


def test_output_formats(weft):
    def run(*options):
        return weft("align", *options, stdin="das ist gut ||| that is good\n\nja ||| yes\n").stdout

    assert run("--output-format", "words").splitlines() == ["das<sep>that ist<sep>is gut<sep>good", "", "ja<sep>yes"]
    assert run("--output-format", "naacl").splitlines() == ["1 1 1 S", "1 2 2 S", "1 3 3 S", "2 0 0", "3 1 1 S"]
    records = [json.loads(line) for line in run("--output-format", "jsonl").splitlines()]
    assert records[0]["source"] == ["das", "ist", "gut"]
    assert [link[:2] for link in records[0]["links"]] == [[0, 0], [1, 1], [2, 2]]
    assert all(0 <= link[2] <= 1 for link in records[0]["links"])
    assert 0 < records[0]["score"] <= 1
    assert records[1] == {"source": [], "target": [], "links": [], "score": 0.0}
    assert "source_offsets" not in records[0]


@pytest.mark.parametrize("scores", [["--scores"], ["--scores", "raw"], ["--scores=raw"], ["--scores", "calibrated"]])
def test_scores_are_written_on_request(weft, scores):
    done = weft("align", *scores, stdin="das ist ||| that is\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert [token.split(":")[0] for token in done.stdout.split()] == ["0-0", "1-1"]
    assert all(0 < float(token.split(":")[1]) <= 1 for token in done.stdout.split())


def test_raw_text_is_split_and_its_words_have_offsets(weft):
    source, target = "Das ist's, oder?", "That's it,  right?"
    done = weft(
        "align", "--raw", "--source-language", "de", "--target-language", "en",
        "--output-format", "jsonl", stdin=f"{source} ||| {target}\n\u3000 ||| x\n",
    )  # fmt: skip
    record, empty = map(json.loads, done.stdout.splitlines())
    for side, text in (("source", source), ("target", target)):
        assert record[f"{side}_text"] == text
        assert [text[start:end] for start, end in record[f"{side}_offsets"]] == record[side]
    assert record["target"][-1] == "?"
    assert empty["links"] == []
    assert "stdin:2: one side has no words" in done.stderr


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("ja", "私は学生です。", ["私", "は", "学生", "です", "。"]),
        ("zh", "他明天去北京。", ["他", "明天", "去", "北京", "。"]),
    ],
)
def test_raw_text_without_blanks(weft, language, text, words):
    done = weft(
        "align", "--raw", "--source-language", language, "--output-format", "jsonl",
        stdin=f"{text} ||| a student .\n",
    )  # fmt: skip
    assert json.loads(done.stdout)["source"] == words


@pytest.mark.parametrize("method", ["softmax", "entmax", "ot", "argmax", "itermax", "match"])
@pytest.mark.parametrize("heuristic", ["intersection", "grow-diag-final"])
def test_every_method_runs(weft, tiny_bert, method, heuristic):
    done = weft("align", "--model", tiny_bert, "--layer", 2, "--method", method, "--symmetrize", heuristic, stdin=GOOD)
    assert done.returncode == 0, done.stderr
    remark = (
        ""
        if method in ("softmax", "entmax", "argmax")
        else f"weft: --symmetrize has no effect with the method {method}; use --method softmax.\n"
    )
    assert done.stderr == remark


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--model", "nowhere/to-be-found"], 1, "weft: cannot load the model nowhere/to-be-found: "),
        (["--model", "MODEL", "--layer", "9"], 2, "weft: there is no layer 9: "),
        (["--threshold", "1.5"], 2, "weft: --threshold must be between 0 and 1, got 1.5.\n"),
        (["--alpha", "0"], 2, "weft: --alpha must be at least 1"),
        (["--method", "magic"], 2, "'magic'"),
        (["--model", "MODEL", "--device", "cuda"], 2, "weft: no CUDA device was found. Set --device to cpu or auto.\n"),
        (["--batch-tokens", "0"], 2, "batch-tokens"),
        (["--model", "./nowhere"], 1, "weft: there is no folder ./nowhere.\n"),
        (["--source-language", "de"], 2, "weft: --source-language and --target-language need --raw."),
        (["-", "-"], 2, "weft: only one input can be stdin.\n"),
        (["missing-file"], 1, "weft: missing-file: No such file or directory.\n"),
    ],
)
def test_mistakes_get_one_sentence(weft, tiny_bert, options, code, message):
    import torch

    if "cuda" in options and torch.cuda.is_available():
        options = ["--model", "MODEL", "--device", "abacus"]
        message = "there is no device"
    given = [tiny_bert if option == "MODEL" else option for option in options]
    done = weft("align", *given, stdin=GOOD, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "remark"),
    [
        (["--method", "argmax", "--threshold", "0.1"], "--threshold has no effect with the method argmax."),
        (["--symmetrize", "forward"], "--symmetrize has no effect with the method geometric; add --method softmax."),
        (
            ["--method", "match", "--symmetrize", "union"],
            "--symmetrize has no effect with the method match; use --method softmax.",
        ),
    ],
)
def test_options_without_effect_are_named(weft, options, remark):
    done = weft("align", *options, stdin="a ||| b\n")
    assert (done.returncode, done.stderr) == (0, f"weft: {remark}\n")


def test_scores_without_a_calibration_are_named(weft, tiny_onnx):
    done = weft("align", "--model", tiny_onnx, "--scores", stdin="a ||| b\n")
    remark = "weft: this model has no calibration for the method softmax ('weft tune' fits one); the scores are raw.\n"
    assert (done.returncode, done.stderr) == (0, remark)


@pytest.mark.parametrize(
    ("blocked", "options", "extra"),
    [
        ("torch", ["--model", "some/model"], "torch"),
        ("entmax", ["--method", "entmax", "--alpha", "1.3"], "torch"),
        ("ot", ["--method", "ot"], "ot"),
        ("sudachipy", ["--raw", "--source-language", "ja"], "ja"),
        ("rjieba", ["--raw", "--source-language", "zh"], "zh"),
    ],
)
def test_a_missing_extra_is_named(blocked, options, extra):
    code = f"import sys; sys.modules[{blocked!r}] = None; sys.argv[0] = 'weft'; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", code, "align", *options]
    done = subprocess.run(command, input="私 ||| me\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert install_command(extra) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("weft-maxi", "there is no built-in model or folder weft-maxi; did you mean weft-mini? A model from"),
        ("bert-base-cased", "there is no built-in model or folder bert-base-cased. A model from"),
        ("some/model", "The model some/model needs"),
        ("xlm-roberta-base", "weft: The model xlm-roberta-base needs an optional part of weft: "),
    ],
)
def test_a_name_is_doubted_before_torch_is_asked_for(name, said):
    code = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'weft'; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", code, "align", "--model", name]
    done = subprocess.run(command, input=GOOD, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_gpu_needs_torch_also_for_a_model_that_does_not():
    code = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'weft'; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", code, "align", "--device", "cuda"]
    done = subprocess.run(command, input=GOOD, capture_output=True, text=True, check=False)
    said = f"weft: --device cuda uses torch, which needs an optional part of weft: {install_command('torch')}.\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_the_light_half_needs_no_torch(loaded_by, tiny_onnx):
    heavy = {"torch", "transformers", "scipy", "pandas"}
    loaded, printed = loaded_by(heavy, "align", "--model", tiny_onnx, "--scores", input=GOOD)
    assert not loaded
    assert printed.splitlines()[0]


def test_a_reader_that_leaves_is_no_error(tmp_path):
    (tmp_path / "pairs").write_text(GOOD * 50_000)
    done = subprocess.run(
        f"set -o pipefail; {sys.executable} -m weft align {tmp_path}/pairs | head -1",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("name", ["links", "links.gz"])
def test_an_interrupted_run_leaves_no_file(tmp_path, name):
    command = [sys.executable, "-m", "weft", "align", "-", "-o", name]
    running = interruptible(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdin.write((GOOD * 30_000).encode())
    running.stdin.flush()
    deadline = time.monotonic() + 240
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(list(tmp_path.iterdir())) == 1
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=400)
    assert running.returncode != 0
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_in_the_home_folder(weft, tmp_path):
    outside = {name: value for name, value in os.environ.items() if name not in ("CI", "XDG_CACHE_HOME")}
    done = weft("align", stdin="das ist gut ||| that is good\n", env={**outside, "HOME": str(tmp_path)})
    assert done.stdout == "0-0 1-1 2-2\n"
    assert list(tmp_path.rglob("*")) == []


def test_a_null_leaves_what_does_not_beat_it_without_links(weft):
    off = weft("align", "--null", "off", stdin=GOOD).stdout
    assert weft("align", "--null", "-1000", stdin=GOOD).stdout == off != "\n"
    assert weft("align", "--null", "1000", stdin=GOOD).stdout == "\n"
    own = json.loads((files("weft") / "models" / "weft-mini" / "weft.json").read_text())["null"]
    scored = weft("align", "--scores", stdin=GOOD).stdout
    assert weft("align", "--null", str(own), "--scores", stdin=GOOD).stdout == scored
    assert weft("align", "--null", "off", "--scores", stdin=GOOD).stdout != scored
    wrong = weft("align", "--null", "nothing", stdin=GOOD)
    assert wrong.returncode == 2
    assert "expected a number or off, got 'nothing'" in wrong.stderr


def test_fields_and_columns_have_any_names_and_the_others_are_kept(weft):
    record = '{"id": 7, "links": [[9, 9]], "translation": {"de": "das ist gut", "en": "that is good"}}\n'
    [found] = map(json.loads, weft("align", "--output-format", "jsonl", stdin=record).stdout.splitlines())
    assert found["id"] == 7
    assert found["translation"] == {"de": "das ist gut", "en": "that is good"}
    assert [link[:2] for link in found["links"]] == [[0, 0], [1, 1], [2, 2]]
    options = ["--columns", "id,target,source", "--output-format", "jsonl"]
    [found] = map(json.loads, weft("align", *options, stdin="x\tthat is good\tdas ist gut\n").stdout.splitlines())
    assert (found["id"], found["source"]) == ("x", ["das", "ist", "gut"])
    done = weft("align", "--source-field", "de", stdin=record)
    assert (done.returncode, done.stdout) == (2, "")
    assert "give both --source-field and --target-field, or neither" in done.stderr


def test_a_table_of_nothing_but_names_of_columns_has_no_pairs(weft):
    done = weft("align", "--source-field", "a", "--target-field", "b", "--input-format", "csv", stdin="a,b\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "weft: the input contains no sentence pairs.\n")


def test_unicode_text_of_a_spreadsheet_is_read(weft, tmp_path):
    table = "No\tGerman\tEnglish\r\n7\tein Mädchen\ta girl\r\n8\tgut\tgood\r\n"
    (tmp_path / "table.txt").write_bytes(table.encode("utf-16"))
    options = ("--source-field", "German", "--target-field", "English")
    done = weft("align", "table.txt", *options, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("\n0-0 1-1\n0-0\n", "")
    weft("align", "table.txt", *options, "--shards", 2, "-o", "links", cwd=tmp_path)
    assert (tmp_path / "links").read_text() == done.stdout
    assert weft("align", *options, stdin=table.encode("utf-16")).stdout == done.stdout


def test_a_table_with_nothing_readable_below_the_names_of_its_columns_has_failed(weft, tmp_path):
    (tmp_path / "t.csv").write_bytes("German;English\nMädchen;girl\nBär;bear\n".encode("cp1252"))
    done = weft("align", "t.csv", "--source-field", "German", "--target-field", "English", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "\n\n\n")
    assert done.stderr.endswith("weft: 2 of 3 lines could not be aligned.\n")
    assert "no links. Perhaps" not in done.stderr


@pytest.mark.parametrize("engine", [(), ("--shards", "2"), ("--workers", "2")])
def test_the_names_of_columns_are_no_line_that_could_be_read(weft, tmp_path, engine):
    (tmp_path / "t.csv").write_text("German;English\n\n;girl\n")
    options = ("--source-field", "German", "--target-field", "English", "-o", "links", *engine)
    done = weft("align", "t.csv", *options, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "links").read_text()) == (1, "\n\n\n")
    assert done.stderr.endswith("weft: 2 of 3 lines could not be aligned.\n")
    (tmp_path / "t.csv").write_text("German;English\n")
    done = weft("align", "t.csv", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "weft: the input contains no sentence pairs.\n")


@pytest.mark.parametrize("engine", [(), ("--shards", "2")])
@pytest.mark.parametrize(
    ("name", "text"),
    [("t.jsonl", 'bad\n{"de": "a", "en": "b"}\nbad\n'), ("t.csv", "de,en\nbad\na,b\nbad\n")],
)
def test_one_pair_without_links_among_bad_lines_has_been_read(weft, tmp_path, name, text, engine):
    (tmp_path / name).write_text(text)
    options = ("--source-field", "de", "--target-field", "en", "--null", "1000", "-o", "links", *engine)
    done = weft("align", name, *options, cwd=tmp_path)
    lines = text.count("\n")
    assert (done.returncode, (tmp_path / "links").read_text()) == (0, "\n" * lines)
    assert "weft: the pair has no links. Perhaps" in done.stderr
    assert done.stderr.endswith(f"weft: 2 of {lines} lines could not be aligned.\n")


def test_many_bad_lines_are_counted_and_a_file_of_nothing_else_has_failed(weft):
    done = weft("align", stdin="nothing\n" * 30)
    assert (done.returncode, done.stdout) == (1, "\n" * 30)
    assert done.stderr.count("This pair gets no links.") == 10
    assert "weft: 30 of 30 lines could not be aligned." in done.stderr
    assert done.stderr.endswith("If the translation is in a second file, name it after the first.\n")


def test_records_with_other_fields_are_not_taken_for_one_side_of_two_files(weft):
    done = weft("align", stdin='{"de": "ja", "en": "yes"}\n')
    assert done.returncode == 1
    assert "Choose two with --source-field and --target-field" in done.stderr
    assert "second file" not in done.stderr


def test_csv_on_stdin_needs_the_name_of_its_format(weft):
    done = weft("align", stdin="ja,yes\n")
    assert (done.returncode, "CSV needs --input-format csv." in done.stderr) == (1, True)
    assert weft("align", "--input-format", "csv", stdin="ja,yes\n").stdout == "0-0\n"


def test_an_empty_file_is_told_from_one_that_was_aligned(weft):
    done = weft("align", stdin="")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "weft: the input is empty.\n"


def test_text_that_is_not_split_into_words_is_noticed(weft):
    done = weft("align", stdin="Das ist gut. ||| That is good.\n")
    assert done.stderr == "weft: stdin: the text does not seem to be split into words (gut.). To split it, add --raw.\n"
    assert weft("align", "--raw", stdin="Das ist gut. ||| That is good.\n").stderr == ""


def test_terms_that_occur_nowhere_are_mentioned(weft, tmp_path):
    (tmp_path / "terms.tsv").write_text("house\tHaus\n")
    (tmp_path / "pairs").write_text("das Haus ||| the house\n\n")
    missing = "no source sentence contains any of the terms"
    plain = weft("align", "pairs", "--terms", "terms.tsv", cwd=tmp_path)
    assert missing in plain.stderr
    assert plain.stderr.rstrip().endswith("1 of 2 lines could not be aligned.")
    assert plain.stdout == "0-0 1-1\n\n"
    # Shards keep count, also those of a run that is over.
    for more in ([], ["--resume"]):
        sharded = weft("align", "pairs", "--terms", "terms.tsv", "--shards", "2", "-o", "out", *more, cwd=tmp_path)
        assert missing in sharded.stderr
    (tmp_path / "terms.tsv").write_text("Haus\tbuilding\n")
    assert missing not in weft("align", "pairs", "--terms", "terms.tsv", cwd=tmp_path).stderr
    (tmp_path / "terms.tsv").write_text("house\tHaus\n")
    assert missing not in weft("align", "--terms", "terms.tsv", stdin="\n", cwd=tmp_path).stderr


def test_terms_are_linked(weft, tmp_path):
    (tmp_path / "terms.tsv").write_text("klein\tThe\n\nHaus\tbuilding\n")
    pairs = "Das Haus ist klein ||| The house is small\nDas Haus ||| A house\n"
    done = weft("align", "--terms", "terms.tsv", stdin=pairs, cwd=tmp_path)
    assert "3-0" in done.stdout.splitlines()[0].split()
    assert not {"0-0", "3-3"} & set(done.stdout.splitlines()[0].split())
    assert done.stderr.splitlines() == [
        "weft: line 1: the translation is missing from the target: Haus = building.",
        "weft: line 2: the translation is missing from the target: Haus = building.",
        "weft: terms without their translation: 2. Their words are linked as usual.",
    ]
    many = weft("align", "--terms", "terms.tsv", stdin="Haus ||| house\n" * 11, cwd=tmp_path).stderr.splitlines()
    assert len(many) == 12
    assert many[10] == "weft: only the first 10 terms without their translation are listed."
    (tmp_path / "pairs").write_text(pairs)
    sharded = weft("align", "pairs", "--terms", "terms.tsv", "--shards", "2", "-o", "out", cwd=tmp_path)
    assert (tmp_path / "out").read_text() == done.stdout
    assert sharded.stderr.splitlines()[:2] == done.stderr.splitlines()[:2]
    (tmp_path / "terms.tsv").write_text("Haus\n")
    done = weft("align", "--terms", "terms.tsv", stdin=pairs, cwd=tmp_path)
    assert done.returncode == 1
    assert "terms.tsv:1: expected a tab between source and target, found none." in done.stderr


def test_words_that_the_model_cannot_read_are_reported(weft, tmp_path):
    text = "𐀀𐀁 𐀂𐀃 ||| 𐀄𐀅\n" * 3 + GOOD
    done = weft("align", "--output-format", "jsonl", "--raw", "--source-language", "tlh", stdin=text)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record.get("unknown") for record in records] == [3, 3, 3, None]
    assert "--source-language tlh is not a language that the model was trained on. It knows 1" in done.stderr
    assert done.stderr.count("cannot read more than a third of the words") == 1
    assert "in 3 lines, the model cannot read more than a third" in done.stderr
    (tmp_path / "pairs").write_text(text)
    sharded = weft("align", tmp_path / "pairs", "--shards", "2", "-o", tmp_path / "out")
    assert "in 3 lines, the model cannot read more than a third" in sharded.stderr


def test_sentences_without_a_counterpart_are_no_mistakes_to_other_commands(weft, tmp_path):
    (tmp_path / "de").write_text("Die Katze schläft.\n\nDie Aktien fielen gestern um zwölf Prozent.\n\nHunde bellen.\n")
    (tmp_path / "en").write_text("The cat is sleeping.\n\nDogs bark.\n")
    weft("align", "--documents", "de", "en", "-o", "two.jsonl", cwd=tmp_path)
    assert '"target_span": null' in (tmp_path / "two.jsonl").read_text()
    for command in (["lexicon", "two.jsonl", "--links", "two.jsonl"], ["view", "two.jsonl"]):
        done = weft(*command, cwd=tmp_path)
        assert ("Hunde" in done.stdout, "Aktien" in done.stdout, done.stderr) == (True, False, "")


def test_two_texts_whose_sentences_do_not_match(weft, tmp_path):
    (tmp_path / "de").write_text("Das Café ist geschlossen. Morgen öffnet es um neun. Hunde sind erlaubt.\n")
    (tmp_path / "en").write_text("The café is closed, but it opens tomorrow at nine.\nDogs are allowed.\n")
    done = weft("align", "--documents", "de", "en", cwd=tmp_path)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["target_span"] for record in records] == [[0, 50], [51, 68]]
    assert records[1]["source_text"] == "Hunde sind erlaubt."
    assert done.stderr == "weft: 2 sentence pairs; 0 sentences have no counterpart.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--documents", "de"], "weft: --documents needs two files: a text and its translation.\n"),
        (["--documents", "de", "en", "--shards", "2"], "weft: --shards cannot be used with --documents.\n"),
        (["--sentence-per-line", "de"], "weft: --sentence-per-line only works with --documents.\n"),
        (["--wrapped", "de"], "weft: --wrapped only works with --documents.\n"),
        (
            ["--documents", "de", "en", "--wrapped", "--sentence-per-line"],
            "weft: --sentence-per-line and --wrapped exclude each other; set only one of them.\n",
        ),
    ],
)
def test_options_that_do_not_go_with_documents(weft, arguments, message):
    done = weft("align", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    "command",
    [
        ("align", "pairs", "-o", "pairs"),
        ("align", "pairs", "-o", "./other/../same"),
        ("align", "source", "target", "-o", "target"),
        ("filter", "pairs", "--min-score", "0.1", "-o", "pairs"),
        ("filter", "source", "target", "--min-score", "0.1", "-o", "out", "--target-output", "source"),
        ("convert", "links", "links", "--swap"),
        ("project", "pairs", "--from", "markup", "--links", "links", "-o", "links"),
    ],
)
def test_no_command_writes_over_what_it_reads(weft, tmp_path, command):
    content = {"pairs": GOOD, "source": "das\n", "target": "that\n", "links": "0-0\n"}
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "other").mkdir()
    (tmp_path / "same").symlink_to("pairs")
    done = weft(*command, cwd=tmp_path)
    assert done.returncode == 2
    assert "is both input and output; name another file to write to." in done.stderr
    assert {name: (tmp_path / name).read_text() for name in content} == content


@pytest.mark.parametrize("more", [[], ["--shards", "2"]])
def test_a_file_without_any_link_is_explained(weft, tmp_path, more):
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\nja ||| yes\n\n")
    done = weft("align", "pairs", "-o", "links", "--threshold", 1, *more, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "links").read_text()) == (0, "\n\n\n")
    assert "none of the 2 pairs has a link. Perhaps the two sides are not translations of each other" in done.stderr
    assert "or --threshold is too high." in done.stderr
    assert "has a link" not in weft("align", "pairs", cwd=tmp_path).stderr


def test_files_out_of_step_are_noticed(weft, tmp_path):
    sentences = {
        "der Hund schläft im Garten": "the dog sleeps in the garden",
        "wir trinken morgens Kaffee": "we drink coffee in the morning",
        "das Auto war zu teuer": "the car was too expensive",
        "Anna schreibt einen Brief": "Anna writes a letter",
    }
    (tmp_path / "de").write_text("".join(f"{line}\n" for line in sentences) * 6)
    (tmp_path / "en").write_text("".join(f"{line}\n" for line in sentences.values()) * 6)
    (tmp_path / "late").write_text("".join(f"{line}\n" for line in list(sentences.values())[-1:] * 2) * 12)
    assert weft("align", "de", "en", cwd=tmp_path).stderr == ""
    done = weft("align", "de", "late", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "weft: 18 of 24 pairs have no links. Are the two sides in step, line by line?\n"
    assert weft("lexicon", "de", "late", cwd=tmp_path).stderr == done.stderr


def test_subtitles_are_doubted(weft, tmp_path):
    for name in ("a.srt", "b.srt", "a.txt"):
        (tmp_path / name).write_text("1\n")
    said = weft("align", "a.srt", "b.srt", cwd=tmp_path).stderr
    assert said.count("looks like subtitles") == 1
    assert "a.srt looks like subtitles, but its numbers and times are read as text." in said
    assert "subtitles" not in weft("align", "a.txt", "a.txt", cwd=tmp_path).stderr
    for command in (["view", "a.srt", "--target", "b.srt"], ["lexicon", "a.srt", "b.srt"]):
        said = weft(*command, cwd=tmp_path).stderr
        assert "are read as text. Pair the sentences first, with weft align --documents." in said


CANNOT_WRITE = (
    "weft: --documents cannot write {}. It writes a table of sentences if the output file ends in .tsv or .csv, and "
    "JSONL otherwise.\n"
)


@pytest.mark.parametrize("format", ["pharaoh", "words", "naacl"])
def test_documents_are_not_written_in_a_format_that_cannot_hold_them(weft, tmp_path, format):
    (tmp_path / "text").write_text("Ja.\n")
    done = weft("align", "--documents", "text", "text", "--output-format", format, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", CANNOT_WRITE.format(format))


@pytest.mark.parametrize("ending", ["html", "docx", "md", "tmx", "xlsx", "pdf", "srt", "naacl"])
def test_documents_are_not_written_into_files_named_for_something_else(weft, tmp_path, ending):
    (tmp_path / "text").write_text("Ja.\n")
    output = tmp_path / f"out.{ending}"
    done = weft("align", "--documents", "text", "text", "-o", output, cwd=tmp_path)
    expected = CANNOT_WRITE.format(f".{ending} files")
    if ending == "tmx":
        expected = expected.replace("otherwise.", "otherwise. weft convert turns this JSONL into TMX.")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)
    assert not output.exists()
    done = weft("align", "--documents", "text", "text", "-o", output, "--output-format", "jsonl", cwd=tmp_path)
    assert json.loads(output.read_text())["source_text"] == "Ja."


def test_the_name_of_the_output_says_how_documents_are_written(weft, tmp_path):
    (tmp_path / "de").write_text("Hunde bellen, und Katzen\nschlafen viel. Ja.\n\n- Kapitel zwei -\n")
    (tmp_path / "en").write_text("Dogs bark, and cats sleep a lot. Yes.\n")
    command = ["align", "--documents", "--wrapped", "de", "en", "-o"]
    for name, table in {
        "a.tsv": "source\ttarget\nHunde bellen, und Katzen schlafen viel.\tDogs bark, and cats sleep a lot.\n"
        "Ja.\tYes.\n- Kapitel zwei -\t\n",
        "a.CSV.gz": "source,target\n"
        '"Hunde bellen, und Katzen schlafen viel.","Dogs bark, and cats sleep a lot."\n'
        "Ja.,Yes.\n- Kapitel zwei -,\n",
    }.items():
        done = weft(*command, name, cwd=tmp_path)
        assert done.stderr == "weft: 2 sentence pairs; 1 sentence has no counterpart.\n"
        data = (tmp_path / name).read_bytes()
        assert (gzip.decompress(data) if name.endswith("gz") else data).decode() == table
    for name, options in {"a.jsonl": [], "a.txt": [], "b.tsv": ["--output-format", "jsonl"], "-": []}.items():
        done = weft(*command, name, *options, cwd=tmp_path)
        written = done.stdout if name == "-" else (tmp_path / name).read_text()
        assert [json.loads(line)["target_text"][:4] for line in written.splitlines()] == ["Dogs", "Yes.", ""]
    # The rest of weft reads it, with its columns chosen by their names or without.
    for columns in (["--source-field", "source", "--target-field", "target"], []):
        done = weft("lexicon", "a.tsv", "--raw", *columns, cwd=tmp_path)
        assert "Hunde\tDogs\t1\t" in done.stdout
        assert "source\ttarget" not in done.stdout


def test_two_documents_are_told_from_two_files_of_lines(weft, tmp_path):
    for name in ("a.docx", "b.DOCX"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
    done = weft("align", "a.docx", "b.DOCX", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "To pair their sentences, add --documents." in done.stderr


def test_only_probable_links_are_kept(weft, tmp_path):
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\nja ||| see page seven\n")
    scored = weft("align", "pairs", "--scores", cwd=tmp_path).stdout.splitlines()
    link, probability = scored[0].split()[0].split(":")
    kept = weft("align", "pairs", "--min-probability", probability, cwd=tmp_path).stdout.splitlines()
    expected = [token.split(":")[0] for token in scored[0].split() if float(token.split(":")[1]) >= float(probability)]
    assert (kept[0].split(), link in kept[0].split(), len(kept)) == (expected, True, 2)
    assert weft("align", "pairs", "--min-probability", "1", cwd=tmp_path).stdout == "\n\n"
    with_scores = weft("align", "pairs", "--min-probability", probability, "--scores", cwd=tmp_path).stdout
    assert with_scores.split()[0] == f"{link}:{probability}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--min-probability", "2"], "--min-probability must be between 0 and 1, got 2."),
        (
            ["--min-probability", "0.5", "--scores", "raw"],
            "--min-probability needs probabilities; leave out --scores",
        ),
        (["--min-probability", "0.5", "--method", "softmax"], "this model has no calibration for the method softmax"),
    ],
)
def test_probabilities_that_are_not_known_are_not_compared(weft, options, said):
    done = weft("align", *options, stdin="ja ||| yes\n")
    assert done.returncode == 2
    assert said in done.stderr


def test_a_program_that_waits_for_each_line_gets_it(tmp_path):
    command = [sys.executable, "-m", "weft", "align", "--line-by-line"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for sentence, links in (("das ist gut ||| that is good", "0-0 1-1 2-2"), ("ja ||| yes", "0-0")):
            process.stdin.write(f"{sentence}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{links}\n"
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("page.html", "<html><body><h1>Das <b>Haus</b></h1><p>Ich lese das Buch.<br>Es ist gut.</p></body></html>"),
        ("page.md", "# Das *Haus*\n\nIch lese das Buch.\nEs ist gut.\n"),
    ],
)
def test_documents_with_formatting_are_read_without_it(weft, tmp_path, name, page):
    (tmp_path / name).write_text(page)
    (tmp_path / "en.txt").write_text("The house\nI read the book. It is good.\n")
    done = weft("align", "--documents", name, "en.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(record["source_text"], record["target_text"]) for record in records] == [
        ("Das Haus", "The house"),
        ("Ich lese das Buch.", "I read the book."),
        ("Es ist gut.", "It is good."),
    ]


def test_word_files_are_documents_and_translation_memories_are_not(weft):
    folder = Path(__file__).parents[2] / "examples" / "documents"
    done = weft("align", "--documents", "letter.docx", "letter.de.txt", cwd=folder)
    first = json.loads(done.stdout.splitlines()[0])
    assert (done.returncode, "<" in first["source_text"], bool(first["links"])) == (0, False, True)
    done = weft("align", "--documents", "shop.tmx", "shop.tmx", cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "weft: shop.tmx contains sentence pairs; to align them, name this file alone, without --documents.\n",
    )


@pytest.mark.parametrize("between", ["\t", " ||| "])
def test_two_tables_are_not_aligned_with_each_other(weft, tmp_path, between):
    for name in ("s 1.tsv", "s3.tsv"):
        (tmp_path / name).write_text(f"eins{between}one\n\nzwei{between}two\n")
    done = weft("align", "s 1.tsv", "s3.tsv", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "weft: s 1.tsv and s3.tsv both contain sentence pairs, so they are not the two sides of one text. "
        "To use the pairs of both: cat 's 1.tsv' s3.tsv | weft align\n"
    )
    assert not (tmp_path / "out").exists()
    done = weft("filter", "s 1.tsv", "s3.tsv", "--keep", 1, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


def test_two_files_of_json_are_not_aligned_with_each_other(weft, tmp_path):
    (tmp_path / "x.de.jsonl").write_text('{"id": "a", "my text": "das ist gut"}\n')
    (tmp_path / "x.en.jsonl").write_text('{"id": "a", "my text": "that is good"}\n')
    for command in (["align"], ["filter", "--keep", 1], ["lexicon"]):
        done = weft(
            *command, "x.de.jsonl", "x.en.jsonl", "--source-field", "my text", "--target-field", "my text", cwd=tmp_path
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert "both contain JSON, so they are not the two sides of one text" in done.stderr
        assert """as lines: jq -r '.["my text"]' x.de.jsonl > sentences.txt""" in done.stderr
    (tmp_path / "pairs.jsonl").write_text('{"source": "das", "target": "that"}\n')
    done = weft("align", "pairs.jsonl", "pairs.jsonl", cwd=tmp_path)
    assert "To use the pairs of both: cat pairs.jsonl pairs.jsonl | weft align\n" in done.stderr


@pytest.mark.parametrize("first", [True, False])
def test_half_a_surrogate_pair_leaves_the_other_fields(weft, first):
    bad = r'{"id": 7, "note": "\ud83d", "more": {"a": "\u00e4"}, "source": "das \ud83d", "target": "that"}'
    good = '{"source": "das", "target": "that"}'
    done = weft("align", "--output-format", "jsonl", stdin="\n".join([bad, good] if first else [good, bad]) + "\n")
    assert "half of a surrogate pair. This pair gets no links." in done.stderr
    found = list(map(json.loads, done.stdout.splitlines()))
    nothing = {"source": [], "target": [], "links": [], "score": 0.0}
    assert found[not first] == {"id": 7, "more": {"a": "ä"}, **nothing}
    assert found[first]["links"]


def test_a_third_file_is_answered_with_how_to_join_files(weft):
    done = weft("align", "a.tsv", "b.tsv", "c.tsv")
    assert done.returncode == 2
    assert "(c.tsv). This command reads one file" in done.stderr
    assert "cat FILES > all.pairs" in done.stderr


def test_sentences_may_contain_tabs(weft, tmp_path):
    (tmp_path / "de").write_text("das\tHaus\ndas\tBuch\n")
    (tmp_path / "en").write_text("the\thouse\nthe book\n")
    assert weft("align", "de", "en", cwd=tmp_path).stdout == "0-0 1-1\n0-0 1-1\n"


def test_a_single_line_that_cannot_be_aligned(weft):
    done = weft("align", "--input-format", "tsv", stdin="nothing\n")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "weft: the line could not be aligned.")


def test_blank_words_have_no_links(weft):
    done = weft("align", stdin='{"source": ["a", ""], "target": ["b"]}\n{"source": ["a"], "target": ["\u00a0", "b"]}\n')
    assert done.stdout == "0-0\n0-1\n"
    assert done.stderr == ""
