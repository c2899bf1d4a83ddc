"""What pydantic finds wrong, in weft's words; the records are those of the API."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from weft.viewing.serve.requests import AlignRequest
from weft.viewing.serve.wording import sentence_for

PAIR = {"source": "a", "target": "b"}


def said(request: Any) -> str:
    with pytest.raises(ValidationError) as found:
        AlignRequest.model_validate(request)
    return sentence_for(found.value.errors())


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({**PAIR, "threshold": "low"}, '`threshold` must be a number, got "low".'),
        ({**PAIR, "alpha": 0}, "`alpha` must be at least 1, got 0."),
        ({**PAIR, "raw": "maybe"}, '`raw` must be true or false, got "maybe".'),
        ({**PAIR, "null": "x"}, "`null` must be a number or 'off', got \"x\"."),
        ({**PAIR, "cost": 3}, "`cost` must be 'cosine', 'dot' or 'euclidean', got 3."),
        ({**PAIR, "terms": [["a"]]}, "`terms.0.1` is missing."),
        ({**PAIR, "terms": [["a", "b", "c"]]}, '`terms.0` must have at most 2 entries, got ["a", "b", "c"].'),
        ({"source": ["a", ""], "target": "b"}, '`source.1` must have at least 1 character, got "".'),
        ({"pairs": "x"}, '`pairs` must be a list, got "x".'),
        ({"pairs": [{"source": "a"}]}, "`pairs.0.target` is missing."),
        ([], "the body must be a JSON object, got []."),
    ],
)
def test_each_mistake_is_named_with_what_may_stand_there(request_, sentence):
    assert said(request_) == sentence


def test_a_long_value_is_not_sent_back_whole():
    assert len(said({**PAIR, "threshold": "x" * 10_000})) < 200
