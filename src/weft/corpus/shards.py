"""A file-to-file run that survives a kill: ranges of lines are finished one by one and joined at the end.

Beside the output lies a folder with one file for each finished range and a manifest. A shard counts only once the
manifest names it, and the manifest only changes as a whole, so a run can be killed at any moment: at worst the shard
it was working on is made again. A run that may be repeated (`resume`) leaves a record of itself beside the output, so
that a scheduler that starts it again does not start from line 1.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from weft.corpus.job import AlignJob, CorpusFiles, Listeners, LoadedJob, log_remarks
from weft.corpus.manifest import MANIFEST, Finished, Manifest, Shard, survey
from weft.corpus.records import AlignedChunk, Chunk, Counts, cut_records
from weft.corpus.workers import Workers
from weft.errors import FormatError, SettingError, WeftError
from weft.text.files import WholeFile, blocks, checksum, writing
from weft.text.pair_formats import PairFormat

logger = logging.getLogger(__name__)

_UNIT, _SIDE = "\x1f", "\x1e"
_NO_LOCK = -1


def align_in_shards(
    job: AlignJob,
    files: CorpusFiles,
    listeners: Listeners,
    load: Callable[[], AbstractContextManager[LoadedJob | Workers]],
    *,
    shards: int,
    resume: bool,
) -> Counts:
    """Align from file to file, in pieces that a killed run leaves behind for the next one.

    Args:
        job: what is to be done.
        files: the files; neither pipes nor functions.
        listeners: who is told what.
        load: how to load the model, here or in several processes.
        shards: the number of pieces.
        resume: go on with an unfinished run, and do nothing if it is finished.

    Raises:
        SettingError: something is not a file.
        WeftError: the folder of shards belongs to another run.
    """
    output = _only_files(files)
    inputs = survey(*files.inputs, csv=job.input_format is PairFormat.CSV)
    with load() as model:
        description = model.describe()
        log_remarks(description.remarks)
        wanted = Manifest(shards, inputs, model.identity())
        if resume and (done := _already_done(output, wanted)):
            for _ in job.read(files.source, files.target, listeners.on_bad_line):
                pass  # lines without a pair are still there, and who wants none is to be told
            logger.warning(
                "%s is already complete: the same input has been aligned with the same settings. Remove it to align "
                "again.",
                output,
            )
            return done
        run = ShardedRun(output, wanted, resume=resume, given=job.given)
        with _kept(run, shards):
            listeners.on_total(run.lines, run.finished_lines)
            records = job.read(files.source, files.target, listeners.on_bad_line)
            for chunk in run.work(cut_records(records, description.pace.chunk_words), model):
                listeners.done(chunk)
            with _naming(output), writing(output) as write:
                for block in run.joined():
                    write(block)
            totals = run.totals()
            if resume and totals.linked_lines:  # a run that found nothing should say so again
                Finished.of(output, wanted, totals).store(output)
        run.remove()
    return totals


def _already_done(output: str, wanted: Manifest) -> Counts | None:
    """What the finished run came to whose output this is, if the one that is wanted would write the same."""
    if _shards_folder(output).exists():
        return None  # a later run has begun, and did not end
    found = Finished.load(output)
    return found.totals if found is not None and found.is_of(output, wanted) else None


def _shards_folder(output: str) -> Path:
    """Where the shards of an output lie until it is complete."""
    return Path(f"{output}.shards")


def _only_files(files: CorpusFiles) -> str:
    """The name of the output, if all are files."""
    if not all(map(os.path.isfile, files.inputs)):
        raise SettingError("`shards` works from file to file: the input must be a file, not a pipe.")
    output = files.output
    if callable(output) or (os.path.exists(output) and not os.path.isfile(output)):
        raise SettingError("`shards` works from file to file: name the file to write with `output`.")
    return output


@contextmanager
def _kept(run: ShardedRun, shards: int) -> Iterator[None]:
    """Whatever ends the run early, say what is left of it: after the cause, if there is a sentence for that."""
    try:
        yield
    except Exception as error:
        error.add_note(_what_is_kept(run, shards))
        raise
    except BaseException:  # Ctrl-C and its like need no cause
        logger.warning("%s", _what_is_kept(run, shards))
        raise
    finally:
        run.close()


def _what_is_kept(run: ShardedRun, shards: int) -> str:
    return f"{run.finished} of {shards} shards are finished and kept in {run.folder}. Continue with `resume`."


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """A full disk does not say which file it has no room for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or path) from error


