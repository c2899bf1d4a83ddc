"""The links that awesome-align's authors published, scored: the numbers their paper and README print."""

from __future__ import annotations

import json

import pytest

PUBLISHED = {
    "fr-en": (4.1, 96.3, 95.4),
    "ro-en": (20.7, 88.6, 71.7),
    "ja-en": (37.4, 72.7, 55.0),
    "zh-en": (13.3, 86.7, 86.7),
}


@pytest.mark.parametrize("pair", PUBLISHED)
def test_published_links_get_their_published_scores(data, weft, pair):
    gold = data / "gold" / pair
    done = weft(
        "score", gold / "test.talp", data / "peers" / "awesome-align" / f"{pair}.links",
        "--format", "json", "--source", gold / "test.src", "--target", gold / "test.tgt",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [system] = json.loads(done.stdout)["systems"]
    assert tuple(round(system[rate], 1) for rate in ("aer", "precision", "recall")) == PUBLISHED[pair]
    assert system["interval"]["aer"][0] < system["aer"] < system["interval"]["aer"][1]


@pytest.mark.parametrize("pair", PUBLISHED)
def test_gold_counted_from_1_is_noticed_and_scores_the_same(data, weft, tmp_path, pair):
    gold = data / "gold" / pair / "test.talp"
    from_one = tmp_path / "gold.talp"
    assert weft("convert", gold, from_one, "--to", "talp", "--to-base", "1").returncode == 0
    links = data / "peers" / "awesome-align" / f"{pair}.links"
    done, expected = weft("score", from_one, links), weft("score", gold, links)
    assert "word indices seem to start at 1" in done.stderr
    assert expected.stderr == ""
    assert done.stdout.splitlines()[:2] == expected.stdout.splitlines()[:2]
