"""Files to lines: compression and UTF-16 found by content, lines ended by newlines alone, a leading BOM dropped.

Everything below is in bytes of UTF-8; `decode` turns one line into text and names the offending byte when it cannot.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EACCES, EISDIR, ENOENT
from itertools import chain, islice, zip_longest
from os import R_OK, PathLike, access, fspath, stat, strerror
from os.path import isdir, isfile
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import IO, Any, BinaryIO, TypeVar, cast

from weft.errors import FormatError, LineCountError, WeftError
from weft.text.not_text import advice_for, why_not_text

FilePath = str | PathLike[str]
OnError = Callable[[FormatError], object]
T = TypeVar("T")
U = TypeVar("U")

STDIN = "-"
_BOM = codecs.BOM_UTF8
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_NEVER_IN_UTF8 = (b"\xff", b"\xfe")
_HALF = re.compile(rb"\xed[\xa0-\xbf]")  # a surrogate, as if it were a character
_LONGEST_MAGIC = 6
_LOOKED_AT = 1 << 12
_OFTEN = 8


def display_name(path: FilePath) -> str:
    """How a file is called in messages."""
    if isinstance(path, NamedCopy):
        return path.name
    return "stdin" if fspath(path) == STDIN else fspath(path)


class NamedCopy(PathLike[str]):
    """A copy on disk of something that was elsewhere, still called by its own name."""

    def __init__(self, name: str, copy: str) -> None:
        self.name = name
        self._copy = copy

    def __fspath__(self) -> str:
        return self._copy


class FromUtf16(bytes):
    """The first line of a file in UTF-16, rewritten in UTF-8 like all others."""


@contextmanager
def rereadable(path: FilePath) -> Iterator[FilePath]:
    """The path itself if it is a regular file; a temporary copy of it if it is stdin or a pipe."""
    if isfile(path):
        yield path
        return
    # Who shows the name of the copy says at least what it is a copy of.
    with NamedTemporaryFile(prefix="weft-", suffix="-stdin" if fspath(path) == STDIN else "") as copy:
        try:
            with open_bytes(path) as stream:
                copyfileobj(stream, copy)
        except Exception as error:
            _explain_damage(error, path, None)
            raise
        copy.flush()
        yield NamedCopy(display_name(path), copy.name)


@contextmanager
def open_bytes(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file (`-` is stdin) and decompress it if its first bytes say gzip, xz or zstandard."""
    if fspath(path) == STDIN:
        if sys.stdin is None:
            raise WeftError("stdin is closed; name a file instead.")
        yield _decompressed(sys.stdin.buffer)
    else:
        with open(path, "rb") as file:
            yield _decompressed(file)


def read_lines(path: FilePath) -> Iterator[bytes]:
    """Stream the lines of a file, in UTF-8 and without their ends; a file that cannot be read is an error at once.

    UTF-16 is recognised by its byte order mark. Only a newline ends a line (one carriage return before it is dropped),
    so a stray carriage return, form feed or U+2028 inside a line never shifts the lines after it.
    """
    check_readable(path)
    return _lines(path)


def first_lines(path: FilePath, most: int = 20) -> list[bytes]:
    """The first lines that are not blank: enough to tell what a file holds."""
    return list(islice(filter(bytes.strip, read_lines(path)), most))


def read_whole_lines(path: FilePath) -> Iterator[bytes]:
    """Stream the lines that `read_lines` finds, with their ends, and with a byte order mark before the first."""
    check_readable(path)
    return _lines(path, whole=True)


def check_readable(path: FilePath) -> None:
    """Raise the OSError that opening the file would raise. A pipe is not opened: that would end its writer."""
    if fspath(path) == STDIN:
        return
    if "\0" in str(path):  # Python has a ValueError for it
        raise FileNotFoundError(ENOENT, strerror(ENOENT), fspath(path))
    if isdir(path):
        raise IsADirectoryError(EISDIR, strerror(EISDIR), fspath(path))
    stat(path)
    if not access(path, R_OK):
        raise PermissionError(EACCES, strerror(EACCES), fspath(path))


def _lines(path: FilePath, *, whole: bool = False) -> Iterator[bytes]:
    number = 0
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(_in_utf8(file), start=1):
                if number == 1 and line.startswith(_BOM):
                    if line == _BOM:
                        return  # a file of nothing else has no lines
                    kind = type(line)
                    line = line if whole else kind(line.removeprefix(_BOM))
                elif number == 1 and (message := why_not_text(line)):
                    raise FormatError(display_name(path), None, message)
                if whole:
                    yield line
                elif number == 1:
                    yield type(line)(line.removesuffix(b"\n").removesuffix(b"\r"))
                else:
                    yield line.removesuffix(b"\n").removesuffix(b"\r")
    except Exception as error:
        _explain_damage(error, path, number + 1)
        raise


def _in_utf8(file: BinaryIO) -> Iterable[bytes]:
    """The lines of a file with their ends; those of UTF-16, as spreadsheets write it, rewritten in UTF-8."""
    if not cast(io.BufferedReader, file).peek(1).startswith(_NEVER_IN_UTF8):
        return file
    start = b""
    # Piece by piece, and no further than the first zero byte: more may be long in coming from a pipe.
    while _may_become_utf16(start) and (more := cast(io.BufferedReader, file).read1(_LOOKED_AT - len(start))):
        start += more
    file = io.BufferedReader(_Rejoined(start, file), 1 << 17)
    if not is_utf16(start):
        return file
    # Half a character, as spreadsheets leave it where they cut a text, spoils its own line and no other.
    # The byte order mark stays, as that of UTF-8.
    order = "utf-16-le" if start.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    text = io.TextIOWrapper(file, encoding=order, errors="surrogatepass", newline="\n")
    lines = (line.encode("utf-8", "surrogatepass") for line in text)
    return chain(map(FromUtf16, islice(lines, 1)), lines)


