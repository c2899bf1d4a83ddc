"""Many files at once, here or at any fsspec address: which are read, which are written, and Parquet as lines."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

from weft.errors import FormatError, MissingExtraError, SettingError, WeftError
from weft.text.fields import PairFields
from weft.text.files import Write, whole_file, writing
from weft.text.pairs import PLAIN
from weft.text.translations import TRANSLATION

_ENDINGS = (".gz", ".xz", ".zst", ".txt", ".tsv", ".csv", ".jsonl", ".json", ".parquet")
_PARQUET = ".parquet"
_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Task:
    """One file to align, or two parallel ones, and where its links go."""

    source: str
    target: str | None
    output: str
    shown: tuple[str, str | None] = field(default=("", None), compare=False)
    """The inputs as messages name them: relative paths stay relative for the user, while workers need whole ones."""


def plan(source: str, target: str | None, output: str, ending: str) -> list[Task]:
    """Match inputs and outputs. A star in OUTPUT stands for the input's name without its endings.

    Args:
        source: a file, a folder, or a pattern with stars; a path or an fsspec address.
        target: a file, a folder or a pattern with the other side; its files are matched in order of their names.
        output: a file for one file; a folder, or a name with a star, for several.
        ending: how files in an output folder end.
    """
    if "-" in (source, target, output):
        raise SettingError("the Ray engine reads and writes files: name the input and `output`.")
    sources = expand(source)
    targets: list[str] | list[None] = expand(target) if target is not None else [None] * len(sources)
    if len(sources) != len(targets):
        raise WeftError(f"{source} has {len(sources)} files but {target} has {len(targets)}; each needs a partner.")
    if sources == [_absolute(source)] and "*" not in output:
        return [Task(sources[0], targets[0], _absolute(output), (source, target))]
    pattern = _absolute(output if "*" in output else f"{output.rstrip('/')}/*{ending}")
    tasks = [
        Task(one, other, pattern.replace("*", _stem(one)), (_named(one, source), other and _named(other, source)))
        for one, other in zip(sources, targets, strict=True)
    ]
    if len({task.output for task in tasks}) < len(tasks):
        raise WeftError(f"several files of {source} would be written to the same output; their names must differ.")
    return tasks


def expand(address: str) -> list[str]:
    """The files behind a path, a folder or a pattern, in order of their names."""
    system, path = _system(address)
    if "*" in path or "?" in path:
        found = [name for name in system.glob(path) if not system.isdir(name)]
    elif system.isdir(path):
        found = [entry["name"] for entry in system.ls(path, detail=True) if entry["type"] == "file"]
    elif system.exists(path):
        return [_absolute(address)]
    else:
        raise WeftError(f"{address}: No such file or directory.")
    found = [name for name in found if not posixpath.basename(name).startswith((".", "_"))]
    if not found:
        raise WeftError(f"{address}: there is no file to align.")
    return sorted(name if _is_local(address) else system.unstrip_protocol(name) for name in found)


@contextmanager
def fetched(address: str, fields: PairFields = PLAIN) -> Iterator[tuple[str, bool]]:
    """A file on this machine with the lines of `address`, and whether these are JSON because it was Parquet.

    Args:
        address: a path or an fsspec address.
        fields: the names of Parquet columns with the two sentences, if they are not the usual ones.
    """
    if address.endswith(_PARQUET):
        with TemporaryDirectory(prefix="weft-") as folder:
            copy = os.path.join(folder, "rows.jsonl")
            _rows_as_lines(address, copy, fields)
            yield copy, True
    elif _is_local(address):
        yield address, False
    else:
        with TemporaryDirectory(prefix="weft-") as folder:
            copy = os.path.join(folder, posixpath.basename(address))
            system, path = _system(address)
            system.get_file(path, copy)
            yield copy, False


@contextmanager
def writing_to(address: str, *, json_lines: bool) -> Iterator[Write]:
    """How to write lines to `address`, where they appear all together or not at all.

    Object stores and Parquet get what was written to a file on this machine when it is complete.
    """
    system, path = _system(address)
    system.makedirs(posixpath.dirname(path) or ".", exist_ok=True)
    if _is_local(address) and not address.endswith(_PARQUET):
        with writing(address) as write:
            yield write
        return
    with TemporaryDirectory(prefix="weft-", dir=os.path.dirname(path) if _is_local(address) else None) as folder:
        copy = os.path.join(folder, posixpath.basename(path))
        with _table(copy, json_lines) if address.endswith(_PARQUET) else writing(copy) as write:
            yield write
        if _is_local(address):
            with whole_file(path) as whole, open(copy, "rb") as complete:
                copyfileobj(complete, whole)
        else:
            system.put_file(copy, path)


def _rows_as_lines(address: str, copy: str, fields: PairFields) -> None:
    parquet = _parquet()
    system, path = _system(address)
    with system.open(path, "rb") as file, open(copy, "w", encoding="utf-8", newline="\n") as lines:
        try:
            table = parquet.ParquetFile(file)
        except (ValueError, OSError) as error:
            raise FormatError(address, None, f"this is not a Parquet file ({error}).") from error
        for batch in table.iter_batches(_ROWS, columns=_sentence_columns(address, table.schema_arrow.names, fields)):
            for row in batch.to_pylist():
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def _sentence_columns(address: str, found: list[str], fields: PairFields) -> list[str]:
    """The columns to read: those that were named, `source` and `target`, or Hugging Face's `translation`."""
    wanted = [fields.source or "source", fields.target or "target"]
    missing = [name for name in wanted if name not in found]
    if missing and TRANSLATION in found:
        return [TRANSLATION]
    if missing:
        names = ", ".join(found)
        raise FormatError(
            address,
            None,
            f"expected the column {missing[0]}, found the columns {names}. Name two with `source_field` and "
            "`target_field`.",
        )
    return wanted


