from __future__ import annotations

import os

import pytest

from weft.errors import SettingError
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


@pytest.mark.parametrize("links", [None, "given"])
def test_text_that_is_not_split_is_noticed_unless_links_count_its_words(tmp_path, caplog, links):
    (tmp_path / "text").write_text("Das Haus ist groß.\tThe house is big.\n" * 3)
    (tmp_path / "given").write_text("0-0\n" * 3)
    corpus = CorpusConfig(str(tmp_path / "text"), links=links and str(tmp_path / links))
    check_files(TrainingConfig(str(tmp_path / "out"), (corpus,)), resume=False, overwrite=False)
    assert ("does not seem to be split into words (groß.)" in caplog.text) is (links is None)


def test_corpora_with_other_names_of_columns_are_sent_to_a_settings_file(tmp_path):
    sentence = "das ist ein sehr langer Satz, den niemand ganz lesen will"
    (tmp_path / "a.tsv").write_text(f"{sentence}\tthat is good\n")
    (tmp_path / "b.jsonl").write_text('{"de": "das", "en": "that"}\n')
    corpora = tuple(
        CorpusConfig(str(tmp_path / name), source_field="de", target_field="en") for name in ("b.jsonl", "a.tsv")
    )
    with pytest.raises(SettingError) as caught:
        check_files(TrainingConfig(str(tmp_path / "out"), corpora), resume=False, overwrite=False)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/a.tsv: no column of the table is called de; its first line has das ist ein")
    assert message.endswith(
        "in which each [[corpus]] has a source_field and target_field of its own (docs/training.md)."
    )
    assert sentence not in message
    with pytest.raises(SettingError) as alone:
        check_files(TrainingConfig(str(tmp_path / "out"), corpora[1:]), resume=False, overwrite=False)
    assert "[[corpus]]" not in str(alone.value)
