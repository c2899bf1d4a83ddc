from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest

from processes import interruptible
from weft.annotation.project import create_project
from weft.annotation.sentences import ProjectPair
from weft.errors import install_command
from weft.types import SentencePair


@pytest.fixture
def started() -> Iterator[object]:
    """Start `weft serve`; returns the process, its first lines and its address."""
    processes = []

    def start(*options: object):
        command = [sys.executable, "-m", "weft", "serve", "--port", "0", *map(str, options)]
        process = interruptible(command, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        said = ""
        while not (match := re.search(r"listening on (http://\S+)", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        return process, said, match[1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


def post(address: str, **request: object) -> dict:
    body = json.dumps(request).encode()
    with urlopen(Request(f"{address}/api/align", body, {"Content-Type": "application/json"}), timeout=400) as answer:
        return json.load(answer)


def test_it_listens_on_loopback_answers_and_stops(started, tiny_bert):
    process, said, address = started("--model", "weft-mini", "--model", tiny_bert)
    assert "password" not in said
    assert address.startswith("http://127.0.0.1:")
    answer = post(address, source="gut .", target="good .")
    assert answer["model"] == "weft-mini"
    assert [link[:2] for link in answer["alignments"][0]["links"]] == [[0, 0], [1, 1]]
    assert post(address, source="gut .", target="good .", model="bert")["model"] == "bert"
    with urlopen(f"{address}/api/models", timeout=400) as models:
        assert str(tiny_bert) not in models.read().decode()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=400) in (0, 130, -signal.SIGINT)
    assert "Traceback" not in process.stderr.read()


def test_other_addresses_come_with_a_warning(started):
    _, said, address = started("--host", "0.0.0.0")
    assert "weft: 0.0.0.0 can be reached from other machines, and no token is set" in said
    assert address.startswith("http://localhost:")
    assert post(address, source="a", target="a")["alignments"][0]["links"][0][:2] == [0, 0]


def test_a_folder_of_projects_is_served(started, tmp_path):
    create_project(tmp_path / "one", [ProjectPair(SentencePair(("ja",), ("yes",)))])
    create_project(tmp_path / "two", [ProjectPair(SentencePair(("gut",), ("good",)))] * 2)
    _, _, address = started("--project", tmp_path)
    with urlopen(f"{address}/api/projects", timeout=400) as answer:
        found = json.load(answer)
    assert (found["can_create"], [(each["name"], each["pairs"]) for each in found["projects"]]) == (
        True,
        [("one", 1), ("two", 2)],
    )


def test_a_taken_port_is_one_sentence(weft):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = weft("serve", "--port", port)
    assert done.returncode == 1
    assert done.stderr == (
        f"weft: cannot listen on 127.0.0.1:{port} (Address already in use); choose another with --port.\n"
    )


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--model", "weft-mini", "--model", "weft-mini"], 2, "two models are called weft-mini"),
        (["--layer", "1", "--layer", "2"], 2, "there are more layers than models"),
        (["--model", "/nowhere/at/all"], 1, "there is no folder /nowhere/at/all."),
        (["--host", "256.1.1.1"], 1, "cannot listen on 256.1.1.1:8080"),
    ],
)
def test_bad_options_are_one_sentence(weft, options, code, message):
    done = weft("serve", *options)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_extra_is_named_where_it_is_missing():
    code = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['weft', 'serve']\n"
        "from weft.cli.main import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"weft: The web app needs an optional part of weft: {install_command('serve')}.\n"
