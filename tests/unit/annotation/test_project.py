"""A project on disk: what was saved is there again, whatever happens in between."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weft import Link, SentencePair, read_links, read_pairs
from weft.annotation.names import ADJUDICATED
from weft.annotation.project import ConflictError, Project, create_project, is_project
from weft.annotation.record import Annotation, State
from weft.annotation.sentences import ProjectPair
from weft.errors import SettingError, WeftError
from weft.types import Alignment

PAIRS = [
    ProjectPair(SentencePair(("das", "Haus"), ("the", "house"))),
    ProjectPair(problem="pairs.txt:2: the line is blank."),
    ProjectPair(SentencePair(("ja",), ("oh", "yes"))),
]


@pytest.fixture
def folder(tmp_path) -> Path:
    create_project(tmp_path / "work", PAIRS, name="Märchen")
    return tmp_path / "work"


def said(*cells: tuple[int, int], state: State = State.DONE, comment: str = "", sure: bool = True) -> Annotation:
    return Annotation(tuple(Link(i, j, None, sure) for i, j in cells), state, comment)


def test_what_is_put_is_there_again(folder):
    project = Project.open(folder)
    kept = project.put("Ann", 2, said((0, 1), comment="'oh' is free"))
    project.put("Ann", 0, said((1, 1), sure=False, state=State.DOUBTFUL))
    project.close()
    again = Project.read(folder)
    assert again.name == "Märchen"
    assert again.annotations["Ann"][2] == kept
    assert again.annotations["Ann"][0].state is State.DOUBTFUL
    assert (again.revision, len(again.pairs), again.pairs[1].problem) == (2, 3, PAIRS[1].problem)
    assert kept.time.endswith("Z")


def test_the_files_are_read_by_everything_else_in_weft(folder):
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0), (1, 1)))
    project.put("Ann", 2, said((0, 0), (0, 1)))
    project.close()
    links = [str(alignment) for alignment in read_links(folder / "annotations" / "Ann.jsonl")]
    assert links == ["0-0 1-1", "", "0-0 0-1"]
    assert [len(pair.source) for pair in read_pairs(folder / "pairs.jsonl", on_error=lambda error: None)] == [2, 0, 1]
    assert [pair.source for pair in read_pairs(folder / "gold.jsonl")] == [("das", "Haus"), ("ja",)]
    assert [str(alignment) for alignment in read_links(folder / "gold.jsonl")] == ["0-0 1-1", "0-0 0-1"]


def test_gold_has_no_probabilities_and_says_which_pair_it_is(folder):
    project = Project.open(folder)
    project.put("Ann", 2, Annotation((Link(0, 0, 0.993012), Link(0, 1, 0.5, sure=False)), State.DONE))
    project.put("Ben", 2, Annotation((Link(0, 0, 0.7), Link(0, 1, None, sure=False)), State.DONE))
    project.close()
    [record] = map(json.loads, (folder / "gold.jsonl").read_text().splitlines())
    assert record == {"source": ["ja"], "target": ["oh", "yes"], "pair": 3, "links": [[0, 0]], "possible": [[0, 1]]}


def test_a_change_is_on_the_disk_before_put_returns(folder):
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0)))
    # Another process sees it, although the files are not written anew yet.
    assert Project.read(folder).annotations["Ann"][0].links == (Link(0, 0),)
    assert not (folder / "annotations" / "Ann.jsonl").exists()
    project.close()
    assert (folder / "journal").read_bytes() == b""


def test_whoever_reads_is_not_disturbed_by_a_change(folder):
    """Pages of several annotators ask all the time, each in a thread of its own."""
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0)))
    names, numbers = iter(project.annotations), iter(project.annotations["Ann"])
    project.put("Ann", 2, said((0, 0)))
    project.put("Ben", 0, said((0, 0)))
    assert ([*names], [*numbers]) == (["Ann"], [0])
    assert sorted(project.confirmed) == [0, 2]
    project.put("Ben", 2, said((0, 1)))
    assert sorted(project.confirmed) == [0]
    project.close()


def test_a_newer_change_is_not_overwritten(folder):
    project = Project.open(folder)
    first = project.put("Ann", 0, said((0, 0)), base=0)
    second = project.put("Ann", 0, said((1, 1)), base=first.revision)
    with pytest.raises(ConflictError) as refused:
        project.put("Ann", 0, said((0, 1)), base=first.revision)
    assert refused.value.current == second
    assert project.changes(first.revision) == [("Ann", 0, second)]
    project.close()


def test_only_one_process_writes(folder):
    project = Project.open(folder)
    with pytest.raises(SettingError, match="open in another weft"):
        Project.open(folder)
    project.close()
    Project.open(folder).close()


def test_a_reader_cannot_write(folder):
    with pytest.raises(WeftError, match="to read only"):
        Project.read(folder).put("Ann", 0, said((0, 0)))


@pytest.mark.parametrize(
    ("number", "annotation"), [(0, said((2, 0))), (1, said((0, 0))), (3, said()), (0, said(comment="x" * 10_001))]
)
def test_what_does_not_fit_is_refused(folder, number, annotation):
    project = Project.open(folder)
    with pytest.raises(SettingError):
        project.put("Ann", number, annotation)
    assert project.revision == 0
    project.close()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 41, "a\nb", "ends."])
def test_names_stay_in_their_folder(folder, name):
    project = Project.open(folder)
    with pytest.raises(SettingError):
        project.put(name, 0, said((0, 0)))
    project.close()


def test_names_that_differ_in_case_are_one_person(folder):
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0)))
    project.put(" ann ", 2, said((0, 0)))
    assert list(project.annotations) == ["Ann"]
    project.close()


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_half_a_line_at_the_end_of_the_journal_is_passed_over(folder, cut):
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0)))
    whole = (folder / "journal").read_bytes()
    (folder / "journal").write_bytes(whole + whole[:cut])
    project._held.close()  # as if it had been killed
    again = Project.open(folder)
    assert again.annotations["Ann"][0].links == (Link(0, 0),)
    again.put("Ann", 2, said((0, 0)))
    again.close()
    assert set(Project.read(folder).annotations["Ann"]) == {0, 2}


def test_a_kill_between_files_and_journal_changes_nothing(folder):
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0)))
    old = (folder / "journal").read_bytes()
    project.put("Ann", 0, said((1, 1)))
    project.close()
    (folder / "journal").write_bytes(old)  # the files were written, the journal was not emptied
    assert Project.read(folder).annotations["Ann"][0].links == (Link(1, 1),)


def test_gold_is_what_was_settled_or_what_all_who_finished_agree_on(folder):
    project = Project.open(folder)
    project.put("Ann", 0, said((0, 0)))
    project.put("Ben", 0, said((1, 1)))
    project.put("Ann", 2, said((0, 1)))
    project.put("Ben", 2, said((0, 0), state=State.DOUBTFUL))
    project.checkpoint()
    assert [str(alignment) for alignment in read_links(folder / "gold.jsonl")] == ["0-1"]
    project.put(ADJUDICATED, 0, said((0, 0), (1, 1)))
    project.close()
    assert [str(alignment) for alignment in read_links(folder / "gold.jsonl")] == ["0-0 1-1", "0-1"]


def test_suggestions_keep_their_scores(tmp_path):
    given = [Alignment((Link(0, 0, 0.75),), 0.5), None, None]
    create_project(tmp_path / "work", PAIRS, given)
    found = Project.read(tmp_path / "work").suggestions
    assert found[0] is not None
    assert (found[0].links, found[0].score) == (given[0].links, 0.5)


def test_a_folder_is_made_a_project_once(folder):
    assert is_project(folder)
    with pytest.raises(SettingError, match="already"):
        create_project(folder, PAIRS)
    with pytest.raises(SettingError, match="no annotation project"):
        Project.read(folder.parent)


def test_a_project_is_not_put_among_other_files(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(SettingError, match=r"contains other files, such as thesis\.tex; name a new folder"):
        create_project(tmp_path, PAIRS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_a_kill_left_over_becomes_a_project_and_the_file_of_somebody_does_not(folder):
    (folder / "project.json").unlink()
    (folder / "guidelines.md").write_text("Link articles.")
    create_project(folder, PAIRS)
    (folder / "project.json").unlink()
    (folder / "pairs.jsonl").write_text('{"source": "ja", "target": "yes"}\n')
    with pytest.raises(SettingError, match=r"such as pairs\.jsonl"):
        create_project(folder, PAIRS)


WRITER = """
import random, sys
from weft import Link
from weft.annotation.project import Project
from weft.annotation.record import Annotation, State
project = Project.open(sys.argv[1])
print("open", flush=True)
draw = random.Random(project.revision)
while True:
    number = draw.randrange(len(project.pairs))
    cell = (draw.randrange(9), draw.randrange(9))
    kept = project.put(draw.choice(["Ann", "Ben"]), number, Annotation((Link(*cell),), State.DONE, "ü" * 200))
    print(kept.revision, number, *cell, flush=True)
