"""What `weft serve` does with hosts, tokens, proxies, frames, idle and lost connections: over real sockets."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import psutil
import pytest

PAIR = json.dumps({"source": "das ist gut", "target": "that is good"}).encode()
JSON = {"Content-Type": "application/json"}


class Server:
    """A running `weft serve`."""

    def __init__(self, *options: object) -> None:
        command = [sys.executable, "-m", "weft", "serve", "--port", "0", *map(str, options)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.said = ""
        while not (match := re.search(r"listening on http://([^\s:]+):(\d+)", self.said)):
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line
        self.host, self.port = match[1], int(match[2])

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection(self.host, self.port, timeout=300)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response, content

    def align(self, **headers: str) -> tuple[int, dict]:
        response, content = self.ask("POST", "/api/align", PAIR, **{**JSON, **headers})
        return response.status, json.loads(content)

    def waiting(self) -> int:
        return int(json.loads(self.ask("GET", "/health")[1])["waiting"])

    def busy(self) -> float:
        """Seconds of a processor so far: how long something takes depends on who else works on the machine."""
        return sum(psutil.Process(self.process.pid).cpu_times()[:2])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=400)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """With a token, on an address of its own, behind a proxy at /weft, and in frames of one site."""
    server = Server(
        *("--host", "127.0.0.2", "--token", "s3cret", "--allowed-host", "proxy.example", "--root-path", "/weft/"),
        *("--allow-embedding", "https://school.example"),
    )
    yield server
    server.stop()


@pytest.fixture(scope="module")
def open_() -> Iterator[Server]:
    """On every address, without a token."""
    server = Server("--host", "0.0.0.0", "--max-seconds", 300)  # the machine may be busy with other work
    yield server
    server.stop()


def test_it_answers_to_its_own_address_and_to_names_it_was_given(guarded):
    for name in ("127.0.0.2", f"127.0.0.2:{guarded.port}", "localhost", "[::1]:80", "proxy.example", "PROXY.example."):
        assert guarded.ask("GET", "/health", Host=name)[0].status == 200, name
    for name in ("evil.example", "10.1.2.3", "127.0.0.2.evil.example", ""):
        response, content = guarded.ask("GET", "/health", Host=name)
        assert response.status == 400, name
        assert "start it with --allowed-host to add a name." in json.loads(content)["detail"]


def test_with_every_address_the_name_is_checked_all_the_same(open_):
    assert "no token is set" in open_.said
    for name in ("localhost", "10.1.2.3:8080", "[fe80::1]", socket.gethostname()):
        assert open_.ask("GET", "/health", Host=name)[0].status == 200, name
    assert open_.ask("GET", "/health", Host="evil.example")[0].status == 400


def test_a_token_is_wanted_and_taken_as_a_header_or_a_cookie(guarded):
    assert "password" not in guarded.said
    status, answer = guarded.align()
    assert (status, answer["detail"]) == (
        401,
        "this server requires a token: send the header 'Authorization: Bearer TOKEN'.",
    )
    status, answer = guarded.align(Authorization="Bearer wrong")
    assert (status, answer["detail"].partition(":")[0]) == (401, "this token is wrong")
    assert guarded.align(Authorization="Bearer s3cret")[0] == 200
    for address, wrong in (("/?token=wrong", True), ("/", False)):
        response, page = guarded.ask("GET", address, Accept="text/html")
        assert (response.status, b"<form" in page, b"That token is wrong." in page) == (401, True, wrong)
    response, _ = guarded.ask("GET", "/api?token=s3cret&x=1", Accept="text/html")
    assert (response.status, response.getheader("Location")) == (303, "/weft/api?x=1")
    cookie = response.getheader("Set-Cookie")
    assert {"HttpOnly", "SameSite=Strict", "Path=/weft"} <= set(re.split("; ?", cookie))
    assert "s3cret" not in cookie
    assert guarded.align(Cookie=cookie.partition(";")[0])[0] == 200
    assert guarded.align(Cookie='weft-token="; x=\\')[0] == 401


def test_behind_a_proxy_paths_work_with_and_without_their_beginning(guarded):
    signed = {"Authorization": "Bearer s3cret"}
    for path in ("/weft/", "/", "/weft/static/app.js", "/static/app.js", "/weft/api/models", "/weft/api"):
        assert guarded.ask("GET", path, **signed)[0].status == 200, path
    assert guarded.ask("POST", "/weft/api/align", PAIR, **signed, **JSON)[0].status == 200
    page = guarded.ask("GET", "/weft/", **signed)[1].decode()
    assert re.findall(r'(?:src|href)="(/[^"]*)"', page) == []
    assert json.loads(guarded.ask("GET", "/weft/openapi.json", **signed)[1])["servers"] == [{"url": "/weft"}]


def test_frames_are_for_sites_that_were_named(guarded, open_):
    for path in ("/", "/embed"):
        policy = guarded.ask("GET", path, Authorization="Bearer s3cret")[0].getheader("Content-Security-Policy")
        assert policy.endswith("frame-ancestors https://school.example")
        policy = open_.ask("GET", path)[0].getheader("Content-Security-Policy")
        assert policy.endswith("frame-ancestors 'none'")


def test_idle_connections_lock_nobody_out(open_):
    idle = []
    try:
        for _ in range(400):
            idle.append(socket.create_connection(("127.0.0.1", open_.port), timeout=400))
        for connection in idle[-100:]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")  # never becomes a request
        assert [open_.align()[0] for _ in range(3)] == [200, 200, 200]
    finally:
        for connection in idle:
            connection.close()


def test_what_is_no_http_is_refused_in_json(open_):
    with socket.create_connection(("127.0.0.1", open_.port), timeout=400) as connection:
        connection.sendall(b"hello there\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"detail": "this is not an HTTP request."}


def test_what_nobody_waits_for_is_not_computed(open_):
    """A hundred pairs take many steps; the client leaves after the first ones."""
    pairs = [
        {"source": f"das ist Satz {number} " * 10, "target": f"this is sentence {number} " * 10}
        for number in range(100)
    ]
    body = json.dumps({"pairs": pairs}).encode()
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", open_.port), timeout=400) as connection:
        head = "POST /api/align HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
        head += f"\r\nContent-Length: {len(body)}"
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        while open_.waiting() == 0:
            assert time.monotonic() - started < 120
        left = open_.busy()
    while open_.waiting():
        assert time.monotonic() - started < 240
        time.sleep(0.02)
    begun = open_.busy()
    assert open_.ask("POST", "/api/align", body, **JSON)[0].status == 200
    assert begun - left < (open_.busy() - begun) / 3


def test_memory_does_not_grow_with_what_strangers_send(open_):
    """Long pairs with new words each time, as many as would have taken hundreds of megabytes for good."""

    def megabytes() -> float:
        with open(f"/proc/{open_.process.pid}/statm") as sizes:
            return int(sizes.read().split()[1]) * 4096 / 1e6

    if not sys.platform.startswith("linux"):
        pytest.skip("asks /proc")
    for number in range(6):
        words = " ".join(f"{number}x{word}" for word in range(180))
        body = json.dumps({"source": words, "target": words}).encode()
        assert open_.ask("POST", "/api/align", body, **JSON)[0].status == 200
    # The library for optimal transport takes 190 MB; torch, which it would load too, takes 150 more.
    for method, most in (("match", 300), ("entmax", 300), ("ot", 450)):
        body = json.dumps({"source": "das ist gut", "target": "that is good", "method": method}).encode()
        assert open_.ask("POST", "/api/align", body, **JSON)[0].status == 200
        assert megabytes() < most