@contextmanager
def _table(path: str, json_lines: bool) -> Iterator[Write]:
    """Lines as rows: JSON becomes columns, other lines are the one column `links`."""
    import pyarrow

    writer: Any = None

    def write(data: bytes) -> None:
        nonlocal writer
        lines = data.decode().split("\n")[:-1]
        rows = [_row(json.loads(line)) for line in lines] if json_lines else [{"links": line} for line in lines]
        table = pyarrow.Table.from_pylist(rows, schema=schema)
        writer = writer or _parquet().ParquetWriter(path, schema)
        writer.write_table(table)

    schema = _schema(pyarrow) if json_lines else pyarrow.schema([("links", pyarrow.string())])
    try:
        yield write
        if writer is None:
            write(b"")
    finally:
        if writer is not None:
            writer.close()


def _schema(pyarrow: Any) -> Any:
    words, number = pyarrow.list_(pyarrow.string()), pyarrow.int32()
    link = pyarrow.struct([("source", number), ("target", number), ("score", pyarrow.float64())])
    places = pyarrow.list_(pyarrow.list_(number))
    return pyarrow.schema(
        [
            ("source", words),
            ("target", words),
            ("links", pyarrow.list_(link)),
            ("score", pyarrow.float64()),
            ("source_text", pyarrow.string()),
            ("source_offsets", places),
            ("target_text", pyarrow.string()),
            ("target_offsets", places),
        ]
    )


def _row(record: dict[str, Any]) -> dict[str, Any]:
    names = ("source", "target", "score")
    for side in names[:2]:
        if not isinstance(record.get(f"{side}_offsets"), list):  # a text without them is a user's own, of any type
            record = {name: value for name, value in record.items() if name not in (f"{side}_text", f"{side}_offsets")}
    return {**record, "links": [dict(zip(names, link, strict=False)) for link in record["links"]]}


def _stem(address: str) -> str:
    name = posixpath.basename(address)
    while (shorter := next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), "")) != "":
        name = shorter
    return name


def _is_local(address: str) -> bool:
    return "://" not in address and "::" not in address


def _named(path: str, given: str) -> str:
    """A file as the user would name it, who gave a folder or a pattern."""
    return path if not _is_local(path) or os.path.isabs(given) else os.path.relpath(path)


def _absolute(address: str) -> str:
    """Workers may stand in other folders."""
    return os.path.abspath(address) if _is_local(address) else address


def _system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("ray", "Reading many files at once") from error
    try:
        system, path = fsspec.core.url_to_fs(_absolute(address))
    except (ImportError, ValueError) as error:
        raise WeftError(f"{address}: {error}") from error
    return system, path


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("ray", "Parquet") from error
    return parquet