class ShardedRun:
    """The shards of one output file: which are there, which are to be made, and how they become the file."""

    def __init__(self, output: str, manifest: Manifest, *, resume: bool, given: Collection[str] = ()) -> None:
        self.folder = _shards_folder(output)
        self.lines = manifest.inputs[0].lines
        self._begun: dict[int, _Range] = {}
        self._lock = _locked_folder(self.folder)
        try:
            self._manifest = self._continued(manifest, given, resume=resume)
        except BaseException:
            self.close()
            raise

    def _continued(self, wanted: Manifest, given: Collection[str], *, resume: bool) -> Manifest:
        if not (self.folder / MANIFEST).exists():
            if any(path.suffix != ".partial" for path in self.folder.iterdir()):
                raise WeftError(
                    f"{self.folder} contains files that are not weft's; remove it or choose another `output`."
                )
            wanted.store(self.folder)
            return wanted
        found = Manifest.load(self.folder)
        if not resume:
            raise WeftError(
                f"{self.folder} contains an unfinished run with {len(found.finished)} of {found.shards} shards. "
                "Continue it with `resume`, or remove the folder to start again."
            )
        if differences := list(found.differences(wanted, given)):
            raise WeftError(
                f"{self.folder} belongs to another run: {'; '.join(differences)}. "
                "Use the same files and settings, or remove the folder to start again."
            )
        there = {number: shard for number, shard in found.finished.items() if self._path(number).exists()}
        for number, shard in there.items():
            for _ in self._checked(number, shard):
                pass
        return replace(found, finished=there)

    @property
    def finished(self) -> int:
        """How many shards are done."""
        return len(self._manifest.finished)

    @property
    def finished_lines(self) -> int:
        """How many lines those have."""
        return sum(shard.counts.lines for shard in self._manifest.finished.values())

    def totals(self) -> Counts:
        """What all shards have come to."""
        return sum((shard.counts for shard in self._manifest.finished.values()), Counts())

    def work(self, chunks: Iterable[Chunk], workers: LoadedJob | Workers) -> Iterator[AlignedChunk]:
        """Make the shards that are missing; yields each chunk once it is written."""
        file: WholeFile | None = None
        current = -1
        try:
            for done in workers.align(self._missing(chunks)):
                number = self._number(done.first)
                if number != current:
                    self._finish(current, file)
                    current, file = number, WholeFile(self._path(number))
                    file.begin()
                assert file is not None
                file.write(done.output)
                self._begun[number].add_output(done)
                yield done
            self._finish(current, file)
        finally:
            if file is not None:
                file.drop()

    def _missing(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Pass on the chunks of unfinished shards; those of finished ones must hold what they held then."""
        current = -1
        for chunk in chunks:
            number = self._number(chunk.first)
            if number != current:
                self._compare(current)
                current = number
                self._begun[number] = _Range(chunk.first)
            self._begun[number].add_input(chunk)
            if number not in self._manifest.finished:
                yield chunk
        self._compare(current)

    def _compare(self, number: int) -> None:
        """The file is the same; but another version of a segmenter may find other words in it."""
        shard = self._manifest.finished.get(number)
        if shard and not self._begun.pop(number).same_input(shard):
            raise WeftError(
                f"{self._path(number)} belongs to another run: lines {shard.first:,} to "
                f"{shard.first + shard.counts.lines - 1:,} of the input are read as other words than before. "
                f"Remove the folder {self.folder} to start again."
            )

    def _finish(self, number: int, file: WholeFile | None) -> None:
        if file is not None:
            file.keep()
            self._manifest = self._manifest.with_shard(number, self._begun.pop(number).shard())
            self._manifest.store(self.folder)

    def joined(self) -> Iterator[bytes]:
        """The whole output, piece by piece; a shard that was changed since it was written is named."""
        for number, shard in sorted(self._manifest.finished.items()):
            yield from self._checked(number, shard)

    def remove(self) -> None:
        """The output is in its place: forget the shards."""
        rmtree(self.folder)
        self.close()

    def close(self) -> None:
        """Let others use the folder."""
        if self._lock != _NO_LOCK:
            os.close(self._lock)
            self._lock = _NO_LOCK

    def _checked(self, number: int, shard: Shard) -> Iterator[bytes]:
        path = self._path(number)
        digest = checksum()
        for block in blocks(path):
            digest.update(block)
            yield block
        if digest.hexdigest() != shard.output:
            message = "this shard is damaged. Remove the file and use `resume` to make it again."
            raise FormatError(str(path), None, message)

    def _number(self, line: int) -> int:
        """Which shard a chunk belongs to that begins with this line."""
        return (line - 1) * self._manifest.shards // self.lines

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:05}"


class _Range:
    """A shard in the making."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._lines = 0
        self._input = checksum()
        self._output = checksum()
        self._counts = Counts()

    def add_input(self, chunk: Chunk) -> None:
        self._lines += chunk.lines
        for record in chunk.records:
            sides = _SIDE.join((_UNIT.join(record.pair.source), _UNIT.join(record.pair.target)))
            self._input.update(f"{sides}\n".encode("utf-8", "surrogatepass"))

    def add_output(self, done: AlignedChunk) -> None:
        self._output.update(done.output)
        self._counts += done.counts

    def same_input(self, shard: Shard) -> bool:
        return (self._first, self._lines, self._input.hexdigest()) == (shard.first, shard.counts.lines, shard.input)

    def shard(self) -> Shard:
        return Shard(self._first, self._input.hexdigest(), self._output.hexdigest(), self._counts)


def _locked_folder(folder: Path) -> int:
    """Make the folder if need be and keep other runs out of it; the lock dies with this process."""
    folder.mkdir(exist_ok=True)
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has none
        return _NO_LOCK
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise WeftError(f"another run is writing to {folder}; wait for it to end.") from error
    except OSError:  # some network file systems know no locks
        os.close(lock)
        return _NO_LOCK
    return lock
