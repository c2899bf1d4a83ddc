"""Requests as clients send them and as nobody should, and what is checked while a server answers them.

An answer has a status other than 500, and a sentence if it is a refusal; the server is there afterwards, and what it
said it saved can be read from the disk when it has gone.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote

from fuzz import hostile

_PATIENCE = 300.0
_FILE = base64.b64encode(b"das ist gut ||| that is good\nja ||| yes\n").decode()
_RECORDS: tuple[tuple[str, str, object], ...] = (
    ("POST", "/api/align", {"source": "das ist gut", "target": "that is good", "method": "softmax", "threshold": 0.1}),
    ("POST", "/api/align", {"pairs": [{"source": ["a", "b"], "target": "a b"}] * 3, "scores": "raw", "null": 0.5}),
    ("POST", "/api/align", {"source": "Ja, gut.", "target": "はい", "raw": True, "target_language": "ja"}),
    ("POST", "/api/align", {"source": "a b", "target": "a b", "terms": [["a", "b"]], "symmetrize": "union"}),
    ("POST", "/api/files/read", {"files": [{"name": "pairs.txt", "content": _FILE}]}),
    (
        "POST",
        "/api/files/write",
        {"format": "naacl", "pairs": [{"source": ["a"], "target": ["b"], "links": [[0, 0, 0.5, True]]}]},
    ),
    ("POST", "/api/projects", {"name": "new", "files": [{"name": "pairs.txt", "content": _FILE}]}),
    (
        "PUT",
        "/api/projects/work/pairs/1",
        {"annotator": "Ann", "links": [[0, 0], [1, 1, None, False]], "state": "done", "comment": "sure?", "base": 0},
    ),
    ("PUT", "/api/projects/work/pairs/0", {"annotator": "Bob", "links": [[0, 0]], "state": "open"}),
)
_PAGES = (
    "/",
    "/health",
    "/api",
    "/api/models",
    "/openapi.json",
    "/read.html",
    "/embed",
    "/static/app.js",
    "/static/../../server.py",
    "/api/projects",
    "/api/projects/work?annotator=Ann",
    "/api/projects/work/changes?annotator=Ann&since=0",
    "/api/projects/work/agreement?first=Ann&second=Bob",
    "/api/projects/work/export?format=talp&who=Ann",
    "/api/projects/work/export?format=jsonl",
)
_ODD_PARTS = ("%00", "..", "%2e%2e%2f", "%ff", "-1", "9" * 30, "nan", "", "x" * 3000, "%F0%9F%99%82", "work%0a", "٣")
_GARBAGE = (
    b"\x00" * 50,
    b"\x16\x03\x01\x02\x00\x01\x00",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /api/align HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    b"POST /api/align HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
    b"POST /api/align HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"POST /api/align HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
    b"POST /api/align HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}",
    b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 3000 + b"\r\n",
    b"GET /" + b"a" * 90_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"",
)


class Request(NamedTuple):
    """What is sent; `whole` if it is HTTP, and must be answered."""

    data: bytes
    whole: bool = False


def request(random: Random) -> Request:
    """One request: half of them nearly right, the others not."""
    way = random.random()
    if way < 0.1:
        return Request(random.choice(_GARBAGE))
    if way < 0.2:
        return Request(hostile.changed(random, _message("POST", "/api/align", json.dumps(_RECORDS[0][2]).encode())))
    if way < 0.4:
        return Request(_message("GET", _path(random, random.choice(_PAGES)), b""), whole=True)
    method, path, record = random.choice(_RECORDS)
    if way > 0.55:
        record = hostile.with_one_field_changed(random, record)
    body = json.dumps(record, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    if way > 0.95:
        body = random.choice([*hostile.BAD_LINES, hostile.changed(random, body)])
    return Request(_message(method, _path(random, path), body), whole=True)


def _path(random: Random, path: str) -> str:
    if random.random() < 0.75:
        return path
    parts = re.split(r"([/?=&])", path)
    parts[random.randrange(len(parts))] = random.choice(_ODD_PARTS)
    return quote("".join(parts), safe="/?=&%")


def _message(method: str, path: str, body: bytes) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


@dataclass
class Conversation:
    """The requests of a case, and what was wrong with the answers."""

    requests: list[Request]
    breaches: list[str] = field(default_factory=list)
    saved: dict[tuple[str, int], int] = field(default_factory=dict)
    _address: tuple[str, int] = ("", 0)

    def hold(self, server: int, stderr: Path) -> None:
        """Ask a server everything when it listens, and tell it to stop; one that ends at once is not asked."""
        if not self._wait(server, stderr):
            return
        for message in self.requests:
            answer = self._answer(message)
            found = _wrong(answer) if answer else ["no answer"] * message.whole
            self.breaches += (f"{breach}: {message.data[:300]!r} got {answer[:300]!r}" for breach in found)
            self._remember(message.data, answer)
        if not self._answer(Request(_message("GET", "/health", b""), whole=True)):
            self.breaches.append("after the last request the server was not there")
        os.kill(server, signal.SIGTERM)

    def _wait(self, server: int, stderr: Path) -> bool:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if stderr.exists() and (found := re.search(rb"listening on http://([\d.]+):(\d+)", stderr.read_bytes())):
                self._address = found[1].decode(), int(found[2])
                return True
            if os.waitid(os.P_PID, server, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return False
            time.sleep(0.005)
        return False

    def _answer(self, message: Request) -> bytes:
        """All that comes back; a server may close on somebody who is still talking nonsense."""
        answer = b""
        try:
            with socket.create_connection(self._address, timeout=_PATIENCE) as line:
                line.sendall(message.data)
                if not message.whole:
                    line.shutdown(socket.SHUT_WR)
                while part := line.recv(1 << 16):
                    answer += part
        except TimeoutError:
            self.breaches.append(f"no answer in time to {message.data[:300]!r}")
        except OSError:
            pass
        return answer

    def _remember(self, message: bytes, answer: bytes) -> None:
        if message.startswith(b"PUT ") and answer.startswith(b"HTTP/1.1 200 "):
            said = json.loads(message.partition(b"\r\n\r\n")[2])
            number = int(message.split(b" ")[1].rpartition(b"/")[2])
            self.saved[said["annotator"].strip(), number] = json.loads(answer.partition(b"\r\n\r\n")[2])["revision"]

    def lost(self, project: Path) -> Iterator[str]:
        """What the server said it saved and did not."""
        from weft.annotation.project import Project

        if self.saved:
            found = Project.read(project).annotations
            for (annotator, number), revision in self.saved.items():
                said = {name.casefold(): each for name, each in found.items()}.get(annotator.casefold(), {}).get(number)
                if said is None or said.revision != revision:
                    yield f"what {annotator} said of pair {number} is lost"


def _wrong(answer: bytes) -> Iterator[str]:
    """Everything that is wrong with an answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
    if not status or status[1] == b"500":
        yield "no answer of HTTP" if not status else "the server failed"
    elif int(status[1]) >= 400 and b"application/json" in head.lower() and not json.loads(body).get("detail"):
        yield "a refusal without a sentence"
    if b"Traceback" in body or b'.py"' in body:
        yield "Python's own words"
