"""The projects of a folder: the folder itself if it is one, or those in it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from weft.annotation.names import safe_name
from weft.annotation.project import Project, create_project, is_project
from weft.annotation.sentences import ProjectPair
from weft.errors import SettingError
from weft.types import Alignment


class Shelf:
    """Projects by name, each opened when it is first asked for and kept open until `close`."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._alone = is_project(self._folder)
        self._open: dict[str, Project] = {}
        self._guard = threading.Lock()
        if self._alone:
            self.project(self._own_name)  # another weft that has it open is told of at once

    @property
    def _own_name(self) -> str:
        return self._folder.resolve().name

    @property
    def can_create(self) -> bool:
        """Whether new projects can be made here: not in a folder that is one itself."""
        return not self._alone

    def names(self) -> list[str]:
        """The names of all projects, which are those of their folders."""
        if self._alone:
            return [self._own_name]
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir() and is_project(path))

    def project(self, name: str) -> Project:
        """A project to read and to write.

        Raises:
            SettingError: there is none of that name, or another process has it open.
        """
        with self._guard:
            if name not in self._open:
                if name not in self.names():
                    raise SettingError(f"there is no project {name[:40]!r} here; /api/projects lists them.")
                self._open[name] = Project.open(self._folder if self._alone else self._folder / name)
            return self._open[name]

    def create(self, name: str, pairs: Iterable[ProjectPair], suggestions: Sequence[Alignment | None] = ()) -> Project:
        """Make a new project in the folder.

        Args:
            name: what it will be called; a number is added if there is one of that name.
            pairs: the pairs to annotate.
            suggestions: links to begin with.

        Raises:
            SettingError: the folder is a project itself.
        """
        if self._alone:
            raise SettingError(f"{self._own_name} is a project; start the server in a folder of projects for another.")
        first = safe_name(name)[:36]
        taken = {known.casefold() for known in os.listdir(self._folder)}
        free = (first if number == 1 else f"{first} {number}" for number in range(1, 1000))
        name = next(each for each in free if each.casefold() not in taken)
        create_project(self._folder / name, pairs, suggestions)
        return self.project(name)

    def close(self) -> None:
        """Write everything, and let others open the projects."""
        with self._guard:
            while self._open:
                self._open.popitem()[1].close()
