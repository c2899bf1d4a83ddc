"""One gold file has one answer, whoever reads it: `weft score`, `weft view` and the web app."""

from __future__ import annotations

import base64
import json

import pytest
from starlette.testclient import TestClient

from weft.viewing.reading import read_comparison
from weft.viewing.serve.server import create_app

PAIRS = [("das ist sehr gut", "that is very good"), ("ja doch", "yes really")]


@pytest.mark.parametrize(
    ("gold", "base"),
    [
        ("1-1 2-2 4-4\n1-1\n", 1),  # an index equals a sentence's length
        ("1-1 2-2\n1-1\n", 1),  # none does, but there is no index 0 either
        ("1-1 2-2\n0-0\n", 0),
    ],
)
def test_score_view_and_app_count_from_the_same_number(weft, tmp_path, gold, base):
    (tmp_path / "gold.talp").write_text(gold)
    (tmp_path / "pairs.txt").write_text("".join(f"{source} ||| {target}\n" for source, target in PAIRS))
    lines = [[[int(index) - base for index in link.split("-")] for link in line.split()] for line in gold.splitlines()]
    (tmp_path / "same.links").write_text("".join(" ".join(f"{i}-{j}" for i, j in line) + "\n" for line in lines))
    scored = json.loads(weft("score", tmp_path / "gold.talp", tmp_path / "same.links", "--format", "json").stdout)
    assert scored["systems"][0]["aer"] == 0
    viewed = read_comparison(
        tmp_path / "pairs.txt", None, [tmp_path / "same.links"], tmp_path / "gold.talp",
        lines=range(2), on_error=lambda error: None,
    )  # fmt: skip
    assert [pair.gold.sure for pair in viewed.pairs] == [pair.systems[0].pairs for pair in viewed.pairs]
    client = TestClient(create_app({}, hosts=("testserver",)))
    request = {
        "files": [{"name": "gold.talp", "content": base64.b64encode(gold.encode()).decode()}],
        "pairs": [{"source": source.split(), "target": target.split()} for source, target in PAIRS],
    }
    answer = client.post("/api/files/read", json=request).json()
    assert answer["base"] == base
    found = [{(link[0], link[1]) for link in row} for row in answer["links"]]
    assert found == [set(pair.gold.sure) for pair in viewed.pairs]
