"""The server as a process: its models, an address to listen on, the names that lead to it, and uvicorn."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext

import uvicorn
from fastapi import FastAPI

from weft.aligner import Aligner
from weft.annotation.shelf import Shelf
from weft.errors import SettingError, WeftError
from weft.viewing.serve.connections import Connection
from weft.viewing.serve.guards import EVERY_ADDRESS, LOOPBACK
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.server import create_app
from weft.viewing.serve.texts import AlignDocuments

# The library for optimal transport would load torch wherever it is installed, though nothing here needs it.
_NO_TORCH = "POT_BACKEND_DISABLE_PYTORCH"


def serve(
    models: Sequence[str],
    *,
    say: Callable[[str], None],
    layers: Sequence[int] = (),
    device: str = "auto",
    host: str = "127.0.0.1",
    port: int = 8080,
    token: str | None = None,
    allowed_hosts: Iterable[str] = (),
    root_path: str = "",
    frames: Iterable[str] = (),
    project: str | None = None,
    limits: Limits | None = None,
    documents: AlignDocuments | None = None,
) -> None:
    """Serve the web app and the REST API until somebody stops it.

    Args:
        models: names, folders or names on the hub; the first is the default.
        say: is told the address, and what is risky.
        layers: the layer of each model, in the same order; those that are left out have their own.
        device: `auto`, `cpu` or `cuda`.
        host: the address to listen on.
        port: the port; 0 takes a free one.
        token: what clients must know.
        allowed_hosts: further names that the server answers to.
        root_path: where a proxy shows it, such as `/weft`.
        frames: the sites that may show its pages in a frame.
        project: an annotation project, or a folder of projects.
        limits: bounds on requests and on the queue.
        documents: what aligns whole texts: `weft.align_documents`.
    """
    root = checked_root_path(root_path)
    if token is not None and not token.strip():
        raise SettingError("`token` is empty; leave it out if no token is needed.")
    aligners = load_models(models, layers, device)
    if not any(aligner.encoder.runs_in_torch for aligner in aligners.values()):
        os.environ.setdefault(_NO_TORCH, "1")
    with closing(Shelf(project)) if project else nullcontext() as shelf, listen(host, port) as listener:
        address, bound = listener.getsockname()[:2]
        if not is_loopback(address) and token is None:
            say(
                f"{host} can be reached from other machines, and no token is set: anyone who can reach it can use it. "
                "Leave out --host to keep it private, or set a token with --token."
            )
        app = create_app(
            aligners,
            limits=limits,
            hosts=hosts_of(host, address, allowed_hosts),
            token=token,
            root_path=root,
            frames=tuple(frames),
            projects=shelf,
            documents=documents,
        )
        say(f"listening on {_shown(address, bound)} (Ctrl-C stops).")
        run(app, listener)


def load_models(models: Sequence[str], layers: Sequence[int], device: str) -> dict[str, Aligner]:
    """Models by the names that clients see: the last part of a path, which tells nobody where it lies.

    Args:
        models: names, folders or names on the hub.
        layers: the layers of the first of them.
        device: where they run.
    """
    if len(layers) > len(models):
        raise SettingError("there are more layers than models; give one --layer per --model, in the same order.")
    aligners: dict[str, Aligner] = {}
    for number, model in enumerate(models):
        layer = layers[number] if number < len(layers) else None
        name = model.rstrip("/").rpartition("/")[2] or model
        name = name if layer is None else f"{name}, layer {layer}"
        if name in aligners:
            raise SettingError(f"two models are called {name}; rename a folder, so that they can be told apart.")
        aligners[name] = Aligner.from_pretrained(model, layer=layer, device=device)
    return aligners


def _shown(address: str, port: int) -> str:
    name = "localhost" if address in ("0.0.0.0", "::") else f"[{address}]" if ":" in address else address
    return f"http://{name}:{port}"


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
