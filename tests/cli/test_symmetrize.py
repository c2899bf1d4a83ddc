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


def test_different_lengths(weft, files):
    (files / "short").write_text("0-0\n")
    done = weft("symmetrize", "forward", "short", cwd=files)
    assert done.returncode == 1
    assert done.stderr == (
        "weft: forward has 3 lines but short has 1 line; line n of one must correspond to line n of the other.\n"
    )
