from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from weft.cli import main as cli
from weft.corpus import ahead
from weft.corpus.job import AlignJob
from weft.encoding.light import LightEncoder

LINES = ["das ist gut ||| that is good", "no bars", "", "wir gehen nach Hause ||| we are going home"] * 500


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process; returns its exit code and what it said."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["weft", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, capsys.readouterr().err

    logger = logging.getLogger("weft")
    handlers = list(logger.handlers)
    yield run
    logger.handlers[:] = handlers  # those of the command line write to a stream that is gone


def test_nothing_is_read_ahead_of_lines_that_are_wanted_one_by_one(tmp_path, monkeypatch, run):
    text = tmp_path / "pairs"
    text.write_text("\n".join(LINES[:4]) + "\n")
    monkeypatch.setattr(ahead, "is_worth_it", lambda path, target: pytest.fail("another process would have begun"))
    monkeypatch.setattr(AlignJob, "may_use_gpu", lambda job: True)
    assert run("align", text, "-o", tmp_path / "links", "--line-by-line")[0] == 0


@pytest.mark.parametrize("format", ["pharaoh", "naacl", "words"])
def test_text_that_is_read_ahead_gives_the_same_output(tmp_path, monkeypatch, run, format):
    text, plain, output = tmp_path / "pairs", tmp_path / "plain", tmp_path / "ahead"
    text.write_text("\n".join(LINES) + "\n")
    expected = run("align", text, "-o", plain, "--output-format", format)
    readers = set()
    monkeypatch.setattr(ahead, "is_worth_it", lambda path, target: True)
    monkeypatch.setattr(AlignJob, "may_use_gpu", lambda job: True)
    monkeypatch.setattr(LightEncoder, "pace", replace(LightEncoder.pace, read_ahead=True))
    received = ahead.ReadAhead._received
    monkeypatch.setattr(ahead.ReadAhead, "_received", lambda reader: readers.add(reader) or received(reader))
    assert run("align", text, "-o", output, "--output-format", format) == expected
    assert output.read_bytes() == plain.read_bytes()
    assert len(readers) == (format != "words")  # whoever writes words has to have them
    assert expected[0] == 0
    assert "1,000 of 2,000 lines could not be aligned" in expected[1]
    assert all(not reader._process.is_alive() for reader in readers)
    code, said = run("align", text, "-o", output, "--output-format", format, "--strict")
    assert (code, "pairs:2:" in said) == (1, True)
