from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from weft import Aligner, SentencePair
from weft.encoding.encoder import encode_pairs
from weft.encoding.onnx import OnnxEncoder
from weft.errors import MissingExtraError
from weft.viewing.serve.desk import Desk, FullError, RememberingEncoder
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.server import LOOPBACK, create_app

LIMITS = Limits(body=5000, pairs=3, words=6, characters=60, queue=2)
PAIR = {"source": "das ist gut", "target": "that is good"}


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.from_pretrained()


@pytest.fixture(scope="module")
def client(aligner) -> TestClient:
    app = create_app({"weft-mini": aligner, "other": aligner}, limits=LIMITS, hosts=(*LOOPBACK, "testserver"))
    return TestClient(app, raise_server_exceptions=False)


def align(client: TestClient, **request: object):
    return client.post("/api/align", json=request)


def test_health_models_and_description(client):
    assert client.get("/health").json()["status"] == "ok"
    offer = client.get("/api/models").json()
    assert [model["name"] for model in offer["models"]] == ["weft-mini", "other"]
    assert offer["thresholds"]["softmax"] == 0.001
    assert offer["limits"]["words"] == 6
    description = client.get("/openapi.json").json()
    operation = description["paths"]["/api/align"]["post"]
    assert {"200", "413", "422", "503"} <= operation["responses"].keys()
    fields = description["components"]["schemas"]["AlignRequest"]["properties"]
    undescribed = [name for name, field in fields.items() if "description" not in str(field)]
    assert undescribed == []


def test_links_are_those_of_the_library(client, aligner):
    answer = align(client, **PAIR).json()
    expected = aligner.align(PAIR["source"], PAIR["target"])
    [found] = answer["alignments"]
    assert found["links"] == [[*link.indices, link.score] for link in expected.links]
    assert (answer["model"], answer["method"], found["score"]) == ("weft-mini", aligner.settings.method, expected.score)
    assert found["source"] == ["das", "ist", "gut"]


@pytest.mark.parametrize(
    "settings",
    [{"method": "softmax", "threshold": 1.0}, {"method": "itermax"}, {"threshold": 1e-7, "symmetrize": "union"}],
)
def test_settings_do_what_they_do_in_the_library(client, settings):
    [found] = align(client, **PAIR, **settings, scores="none").json()["alignments"]
    expected = Aligner.from_pretrained(**settings).align(*PAIR.values(), scores="none")
    assert found["links"] == [list(link.indices) for link in expected.links]


def test_many_pairs_words_and_raw_text(client):
    pairs = [PAIR, {"source": ["a b", "c"], "target": ["a b"]}, {"source": "", "target": "x"}]
    alignments = align(client, pairs=pairs).json()["alignments"]
    assert [found["source"] for found in alignments] == [["das", "ist", "gut"], ["a b", "c"], []]
    assert alignments[2]["links"] == []
    [raw] = align(client, source="Das ist gut.", target="It's good.", raw=True, target_language="en").json()[
        "alignments"
    ]
    assert raw["target"] == ["It", "'s", "good", "."]
    assert raw["target_offsets"] == [[0, 2], [2, 4], [5, 9], [9, 10]]


@pytest.mark.parametrize(
    ("request_", "status", "sentence"),
    [
        ({"source": "a " * 7, "target": "b"}, 422, "a sentence has 7 words, but at most 6 are allowed."),
        ({"source": "a", "target": "a.b.c.d", "raw": True}, 422, "a sentence has 7 words, but at most 6 are allowed."),
        ({"source": "a" * 61, "target": "b"}, 422, "a sentence has 61 characters, but at most 60 are allowed."),
        ({"pairs": [PAIR] * 4}, 422, "4 pairs were sent, but one request may hold at most 3."),
        ({"pairs": []}, 422, "pairs: List should have at least 1 item after validation, not 0."),
        ({"source": "a"}, 422, "give `source` and `target`, or `pairs`."),
        ({"source": "a", "target": "b", "pairs": [PAIR]}, 422, "give `source` and `target`, or `pairs`, not both."),
        ({**PAIR, "model": "../secret"}, 422, "there is no model '../secret' here; /api/models lists them."),
        ({**PAIR, "threshold": 2}, 422, "threshold: Input should be less than or equal to 1."),
        ({**PAIR, "treshold": 0.5}, 422, "treshold: Extra inputs are not permitted."),
        ({"source": "a" * 6000, "target": "b"}, 413, "the body is larger than 5,000 bytes; send fewer pairs at once."),
    ],
)  # fmt: skip
def test_every_refusal_is_a_sentence_that_names_the_limit(client, request_, status, sentence):
    answer = align(client, **request_)
    assert (answer.status_code, answer.json()) == (status, {"detail": sentence})


