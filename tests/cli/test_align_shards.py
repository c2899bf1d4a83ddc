"""`weft align --shards`: killed, starved of disk, given damaged files; and still the same bytes in the end."""

from __future__ import annotations

import gzip
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

WORDS = ["das", "ist", "ein", "kleines", "Haus", "in", "Berlin", ",", "25", "Äpfel", "私", "は", "。"]


def corpus(lines: int, seed: int = 1, bad_every: int = 50) -> str:
    generator = random.Random(seed)
    sides = (" ".join(generator.choices(WORDS, k=generator.randint(1, 20))) for _ in range(2 * lines))
    pairs = [" ||| ".join((one, next(sides))) for one in sides]
    pairs[bad_every - 1 :: bad_every] = ["no pair"] * len(pairs[bad_every - 1 :: bad_every])
    return "\n".join(pairs) + "\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "pairs").write_text(corpus(6_000))
    return tmp_path


@pytest.fixture
def model(tiny_onnx) -> list[str]:
    """A small model and a method that links equal words."""
    return ["--model", str(tiny_onnx), "--method", "argmax"]


@pytest.fixture
def align(weft, folder, model):
    """Run in the folder; options that are given win."""
    return lambda *arguments: weft("align", *model, *arguments, cwd=folder)


@pytest.fixture
def unfinished(align, folder):
    """A run that did not end: the strict one stops at a bad line when some shards are there."""
    text = corpus(6_000, bad_every=4_900)
    (folder / "pairs").write_text(text)
    done = align("pairs", "-o", "links", "--shards", 5, "--strict")
    assert done.returncode == 1
    assert (
        done.stderr
        == "weft: pairs:4900: expected one ' ||| ' separator, found 0.\n"
        + "weft: 3 of 5 shards are finished and kept in links.shards. Continue with --resume.\n"
    )
    assert not (folder / "links").exists()
    return align


@pytest.mark.parametrize(
    "options",
    [
        ["--output-format", "pharaoh"],
        ["--output-format", "naacl", "--scores"],
        ["--output-format", "words"],
        ["--output-format", "jsonl", "--raw"],
    ],
    ids=lambda options: options[1],
)
def test_shards_make_no_difference(align, folder, options):
    plain = align("pairs", "-o", "plain", *options)
    sharded = align("pairs", "-o", "sharded", "--shards", 7, *options)
    assert (plain.returncode, sharded.returncode) == (0, 0), sharded.stderr
    assert (folder / "sharded").read_bytes() == (folder / "plain").read_bytes()
    assert sharded.stderr == plain.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["pairs", "plain", "sharded"]


def test_shards_make_no_difference_to_scores_that_depend_on_the_batch(weft, folder, tiny_onnx):
    for name, options in (("plain", []), ("sharded.gz", ["--shards", 5]), ("two", ["--shards", 3, "--workers", 2])):
        done = weft("align", "pairs", "-o", name, "--model", tiny_onnx, "--scores", *options, cwd=folder)
        assert done.returncode == 0, done.stderr
    assert gzip.decompress((folder / "sharded.gz").read_bytes()) == (folder / "plain").read_bytes()
    assert (folder / "two").read_bytes() == (folder / "plain").read_bytes()


@pytest.mark.parametrize(("lines", "shards"), [(0, 3), (1, 1), (2, 5)])
def test_few_lines_and_many_shards(align, folder, lines, shards):
    (folder / "pairs").write_text("das ist ||| das ist\n" * lines)
    done = align("pairs", "-o", "links", "--shards", shards, "--resume")
    said = "" if lines else "weft: the input is empty.\n"
    assert (done.returncode, done.stderr) == (0, said)
    assert (folder / "links").read_text() == "0-0 1-1\n" * lines


