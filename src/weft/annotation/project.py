"""An annotation project: a folder of plain files that survives a kill at any moment.

    project.json               that this is a project, and its name
    pairs.jsonl                the sentence pairs; a line that held no pair keeps its place, with the reason
    suggestions.jsonl          links that came with the pairs, line by line, if there were any
    guidelines.md              what annotators should keep to, if somebody wrote it
    annotations/NAME.jsonl     what NAME said, line by line: links, state, comment, time; blank where nothing was said
    gold.jsonl                 the pairs that are confirmed, with their links and their numbers in pairs.jsonl
    journal                    changes that are not in the files above yet

A change is in the journal, and on the disk, before anybody is told that it is saved. Now and then the other files are
written anew, each beside its old self and then renamed over it, and the journal is emptied.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from weft.annotation.gold import confirmed_gold
from weft.annotation.journal import Journal, read_journal
from weft.annotation.locking import locked
from weft.annotation.names import annotator_name
from weft.annotation.record import LONGEST_COMMENT, Annotation, State, check_links, read_line, written_line
from weft.annotation.sentences import ProjectPair, read_project_pairs, written_pair
from weft.errors import FormatError, SettingError, WeftError
from weft.scoring.partial import PAIR_NUMBER
from weft.text.files import checksum, write_whole
from weft.text.json_objects import read_json_object
from weft.text.lines import decode, read_lines
from weft.text.links import format_links, json_links, read_links
from weft.types import Alignment

logger = logging.getLogger(__name__)

_KIND = "weft project"
_ENTRIES = 50  # changes in the journal before the files are written anew


class ConflictError(WeftError):
    """Somebody changed the same pair meanwhile, in another tab; `current` is what stands there now."""

    def __init__(self, current: Annotation) -> None:
        super().__init__("this pair was changed in another tab in the meantime.")
        self.current = current


class Project:
    """A project in memory. `open` it to write, `read` it to look.

    Attributes:
        folder: where it lies.
        pairs: the lines of the file it was made of, in order.
        suggestions: links that came with the pairs; None where there were none.
        annotations: for each annotator, what was said about which pair (counted from 0).
        revision: how many changes there were, over all annotators.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not is_project(folder):
            raise SettingError(f"{folder} is no annotation project: it has no project.json.")
        self.name = str(read_json_object(folder / "project.json").get("name") or folder.name)
        self.pairs: list[ProjectPair] = read_project_pairs(folder / "pairs.jsonl")
        self.suggestions = _read_suggestions(folder / "suggestions.jsonl", len(self.pairs))
        self.annotations: dict[str, dict[int, Annotation]] = {}
        self.revision = 0
        self._gold: tuple[Mapping[str, Mapping[int, Annotation]], Mapping[int, Alignment]] = ({}, {})
        self._changed: set[str] = set()
        self._journal: Journal | None = None
        self._guard = threading.RLock()
        self._held: contextlib.ExitStack = contextlib.ExitStack()
        for path in sorted((folder / "annotations").glob("*.jsonl")):
            self._read_annotator(path)
        self._read_journal()

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Project:
        """Look at a project, also one that a server is writing to; nothing on the disk is changed."""
        return cls(Path(folder))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Project:
        """Open a project to write; only one process may at a time.

        Raises:
            SettingError: this is no project, or another process has it open.
        """
        folder = Path(folder)
        with contextlib.ExitStack() as held:
            if is_project(folder):
                held.enter_context(locked(folder / ".lock", f"{folder} is open in another weft already."))
            project = cls(folder)
            project._keep_damage()
            for left_over in (*folder.glob("*.partial"), *folder.glob("annotations/*.partial")):
                left_over.unlink()
            project._journal = Journal(folder / "journal")
            project.checkpoint()
            project._held = held.pop_all()
        return project

    @cached_property
    def key(self) -> str:
        """Tells projects apart that have the same name: browsers keep for this one alone what they could not send."""
        return checksum((self.folder / "pairs.jsonl").read_bytes()).hexdigest()

    @property
    def guidelines(self) -> str:
        """What annotators should keep to."""
        path = self.folder / "guidelines.md"
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    @property
    def confirmed(self) -> Mapping[int, Alignment]:
        """The gold that there is so far, by the number of the pair from 0."""
        known, gold = self._gold
        if known is not self.annotations:  # pages ask every second, and seldom has anything changed
            known = self.annotations
            gold = confirmed_gold(known)
            self._gold = known, gold
        return gold

    def put(self, annotator: str, number: int, said: Annotation, *, base: int | None = None) -> Annotation:
        """Keep what an annotator said about a pair. When this returns, it is on the disk.

        Args:
            annotator: who says it.
            number: the pair, counted from 0.
            said: links, state and comment; time and revision are given here.
            base: the revision of what the annotator saw; None does not ask.

        Raises:
            ConflictError: there is something newer than `base`.
            OSError: the disk is full or broken; nothing was changed.
        """
        annotator = annotator_name(annotator, self.annotations)
        if not 0 <= number < len(self.pairs):
            last = len(self.pairs) - 1
            raise SettingError(f"there is no pair {number}; the pairs of this project are numbered from 0 to {last}.")
        if len(said.comment) > LONGEST_COMMENT:
            raise SettingError(f"a comment has at most {LONGEST_COMMENT:,} characters.")
        problem = self.pairs[number].problem
        if problem and (said.links or said.state is not State.OPEN):  # a comment is welcome
            raise SettingError(f"number {number} is not a pair: {problem}")
        check_links(said.links, self.pairs[number].pair)
        with self._guard:
            if self._journal is None:
                raise WeftError(f"{self.folder} was opened to read only.")
            known = self.annotations.get(annotator, {}).get(number)
            if base is not None and known is not None and known.revision != base:
                raise ConflictError(known)
            stamped = said.stamped(self.revision + 1)
            self._journal.append({"annotator": annotator, "pair": number, **stamped.record()})
            self._take(annotator, number, stamped)
            if self._journal.entries >= _ENTRIES:
                self._try_checkpoint()
        return stamped

    def changes(self, since: int) -> list[tuple[str, int, Annotation]]:
        """Everything that is newer than a revision, oldest first."""
        with self._guard:
            newer = [
                (name, number, said)
                for name, all_said in self.annotations.items()
                for number, said in all_said.items()
                if said.revision > since
            ]
        return sorted(newer, key=lambda change: change[2].revision)

    def checkpoint(self) -> None:
        """Write what changed into the plain files, and empty the journal."""
        with self._guard:
            if self._journal is None:
                return
            (self.folder / "annotations").mkdir(exist_ok=True)
            for name in sorted(self._changed):
                lines = [written_line(self.annotations[name].get(number)) for number in range(len(self.pairs))]
                write_whole(self.folder / "annotations" / f"{name}.jsonl", "".join(f"{line}\n" for line in lines))
            if self._changed or not (self.folder / "gold.jsonl").exists():
                self.write_gold()
            _sync_folders(self.folder, self.folder / "annotations")
            self._changed.clear()
            self._journal.clear()

    def write_gold(self) -> Path:
        """Write the confirmed pairs with their links, and say where."""
        path = self.folder / "gold.jsonl"
        write_whole(path, "".join(self.gold_lines()))
        return path

    def gold_lines(self) -> Iterator[str]:
        """The confirmed pairs with their links as lines of JSONL, each with its number in the project, from 1."""
        for number, alignment in sorted(self.confirmed.items()):
            pair = {**written_pair(self.pairs[number]), PAIR_NUMBER: number + 1}
            yield json.dumps({**pair, **json_links(alignment)}, ensure_ascii=False) + "\n"

    def close(self) -> None:
        """Write everything, and let others open the project."""
        with self._guard, self._held:
            if self._journal is not None:
                self._try_checkpoint()
                self._journal.close()
                self._journal = None

    def _take(self, annotator: str, number: int, said: Annotation) -> None:
        # New dictionaries, so that whoever reads the old ones meanwhile is not disturbed.
        self.annotations = {**self.annotations, annotator: {**self.annotations.get(annotator, {}), number: said}}
        self.revision = max(self.revision, said.revision)
        self._changed.add(annotator)

    def _try_checkpoint(self) -> None:
        """What could not be written stays in the journal, and is tried again later."""
        try:
            self.checkpoint()
        except OSError as error:
            logger.warning("%s: %s; the changes stay in the journal.", error.filename, error.strerror)

    def _read_annotator(self, path: Path) -> None:
        said = {}
        for number, line in enumerate(read_lines(path)):
            try:
                annotation = read_line(decode(line, path, number + 1))
                if annotation is not None:
                    self._check_place(number, annotation)
                    said[number] = annotation
            except ValueError as error:
                raise FormatError(str(path), number + 1, str(error)) from error
        self.annotations[path.stem] = said
        self.revision = max([self.revision, *(each.revision for each in said.values())])

    def _check_place(self, number: int, annotation: Annotation) -> None:
        if number >= len(self.pairs):
            raise ValueError(f"the project has only {len(self.pairs):,} pairs.")
        check_links(annotation.links, self.pairs[number].pair)

    def _read_journal(self) -> None:
        """Changes that the files do not hold yet; a change that they do hold has no higher revision."""
        entries, self._damaged = read_journal(self.folder / "journal")
        for entry in entries:
            annotator, number, said = str(entry["annotator"]), int(entry["pair"]), Annotation.of_record(entry)
            known = self.annotations.get(annotator, {}).get(number)
            if known is None or known.revision < said.revision:
                self._take(annotator, number, said)

    def _keep_damage(self) -> None:
        """A journal with a damaged line is kept for whoever wants to look; a kill leaves one at most, unanswered."""
        if self._damaged:
            journal = self.folder / "journal"
            shutil.copyfile(journal, self.folder / f"journal.damaged-{self.revision}")
            logger.warning("%s: the end is damaged, as after a kill; what was saved is read.", journal)


