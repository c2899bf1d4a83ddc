from __future__ import annotations

import builtins
import errno
import gzip
import os
import stat
from contextlib import suppress

import pytest

from weft.errors import WeftError
from weft.text.files import (
    WholeFile,
    blocks,
    checksum,
    compressed,
    whole_file,
    whole_folder,
    write_whole,
    writes_explained,
)
from weft.text.lines import read_lines


def test_a_whole_file_is_there_or_not(tmp_path):
    file = WholeFile(tmp_path / "x")
    file.begin()
    file.write(b"data")
    assert not (tmp_path / "x").exists()
    file.drop()
    assert list(tmp_path.iterdir()) == []
    file = WholeFile(tmp_path / "x")
    file.begin()
    file.write(b"data")
    file.keep()
    file.drop()
    assert (tmp_path / "x").read_bytes() == b"data"
    with pytest.raises(OSError, match="nowhere/x"):
        WholeFile(tmp_path / "nowhere" / "x").begin()


def test_being_told_to_stop_while_a_file_is_made_leaves_nothing(tmp_path, monkeypatch):
    made = []

    def made_and_told_to_stop(*arguments):
        made.append(real_open(*arguments))
        raise SystemExit(143)

    real_open = open
    monkeypatch.setattr(builtins, "open", made_and_told_to_stop)
    with pytest.raises(SystemExit), whole_file(tmp_path / "x"):
        pass
    made.pop().close()
    assert list(tmp_path.iterdir()) == []


def test_a_failed_run_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with suppress(RuntimeError), whole_file(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(path, "new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "x")
        (tmp_path / "old").write_text("x")
        (tmp_path / "old").chmod(0o604)
        write_whole(tmp_path / "old", "y")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o604


def test_a_link_to_a_file_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder"
    with whole_folder(path) as partial:
        (partial / "one").write_text("1")
        assert not path.exists()
    with suppress(RuntimeError), whole_folder(path) as partial:
        (partial / "two").write_text("2")
        raise RuntimeError
    assert [file.name for file in path.iterdir()] == ["one"]
    with whole_folder(path) as partial:
        (partial / "three").write_text("3")
    assert [file.name for file in path.iterdir()] == ["three"]
    assert list(tmp_path.iterdir()) == [path]


def test_what_libraries_say_of_a_full_disk_is_a_sentence(tmp_path):
    for error in (OSError(errno.ENOSPC, "full"), WeftError("a sentence.")):
        with pytest.raises(type(error)), writes_explained(tmp_path):
            raise error
    with (
        pytest.raises(WeftError, match="model could not be written: I/O error: No space left"),
        writes_explained(tmp_path / "model"),
    ):
        raise RuntimeError("I/O error: No space left on device\nand more")


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_compression_goes_by_the_name(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    for _ in range(2):
        with whole_file(path) as raw, compressed(raw, path.name) as file:
            file.write(b"one\ntwo\n")
    assert list(read_lines(path)) == [b"one", b"two"]
    if ending == ".gz":
        assert path.read_bytes()[3:8] == bytes(5)  # no flags, no time: equal content is equal bytes
        assert gzip.decompress(path.read_bytes()) == b"one\ntwo\n"


def test_checksums_add_up(tmp_path):
    (tmp_path / "x").write_bytes(b"ab" * 1_000_000)
    digest = checksum()
    for block in blocks(tmp_path / "x"):
        digest.update(block)
    assert digest.hexdigest() == checksum(b"ab" * 1_000_000).hexdigest()
    assert len(checksum(b"", size=6).hexdigest()) == 12
