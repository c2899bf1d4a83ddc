"""Every example of README.md and docs/ is run, and prints what the page says it prints.

A block marked `console` holds commands after `$ ` with their output (stdout and stderr together) below. In the output
a line `...` stands for any lines, and `...` within a line for any text. Blocks marked `python` are run too, in order
and with one namespace a page; those written with `>>>` have their output checked. `bash` blocks speak of files that a
reader has: test_commands.py makes such files and runs them.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import PLACES
from pages import FENCE, PAGES, ROOT, Block, blocks


def commands(code: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines it should print."""
    start, *parts = re.split(r"^\$ ", code, flags=re.MULTILINE)
    assert not start.strip(), f"a console block begins with a command, not with {start!r}"
    for part in parts:
        command, *output = part.splitlines()
        yield command, output


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether the lines are equal, blanks at the ends of lines and of the output aside."""
    lines = [r"(?:[^\n]*\n)*" if line == "..." else _line_pattern(line.rstrip()) for line in _trimmed(expected)]
    return re.fullmatch("".join(lines), "".join(f"{line.rstrip()}\n" for line in _trimmed(printed))) is not None


def _line_pattern(line: str) -> str:
    return r"[^\n]*".join(map(re.escape, line.split("..."))) + r"\n"


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


@pytest.fixture
def programs(tmp_path, servers) -> dict[str, str]:
    """The environment of commands: `weft` is this environment's, in forks of processes that have imported it."""
    for server in servers:
        server.start()
    script = tmp_path / "programs" / "weft"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{ROOT / "tests" / "asking.py"}" "$@"\n')
    script.chmod(0o755)
    folders = (str(script.parent), str(Path(sys.executable).parent), os.environ["PATH"])
    places = ":".join(str(server.place) for server in servers)
    return {**os.environ, "PATH": os.pathsep.join(folders), PLACES: places, "LC_ALL": "C.UTF-8"}


def run_console(block: Block, folder: Path, environment: dict[str, str]) -> None:
    for command, expected in commands(block.code):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        printed = done.stdout.decode()
        assert matches(expected, printed.splitlines()), (
            f"$ {command}\nprints\n{printed}\nbut the page says\n" + "\n".join(expected)
        )


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> None:
    if ">>> " not in block.code:
        # Line numbers in tracebacks are those of the page.
        exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(block.code, namespace, page.name, str(page), block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch, programs):
    folder = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", folder)
    monkeypatch.chdir(folder)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "console":
            run_console(block, folder, programs)
        elif block.language == "python":
            run_python(block, page, namespace)


def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch):
    folder = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", folder)
    monkeypatch.chdir(folder)
    cells = json.loads((folder / "quickstart.ipynb").read_text(encoding="utf-8"))["cells"]
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs depend on the machine: clear them before you commit"
            exec(compile("".join(cell["source"]), cell["id"], "exec"), namespace)
    assert len(namespace["alignments"]) == 6


def test_the_picture_is_of_the_pair_it_says_and_of_its_links(tmp_path):
    fresh = tmp_path / "pair.svg"
    command = ["weft", "view", ROOT / "examples" / "pairs.txt", "--pair", "6", "-o", fresh]
    subprocess.run([sys.executable, "-m", *map(str, command)], check=True)
    kept = (ROOT / "docs" / "pictures" / "pair.svg").read_text(encoding="utf-8")
    drawn = fresh.read_text(encoding="utf-8")
    # Probabilities, and with them the width of curves, may differ in the last digit from machine to machine.
    for part in (r"<text.*</text>", r'<path d="[^"]*"'):
        assert re.findall(part, kept) == re.findall(part, drawn), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(FENCE, "", text)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, place = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if place:
            assert place in set(map(anchor, re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)))


def anchor(heading: str) -> str:
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize(
    ("expected", "printed", "equal"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\n", False),
        ("a", "a\nb\n", False),
        ("", "a\n", False),
        ("...", "", True),
        ("a\n...\nc", "a\nc\n", True),
        ("a\n...\nc", "a\nb\nb\nc\n", True),
        ("a\n...\nc", "a\nb\n", False),
        ("a ... (c)", "a b (c)\n", True),
        ("a ... (c)", "a b\n(c)\n", False),
        ("a.b", "a-b\n", False),
        ("a\n\n\n", "a\n", True),
    ],
)
def test_output_is_compared_line_by_line(expected, printed, equal):
    assert matches(expected.splitlines(), printed.splitlines()) is equal


def test_blocks_and_commands_are_found():
    page = (
        "text\n\n```console\n$ one\nout\n$ two\n```\n\n```bash\n$ not run\n```\n\n"
        "```\nplain\n```\n\n```python\nx = 1\n```\n"
    )
    found = list(blocks(page))
    assert [(block.language, block.line) for block in found] == [("console", 4), ("bash", 10), ("python", 18)]
    assert list(commands(found[0].code)) == [("one", ["out"]), ("two", [])]