def test_a_body_that_hides_its_length_is_refused_too(client):
    answer = client.post("/api/align", content=(b"x" * 1000 for _ in range(6)))
    assert answer.status_code == 413


def test_what_is_no_json_is_refused(client):
    for body, kind in ((b"{", "application/json"), (b"\xff", "application/json"), (b"source=a", "text/plain")):
        answer = client.post("/api/align", content=body, headers={"Content-Type": kind})
        assert answer.status_code in (400, 422)
        assert isinstance(answer.json()["detail"], str)


def test_no_path_from_a_client_is_opened(client):
    for path in ("/static/../server.py", "/static/..%2Fserver.py", "/static/%2Fetc%2Fpasswd", "/static/nothing", "/x"):
        assert client.get(path).status_code == 404
    assert client.get("/static/app.js").headers["content-type"].startswith("text/javascript")


def test_other_sites_stay_outside(client):
    answer = client.get("/health", headers={"Origin": "https://example.org"})
    assert not any(name.startswith("access-control") for name in answer.headers)
    preflight = client.options("/api/align", headers={"Origin": "https://example.org"})
    assert not any(name.startswith("access-control") for name in preflight.headers)
    assert client.get("/health", headers={"Host": "example.org"}).status_code == 400
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


class SlowEncoder(OnnxEncoder):
    """Works when told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, max_length=64)
        self.go = threading.Event()

    def encode(self, subwords):
        self.go.wait(30)
        return super().encode(subwords)


def test_the_queue_has_an_end(tiny_onnx):
    encoder = SlowEncoder(tiny_onnx)
    app = create_app({"slow": Aligner(encoder)}, limits=LIMITS, hosts=("testserver",))
    with TestClient(app) as client, ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(align, client, source=str(number), target="b") for number in range(2)]
        deadline = time.monotonic() + 30
        while client.get("/health").json()["waiting"] < 2:
            assert time.monotonic() < deadline, "the requests never came to wait"
            time.sleep(0.01)
        refused = align(client, **PAIR)
        assert refused.status_code == 503
        assert refused.json() == {"detail": "2 requests wait already, which is the limit; try again in a second."}
        assert refused.headers["retry-after"] == "1"
        encoder.go.set()
        assert [answer.result().status_code for answer in waiting] == [200, 200]
        assert align(client, **PAIR).status_code == 200


def test_a_missing_part_is_a_sentence(aligner, monkeypatch):
    def missing(*arguments, **options):
        raise MissingExtraError("ot", "The optimal transport method")

    monkeypatch.setattr("weft.aligner.begin_links", missing)
    client = TestClient(create_app({"one": aligner}, hosts=("testserver",)))
    answer = align(client, **PAIR, method="ot")
    assert (answer.status_code, "pip install 'weft[ot]'" in answer.json()["detail"]) == (422, True)


def test_work_is_done_in_order_and_counted():
    async def scenario() -> list[int]:
        desk, done = Desk(3), []
        await asyncio.gather(*(desk.do(lambda number=number: done.append(number)) for number in range(3)))
        desk.bound = 0
        with pytest.raises(FullError):
            await desk.do(lambda: None)
        assert desk.waiting == 0
        return done

    assert asyncio.run(scenario()) == [0, 1, 2]


@pytest.mark.parametrize("joint", [False, True])
def test_moving_a_threshold_does_not_encode_again(tiny_onnx, joint):
    calls = []

    class Counting(OnnxEncoder):
        def encode(self, subwords):
            calls.append(subwords)
            return super().encode(subwords)

    encoder = RememberingEncoder(Counting(tiny_onnx, joint=joint))

    def encode(*lengths):
        return encode_pairs(encoder, [SentencePair(("a",) * length, ("b",)) for length in lengths])[0]

    first = encode(1)
    assert np.array_equal(encode(1).states, first.states)
    assert len(calls) == 1
    for length in range(2, 22):
        encode(length)
    encode(1)
    assert len(calls) == 22  # long forgotten
    encode(1, 2, 3, 4, 5)
    encode(1, 2, 3, 4, 5)
    assert len(calls) == 24
