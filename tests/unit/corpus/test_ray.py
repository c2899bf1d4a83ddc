from __future__ import annotations

import pytest

ray = pytest.importorskip("ray")
from weft.corpus.ray import _cluster  # noqa: E402 - it needs ray
from weft.errors import WeftError  # noqa: E402

pytestmark = pytest.mark.slow


def test_a_machine_that_is_busy_for_a_while_gets_a_second_chance(monkeypatch):
    tries, start = [], ray.init

    def busy_at_first(*arguments, **options):
        tries.append(arguments)
        if len(tries) == 1:
            raise RuntimeError("The current node timed out during startup.")
        return start(*arguments, **options)

    monkeypatch.setattr(ray, "init", busy_at_first)
    with _cluster(None, 1):
        assert ray.is_initialized()
    assert not ray.is_initialized()
    assert tries == [("local",), ("local",)]


def test_a_machine_that_stays_busy_is_one_sentence(monkeypatch):
    def busy(*arguments, **options):
        raise RuntimeError("The current node timed out during startup.\nmore")

    monkeypatch.setattr(ray, "init", busy)
    said = r"^cannot start Ray on this machine: The current node timed out during startup\.$"
    with pytest.raises(WeftError, match=said), _cluster(None, 1):
        pass
