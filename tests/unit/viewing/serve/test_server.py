from __future__ import annotations

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from weft import Aligner
from weft.encoding.onnx import OnnxEncoder
from weft.errors import MissingExtraError, install_command
from weft.viewing.serve.guards import LOOPBACK
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.server import create_app

LIMITS = Limits(body=5000, pairs=3, words=6, characters=60, subwords=12, terms=2, queue=2)
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
    [
        {"method": "softmax", "threshold": 1.0},
        {"method": "itermax"},
        {"method": "entmax", "threshold": 1e-7, "symmetrize": "union"},
    ],
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


def test_words_that_the_model_cannot_read_are_counted(client):
    [found] = align(client, source="ᎣᏏᏲ ᎦᏙ", target="Hello what").json()["alignments"]
    assert found["unknown"] == 2
    [found] = align(client, **PAIR).json()["alignments"]
    assert "unknown" not in found


@pytest.mark.parametrize(
    ("request_", "status", "sentence"),
    [
        ({"source": "a " * 7, "target": "b"}, 422, "source has 7 words, but at most 6 are allowed."),
        ({"source": "a", "target": "a.b.c.d", "raw": True}, 422, "target has 7 words, but at most 6 are allowed."),
        ({"source": "a" * 61, "target": "b"}, 422, "source has 61 characters, but at most 60 are allowed."),
        ({"pairs": [PAIR] * 4}, 422, "4 pairs were sent, but one request may contain at most 3."),
        ({"pairs": []}, 422, "`pairs` must have at least 1 entry, got []."),
        ({"source": "a"}, 422, "give `source` and `target`, or `pairs`."),
        ({"source": "a", "target": "b", "pairs": [PAIR]}, 422, "give `source` and `target`, or `pairs`, not both."),
        ({**PAIR, "model": "../secret"}, 422, "there is no model '../secret' here; /api/models lists them."),
        ({**PAIR, "threshold": 2}, 422, "`threshold` must be at most 1, got 2."),
        ({**PAIR, "treshold": 0.5}, 422, "there is no field `treshold`. Did you mean `threshold`?"),
        ({**PAIR, "sourceLanguage": "de"}, 422, "there is no field `sourceLanguage`. Did you mean `source_language`?"),
        ({"source": "a", "target": "q1x2y3z4 " * 6}, 422,
         "target has 48 subwords (what the model reads), but at most 12 are allowed."),
        ({**PAIR, "terms": [["a", "b"]] * 3}, 422, "3 terms were sent, but one request may contain at most 2."),
        ({**PAIR, "terms": [["a", " "]]}, 422, "terms: ['a', ' '] has a side without words."),
        ({**PAIR, "method": "entmax", "alpha": 1.7}, 422,
         "`alpha` is 1 or 1.5 with this model; 1.7 needs torch, which takes more memory than all the rest. "
         "`weft align --alpha` can do it."),
        ({**PAIR, "method": "softmax", "alpha": 1.5}, 422, "`alpha` has no effect with the method softmax."),
        ({**PAIR, "method": "argmax", "threshold": 0.1}, 422, "`threshold` has no effect with the method argmax."),
        ({**PAIR, "method": "itermax", "symmetrize": "union"}, 422,
         "`symmetrize` has no effect with the method itermax."),
        ({**PAIR, "target_language": "en"}, 422, "`target_language` has no effect without `raw`."),
        ({"source": ["a"], "target": ["b"], "raw": True}, 422, "`raw` has no effect on lists of words."),
        ({"source": "a" * 6000, "target": "b"}, 413, "the body is larger than 5,000 bytes; send fewer pairs at once."),
    ],
)  # fmt: skip
def test_every_refusal_is_a_sentence_that_names_the_limit(client, request_, status, sentence):
    answer = align(client, **request_)
    assert (answer.status_code, answer.json()) == (status, {"detail": sentence})