def is_project(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a project."""
    path = Path(folder) / "project.json"
    return path.is_file() and read_json_object(path).get("kind") == _KIND


def gold_file(folder: str | os.PathLike[str]) -> Path:
    """The confirmed pairs of a project with their links, written anew; the project may be open elsewhere.

    Raises:
        SettingError: nothing is confirmed yet.
    """
    project = Project.read(folder)
    if not project.confirmed:
        done = any(said.state is State.DONE for each in project.annotations.values() for said in each.values())
        advice = "settle the disagreements between annotators" if done else "mark pairs as done"
        raise SettingError(f"{folder} has no confirmed pair yet: {advice} in weft annotate.")
    return project.write_gold()


def create_project(
    folder: str | os.PathLike[str],
    pairs: Iterable[ProjectPair],
    suggestions: Sequence[Alignment | None] = (),
    *,
    name: str = "",
) -> None:
    """Make a folder a project.

    Args:
        folder: an empty folder, or one that is not there yet.
        pairs: the pairs, one for each line they came from.
        suggestions: links to begin with, one for each pair or none at all.
        name: what the project is called; the folder's name by default.

    Raises:
        SettingError: the folder is a project already, it has other files, or there is no pair.
    """
    folder = Path(folder)
    if (folder / "project.json").exists():
        raise SettingError(f"{folder} is a project already.")
    lines = "".join(json.dumps(written_pair(pair), ensure_ascii=False) + "\n" for pair in pairs)
    if not lines:
        raise SettingError("there are no pairs to annotate.")
    if others := _other_files(folder, lines):
        raise SettingError(f"{folder} contains other files, such as {others[0]}; name a new folder for the project.")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "pairs.jsonl", lines)
    if any(alignment is not None for alignment in suggestions):
        given = format_links((Alignment() if alignment is None else alignment for alignment in suggestions), "jsonl")
        write_whole(folder / "suggestions.jsonl", "".join(given))
    about: dict[str, Any] = {"kind": _KIND, "version": 1, "name": name or folder.resolve().name}
    write_whole(folder / "project.json", json.dumps(about, ensure_ascii=False, indent=2) + "\n")
    _sync_folders(folder, folder.resolve().parent)


def _other_files(folder: Path, lines: str) -> list[str]:
    """What lies in a folder that would become a project, but for guidelines, hidden files and what a kill left over."""
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    own = {"guidelines.md"}
    if "pairs.jsonl" in there and (folder / "pairs.jsonl").read_bytes() == lines.encode("utf-8"):
        own |= {"pairs.jsonl", "suggestions.jsonl"}
    return [name for name in there if name not in own and not name.startswith(".") and not name.endswith(".partial")]


def _read_suggestions(path: Path, count: int) -> list[Alignment | None]:
    if not path.exists():
        return [None] * count
    found = list(read_links(path, format="jsonl"))
    if len(found) != count:
        raise FormatError(str(path), None, f"expected {count:,} lines as in pairs.jsonl, found {len(found):,}.")
    return list(found)


def _sync_folders(*folders: Path) -> None:
    """A new name is safe only when its folder is on the disk as well."""
    for folder in folders:
        with contextlib.suppress(OSError):  # some systems cannot open folders
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
