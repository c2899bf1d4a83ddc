"""What a run has done so far, and what it was doing: a small JSON file that is always whole.

An unfinished run has its `Manifest` among its shards. A finished one leaves a `Finished` beside its output, by which
the same command, typed again, knows that there is nothing to do.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.corpus.records import Counts
from weft.errors import FormatError, LineCountError
from weft.text.files import blocks, checksum, write_whole
from weft.text.json_objects import read_json_object
from weft.text.lines import read_lines
from weft.text.rows import as_csv, read_rows

MANIFEST = "manifest.json"

# What changes by itself with another setting unless it is given too: a model has a method, a method has a calibration.
_FOLLOWING = {
    "model": {"method", "threshold", "alpha", "cost", "symmetrize", "null", "calibration", "device"},
    "layer": {"null", "calibration"},
    **{name: {"threshold", "calibration"} for name in ("method", "alpha", "cost", "symmetrize")},
    "null": {"calibration"},
}


@dataclass(frozen=True, slots=True)
class Input:
    """A file as it was when the run began."""

    lines: int
    digest: str


@dataclass(frozen=True, slots=True)
class Shard:
    """A finished range of lines: its input and its output, by checksum, and what it came to in numbers."""

    first: int
    input: str
    output: str
    counts: Counts

    @classmethod
    def of(cls, record: dict[str, Any]) -> Shard:
        """A shard as it was stored."""
        return cls(**{**record, "counts": _counts(record["counts"])})


@dataclass(frozen=True, slots=True)
class Manifest:
    """The run's identity, and its finished shards by number."""

    shards: int
    inputs: tuple[Input, ...]
    identity: dict[str, Any]
    finished: dict[int, Shard] = field(default_factory=dict)

    def with_shard(self, number: int, shard: Shard) -> Manifest:
        """A copy in which one more shard is finished."""
        return replace(self, finished={**self.finished, number: shard})

    def store(self, folder: Path) -> None:
        """Write it so that a reader finds the old one or the new one, never half of one."""
        write_whole(folder / MANIFEST, json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read it back; a file that is no manifest is named."""
        path = folder / MANIFEST
        try:
            record = read_json_object(path)
            return cls(
                shards=_whole(record["shards"]),
                inputs=tuple(Input(_whole(part["lines"]), part["digest"]) for part in record["inputs"]),
                identity=dict(record["identity"].items()),
                finished={int(number): Shard.of(shard) for number, shard in record["finished"].items()},
            )
        except (FormatError, ValueError, TypeError, KeyError, AttributeError) as error:
            message = f"this is not the manifest of a sharded run. Remove the folder {folder} and begin again."
            raise FormatError(str(path), None, message) from error

    def differences(self, now: Manifest, given: Collection[str] = ()) -> Iterator[str]:
        """What the run that wants to go on does otherwise, each in a few words.

        Args:
            now: the run that wants to go on.
            given: the settings that its user chose. Others are left out if they follow from another difference.
        """
        if self.inputs != now.inputs:
            yield from _input_differences(self.inputs, now.inputs)
        if self.shards != now.shards:
            yield f"`shards` was {self.shards}, now {now.shards}"
        names = {
            name for name in self.identity.keys() | now.identity if self.identity.get(name) != now.identity.get(name)
        }
        following = {name for other in names for name in _FOLLOWING.get(other, ())}
        for name in sorted(names - following.difference(given)):
            yield _difference(name, self.identity.get(name), now.identity.get(name))


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: what its output depends on, a checksum of the output, and what it came to in numbers.

    The number of shards is not part of it, because it makes no difference to the output.
    """

    inputs: tuple[Input, ...]
    identity: dict[str, Any]
    output: str
    totals: Counts

    @classmethod
    def of(cls, output: str, manifest: Manifest, totals: Counts) -> Finished:
        """The run that has just written `output`."""
        return cls(manifest.inputs, manifest.identity, _file_digest(output), totals)

    def store(self, output: str) -> None:
        """Write it beside the output."""
        write_whole(_beside(output), json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, output: str) -> Finished | None:
        """What lies beside an output; whatever cannot be read as such says nothing about it."""
        try:
            record = read_json_object(_beside(output))
            inputs = tuple(Input(**part) for part in record["inputs"])
            return cls(inputs, record["identity"], record["output"], _counts(record["totals"]))
        except (OSError, FormatError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def is_of(self, output: str, wanted: Manifest) -> bool:
        """Whether the output is still there as it was written, and is what such a run would write."""
        same = (self.inputs, self.identity) == (wanted.inputs, wanted.identity)
        return same and Path(output).is_file() and _file_digest(output) == self.output


def _counts(stored: dict[str, Any]) -> Counts:
    return Counts(**{name: _whole(count) for name, count in stored.items()})


def _whole(number: object) -> int:
    if type(number) is not int:
        raise ValueError("this is not a whole number")
    return number


def _beside(output: str) -> Path:
    return Path(f"{output}.finished.json")


def _file_digest(path: str) -> str:
    digest = checksum()
    for block in blocks(Path(path)):
        digest.update(block)
    return digest.hexdigest()


def _input_differences(before: tuple[Input, ...], now: tuple[Input, ...]) -> Iterator[str]:
    if len(before) != len(now):
        yield f"the input was {len(before)} file{'s' * (len(before) > 1)}, now {len(now)}"
        return
    for name, old, new in zip(("the input", "the target file"), before, now, strict=False):
        if old.lines != new.lines:
            yield f"{name} had {old.lines:,} lines, now {new.lines:,}"
        elif old.digest != new.digest:
            yield f"{name} has as many lines but other text"


def _difference(name: str, before: object, now: object) -> str:
    if name == "calibration":  # hundreds of numbers say nothing
        return "the calibration differs"
    return f"{name if ' ' in name else f'`{name}`'} was {_shown(before)}, now {_shown(now)}"


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)


def survey(*paths: str, csv: bool = False) -> tuple[Input, ...]:
    """Count and sum up the lines of files that belong together; damage is found here, before any work is done.

    Args:
        paths: a file of pairs, or a file for each side.
        csv: a file of pairs is CSV, whatever its name.
    """
    if len(paths) == 1:
        readers = [read_rows(as_csv(paths[0]) if csv else paths[0])]
    else:
        readers = [read_lines(path) for path in paths]
    inputs = tuple(map(_survey, readers))
    if len({input.lines for input in inputs}) > 1:
        raise LineCountError([(path, input.lines) for path, input in zip(paths, inputs, strict=True)], texts=True)
    return inputs


def _survey(rows: Iterator[bytes]) -> Input:
    digest = checksum()
    lines = 0
    for line in rows:
        digest.update(line)
        digest.update(b"\n")
        lines += 1
    return Input(lines, digest.hexdigest())
