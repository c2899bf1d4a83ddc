"""The server as a process: an address to listen on, the names that lead to it, and uvicorn."""

from __future__ import annotations

import socket
from collections.abc import Iterable

import uvicorn
from fastapi import FastAPI

from weft.errors import SettingError, WeftError
from weft.viewing.serve.connections import Connection
from weft.viewing.serve.guards import EVERY_ADDRESS, LOOPBACK


def listen(host: str, port: int) -> socket.socket:
    """Take an address; port 0 takes a free one."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]  # the rest repeats the address
        raise WeftError(f"cannot listen on {host}:{port} ({reason}); choose another with --port.") from error


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    return address == "::1" or address.startswith("127.")


def hosts_of(host: str, address: str, allowed: Iterable[str] = ()) -> tuple[str, ...]:
    """The names that the server answers to.

    Args:
        host: the name or address it was told to listen on.
        address: the address that this became.
        allowed: further names.
    """
    names = {*LOOPBACK, host, address, *allowed}
    if not is_loopback(address):
        names |= {*EVERY_ADDRESS, socket.gethostname(), socket.getfqdn()}
    return tuple(sorted(names))


def checked_root_path(path: str) -> str:
    """A path with a slash before and none behind it, or nothing."""
    path = path.rstrip("/")
    if path and not path.startswith("/"):
        raise SettingError(f"`root_path` must begin with a slash, got {path!r}.")
    return path


def run(app: FastAPI, listener: socket.socket) -> None:
    """Serve until somebody stops it."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="error",  # requests that are no HTTP are answered, not logged
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=[listener])
