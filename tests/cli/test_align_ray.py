"""`weft align --engine ray`: the same links as on one machine, in the same order. Ray takes its time to start."""

from __future__ import annotations

import gzip
import importlib.util
import random
import re
import subprocess
import sys
import time

import psutil
import pytest

from weft.errors import install_command

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not installed")
WORDS = ["das", "ist", "ein", "Haus", "in", "Berlin", ",", "25", "Äpfel", "私", "は", "。"]


def corpus(lines: int, seed: int = 1) -> str:
    generator = random.Random(seed)
    sides = (" ".join(generator.choices(WORDS, k=generator.randint(1, 20))) for _ in range(2 * lines))
    pairs = [" ||| ".join((one, next(sides))) for one in sides]
    pairs[99::100] = ["no pair"] * len(pairs[99::100])
    return "\n".join(pairs) + "\n"


@needs_ray
def test_a_killed_worker_makes_no_difference(weft, tmp_path, tiny_onnx):
    """Scores too are the same: they depend on the batch, so the batches must be the same."""
    (tmp_path / "pairs").write_text(corpus(8_000))
    options = ["--model", str(tiny_onnx), "--scores"]
    plain = weft("align", "pairs", "-o", "plain", *options, cwd=tmp_path)
    command = [sys.executable, "-m", "weft", "align", "pairs", "-o", "links", *options]
    running = subprocess.Popen(
        [*command, "--engine", "ray", "--workers", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    victim = None
    while victim is None and running.poll() is None:
        victim = next(iter(aligning(running.pid)), None)
        time.sleep(0.05)
    if victim is not None:
        victim.kill()
    printed, errors = running.communicate(timeout=400)
    assert running.returncode == 0, errors
    assert victim is not None
    assert (tmp_path / "links").read_bytes() == (tmp_path / "plain").read_bytes()
    assert [line for line in errors.splitlines() if not line.startswith("weft: Ray: ")] == plain.stderr.splitlines()
    assert printed == ""


def aligning(pid: int) -> list[psutil.Process]:
    """Ray names an actor's process after what it does."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        try:
            if re.search(r"MapWorker\(.*\)\.(?!__init__)", " ".join(process.cmdline())):
                found.append(process)
        except psutil.Error:
            pass
    return found


@needs_ray
@pytest.mark.exhaustive
def test_many_files_in_many_formats(weft, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(corpus(300))
    (tmp_path / "in" / "b.tsv.gz").write_bytes(gzip.compress(b"das ist\tthat is\nbad\nja\tyes\n"))
    rows = {"source": ["das ist", None, "ja"], "target": [["that", "is"], ["x"], ["yes"]]}
    pq.write_table(pa.table(rows), tmp_path / "in" / "c.parquet")
    (tmp_path / "in" / "d.jsonl").touch()
    options = ["--method", "argmax", "--threshold", "0.5"]
    done = weft("align", "in", "-o", "out/*.txt.gz", *options, "--engine", "ray", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{name}.txt.gz" for name in "abcd"]
    plain = weft("align", "in/a.txt", *options, cwd=tmp_path).stdout
    links = {name: gzip.decompress((tmp_path / "out" / f"{name}.txt.gz").read_bytes()).decode() for name in "abcd"}
    assert links == {"a": plain, "b": "0-0 1-1\n\n0-0\n", "c": "0-0 1-1\n\n0-0\n", "d": ""}
    assert done.stderr.count("--threshold has no effect with the method argmax.") == 1
    assert "weft: in/b.tsv.gz:2: expected a tab between source and target" in done.stderr
    assert 'weft: in/c.parquet:2: expected "source" to be a sentence' in done.stderr
    assert done.stderr.endswith("weft: 5 of 306 lines could not be aligned.\n")


@needs_ray
@pytest.mark.exhaustive
def test_a_damaged_file_is_named_and_whole_ones_stay(weft, tmp_path, tiny_onnx):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("das ist ||| that is\n")
    whole = gzip.compress(corpus(2_000).encode())
    (tmp_path / "in" / "b.gz").write_bytes(whole[: len(whole) // 2])
    done = weft("align", "in", "-o", "out", "--model", tiny_onnx, "--engine", "ray", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"weft: in/b.gz:\d+: the compressed data is damaged or cut short", done.stderr)
    assert "Traceback" not in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.txt"]


@needs_ray
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "links"], 2, "weft: the Ray engine reads and writes files: name the input and --output.\n"),
        (["pairs", "-o", "links", "--shards", "2"], 2, "weft: --shards only works with the local engine"),
        (["pairs", "-o", "links.parquet", "--output-format", "naacl"], 2, "naacl has several lines per pair"),
        (["pairs", "-o", "links", "--address", "127.0.0.1:9"], 1, "weft: cannot reach a Ray cluster at 127.0.0.1:9: "),
        (["missing", "-o", "links"], 1, "weft: missing: No such file or directory.\n"),
    ],
)
def test_mistakes_get_one_sentence(weft, tmp_path, options, code, message):
    (tmp_path / "pairs").write_text("a ||| b\n")
    done = weft("align", *options, "--engine", "ray", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


@pytest.mark.parametrize("missing", ["ray", "pyarrow"])
def test_a_missing_extra_is_named(tmp_path, missing):
    (tmp_path / "pairs").write_text("a ||| b\n")
    code = f"import sys; sys.modules[{missing!r}] = None; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", code, "align", "pairs", "-o", "links", "--engine", "ray"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"weft: The Ray engine needs an optional part of weft: {install_command('ray')}.\n"
