from __future__ import annotations

import gzip
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from weft import Aligner
from weft.corpus.ahead import ReadAhead, is_worth_it
from weft.corpus.job import AlignJob
from weft.corpus.records import cut_records
from weft.encoding.encoder import GPU_PACE
from weft.encoding.subwords import FastTokenizer, PairTokenizer
from weft.errors import FormatError, WeftError
from weft.models.known import built_in_models

WORDS = 40
LINES = [
    "das ist gut ||| that is good",
    "no bars here",
    "das ist gut ||| that is good",
    "wir gehen nach Hause ||| we are going home",
    "",
    "allein |||",
] * 40


@pytest.fixture(scope="module")
def tokenize():
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(built_in_models()["weft-mini"] / "tokenizer.json"))
    return PairTokenizer(FastTokenizer(tokenizer), joint=True, window=62)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "pairs"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    return str(path)


def test_chunks_and_bad_lines_are_those_of_one_process(text, tokenize):
    job, seen, known = AlignJob("weft-mini", {}), [], []
    expected = list(cut_records(job.read(text, None, known.append), WORDS))
    with ReadAhead(job, text, None) as ahead:
        chunks = list(ahead.chunks(WORDS, tokenize, seen.append))
    assert len(chunks) == len(expected) > 5
    assert [str(error) for error in seen] == [str(error) for error in known]
    assert all(isinstance(error, FormatError) and error.line for error in seen)
    for ours, theirs in zip(chunks, expected, strict=True):
        assert (ours.first, ours.lines) == (theirs.first, theirs.lines)
        tokenized = tokenize([record.pair for record in theirs.records])
        assert ours.tokenized.pairs.tolist() == tokenized.pairs.tolist()
        assert ours.tokenized.filled.tolist() == tokenized.filled.tolist()
        for array in ("ids", "words", "starts"):
            np.testing.assert_array_equal(getattr(ours.tokenized.subwords, array), getattr(tokenized.subwords, array))


def test_a_right_guess_saves_the_work_until_the_model_is_loaded(text, monkeypatch):
    job, seen, answers = AlignJob("weft-mini", {"device": "cuda"}), [], []
    tokenize = job.tokenizer_ahead()
    received = ReadAhead._received
    monkeypatch.setattr(ReadAhead, "_received", lambda reader: answers.append(received(reader)) or answers[-1])
    with ReadAhead(job, text, None) as ahead:
        (chunk,) = ahead.chunks(GPU_PACE.chunk_words, tokenize, seen.append)
        assert answers[0] is True
        other = PairTokenizer(tokenize.tokenizer, tokenize.joint, tokenize.window - 1)
    answers.clear()
    with ReadAhead(job, text, None) as ahead:
        (again,) = ahead.chunks(GPU_PACE.chunk_words, other, lambda error: None)
        assert answers[0] is False
    assert len(seen) == LINES.count("no bars here") + LINES.count("") + LINES.count("allein |||")
    assert chunk.lines == again.lines == len(LINES)
    np.testing.assert_array_equal(chunk.tokenized.subwords.ids, again.tokenized.subwords.ids)
    np.testing.assert_array_equal(chunk.tokenized.pairs, again.tokenized.pairs)


def test_a_guess_is_what_the_loaded_model_says(tiny_bert):
    """Whatever a model's files leave open is not guessed."""
    job = AlignJob(str(tiny_bert), {"layer": 2})
    assert job.tokenizer_ahead().identity() == Aligner.from_pretrained(tiny_bert, layer=2).encoder.tokenize.identity()
    assert AlignJob("someone/not-here-yet", {}).tokenizer_ahead() is None


def test_bad_lines_come_before_the_chunk_they_are_in(text, tokenize):
    seen = []
    with ReadAhead(AlignJob("weft-mini", {}), text, None) as ahead:
        for chunk in ahead.chunks(WORDS, tokenize, seen.append):
            last = chunk.first + chunk.lines - 1
            assert len(seen) == sum(not line or line.startswith(("no", "allein")) for line in LINES[:last])


