"""The routes of annotation projects, over HTTP without a socket."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from weft.annotation.shelf import Shelf
from weft.viewing.serve.server import create_app

TEXT = "das Haus ||| the house\n\nja ||| oh yes\n"


def file(text: str, name: str = "pairs.txt") -> dict[str, str]:
    return {"name": name, "content": base64.b64encode(text.encode()).decode()}


@pytest.fixture
def client(tmp_path) -> Iterator[TestClient]:
    shelf = Shelf(tmp_path)
    yield TestClient(create_app({}, hosts=("testserver",), projects=shelf), raise_server_exceptions=False)
    shelf.close()


@pytest.fixture
def project(client) -> str:
    made = client.post("/api/projects", json={"name": "Märchen", "files": [file(TEXT)]})
    assert made.status_code == 200, made.text
    return f"/api/projects/{made.json()['name']}"


def say(client, project: str, number: int | str, *links: list, annotator: str = "Ann", **more: object):
    body = {"annotator": annotator, "links": links, "state": "done", **more}
    return client.put(f"{project}/pairs/{number}", json=body)


def test_a_project_is_made_of_a_file_and_keeps_its_lines(client, project):
    seen = client.get(project, params={"annotator": "Ann"}).json()
    assert [len(pair["source"]) for pair in seen["sentences"]] == [2, 0, 1]
    assert "pairs.txt:2" in seen["sentences"][1]["problem"]
    listed = client.get("/api/projects").json()
    assert (listed["can_create"], [each["name"] for each in listed["projects"]]) == (True, ["Märchen"])
    assert [each["pairs"] for each in listed["projects"]] == [2]
    again = client.post("/api/projects", json={"name": "märchen", "files": [file(TEXT)]}).json()
    assert again["name"] == "märchen 2"


def test_text_that_is_not_split_is_split_for_a_project(client):
    new = {"name": "raw", "files": [file("Guten Tag!\tL'homme est venu.\n")], "raw": True, "target_language": "fr"}
    made = client.post("/api/projects", json=new).json()
    seen = client.get(f"/api/projects/{made['name']}", params={"annotator": "Ann"}).json()
    assert seen["sentences"][0]["target"] == ["L'", "homme", "est", "venu", "."]
    refused = client.post("/api/projects", json={**new, "raw": False})
    assert (refused.status_code, "need `raw`" in refused.json()["detail"]) == (422, True)


def test_what_was_said_is_seen_by_its_author_alone(client, project):
    kept = say(client, project, 0, [0, 0, None, True], [1, 1, None, False], comment="frei").json()
    assert kept["revision"] == 1
    mine, theirs = (client.get(project, params={"annotator": name}).json() for name in ("Ann", "Ben"))
    assert mine["said"]["0"]["links"] == [[0, 0, None, True], [1, 1, None, False]]
    assert mine["said"]["0"]["comment"] == "frei"
    assert theirs["said"] == {}
    assert theirs["annotators"] == [{"name": "Ann", "open": 0, "done": 1, "doubtful": 0, "skipped": 0, "total": 2}]
    for name, count in (("Ann", 1), ("Ben", 0)):
        changes = client.get(f"{project}/changes", params={"annotator": name, "since": 0}).json()
        assert (changes["revision"], len(changes["changes"]), changes["confirmed"]) == (1, count, 1)


def test_the_last_writer_does_not_win_silently(client, project):
    first = say(client, project, 0, [0, 0], base=0).json()
    say(client, project, 0, [1, 1], base=first["revision"])
    late = say(client, project, 0, [0, 1], base=first["revision"])
    assert late.status_code == 409
    assert late.json()["current"]["links"] == [[1, 1, None, True]]


@pytest.mark.parametrize(
    ("number", "links", "more", "sentence"),
    [
        (0, [[5, 0]], {}, "the link 5-0 is out of range: source and target have 2 and 2 words, counted from 0."),
        (1, [[0, 0]], {}, "number 1 is not a pair: pairs.txt:2: the line is blank; expected a sentence and its "
         "translation."),
        (3, [], {}, "there is no pair 3; the pairs of this project are numbered from 0 to 2."),
        (-1, [], {}, "there is no pair -1; the pairs of this project are numbered from 0 to 2."),
        ("first", [], {}, '`number` must be a whole number, got "first".'),
        (0, [[0.5, 0]], {}, "expected a link [i, j, score, sure], found [0.5, 0]."),
        (0, [[0]], {}, "`links.0` must have at least 2 entries, got [0]."),
        (0, [["a", 0]], {}, '`links.0.0` must be a number or true or false, got "a".'),
        (0, [], {"state": "ready"}, "`state` must be 'open', 'done', 'doubtful' or 'skipped', got \"ready\"."),
        (0, [], {"annotator": "../x"}, "'../x' cannot be a name: use up to 40 letters, digits, blanks and . @ + - _, "
         "beginning with a letter or digit."),
        (0, [], {"annotator": "a" * 41}, f'`annotator` must have at most 40 characters, got "{"a" * 41}".'),
    ],
)  # fmt: skip
def test_refusals_are_sentences(client, project, number, links, more, sentence):
    answer = say(client, project, number, *links, **more)
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)


def test_a_line_that_is_not_a_pair_may_have_a_comment(client, project):
    assert say(client, project, 1, state="open", comment="What stood here?").status_code == 200


def test_the_longest_name_that_the_description_allows_can_be_used(client, project):
    described = client.get("/openapi.json").json()["components"]["schemas"]["Saying"]["properties"]["annotator"]
    assert say(client, project, 0, annotator="a" * described["maxLength"]).status_code == 200


def test_a_question_without_its_annotator_is_answered_with_what_is_missing(client, project):
    assert client.get(project).json() == {"detail": "`annotator` is missing."}


@pytest.mark.parametrize("score", ["NaN", "-Infinity", "1" + "0" * 400])
def test_a_score_that_could_not_be_read_again_is_refused(client, project, score):
    body = f'{{"annotator": "Ann", "state": "done", "links": [[0, 0, {score}, true]]}}'
    answer = client.put(f"{project}/pairs/0", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(".")
    assert client.get(project, params={"annotator": "Ann"}).json()["said"] == {}


def test_agreement_settling_and_export(client, project):
    say(client, project, 0, [0, 0], [1, 1])
    say(client, project, 0, [0, 0], annotator="Ben")
    say(client, project, 2, [0, 1])
    say(client, project, 2, [0, 1], annotator="Ben")
    found = client.get(f"{project}/agreement", params={"first": "Ann", "second": "Ben"}).json()
    # |A| = 3, |B| = 2, both 2: F1 = 4/5, AER = 1 - 8/10; 6 cells, of which 5 alike.
    assert found["rates"]["f1"] == pytest.approx(80)
    assert found["rates"]["aer"] == pytest.approx(20)
    assert found["rates"]["kappa"] == pytest.approx((5 / 6 - 0.5) / 0.5)
    assert [each["number"] for each in found["disagreements"]] == [0]
    gold = client.get(f"{project}/export", params={"format": "talp"})
    assert gold.text == "\n\n0-1\n"
    say(client, project, 0, [0, 0], [1, 1, None, False], annotator="adjudicated")
    assert client.get(f"{project}/export", params={"format": "talp"}).text == "0-0 1p1\n\n0-1\n"
    records = client.get(f"{project}/export", params={"format": "jsonl"}).text.splitlines()
    assert [(each["pair"], each["source"], each["links"]) for each in map(json.loads, records)] == [
        (1, ["das", "Haus"], [[0, 0]]),
        (3, ["ja"], [[0, 1]]),
    ]
    for path, asked in (("agreement", {"first": "Ann", "second": "Bne"}), ("export", {"format": "talp", "who": "Bne"})):
        refused = client.get(f"{project}/{path}", params=asked)
        assert (refused.status_code, refused.json()["detail"]) == (422, "nobody called 'Bne' annotated this project.")
    ben = client.get(f"{project}/export", params={"format": "naacl", "who": "Ben"}).text
    assert ben == "1 1 1 S\n2 0 0\n3 1 2 S\n"


def test_a_full_disk_is_a_sentence_and_nothing_is_kept(client, project, monkeypatch):
    """The journal's own file is on a disk that takes nothing more."""
    say(client, project, 0, [0, 0])
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(
            "weft.annotation.journal.os.write", lambda file, data, write=os.write: write(full.fileno(), data)
        )
        refused = say(client, project, 0, [1, 1])
    assert (refused.status_code, refused.json()["detail"]) == (
        507,
        "the server could not save this: No space left on device.",
    )
    monkeypatch.undo()
    assert client.get(project, params={"annotator": "Ann"}).json()["said"]["0"]["links"] == [[0, 0, None, True]]
    assert say(client, project, 2, [0, 0]).status_code == 200


