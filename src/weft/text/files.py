"""Files and folders that appear only when they are complete, compression by name, and checksums."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import lzma
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import ENOENT
from pathlib import Path
from typing import BinaryIO, cast

from weft.errors import SettingError, WeftError, first_line
from weft.text.lines import zstandard

Write = Callable[[bytes], object]

_BLOCK = 1 << 20
_ENDING = re.compile(r"\.([a-z]+)(\.(gz|xz|zst))?$", re.IGNORECASE)


def ending(path: str) -> str:
    """What a file's name ends in, with or without compression: jsonl for links.jsonl.gz; nothing without an ending."""
    found = _ENDING.search(path)
    return found[1].lower() if found else ""


def refuse_overwriting(output: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to write to a file that is read: whoever mixes up two names must not lose a corpus.

    Raises:
        SettingError: the output is one of the inputs, by whatever name.
    """
    if os.path.isfile(output) and any(os.path.isfile(path) and os.path.samefile(path, output) for path in inputs):
        raise SettingError(f"{os.fspath(output)} is both input and output; name another file to write to.")


def checksum(data: bytes = b"", *, size: int = 16) -> hashlib.blake2b:
    """A fast checksum of `size` bytes, to which more data can be added with `update`."""
    return hashlib.blake2b(data, digest_size=size)


def blocks(path: Path) -> Iterator[bytes]:
    """The content of a file, a megabyte at a time."""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            yield block


class WholeFile:
    """A file that takes its name only when all of it is on the disk.

    From `begin` to `keep`, everything goes into a temporary file in the same folder. A file that had the name before
    stays as it was until then, and keeps its permissions. Errors such as a full disk carry the file's own name.
    """

    _file: BinaryIO | None = None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._shown = os.fspath(path)
        self._path = os.path.realpath(path)
        self._temporary = f"{self._path}.{os.getpid()}.partial"

    def begin(self) -> None:
        """Make the temporary file. Whoever is told to stop while it is made must be able to `drop` it already."""
        folder = os.path.dirname(self._shown) or os.path.dirname(self._path)
        if not os.path.exists(folder):
            raise FileNotFoundError(ENOENT, f"the folder {folder} does not exist", self._shown)
        with self._named():
            self._file = open(self._temporary, "wb")  # noqa: SIM115 - closed by keep or drop

    def write(self, data: bytes) -> int:
        """Add to it."""
        assert self._file is not None, "it has begun"
        with self._named():
            return self._file.write(data)

    def flush(self) -> None:
        """Nothing has to be on the disk before `keep`; compressors ask for it all the same."""

    def keep(self) -> None:
        """It is complete: give it its name."""
        assert self._file is not None, "it has begun"
        with self._named():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if os.path.exists(self._path):
                shutil.copymode(self._path, self._temporary)
            os.replace(self._temporary, self._path)

    def drop(self) -> None:
        """It is not needed, or could not be written. After `keep` this does nothing."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # what is buffered may not fit on the disk either
                self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._temporary)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._shown) from error


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to that replaces `path` if the block ends well, and vanishes if it raises."""
    file = WholeFile(path)
    try:
        file.begin()
        yield cast(BinaryIO, file)
        file.keep()
    finally:
        file.drop()


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that a reader finds the old content or the new one, never half of it."""
    with whole_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


class WholeFolder:
    """A folder that takes its name only when all of it is written, into `partial`; until then another keeps it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.partial, self._old = (path.with_name(f".{path.name}.{ending}") for ending in ("partial", "old"))

    def begin(self) -> None:
        """Make `partial`, empty."""
        self.drop()
        self.partial.mkdir(parents=True)

    def keep(self) -> None:
        """It is complete: give it its name."""
        if self._path.exists():
            self._path.rename(self._old)
        self.partial.rename(self._path)
        self.drop()

    def drop(self) -> None:
        """Remove what is not needed, or could not be written."""
        for unused in (self.partial, self._old):
            shutil.rmtree(unused, ignore_errors=True)


@contextmanager
def writes_explained(path: Path) -> Iterator[None]:
    """Libraries that write for us have errors of their own for a full disk: here they become a sentence."""
    try:
        yield
    except (OSError, WeftError):
        raise
    except Exception as error:
        raise WeftError(f"{path} could not be written: {first_line(error)}") from error


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """An empty folder that takes the place of `path` if the block ends well; `path` is as it was if it raises."""
    folder = WholeFolder(path)
    try:
        folder.begin()
        yield folder.partial
        folder.keep()
    finally:
        folder.drop()


@contextmanager
def files_moved_in(folder: Path) -> Iterator[Path]:
    """An empty folder whose files are moved into `folder` if the block ends well; other files there stay."""
    inside = WholeFolder(folder / "files")
    try:
        inside.begin()
        yield inside.partial
        for file in inside.partial.iterdir():
            file.replace(folder / file.name)
    finally:
        inside.drop()


@contextmanager
def writing(path: str) -> Iterator[Write]:
    """How to write a file that appears only when it is complete, compressed as its name says.

    Devices and pipes are written to as they are; putting a file in their place would destroy them.
    """
    if path.startswith(("/dev/", "/proc/")) or (os.path.exists(path) and not os.path.isfile(path)):
        with open(path, "wb") as file:
            yield file.write
    else:
        with whole_file(path) as whole, compressed(whole, path) as file:
            yield file.write


@contextmanager
def compressed(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """The file itself, or what compresses into it if its name ends in .gz, .xz or .zst.

    Equal content gives equal bytes: gzip's header holds neither a name nor a time.
    """
    if name.endswith(".gz"):
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif name.endswith(".xz"):
        with lzma.LZMAFile(file, "wb") as packed:
            yield cast(BinaryIO, packed)
    elif name.endswith(".zst"):
        with zstandard().ZstdFile(file, "wb", options={zstandard().CompressionParameter.checksum_flag: 1}) as packed:
            yield packed
    else:
        yield file
