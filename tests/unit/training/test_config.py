from __future__ import annotations

import json

import pytest

from weft.errors import FormatError, SettingError
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.defaults import settled

TOML = """
output = "out"
objectives = ["tlm", "so"]
learning_rate = 1e-3

[guide]
strict = 0.1

[[corpus]]
path = "de-en.txt"
links = "de-en.links"
weight = 0.5

[[corpus]]
path = "fr-en.txt"
limit = 200000
"""


def test_a_toml_file_is_read_and_options_win(tmp_path):
    (tmp_path / "run.toml").write_text(TOML)
    config = TrainingConfig.read(tmp_path / "run.toml", learning_rate=2e-3, batch_size=None)
    assert config.corpora == (
        CorpusConfig("de-en.txt", links="de-en.links", weight=0.5), CorpusConfig("fr-en.txt", limit=200_000),
    )  # fmt: skip
    assert (config.learning_rate, config.batch_size, config.guide.strict) == (2e-3, None, 0.1)


def test_the_defaults_are_the_papers():
    config, _ = settled(TrainingConfig("out", (CorpusConfig("x"),), model="apart"))
    assert (config.learning_rate, config.batch_size, config.held_out, config.null) == (2e-5, 8, 0, None)
    assert config.objectives == ("mlm", "tlm", "so", "psi")
    assert config.extraction.effective_threshold == 0.001
    assert TrainingConfig("o", config.corpora, method="entmax").extraction.effective_threshold == 0


@pytest.mark.parametrize(
    ("stored", "given", "expected"),
    [
        ({"method": "entmax", "threshold": 0.02, "alpha": 1.3}, {}, ("entmax", 1.3, 0.02)),
        ({"method": "entmax", "threshold": 0.02}, {"guide": {"threshold": 0.5}}, ("entmax", 1.5, 0.5)),
        ({"threshold": 0.05}, {"method": "softmax"}, ("softmax", 1.5, 0.05)),
        ({"threshold": 0.05}, {"method": "entmax"}, ("entmax", 1.5, None)),
        ({"method": "itermax", "threshold": 0.05}, {}, ("softmax", 1.5, None)),
        ({}, {}, ("softmax", 1.5, None)),
        ({"threshold": 0.05}, {"architecture": {"model_type": "bert"}}, ("softmax", 1.5, None)),
    ],
)
def test_what_is_not_given_comes_from_the_base_model(tmp_path, stored, given, expected):
    (tmp_path / "weft.json").write_text(json.dumps(stored))
    record = {"output": "o", "corpora": [{"path": "x"}], "model": str(tmp_path), **given}
    config, _ = settled(TrainingConfig.from_record(record))
    assert (config.method, config.alpha, config.guide.threshold) == expected
    assert settled(config)[0] == config
    assert config.extraction.method == expected[0]


def test_what_was_run_is_saved_and_can_be_run_again(tmp_path):
    (tmp_path / "run.toml").write_text(TOML)
    config = TrainingConfig.read(tmp_path / "run.toml")
    config.save(tmp_path / "training.json")
    assert TrainingConfig.from_record(json.loads((tmp_path / "training.json").read_text())) == config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"objectives": ["tlm", "magic"]},
            "`objectives` must be one or more of mlm, tlm, so, psi, co, teacher, unrelated, gold, masked, got magic",
        ),
        ({"objectives": []}, "`objectives` must name at least one"),
        ({"corpora": []}, "`corpora` must name at least one"),
        ({"batch_size": 0}, "`batch_size` must be at least 1, got 0"),
        ({"seed": 10**19}, "`seed` must be at least 0 and under 2 to the power of 63"),
        ({"learning_rate": 0}, "`learning_rate` must be above 0"),
        ({"warmup": 1}, "`warmup` must be at least 0 and under 1"),
        ({"precision": "int4"}, "`precision` must be no, bf16 or fp16"),
        ({"method": "itermax"}, "`method` must be softmax, entmax or geometric"),
        ({"overlap": "ignore"}, "`overlap` must be error or drop"),
        ({"step_tokens": 100}, "`step_tokens` needs `max_steps` or `minutes`"),
        ({"step_tokens": 100, "minutes": 1, "epochs": 1}, "`step_tokens` needs `max_steps` or `minutes`, and no"),
        ({"corpora": [{"path": "x", "share": 0.5}]}, "`share` needs `step_tokens`"),
        ({"corpora": [{"path": "x", "others": True}]}, "`others` needs a `hub`"),
        ({"corpora": [{"path": "x", "hub": "en", "others": True}]}, "`others` needs `step_tokens`"),
        ({"step_tokens": 9, "minutes": 1, "corpora": [{"path": "x"}, {"path": "y", "share": 1}]}, "for all corpora or"),
        ({"corpora": [{"path": "x", "hub": "en", "links": "y"}]}, "`hub` is for a folder alone, without `target`"),
        (
            {"corpora": [{"path": "x", "hub": "en"}], "extend_vocabulary": 9},
            "`extend_vocabulary` reads pairs, not text",
        ),
        ({"changes": {"unrelated": 0, "added": 0, "cut": 0}}, "`added` and `cut` must not all be 0"),
        ({"masking": {"share": 2}}, "`share` must be between 0 and 1"),
        ({"lerning_rate": 1}, "there is no setting 'lerning_rate'; there are adam_beta, alpha, architecture, "),
        ({"corpora": [{"pth": "x"}]}, "there is no setting 'pth'"),
        ({"guide": {"stric": 1}}, "there is no setting 'stric'"),
    ],
)
def test_mistakes_are_named(changes, message):
    with pytest.raises(SettingError, match=message):
        TrainingConfig.from_record({"output": "out", "corpora": [{"path": "x"}], **changes})


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(SettingError, match="lacks output and corpora"):
        TrainingConfig.from_record({})
    (tmp_path / "bad.toml").write_text("output = ")
    with pytest.raises(FormatError, match=r"bad\.toml: expected TOML"):
        TrainingConfig.read(tmp_path / "bad.toml")


def test_matrices_have_no_optimizer_of_their_own_in_fp16():
    with pytest.raises(SettingError, match="precision"):
        TrainingConfig("o", (CorpusConfig("x"),), matrix_learning_rate=0.1, precision="fp16")
    assert TrainingConfig("o", (CorpusConfig("x"),), matrix_learning_rate=0.1, precision="bf16").precision == "bf16"
