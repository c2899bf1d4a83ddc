"""Asks a server of forking.py to run a command; as a program it stands for `weft` in lines of bash.

It imports as little as it can, since most of its time would go there.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence

# The sockets of two servers, without torch and with it, divided by a colon.
PLACES = "WEFT_TEST_SERVERS"
_TORCH = ("train", "tune", "model")


def ask(
    place: str | os.PathLike[str],
    arguments: Sequence[str],
    folder: str | os.PathLike[str],
    environment: Mapping[str, str],
    streams: list[int],
) -> socket.socket:
    """Have a command run; its exit code will come through the socket, and closing that ends the command."""
    request = json.dumps([list(arguments), os.fspath(folder), dict(environment)]).encode()
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.fspath(place))
    socket.send_fds(line, [len(request).to_bytes(8)], streams)
    line.sendall(request)
    return line


def needs_torch(arguments: Sequence[str], folder: str | os.PathLike[str]) -> bool:
    """Whether a command will import torch, as far as its words tell."""
    if "--help" in arguments:
        return False
    if arguments and arguments[0] in _TORCH:
        return True
    models = [value for option, value in zip(arguments, arguments[1:], strict=False) if option == "--model"]  # noqa: RUF007
    return any(os.path.isfile(os.path.join(folder, model, "config.json")) for model in models)


def main() -> int:
    """Run a command with the streams of this process."""
    place = os.environ.pop(PLACES).split(":")[needs_torch(sys.argv[1:], os.getcwd())]
    with ask(place, sys.argv[1:], os.getcwd(), os.environ, [0, 1, 2]) as line:
        return int(json.loads(line.recv(64)))


if __name__ == "__main__":
    sys.exit(main())
