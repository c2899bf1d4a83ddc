from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import SettingError
from weft.training.config import TrainingConfig

RUN = 'output = "out"\n{top}\n[[corpus]]\npath = "a.txt"\n{corpus}\n'


@pytest.mark.parametrize(
    ("top", "message"),
    [
        ('batch_size = "8"', "`batch_size` must be a whole number, got the text '8'; write it without quotes."),
        ("batch_size = true", "`batch_size` must be a whole number, got true."),
        ("batch_size = 8.5", "`batch_size` must be a whole number, got 8.5."),
        ('objectives = "mlm"', "`objectives` must be a list, got the text 'mlm'; write [\"mlm\"]."),
        ("objectives = [3]", "`objectives` 1 must be text, got 3; write it in quotes."),
        ("guide = 3", "`guide` must be a table of settings, got 3."),
        ('guide = {strict = "much"}', "`strict` of guide must be a number, got the text 'much'."),
        ("guide = {strict = 2}", "`strict` must be between 0 and 1, got 2.0."),
        ("epochs = inf", "`epochs` must be a finite number, got inf."),
        ("beta = nan", "`beta` must be a finite number, got nan."),
        ("beta = -1", "`beta` must be at least 0, got -1.0."),
        ("model = 2026-01-01", "`model` must be text, got the date or time 2026-01-01; write it in quotes."),
        ('tensorboard = "true"', "`tensorboard` must be true or false, got the text 'true'; write it without quotes."),
        ("architecture = 3", "`architecture` must be a table of settings, got 3."),
        ('teacher = "a\\u0000b"', "`teacher` must not contain a zero byte, got the text 'a\\x00b'."),
        ("max_steps = 0", "`max_steps` must be at least 1, got 0."),
        ('seed = "x"\nworkers = -1', "`seed` must be a whole number, got the text 'x'."),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_sentence_with_its_fix(tmp_path, top, message):
    (tmp_path / "run.toml").write_text(RUN.format(top=top, corpus=""))
    with pytest.raises(SettingError) as caught:
        TrainingConfig.read(tmp_path / "run.toml")
    assert str(caught.value) == f"{tmp_path / 'run.toml'}: {message}".replace("`", "'")


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ('weight = "heavy"', "`weight` of corpora 1 must be a number, got the text 'heavy'."),
        ("links = 2026-01-01", "`links` of corpora 1 must be text, got the date or time 2026-01-01; write it in"),
        ("limit = 0", "`limit` must be at least 1, got 0."),
        ("[[corpus]]\nlimit = 5", "`corpora` 2 lacks path."),
    ],
)
def test_a_corpus_is_named_by_its_place(tmp_path, corpus, message):
    (tmp_path / "run.toml").write_text(RUN.format(top="", corpus=corpus))
    with pytest.raises(SettingError) as caught:
        TrainingConfig.read(tmp_path / "run.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'run.toml'}: {message}".replace("`", "'"))


def test_corpora_must_be_tables(tmp_path):
    (tmp_path / "run.toml").write_text('output = "out"\ncorpus = "a.txt"\n')
    with pytest.raises(SettingError, match=r"'corpora' must be a list, .*; write \[\[corpus\]\] above its settings"):
        TrainingConfig.read(tmp_path / "run.toml")


def test_all_mistakes_are_said_at_once():
    with pytest.raises(SettingError, match=r"`epochs` must be .* `seed` must be "):
        TrainingConfig.from_record({"output": "o", "corpora": [{"path": "x"}], "seed": "a", "epochs": "b"})


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = sorted(TrainingConfig.__dataclass_fields__)


@given(st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=4))
@settings(max_examples=200, deadline=None)
def test_whatever_a_file_holds_is_a_configuration_or_a_sentence(record):
    try:
        config = TrainingConfig.from_record({"output": "o", "corpora": [{"path": "x"}], **record})
    except SettingError as error:
        assert str(error).endswith(".")
    else:
        assert isinstance(config.batch_size, int | None)