def test_two_files_and_a_windows_bom(align, folder):
    (folder / "s").write_bytes(b"\xef\xbb\xbf" + b"das ist\r\n" * 5_000)
    (folder / "t").write_text("das ist\n" * 5_000)
    assert align("s", "t", "-o", "links", "--shards", 3).returncode == 0
    assert (folder / "links").read_text() == "0-0 1-1\n" * 5_000
    (folder / "t").write_text("das ist\n" * 4_999)
    done = align("s", "t", "-o", "links", "--shards", 3)
    assert (done.returncode, done.stderr) == (
        1,
        "weft: s has 5,000 lines but t has 4,999 lines; line n of one must correspond to line n of the other. "
        "If they do not, weft align --documents pairs the sentences of two texts.\n",
    )


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_killed_three_times_and_resumed(align, folder, model, workers):
    (folder / "pairs").write_text(corpus(20_000))
    options = ["pairs", "-o", "links", "--shards", "30", "--resume", "--workers", str(workers)]
    command = [sys.executable, "-m", "weft", "align", *model, *options]
    children: set[psutil.Process] = set()
    for kill in range(1, 4):
        running = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
        wait_for(lambda count=6 * kill: len(list(folder.glob("links.shards/0*[0-9]"))) >= count)
        children |= set(psutil.Process(running.pid).children(recursive=True))
        running.send_signal(signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
        assert not (folder / "links").exists()
    done = align(*options)
    assert done.returncode == 0, done.stderr
    align("pairs", "-o", "plain")
    assert (folder / "links").read_bytes() == (folder / "plain").read_bytes()
    assert not (folder / "links.shards").exists()
    wait_for(lambda: not any(child.is_running() for child in children))  # none waits for a dead parent


COMPLETE = (
    "weft: links.gz is already complete: the same input has been aligned with the same settings. "
    "Remove it to align again.\n"
)


@pytest.fixture
def finished(align, folder):
    """A run that ended well; the same again, with other options at the end."""
    (folder / "pairs").write_text("das ist ||| das ist\n" * 300)
    again = lambda *options: align("pairs", "-o", "links.gz", "--shards", 3, "--resume", *options)  # noqa: E731
    assert (again().returncode, again().stderr) == (0, COMPLETE)
    return again


def age(path: Path) -> None:
    """Whether a file is written anew shows in its time."""
    os.utime(path, (1_000, 1_000))


@pytest.mark.parametrize("options", [[], ["--shards", 5], ["--workers", 2]], ids=str)
def test_a_finished_run_is_not_begun_again(finished, folder, options):
    age(folder / "links.gz")
    done = finished(*options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", COMPLETE)
    assert (folder / "links.gz").stat().st_mtime == 1_000
    assert sorted(path.name for path in folder.iterdir()) == ["links.gz", "links.gz.finished.json", "pairs"]


@pytest.mark.parametrize("change", ["input", "settings", "output", "no output", "record", "no resume"])
def test_a_finished_run_is_begun_again_if_anything_is_otherwise(finished, align, folder, change):
    links = folder / "links.gz"
    options = []
    if change == "input":
        (folder / "pairs").write_text("das ist ||| ist das\n" * 300)
    elif change == "settings":
        options = ["--output-format", "words"]
    elif change == "output":
        links.write_bytes(links.read_bytes()[:-1])
    elif change == "no output":
        links.unlink()
    elif change == "record":
        (folder / "links.gz.finished.json").write_text('{"inputs": [], "totals": {"apples": 3}}')
    if links.exists():
        age(links)
    done = align("pairs", "-o", "links.gz", "--shards", 3) if change == "no resume" else finished(*options)
    assert (done.returncode, done.stderr) == (0, "")
    assert align("pairs", "-o", "plain", *options).returncode == 0
    assert links.stat().st_mtime > 1_000
    assert gzip.decompress(links.read_bytes()) == (folder / "plain").read_bytes()
    assert finished(*options).stderr == COMPLETE


def test_a_finished_run_still_has_bad_lines(align, folder):
    (folder / "pairs").write_text("das ist ||| das ist\n" * 20 + "no pair\n" * 30)
    again = lambda *options: align("pairs", "-o", "links", "--shards", 3, "--resume", *options)  # noqa: E731
    first, second, strict = again(), again(), again("--strict")
    assert second.stderr.replace(COMPLETE.replace("links.gz", "links"), "") == first.stderr
    assert "weft: 30 of 50 lines could not be aligned." in first.stderr
    assert (strict.returncode, strict.stderr) == (1, "weft: pairs:21: expected one ' ||| ' separator, found 0.\n")


def test_an_unfinished_run_comes_before_a_finished_one(finished, folder):
    """Whoever began anew with other settings wants those, not what lies there from before."""
    (folder / "links.gz.shards").mkdir()
    age(folder / "links.gz")
    assert finished().stderr == ""
    assert (folder / "links.gz").stat().st_mtime > 1_000


def test_a_run_that_found_nothing_says_so_again(align, folder):
    (folder / "pairs").write_text("no pair\n" * 3)
    for _ in range(2):
        done = align("pairs", "-o", "links", "--shards", 2, "--resume")
        assert done.returncode == 1
        assert "weft: 3 of 3 lines could not be aligned." in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["links", "pairs"]


def wait_for(condition, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_an_unfinished_run_is_not_begun_anew_by_mistake(unfinished):
    done = unfinished("pairs", "-o", "links", "--shards", 5)
    assert (done.returncode, done.stderr) == (
        1,
        "weft: links.shards contains an unfinished run with 3 of 5 shards. "
        "Continue it with --resume, or remove the folder to start again.\n",
    )


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--shards", "6"], "--shards was 5, now 6"),
        (["--shards", "5", "--method", "itermax"], "--method was argmax, now itermax"),
        (["--shards", "5", "--scores"], "--scores was none, now calibrated"),
        (["--shards", "5", "--raw"], "--raw was False, now True"),
        (["--shards", "5", "--output-format", "words"], "--output-format was pharaoh, now words"),
    ],
)
def test_other_settings_refuse_to_mix(unfinished, folder, options, difference):
    before = {path.name: path.read_bytes() for path in (folder / "links.shards").iterdir()}
    done = unfinished("pairs", "-o", "links", "--resume", *options)
    assert done.returncode == 1
    assert done.stderr.endswith(
        f"weft: links.shards belongs to another run: {difference}. "
        "Use the same files and settings, or remove the folder to start again.\n"
    )
    assert {path.name: path.read_bytes() for path in (folder / "links.shards").iterdir()} == before


def test_another_input_or_model_refuses_to_mix(unfinished, folder):
    text = (folder / "pairs").read_text()
    (folder / "pairs").write_text(text.replace("Haus", "Maus", 1))
    done = unfinished("pairs", "-o", "links", "--resume", "--shards", 5)
    assert "another run: the input has as many lines but other text." in done.stderr
    (folder / "pairs").write_text(text + "a ||| b\n")
    done = unfinished("pairs", "-o", "links", "--resume", "--shards", 5)
    assert "another run: the input had 6,000 lines, now 6,001." in done.stderr
    (folder / "pairs").write_text(text)
    done = unfinished("pairs", "-o", "links", "--resume", "--shards", 5, "--model", "weft-mini")
    assert done.returncode == 1
    assert re.search(r"--model was onnx \(\w+\), now weft-mini \(\w+\)", done.stderr)


def test_damaged_and_missing_shards(unfinished, folder):
    (folder / "links.shards" / "00001").write_bytes(b"0-0\n")
    (folder / "links.shards" / "00002").unlink()
    done = unfinished("pairs", "-o", "links", "--resume", "--shards", 5)
    assert (done.returncode, done.stderr) == (
        1,
        "weft: links.shards/00001: this shard is damaged. Remove the file and use --resume to make it again.\n",
    )
    (folder / "links.shards" / "00001").unlink()
    (folder / "links.shards" / "00001").mkdir()
    done = unfinished("pairs", "-o", "links", "--resume", "--shards", 5)
    assert (done.returncode, done.stderr) == (1, "weft: links.shards/00001: Is a directory.\n")
    (folder / "links.shards" / "00001").rmdir()
    assert unfinished("pairs", "-o", "links", "--resume", "--shards", 5).returncode == 0
    unfinished("pairs", "-o", "plain")
    assert (folder / "links").read_bytes() == (folder / "plain").read_bytes()


def test_a_truncated_input_is_found_before_any_work(unfinished, folder):
    shards = sorted(path.name for path in (folder / "links.shards").iterdir())
    whole = gzip.compress((folder / "pairs").read_bytes())
    (folder / "pairs.gz").write_bytes(whole[: len(whole) // 2])
    for output, resume in (("new", []), ("links", ["--resume"])):
        done = unfinished("pairs.gz", "-o", output, "--shards", 5, *resume)
        assert done.returncode == 1
        assert done.stderr.startswith("weft: pairs.gz:")
        assert "the compressed data is damaged or cut short" in done.stderr
    assert not (folder / "new.shards").exists()
    assert sorted(path.name for path in (folder / "links.shards").iterdir()) == shards
    (folder / "pairs.gz").write_bytes(whole)
    assert unfinished("pairs.gz", "-o", "links", "--shards", 5, "--resume").returncode == 0


def test_a_file_that_may_not_grow(align, folder, model):
    """RLIMIT_FSIZE stands for a full disk: the fourth shard, with its long lines, does not fit."""
    (folder / "pairs").write_text("a ||| b\n" * 20_000 + "a b c d e f ||| a b c d e f\n" * 4_000)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "from weft.cli.main import main; main()"
    )
    options = ["pairs", "-o", "links", "--shards", "4"]
    command = [sys.executable, "-c", code, "align", *model, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "weft: links.shards/00003: File too large.\n"
        "weft: 3 of 4 shards are finished and kept in links.shards. Continue with --resume.\n"
    )
    assert sorted(path.name for path in (folder / "links.shards").iterdir()) == [
        "00000", "00001", "00002", "manifest.json"
    ]  # fmt: skip
    assert align(*options, "--resume").returncode == 0
    align("pairs", "-o", "plain")
    assert (folder / "links").read_bytes() == (folder / "plain").read_bytes()


@contextmanager
def small_disk(place: Path, kilobytes: int):
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    if os.name != "posix" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize(("kilobytes", "full"), [(40, "disk/links.shards/0000"), (88, "disk/links")])
def test_a_full_disk(align, folder, kilobytes, full):
    """The disk is full while shards are written, or when there is room for the shards but not for the whole."""
    (folder / "pairs").write_text("a b c d e ||| a b c d e\n" * 3_000)  # 60 kB of links
    with small_disk(folder / "disk", kilobytes):
        done = align("pairs", "-o", "disk/links", "--shards", 4)
        assert done.returncode == 1
        assert f"weft: {full}" in done.stderr
        cause, kept = done.stderr.splitlines()
        assert "No space left on device." in cause
        assert "shards are finished and kept in disk/links.shards" in kept
        files = sorted(path.name for path in (folder / "disk").rglob("*"))
        assert "links" not in files
        assert not any("partial" in name for name in files)
        subprocess.run(["mount", "-o", "remount,size=1m", str(folder / "disk")], check=True)
        assert align("pairs", "-o", "disk/links", "--shards", 4, "--resume").returncode == 0
        assert (folder / "disk" / "links").read_text() == "0-0 1-1 2-2 3-3 4-4\n" * 3_000


def test_two_runs_keep_out_of_each_others_way(unfinished, folder):
    import fcntl

    other = os.open(folder / "links.shards", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    done = unfinished("pairs", "-o", "links", "--shards", 5, "--resume")
    os.close(other)
    assert (done.returncode, done.stderr) == (1, "weft: another run is writing to links.shards; wait for it to end.\n")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ["--shards", "2", "-o", "links"],
            2,
            "--shards works from file to file: the input must be a file, not a pipe.",
        ),
        (["pairs", "--shards", "2"], 2, "--shards works from file to file: name the file to write with --output."),
        (["pairs", "-o", "links", "--resume"], 2, "--resume needs --shards, with the same number as before."),
        (["pairs", "-o", "links", "--address", "auto"], 2, "--address only works with --engine ray."),
        (["pairs", "-o", "links", "--shards", "0"], 2, "--shards must be at least 1, got 0."),
        (["pairs", "-o", "nowhere/links", "--shards", "2"], 1, "nowhere/links.shards: No such file or directory."),
        (["missing", "-o", "links", "--shards", "2"], 1, "missing: No such file or directory."),
    ],
)
def test_mistakes_get_one_sentence(align, folder, options, code, message):
    done = align(*options)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert not (folder / "links.shards").exists()


