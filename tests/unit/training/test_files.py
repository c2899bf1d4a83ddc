from __future__ import annotations

import os

import pytest

from weft.errors import SettingError
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.files import check_files, few_gold_remark, known_dev_remark
from weft.tuning import DevSet
from weft.types import GoldAlignment, SentencePair


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


_DEV = DevSet(
    "dev",
    tuple(SentencePair(("Ja", f"{word}!"), ("yes", f"{word}y")) for word in ("eins", "zwei", "drei")),
    (GoldAlignment(frozenset(), frozenset()),) * 3,
)


@pytest.mark.parametrize("links", [None, "given"])
def test_dev_sentences_that_are_trained_on_are_counted(tmp_path, links):
    (tmp_path / "text").write_text("ja , Eins\tsomething\nelse\tYes zweiy .\nja eins\tyes einsy\n\tno pair\n")
    (tmp_path / "given").write_text("0-0\n0-0\n0-0\n\n")
    corpus = CorpusConfig(str(tmp_path / "text"), links=links and str(tmp_path / links))
    said = known_dev_remark(TrainingConfig("out", (corpus,)), [_DEV])
    assert said.startswith("2 of 3 dev pairs have a source or target sentence that is also in the text to train on")
    assert known_dev_remark(TrainingConfig("out", (corpus,), exclude=("dev",)), [_DEV]) == ""
    (tmp_path / "text").write_text("eins\teinsy\n" * 4)
    assert known_dev_remark(TrainingConfig("out", (corpus,)), [_DEV]) == ""


def test_dev_sentences_are_looked_for_in_many_languages_too(tmp_path):
    for name, line in {"de": "ja drei", "en": "nothing", "fr": "ja drei"}.items():
        (tmp_path / f"{name}.txt").write_text(f"{line}\n")
    said = known_dev_remark(TrainingConfig("out", (CorpusConfig(str(tmp_path), hub="en"),)), [_DEV])
    assert said.startswith("1 of 3 dev pairs has a source or target sentence")