"""


def test_nothing_that_was_answered_is_lost_to_a_kill(tmp_path):
    words = tuple("abcdefghi")
    create_project(tmp_path / "work", [ProjectPair(SentencePair(words, words))] * 40)
    newest: dict[int, tuple[int, ...]] = {}
    for turn in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "work")], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout.readline() == "open\n"
        time.sleep(0.05 + 0.06 * turn)
        writer.send_signal(signal.SIGKILL)
        answered = writer.stdout.read().split("\n")[:-1]
        writer.wait()
        newest.update({int(line.split()[0]): tuple(map(int, line.split()[1:])) for line in answered})
        project = Project.read(tmp_path / "work")
        held = {
            each.revision: (number, *each.links[0].indices)
            for all_said in project.annotations.values()
            for number, each in all_said.items()
        }
        assert project.revision >= max(newest)
        assert {revision: cells for revision, cells in held.items() if revision in newest}.items() <= newest.items()
        # What is not held any more was followed by a newer change of the same pair.
        for revision, cells in newest.items():
            assert any(number == cells[0] and other >= revision for other, (number, *_) in held.items())
    assert len(newest) > 50


FULL = """
import resource, signal, sys
from weft import Link
from weft.annotation.project import Project
from weft.annotation.record import Annotation
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
project = Project.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
kept = 0
try:
    for number in range(1000):
        project.put("Ann", 0, Annotation((Link(0, 0),), comment=str(number)))
        kept = number
except OSError as error:
    print(kept, error.strerror)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="this system has no limit on the size of files")
def test_a_disk_that_is_full_refuses_and_spoils_nothing(folder):
    done = subprocess.run([sys.executable, "-c", FULL, str(folder)], capture_output=True, text=True, check=True)
    kept, _, reason = done.stdout.strip().partition(" ")
    assert reason == os.strerror(27)
    project = Project.open(folder)
    assert project.annotations["Ann"][0].comment == kept
    project.close()
    assert not list(folder.glob("journal.damaged*"))
    assert json.loads((folder / "annotations" / "Ann.jsonl").read_text().splitlines()[0])["comment"] == kept
