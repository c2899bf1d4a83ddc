from __future__ import annotations

import pytest


@pytest.fixture
def files(tmp_path):
    (tmp_path / "forward").write_text("0-0 0-1\n\n2-2:0.5\n")
    (tmp_path / "backward").write_text("0-0\n1-1\n2-2:1.0 3-3:0.25\n")
    return tmp_path


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("intersection", "0-0\n\n2-2\n"),
        ("union", "0-0 0-1\n1-1\n2-2 3-3\n"),
        ("forward", "0-0 0-1\n\n2-2\n"),
        ("backward", "0-0\n1-1\n2-2 3-3\n"),
        ("grow-diag", "0-0 0-1\n\n2-2 3-3\n"),
        ("grow-diag-final", "0-0 0-1\n1-1\n2-2 3-3\n"),
        ("grow-diag-final-and", "0-0 0-1\n1-1\n2-2 3-3\n"),
    ],
)
def test_methods(weft, files, method, expected):
    done = weft("symmetrize", "forward", "backward", "--method", method, cwd=files)
    assert (done.returncode, done.stdout) == (0, expected)


def test_scores_are_written_on_request(weft, files):
    assert (
        weft("symmetrize", "forward", "backward", "--scores", cwd=files).stdout.splitlines()[2] == "2-2:0.75 3-3:0.25"
    )


def test_a_backward_file_can_be_turned_round(weft, files):
    (files / "turned").write_text("1-0\n\n\n")
    done = weft("symmetrize", "forward", "turned", "--method", "intersection", "--reversed-backward", cwd=files)
    assert done.stdout == "0-1\n\n\n"


@pytest.mark.parametrize("turned", [False, True])
def test_a_backward_file_that_is_the_other_way_round_is_noticed(weft, tmp_path, turned):
    (tmp_path / "forward").write_text("0-0 1-2 2-3 3-1 4-5\n" * 10)
    (tmp_path / "backward").write_text(("0-0 2-1 3-2 5-4 6-6\n" if turned else "0-0 1-2 2-3 4-5 6-6\n") * 10)
    asked, plain = (
        weft("symmetrize", "forward", "backward", *options, cwd=tmp_path) for options in (["--reversed-backward"], [])
    )
    wrong, right = (plain, asked) if turned else (asked, plain)
    assert (right.returncode, right.stderr) == (wrong.returncode, "") == (0, "")
    advice = "Add --reversed-backward." if turned else "Leave out --reversed-backward."
    assert wrong.stderr == f"weft: backward agrees far more with forward the other way round. {advice}\n"


@pytest.mark.parametrize("line", ["0-0 1-1 2-2", "0-1 1-0 2-3 3-2", "0-4", ""])
def test_files_that_do_not_tell_are_not_doubted(weft, tmp_path, line):
    (tmp_path / "forward").write_text(f"{line}\n" * (3 if line == "0-4" else 30))
    (tmp_path / "backward").write_text((tmp_path / "forward").read_text().replace("0-4", "4-0"))
    assert weft("symmetrize", "forward", "backward", cwd=tmp_path).stderr == ""


def test_different_lengths(weft, files):
    (files / "short").write_text("0-0\n")
    done = weft("symmetrize", "forward", "short", cwd=files)
    assert done.returncode == 1
    assert done.stderr == (
        "weft: forward has 3 lines but short has 1 line; line n of one must correspond to line n of the other.\n"
    )
