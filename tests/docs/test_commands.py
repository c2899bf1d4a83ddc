"""The commands of `bash` blocks in README.md and docs/, which speak of files and models that a reader has.

Here such files and models are made, small ones, and every `weft` command of a page is run among them, in order.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from models import make_model
from pages import PAGES, ROOT, Block, blocks
from weft.cli.main import command_line

# What is not run, and why. It must still be understood: a command with these options must be there.
NOT_RUN = {
    r"weft (serve|annotate)": "it runs until it is stopped; the server has tests of its own",
    r"weft (train|score) gold-de-en": "it needs a project with annotations; the commands have tests of their own",
    r"weft page .*--runtime": "it needs onnxruntime-web, which comes from npm; the command has tests of its own",
    r"s3://": "it needs a bucket",
    r"--(install|show)-completion": "it asks which shell it was started from",
}
A_FORM = "GOLD SYSTEM"


def weft_commands(block: Block) -> Iterator[list[str]]:
    if block.language == "bash":
        for line in block.code.replace("\\\n", " ").splitlines():
            if line.startswith("weft ") and A_FORM not in line:
                yield shlex.split(line, comments=True)


def all_commands(page: Path) -> Iterator[list[str]]:
    return chain.from_iterable(map(weft_commands, blocks(page.read_text(encoding="utf-8"))))


def is_run(words: list[str]) -> bool:
    return not any(re.search(pattern, " ".join(words)) for pattern in NOT_RUN)


def understood(words: list[str]) -> bool:
    """Whether `weft` knows the command and all its options; nothing is run."""
    command: Any = get_command(command_line())
    while hasattr(command, "commands"):
        words = words[1:]
        if not words or words[0].startswith("-"):
            return True  # weft --help, weft --install-completion
        command = command.commands[words[0]]
    command.make_context(words[0], words[1:])
    return True


def furnish(folder: Path) -> None:
    """Put everything into a folder that the pages speak of."""
    examples = ROOT / "examples"
    source, target = ((examples / f"gold.{side}").read_text("utf-8").splitlines() for side in ("src", "tgt"))
    pairs = [f"{left} ||| {right}\n" for left, right in zip(source, target, strict=True)]
    # No corpus repeats another: pairs that were seen before are not trained on.
    swapped = [f"{right} ||| {left}\n" for left, right in zip(source, target, strict=True)]
    for name, lines in {
        "pairs.txt": pairs, "raw.txt": pairs, "new.txt": pairs, "gold.txt": pairs, "de-en.txt": pairs[:2],
        "fr-en.txt": pairs[2:4], "ro-en.txt": pairs[4:], "corpus.gz": pairs, "de-en.txt.gz": pairs,
        "silver.txt.gz": swapped[:3], "plain.txt.gz": swapped[3:],
    }.items():  # fmt: skip
        text = "".join(lines).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    (folder / "silver.links").write_text("0-0\n" * 3)
    (folder / "table.csv").write_text('German,English\r\n"Ja, gern.","Yes, please."\r\n', "utf-8")
    for language, text in {"de": "Wo warst du?", "en": "Where were you?"}.items():
        (folder / f"film.{language}.srt").write_text(f"1\n00:00:01,000 --> 00:00:03,200\n{text}\n", "utf-8")
    (folder / "corpus").mkdir()
    (folder / "text.tsv").write_text("".join(swapped).replace(" ||| ", "\t"), "utf-8")
    # A script that weft-mini has no pieces for.
    (folder / "iu-en.txt").write_text("".join(f"ᐃᓄᒃ ᐅᖃᓕᒫᖅᐳᖅ {k} ||| a person reads {k}\n" for k in range(12)), "utf-8")
    for name in ("pairs.tsv", "corpus/1.tsv.gz", "corpus/2.tsv.gz"):
        text = "".join(pairs).replace(" ||| ", "\t").encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    for copy, original in {
        "text.de": "gold.src", "text.en": "gold.tgt", "gold.talp": "gold.talp", "pairs.links": "first.links",
        "other.links": "second.links",
    }.items():  # fmt: skip
        shutil.copy(examples / original, folder / copy)
    (folder / "dev").mkdir()
    for language in ("de", "ro", "ja"):
        for kind in ("src", "tgt", "talp"):
            shutil.copy(examples / f"gold.{kind}", folder / "dev" / f"{language}-en.{kind}")
    labelled = ["".join(f"{word}\t{'B-X' if k == 1 else 'O'}\n" for k, word in enumerate(s.split())) for s in source]
    (folder / "labels.conll").write_text("\n".join(labelled), "utf-8")
    for name in ("my-encoder", "my-model", "my-tuned-model", "bert-base-multilingual-cased"):
        make_model(folder / name, layers=8)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_understood(page):
    for words in all_commands(page):
        assert understood(_with_scores(words)), words


def _with_scores(words: list[str]) -> list[str]:
    return ["--scores=calibrated" if word == "--scores" else word for word in words]


def with_marks(page: Path) -> Any:
    """A page as a test; training takes minutes."""
    marks = pytest.mark.exhaustive if page.name == "training.md" else ()
    return pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.parametrize("page", [with_marks(page) for page in PAGES if any(map(is_run, all_commands(page)))])
def test_commands_run_among_the_files_they_name(page, tmp_path, weft):
    furnish(tmp_path)
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "toml":
            (tmp_path / "run.toml").write_text(block.code, "utf-8")
        for words in filter(is_run, weft_commands(block)):
            make_room(tmp_path, words)
            done = weft(*words[1:], cwd=tmp_path, env=offline)
            assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"


def make_room(folder: Path, words: list[str]) -> None:
    """Remove what an earlier example left where this one writes."""
    for option in ("-o", "--output"):
        if option in words[:-1] and (old := folder / words[words.index(option) + 1]).exists():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
