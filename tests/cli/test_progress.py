"""The running count on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.progress import Count, counting, shown


@pytest.mark.parametrize(
    ("done", "total", "left", "words"),
    [
        (1234, None, None, "1,234 pairs"),
        (0, 5000, None, "0 of 5,000 pairs (0%)"),
        (1250, 5000, 75.4, "1,250 of 5,000 pairs (25%), 0:01:15 left"),
        (0, 0, None, "0 of 0 pairs (100%)"),
    ],
)
def test_a_count_in_words(done, total, left, words):
    assert shown(done, total, left, "pairs") == words


def test_nothing_is_shown_where_nobody_looks(capsys):
    with counting("pairs", quiet=True) as count:
        assert isinstance(count, Count)
        count.expect(10, 5)
        count(5)
    assert capsys.readouterr() == ("", "")


def seen_on_a_terminal(folder: Path, *words: str) -> str:
    """What a command writes to a stderr that is a terminal, without the codes that move the cursor."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-m", "weft", *words], cwd=folder, stderr=theirs, stdout=subprocess.DEVNULL, env=environment
    ) as running:
        os.close(theirs)
        said = b""
        while part := _read(ours):
            said += part
        assert running.wait(timeout=300) == 0
    os.close(ours)
    return re.sub(r"\x1b\[[\d?;]*[A-Za-z]", "", said.decode())


def _read(terminal: int) -> bytes:
    """What comes next; on Linux, reading a terminal that nobody writes to any more is an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_shards_say_how_many_lines_there_are(tmp_path):
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\n" * 3000)
    said = seen_on_a_terminal(tmp_path, "align", "pairs", "-o", "links", "--shards", "3")
    assert " of 3,000 pairs (" in said
    plain = seen_on_a_terminal(tmp_path, "align", "pairs", "-o", "links")
    assert " of 3,000" not in plain
    assert re.search(r"[\d,]+ pairs", plain)


def test_documents_say_how_many_pairs_of_sentences_there_are(tmp_path):
    for name, sentence in (("a.txt", "Das ist gut.\n"), ("b.txt", "That is good.\n")):
        (tmp_path / name).write_text(sentence * 40)
    said = seen_on_a_terminal(tmp_path, "align", "--documents", "a.txt", "b.txt", "-o", "links")
    assert re.search(r"[\d,]+ of [\d,]+ possible pairs of sentences \(", said)