def test_a_folder_of_somebody_elses_is_left_alone(align, folder):
    (folder / "links.shards").mkdir()
    (folder / "links.shards" / "thesis").write_text("years of work")
    done = align("pairs", "-o", "links", "--shards", 2)
    assert (done.returncode, done.stderr) == (
        1,
        "weft: links.shards contains files that are not weft's; remove it or choose another --output.\n",
    )
    assert (folder / "links.shards" / "thesis").read_text() == "years of work"


def test_shards_count_rows_of_tables_and_units_of_memories(align, folder):
    units = "".join(
        f'<tu tuid="{number}"><tuv xml:lang="de"><seg>das ist\n</seg></tuv>\n'
        f'<tuv xml:lang="en"><seg>das ist</seg></tuv></tu>\n'
        for number in range(5)
    )
    (folder / "a.tmx").write_text(f'<tmx version="1.4"><header srclang="de"/><body>{units}</body></tmx>')
    (folder / "a.csv").write_text('de,en\n"das\nist",das ist\n' + "das ist,das ist\n" * 4)
    for name, options, lines in (("a.tmx", [], 5), ("a.csv", ["--source-field", "de", "--target-field", "en"], 6)):
        done = align(name, "-o", "links", "--shards", 3, *options)
        assert (done.returncode, done.stderr) == (0, "")
        assert (folder / "links").read_text() == "\n" * (lines - 5) + "0-0 1-1\n" * 5