def test_a_server_without_projects_says_so():
    client = TestClient(create_app({}, hosts=("testserver",)))
    assert client.get("/api/projects").json() == {"available": False, "can_create": False, "projects": []}
    assert "weft annotate" in client.get("/api/projects/x?annotator=a").json()["detail"]


def test_localhost_is_sent_to_the_address_itself():
    app = create_app({}, hosts=("localhost", "127.0.0.1"))
    client = TestClient(app, base_url="http://localhost:8080", follow_redirects=False)
    assert client.get("/").status_code == 200  # this client's connection has no address

    async def local(scope, receive, send):
        await app({**scope, "server": ("127.0.0.1", 8080)}, receive, send)

    client = TestClient(local, base_url="http://localhost:8080", follow_redirects=False)
    answer = client.get("/?annotator=Ann")
    assert (answer.status_code, answer.headers["location"]) == (307, "http://127.0.0.1:8080/?annotator=Ann")
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "{project}/pairs/0"), ("POST", "/api/projects"), ("POST", "/api/files/read"),
        ("POST", "/api/files/write"), ("POST", "/api/align"),
    ],
)  # fmt: skip
def test_every_body_must_be_sent_as_json(client, project, method, path):
    answer = client.request(method, path.format(project=project), content=b'{"annotator": "x", "links": []}')
    sentence = "send the body as JSON: add the header 'Content-Type: application/json' "
    assert answer.status_code == 415
    assert answer.json()["detail"].startswith(sentence)


def test_links_are_exported_in_formats_that_can_be_written(client, project):
    detail = client.get(f"{project}/export", params={"format": "tmx"}).json()["detail"]
    assert "'jsonl'" in detail
    assert "auto" not in detail
    for name in ("pharaoh", "pharaoh-scores", "talp", "naacl", "jsonl"):
        assert client.get(f"{project}/export", params={"format": name}).status_code == 200
    assert client.get(f"{project}/export", params={"format": "auto"}).status_code == 422
