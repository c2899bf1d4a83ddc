"""A lock on a folder that ends with the process that holds it, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.errors import SettingError


@contextmanager
def locked(path: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file; another process that wants it is told the refusal. Systems without flock go without."""
    with open(path, "a") as file:
        try:
            import fcntl
        except ModuleNotFoundError:
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SettingError(refusal) from error
        except OSError:  # some network file systems know no locks
            pass
        yield