def test_what_ends_reading_ends_the_run(tmp_path, text, tokenize):
    short, damaged = tmp_path / "short", tmp_path / "damaged.gz"
    short.write_text("eins\n")
    damaged.write_bytes(gzip.compress("\n".join(LINES).encode())[:-20])
    cases = [
        (text, str(short), WeftError, "must correspond"),
        (str(damaged), None, WeftError, "damaged"),
        (str(tmp_path / "missing"), None, FileNotFoundError, "missing"),
    ]
    for path, target, kind, message in cases:
        with ReadAhead(AlignJob("weft-mini", {}), path, target) as ahead, pytest.raises(kind, match=message):
            list(ahead.chunks(WORDS, tokenize, lambda error: None))


@pytest.mark.parametrize("guessed", [True, False])
def test_an_error_that_comes_up_while_the_model_is_loaded_is_the_one_that_is_told(tmp_path, text, tokenize, guessed):
    short = tmp_path / "short"
    short.write_text("eins\n")
    job = AlignJob("weft-mini", {})
    with ReadAhead(job, text, str(short)) as ahead:
        _wait_until_idle(ahead)
        chunks = ahead.chunks(GPU_PACE.chunk_words, job.tokenizer_ahead() if guessed else tokenize, lambda error: None)
        with pytest.raises(WeftError, match="must correspond"):
            list(chunks)


@pytest.mark.parametrize("wanted", ["guessed", "other", None])
def test_what_readers_remark_is_said_once_and_only_if_their_text_is_wanted(tmp_path, tokenize, capfd, wanted):
    table = tmp_path / "table.tsv"
    table.write_text("German\tEnglish\ndas Haus\tthe house\n")
    job = AlignJob("weft-mini", {})
    with ReadAhead(job, str(table), None) as ahead:
        _wait_until_idle(ahead)
        if wanted:
            wished = job.tokenizer_ahead() if wanted == "guessed" else tokenize
            assert len(list(ahead.chunks(GPU_PACE.chunk_words, wished, lambda error: None))) == 1
    assert capfd.readouterr().err.count("weft: ") == bool(wanted)


def _wait_until_idle(ahead):
    """Until the process has read all it can by its guess: it waits for the parent then, and needs no time any more."""
    before, now = -1.0, 0.0
    while now != before or now < 0.1:
        before = now
        time.sleep(1)
        fields = Path(f"/proc/{ahead._process.pid}/stat").read_text().rpartition(")")[2].split()
        now = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_strict_listener_ends_the_run_and_the_process(text, tokenize):
    def strict(error):
        raise error

    with ReadAhead(AlignJob("weft-mini", {}), text, None) as ahead, pytest.raises(FormatError, match="pairs:2:"):
        list(ahead.chunks(WORDS, tokenize, strict))
    assert not ahead._process.is_alive()


@pytest.mark.parametrize("words", [1, 300_000])  # a chunk that fits into the pipe, and one that does not
def test_a_killed_reader_is_told_in_a_sentence(tmp_path, tokenize, words):
    text = str(tmp_path / "pairs")
    with open(text, "w") as file:
        file.writelines(f"{LINES[0]} {number}\n" for number in range(100_000))
    with ReadAhead(AlignJob("weft-mini", {}), text, None) as ahead:
        chunks = ahead.chunks(words, tokenize, lambda error: None)
        next(chunks)
        assert ahead._here.poll(120)  # it is writing, or has written, the next one
        os.kill(ahead._process.pid, signal.SIGKILL)
        with pytest.raises(WeftError, match="the process that reads the text was killed"):
            list(chunks)


def test_it_is_not_worth_it_for_little_or_for_pipes(tmp_path, monkeypatch):
    large, small = tmp_path / "large", tmp_path / "small"
    large.write_bytes(bytes(2 << 20))
    small.write_bytes(b"x")
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/dev/nvidiactl" or exists(path))
    assert is_worth_it(str(large), None)
    assert is_worth_it(str(small), str(large))
    assert not is_worth_it(str(small), None)
    assert not is_worth_it("-", None)
    monkeypatch.setattr(os.path, "exists", lambda path: path != "/dev/nvidiactl" and exists(path))
    assert not is_worth_it(str(large), None)
