from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest

from weft.errors import SettingError
from weft.training.config import STATISTICAL, CorpusConfig, GoldConfig, TrainingConfig
from weft.training.defaults import epochs_by_size, expanded, prefixes, settled

CORPORA = (CorpusConfig("text"),)


@pytest.mark.parametrize(("pairs", "rounds"), [(100, 8), (2_500, 8), (5_000, 4), (10_000, 2), (1_000_000, 2)])
def test_small_texts_of_a_new_language_are_seen_more_often(pairs, rounds):
    assert epochs_by_size(TrainingConfig("out", CORPORA), pairs).epochs == rounds


@pytest.mark.parametrize("given", [{"epochs": 3.0}, {"minutes": 5.0}, {"max_steps": 7}])
def test_a_length_that_was_given_stays(given):
    config = TrainingConfig("out", CORPORA, **given)
    assert epochs_by_size(config, 100) == config


def test_a_pattern_is_one_corpus_a_file_with_a_share_together(tmp_path):
    for name in ("de", "fr"):
        (tmp_path / f"{name}.tsv").write_text("a\tb\n")
        (tmp_path / f"{name}.src").write_text("a\n")
    links = str(tmp_path / "*.links")
    found = expanded(CorpusConfig(str(tmp_path / "*.tsv"), links=links, share=0.5))
    assert [corpus.path for corpus in found] == [str(tmp_path / f"{name}.tsv") for name in ("de", "fr")]
    assert [corpus.links for corpus in found] == [str(tmp_path / f"{name}.links") for name in ("de", "fr")]
    assert {corpus.group for corpus in found} == {str(tmp_path / "*.tsv")}
    assert prefixes(str(tmp_path / "*")) == [str(tmp_path / name) for name in ("de", "fr")]
    with pytest.raises(SettingError, match=r"no file is called .*\*\.txt"):
        expanded(CorpusConfig(str(tmp_path / "*.txt")))
    with pytest.raises(SettingError, match=r"no file is called .*test\*\.src"):
        prefixes(str(tmp_path / "test*"))


def test_steps_of_tokens_need_rows_that_are_laid_flat():
    config = TrainingConfig("o", (CorpusConfig("x"),), model="apart", step_tokens=1000, max_steps=1)
    with pytest.raises(
        SettingError, match="`step_tokens` needs one of the objectives gold, masked, teacher, unrelated"
    ):
        settled(config)


def joint_base(folder):
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "weft.json").write_text('{"layer": 2, "joint": true, "null": 4.0}')
    return str(folder)


def test_text_alone_has_links_of_the_statistical_aligner_in_half(tmp_path):
    pytest.importorskip("thot")
    (tmp_path / "text").write_text("a ||| b\n")
    config, said = settled(
        TrainingConfig("out", (CorpusConfig(str(tmp_path / "text")),), joint_base(tmp_path / "base"))
    )
    assert config.objectives == ("gold", "teacher", "unrelated")
    assert [(corpus.links, corpus.silver, corpus.repeat) for corpus in config.corpora] == [(STATISTICAL, True, 1.0)]
    assert config.guide.share == 0.5
    assert config.gold.silver_stray == 0.5
    assert config.start_share == pytest.approx(1 / 3)
    assert "statistical aligner" in said


def assert_not_guided(folder, **given):
    config, said = settled(
        TrainingConfig("out", (CorpusConfig(str(folder / "text")),), joint_base(folder / "base"), **given)
    )
    assert [corpus.links for corpus in config.corpora] == [None]
    assert "gold" not in config.objectives
    assert config.start_share == 0
    assert "statistical aligner" not in said


@pytest.mark.parametrize("given", [{"teacher": "weft-nano"}, {"objectives": ("teacher",)}])
def test_text_has_no_such_links_if_something_else_was_asked_for(tmp_path, given):
    assert_not_guided(tmp_path, **given)


def test_large_text_has_no_such_links(tmp_path):
    with (tmp_path / "text").open("wb") as file:
        file.truncate(1 << 27)
    assert_not_guided(tmp_path)


def test_a_pipe_which_can_be_read_only_once_has_no_such_links(tmp_path):
    os.mkfifo(tmp_path / "text")
    assert_not_guided(tmp_path)


@pytest.mark.parametrize(("links", "stray"), [(None, 2.0), ("mine.links", 0.0)])
def test_links_that_somebody_else_made_may_be_incomplete(tmp_path, links, stray):
    corpus = CorpusConfig("text", links=links, silver=links is not None)
    config, _ = settled(TrainingConfig("out", (corpus,), joint_base(tmp_path / "base"), extend_vocabulary=100))
    assert config.gold.silver_stray == stray
    assert settled(replace(config, gold=GoldConfig(silver_stray=0.7)))[0].gold.silver_stray == 0.7


def test_without_the_statistical_aligner_a_run_says_what_it_misses(tmp_path, monkeypatch):
    monkeypatch.setattr("weft.training.defaults.find_spec", lambda name: None)
    config, said = settled(TrainingConfig("out", CORPORA, joint_base(tmp_path / "base")))
    assert config.objectives == ("teacher", "unrelated")
    assert re.search(r"would learn more from this text: pip install .*\[guide\]'\.$", said)
