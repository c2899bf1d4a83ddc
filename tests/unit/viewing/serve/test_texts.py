"""Whole texts over HTTP: the sentences and links of `weft align --documents`."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from weft import Aligner, align_documents
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.server import create_app

SOURCE = "Das Haus ist alt. Ich wohne seit Jahren im Dorf. Es regnet heute."
TARGET = "The house is old, and I have lived in the village for years. It is raining today."


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.from_pretrained()


@pytest.fixture(scope="module")
def client(aligner) -> TestClient:
    app = create_app(
        {"one": aligner}, limits=Limits(seconds=6, characters=1000), hosts=("testserver",), documents=align_documents
    )
    return TestClient(app, raise_server_exceptions=False)


def ask(client, **request):
    return client.post("/api/texts", json=request)


def test_sentences_and_links_are_those_of_the_library(client, aligner):
    answer = ask(client, source=SOURCE, target=TARGET).json()
    expected = align_documents(SOURCE, TARGET, aligner=aligner)
    assert [(part["source_text"], part["target_text"]) for part in answer["parts"]] == [
        (part.source.text, part.target.text) for part in expected
    ]
    assert [[tuple(link[:2]) for link in part["links"]] for part in answer["parts"]] == [
        [link.indices for link in part.alignment.links] for part in expected
    ]
    first = answer["parts"][0]
    assert [first["source_text"][start:end] for start, end in first["source_offsets"]] == first["source"]


def test_paragraphs_stay_with_their_paragraphs(client):
    answer = ask(client, source=f"{SOURCE}\n\nDanke!", target=f"{TARGET}\nThank you!").json()
    assert (answer["parts"][-1]["source_text"], answer["parts"][-1]["target_text"]) == ("Danke!", "Thank you!")
    nothing = ask(client, source="", target=" \n").json()
    assert nothing["parts"] == []


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"source": "a" * 4001, "target": "b"}, "source has 4,001 characters, but at most 4,000 are allowed."),
        ({"source": "xq " * 1300, "target": "b"}, "these texts are about"),
        ({"source": "a", "target": "b", "model": "two"}, "there is no model 'two' here"),
        ({"source": ["a"], "target": "b"}, '`source` must be text, got ["a"].'),
        ({"source": "a", "target": "b", "raw": True}, "there is no field `raw`."),
    ],
)
def test_refusals_are_sentences(client, request_, sentence):
    answer = ask(client, **request_)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(sentence)


def test_a_server_without_the_function_has_no_such_route(aligner):
    client = TestClient(create_app({"one": aligner}, hosts=("testserver",)))
    assert ask(client, source="a", target="b").status_code == 404
