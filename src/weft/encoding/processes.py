"""Objects that live on in another process: forked together with their parent, or pickled and sent there."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar
from weakref import WeakSet


class ProcessBound(ABC):
    """Something that holds locks, threads or the like: they belong to one process and are made anew in another.

    A forked process has a copy of every lock, maybe held by a thread that it does not have, and waits for ever.
    """

    _bound: ClassVar[tuple[str, ...]] = ()
    """The attributes that belong to a process; a subclass names those of its base too."""

    def bind(self) -> None:
        """Make what belongs to this process, now and in every process that is forked from it."""
        _alive.add(self)
        self._bind()

    @abstractmethod
    def _bind(self) -> None:
        """Set the attributes of `_bound`. It may be called while a process starts, so it should not take long."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in self._bound}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.bind()


_alive: WeakSet[ProcessBound] = WeakSet()


def _bind_all() -> None:
    for thing in list(_alive):
        thing._bind()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_bind_all)