def is_utf16(data: bytes) -> bool:
    """Whether a file begins with a byte order mark of UTF-16, and is not UTF-8 that merely begins badly.

    Letters of Latin, blanks and line ends have a zero byte each in UTF-16. Text with few of those is no valid UTF-8.
    """
    mark, rest = data[:2], data[2:_LOOKED_AT]
    return mark in _UTF16 and (rest.count(0) * _OFTEN >= len(rest) or not _is_utf8(rest))


def _is_utf8(start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut off
    except UnicodeDecodeError:
        return False
    return True


def _may_become_utf16(start: bytes) -> bool:
    """Whether more bytes could still show that a file is UTF-16."""
    return start[:2] in (b"", *_NEVER_IN_UTF8, *_UTF16) and b"\0" not in start and len(start) < _LOOKED_AT


def decode(line: bytes, path: FilePath, number: int, begins: int | None = None) -> str:
    """Read one line as UTF-8.

    Args:
        line: its bytes.
        path: the file it comes from.
        number: its number in the file, from 1.
        begins: at which line of the file it begins, if it is a row of several lines.

    Raises:
        FormatError: it is not UTF-8; the message names file, line and byte.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = line[error.start : error.end].hex(" ")
        message = f"expected UTF-8, found the byte {found}. {advice_for(line)}"
        if _HALF.match(line, error.start):
            message = "found half of a character that UTF-16 writes in two parts. Remove it."
        raise FormatError(display_name(path), number, message, byte=error.start + 1, begins=begins) from error


def decode_text(data: bytes, path: FilePath) -> str:
    """Read a whole file as UTF-8, or as UTF-16 if it begins with a byte order mark.

    Raises:
        FormatError: it is neither; the message names the place.
    """
    try:
        # Half a character passes here, and is named with its line below.
        data = data.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass") if is_utf16(data) else data
    except UnicodeDecodeError as error:
        _explain_damage(error, path, None)
    data = data.removeprefix(_BOM)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start)
        return decode(data.split(b"\n")[number], path, number + 1)


def read_together(
    names: Sequence[str], readers: Sequence[Iterator[T]], *, texts: bool = False
) -> Iterator[tuple[T, ...]]:
    """Walk several files line by line; when one ends early, count the lines of all and say so.

    `texts` are a text and its translation, whose lines may never have belonged together.
    """
    missing = object()
    for number, rows in enumerate(zip_longest(*readers, fillvalue=missing)):
        if missing in rows:
            counts = [
                number + (row is not missing) + sum(1 for _ in reader)
                for row, reader in zip(rows, readers, strict=True)
            ]
            raise LineCountError(list(zip(names, counts, strict=True)), texts=texts)
        yield cast("tuple[T, ...]", rows)


def read_two_together(names: tuple[str, str], first: Iterator[T], second: Iterator[U]) -> Iterator[tuple[T, U]]:
    """Walk two readers of different kinds line by line.

    Args:
        names: what messages call the two files.
        first: the rows of one file.
        second: the rows of the other.

    Raises:
        LineCountError: one ends before the other.
    """
    return cast("Iterator[tuple[T, U]]", read_together(names, cast("list[Iterator[object]]", [first, second])))


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were already read: they come first, then the rest."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        chunk = self._head[: len(view)]
        if chunk:
            self._head = self._head[len(chunk) :]
        else:
            # read1 hands over what a pipe holds now instead of waiting for a full buffer.
            chunk = cast(io.BufferedReader, self._rest).read1(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)


def _decompressed(file: BinaryIO) -> BinaryIO:
    head = b""
    while len(head) < _LONGEST_MAGIC and _may_become_magic(head) and (byte := file.read(1)):
        head += byte
    stream = io.BufferedReader(_Rejoined(head, file), 1 << 17)
    for magic, opener in _OPENERS.items():
        if head.startswith(magic):
            return opener(stream)
    return stream


def _may_become_magic(head: bytes) -> bool:
    return any(magic.startswith(head) for magic in _OPENERS if len(head) < len(magic))


def _open_gzip(stream: BinaryIO) -> BinaryIO:
    return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=stream)), 1 << 17)


def _open_xz(stream: BinaryIO) -> BinaryIO:
    return io.BufferedReader(cast(io.RawIOBase, lzma.LZMAFile(stream)), 1 << 17)


def _open_zstandard(stream: BinaryIO) -> BinaryIO:
    return io.BufferedReader(cast(io.RawIOBase, zstandard().ZstdFile(stream)), 1 << 17)


def zstandard() -> Any:
    """The standard library's zstandard module, or its backport before Python 3.14."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


_OPENERS: dict[bytes, Callable[[BinaryIO], BinaryIO]] = {
    b"\x1f\x8b": _open_gzip,
    b"\xfd7zXZ\x00": _open_xz,
    b"\x28\xb5\x2f\xfd": _open_zstandard,
}


def _explain_damage(error: Exception, path: FilePath, line: int | None) -> None:
    """Raise a FormatError if it was a decompressor or the reader of UTF-16 that complained."""
    if isinstance(error, UnicodeDecodeError):
        message = "this UTF-16 text is damaged or cut short. Fetch it again."
        raise FormatError(display_name(path), line, message) from error
    if isinstance(error, EOFError | gzip.BadGzipFile | zlib.error | lzma.LZMAError | zstandard().ZstdError):
        message = f"the compressed data is damaged or cut short ({error}). Fetch it again."
        raise FormatError(display_name(path), line, message) from error
