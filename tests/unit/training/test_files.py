from __future__ import annotations

import os

import pytest

from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.files import check_files, few_gold_remark


@pytest.mark.parametrize("pipe", ["text", "target"])
def test_nobody_reads_a_pipe_before_the_run(tmp_path, pipe):
    for name in ("text", "target", "links"):
        (tmp_path / name).write_text("a\n" if name != "links" else "0-0\n")
    (tmp_path / pipe).unlink()
    os.mkfifo(tmp_path / pipe)
    text, target, links = (str(tmp_path / name) for name in ("text", "target", "links"))
    config = TrainingConfig(str(tmp_path / "out"), (CorpusConfig(text, target=target, links=links),))
    descriptor = os.open(tmp_path / pipe, os.O_RDWR)  # whoever reads it waits, and is not refused
    os.write(descriptor, b"a\n")
    assert check_files(config, resume=False, overwrite=False) == []
    assert few_gold_remark(config) == ""
    assert os.read(descriptor, 9) == b"a\n"
    os.close(descriptor)