def test_a_body_that_hides_its_length_is_refused_too(client):
    answer = client.post("/api/align", content=(b"x" * 1000 for _ in range(6)))
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([PAIR, {"source": "a", "target": "b " * 7}], "pairs.1.target has 7 words, but at most 6 are allowed."),
        ([PAIR, {"source": "a" * 61, "target": "b"}], "pairs.1.source has 61 characters, but at most 60 are allowed."),
        ([PAIR, {"source": 1, "target": "b"}], "`pairs.1.source` must be text or a list, got 1."),
        ([PAIR, {"source": "a", "target": "\ud83d"}],
         "pairs.1.target: \\ud83d at character 1 is half of a surrogate pair and no character."),
    ],
)  # fmt: skip
def test_of_many_pairs_the_wrong_one_is_named(client, pairs, sentence):
    body = json.dumps({"pairs": pairs})  # httpx itself would refuse half a character
    answer = client.post("/api/align", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (422, {"detail": sentence, "pair": 1})


@pytest.mark.parametrize(
    "request_",
    [
        {"source": "a \ud800", "target": "b"},
        {"source": ["a", "\udfff"], "target": ["b"]},
        {**PAIR, "model": "\ud800"},
        {**PAIR, "raw": True, "source_language": "\ud800"},
        {**PAIR, "thresh\ud800old": 1},
        {**PAIR, "terms": [["\ud800", "b"]]},
    ],
)
def test_half_a_character_is_refused_wherever_it_stands(client, request_):
    answer = client.post("/api/align", content=json.dumps(request_), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(".")


@pytest.mark.parametrize(
    ("body", "kind", "status", "sentence"),
    [
        (b"{", "application/json", 400, "the body is not JSON."),
        (b"\xff", "application/json", 400, "the body is not UTF-8; send JSON in UTF-8."),
        ('{"source": "für", "target": "for"}'.encode("latin-1"), "application/json", 400,
         "the body is not UTF-8; send JSON in UTF-8."),
        (b"[" * 5_000, "application/json", 400, "the body is not JSON."),
        (b'{"source": "a", "target": "b"}', "application/x-www-form-urlencoded", 415,
         "send the body as JSON, not as application/x-www-form-urlencoded: add the header "
         "'Content-Type: application/json' (curl: -H 'Content-Type: application/json')."),
        (b'{"source": "a", "target": "b"}', None, 415,
         "send the body as JSON: add the header 'Content-Type: application/json' "
         "(curl: -H 'Content-Type: application/json')."),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(client, body, kind, status, sentence):
    answer = client.post("/api/align", content=body, headers={"Content-Type": kind} if kind else {})
    assert (answer.status_code, answer.json()) == (status, {"detail": sentence})


def test_head_is_get_without_a_body(client):
    for path in ("/", "/health", "/api/models", "/static/app.js", "/api", "/nothing"):
        head, get = client.head(path), client.get(path)
        assert head.status_code == get.status_code
        assert head.headers["content-length"] == get.headers["content-length"]
        assert (head.content, bool(get.content)) == (b"", True)


def test_wrong_addresses_and_methods_are_sentences(client):
    assert client.get("/nothing").json() == {"detail": "there is nothing at /nothing; /api describes what there is."}
    answer = client.get("/api/align")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json() == {"detail": "GET is not possible at /api/align; use POST."}


def test_a_failure_is_a_sentence_too(aligner, monkeypatch):
    def failing(*arguments, **options):
        raise RuntimeError("secret")

    monkeypatch.setattr("weft.aligner.begin_links", failing)
    client = TestClient(create_app({"one": aligner}, hosts=("testserver",)), raise_server_exceptions=False)
    answer = align(client, **PAIR)
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert answer.json()["detail"].startswith("the server failed at this request")


def test_terms_are_linked_as_weft_align_links_them(client):
    request = {"source": "die Bank ist zu", "target": "the bench is closed", "method": "itermax"}
    [free] = align(client, **request).json()["alignments"]
    assert "missing_terms" not in free
    [bound] = align(client, **request, terms=[["bank", "closed"], ["ist", "was"]]).json()["alignments"]
    assert [link[:2] for link in bound["links"] if link[0] == 1 or link[1] == 3] == [[1, 3]]
    assert bound["missing_terms"] == [["ist", "was"]]
    [raw] = align(client, source="Die Bank.", target="It's closed.", raw=True, terms=[["Bank.", "closed."]]).json()[
        "alignments"
    ]
    assert {(link[0], link[1]) for link in raw["links"]} >= {(1, 2), (2, 3)}


def test_work_out_of_proportion_is_refused_before_it_begins(aligner):
    limits = Limits(seconds=3)
    client = TestClient(create_app({"one": aligner}, limits=limits, hosts=("testserver",)))
    words = "das ist ein Satz " * 12
    answer = align(client, pairs=[{"source": words, "target": words}] * 40)
    assert answer.status_code == 422
    expected = (
        r"these pairs are about \d\.\d seconds of work, but a request may ask for at most 1; send fewer at a time\."
    )
    assert re.fullmatch(expected, answer.json()["detail"])
    words = "das ist ein Satz " * 40
    settings = {"method": "entmax", "threshold": 0, "symmetrize": "grow-diag"}
    slow = align(client, pairs=[PAIR, {"source": words, "target": words}], **settings).json()
    assert slow["detail"].startswith("pairs.1: 240 and 240 subwords are about 1.4 seconds of work with these settings")
    assert (slow["detail"].count("but a pair may take 0.2"), slow["pair"]) == (1, 1)


def test_no_path_from_a_client_is_opened(client):
    for path in ("/static/../server.py", "/static/..%2Fserver.py", "/static/%2Fetc%2Fpasswd", "/static/nothing", "/x"):
        assert client.get(path).status_code == 404
    assert client.get("/static/app.js").headers["content-type"].startswith("text/javascript")


def test_other_sites_stay_outside(client):
    answer = client.get("/health", headers={"Origin": "https://example.org"})
    assert not any(name.startswith("access-control") for name in answer.headers)
    preflight = client.options("/api/align", headers={"Origin": "https://example.org"})
    assert not any(name.startswith("access-control") for name in preflight.headers)
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
        deadline = time.monotonic() + 300
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
    assert (answer.status_code, install_command("ot") in answer.json()["detail"]) == (422, True)
