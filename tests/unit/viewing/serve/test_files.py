"""Files of the page go through the library's own readers and writers."""

from __future__ import annotations

import base64
import gzip

import pytest
from starlette.testclient import TestClient

from weft.text.links import LinkFormat, format_links
from weft.types import Alignment, Link
from weft.viewing.serve.server import create_app


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app({}, hosts=("testserver",)), raise_server_exceptions=False)


def read(client, *contents: bytes, **more: object):
    files = [{"name": f"f{k}", "content": base64.b64encode(each).decode()} for k, each in enumerate(contents)]
    return client.post("/api/files/read", json={"files": files, **more})


def test_ten_lines_stay_ten(client):
    lines = [b"a ||| b", b"", b"no bars", *[b"c d ||| e"] * 6, b"\xff ||| x"]
    answer = read(client, b"\n".join(lines) + b"\n").json()
    assert [bool(pair["source"]) for pair in answer["pairs"]] == [True, False, False, *[True] * 6, False]
    assert "f0:10" in answer["pairs"][9]["problem"]


def test_compressed_files_and_two_files(client):
    answer = read(client, gzip.compress(b"a\nb c\n"), b"x\ny\n").json()
    assert [pair["source"] for pair in answer["pairs"]] == [["a"], ["b", "c"]]


def test_links_that_count_from_1_are_shifted_as_everywhere(client):
    pairs = [{"source": ["a", "b"], "target": ["c", "d"]}]
    answer = read(client, b"1-1 2p2\n", pairs=pairs).json()
    assert (answer["links"], answer["base"]) == ([[[0, 0, None, True], [1, 1, None, False]]], 1)
    refused = read(client, b"0-0\n0-0\n", pairs=pairs)
    assert (refused.status_code, "f0 has 2 lines" in refused.json()["detail"]) == (422, True)


def test_what_looks_wrong_is_told_to_the_page_and_not_to_the_server(client, caplog):
    table = b"1\tDer Zug.\tThe train.\n2\tja.\tyes.\n3\tgut.\tgood.\n"
    answer = read(client, table).json()
    assert answer["remarks"] == [
        "f0: the first column looks like ids (1, 2, 3, ...), but is read as the source sentences."
    ]
    assert read(client, b"de\ten\nja\tyes\n").json()["remarks"] == [
        "f0:1: this looks like a line of column names (de, en), but is read as a sentence pair."
    ]
    assert caplog.messages == []
    assert read(client, b"ja\tyes\n").json()["remarks"] == []


def test_text_is_told_from_words(client):
    text = read(client, "Der Zug hat Verspätung.\tThe train is late.\n".encode()).json()
    assert (text["unsplit"], text["listed"]) == (True, [])
    listed = read(client, b'{"source": ["a."], "target": ["b."]}\n{"source": "c", "target": "d"}\n').json()
    assert (listed["unsplit"], listed["listed"]) == (False, [True, False])
    assert read(client, b"Der Zug .\tThe train .\n").json()["unsplit"] is False


@pytest.mark.parametrize("format", ["pharaoh", "talp", "naacl"])
def test_what_is_written_is_what_the_library_writes(client, format):
    pairs = [{"source": ["a", "b"], "target": ["c"], "links": [[1, 0, None, False], [0, 0, None, True]]}]
    answer = client.post("/api/files/write", json={"format": format, "pairs": pairs})
    expected = format_links([Alignment.of([Link(0, 0), Link(1, 0, None, False)])], LinkFormat(format))
    assert answer.text == "".join(expected)


def test_jsonl_comes_back_with_scores(client):
    pairs = [{"source": ["a"], "target": ["c"], "links": [[0, 0, 0.25, True]]}]
    text = client.post("/api/files/write", json={"format": "jsonl", "pairs": pairs}).text
    assert read(client, text.encode()).json()["links"] == [[[0, 0, 0.25, True]]]


def test_bad_requests_are_refused_with_a_sentence(client):
    assert client.post("/api/files/read", json={"files": [{"name": "x", "content": "%%%"}]}).json()["detail"] == (
        "x: the content is not base64."
    )
    assert client.post("/api/files/write", json={"format": "auto", "pairs": []}).status_code in (200, 422)
