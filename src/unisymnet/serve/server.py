"""`serve`: the page of a folder at an address of this machine, until Ctrl-C.

Binds the loopback interface unless told otherwise. The token stays the same for a folder, so that a page left open
finds a server that was started again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError
from .place import Place
from .runs import Run
from .workers import Workers

PORT, PORTS = 8345, 20  # the first to try, and how many


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line."""

    what: str | None = None
    host: str = "127.0.0.1"
    port: int | None = None
    at_once: int = 1
    browser: bool = True
    folder: str | None = None


def serve(wish: Wish) -> None:
    """Run the server until it is stopped."""
    import uvicorn

    from .app import Page, make_app

    place, opened = where(wish)
    listener, port = _listen(wish)
    token = remembered_token(place.root)
    workers = Workers(place, wish.at_once)
    app = make_app(Page(place, workers, opened), token, hosts(wish.host, port))
    shown = "127.0.0.1" if wish.host in ("0.0.0.0", "::") else wish.host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/?token={token}"
    print(
        f"The page of {place.root} is at\n\n    {address}\n\nPress Ctrl-C to stop the page; searches keep running.",
        flush=True,
    )
    if wish.host not in ("127.0.0.1", "::1", "localhost"):
        print("Others on your network can reach it; whoever has the address can use it.", file=sys.stderr)
    if wish.browser:
        webbrowser.open(address)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        going_on = workers.close()
    if going_on:
        print(f"{going_on} search{'es' if going_on > 1 else ''} still running; `unisymnet serve` shows them again.")


def where(wish: Wish) -> tuple[Place, dict[str, str]]:
    """The start folder, and what the page opens first."""
    folder = Path(wish.folder) if wish.folder is not None else Path.cwd()
    if not folder.is_dir():
        raise DataError(f"there is no folder {wish.folder!r}")
    if wish.what is None:
        return Place.at(folder), {}
    path = Path(wish.what).resolve()
    if not path.exists():
        raise DataError(f"there is no table and no run {wish.what!r}; give a file, the folder of a run, or nothing")
    if path.name == "model.json":
        path = path.parent
    is_run = path.is_dir() and Run(path, path.name).exists()
    if path.is_dir() and not is_run:
        return Place.at(path), {}
    place = Place.at(folder)
    if not place.holds(path):
        if wish.folder is not None:
            raise DataError(f"{wish.what!r} is not in the folder {wish.folder!r}")
        place = Place.at(path.parent)
    name = place.name_of(path)
    return place, {"run": name} if is_run else {"data": name}


def hosts(host: str, port: int) -> frozenset[str]:
    """What the Host header may say."""
    names = {"127.0.0.1", "localhost", "[::1]"}
    if host in ("0.0.0.0", "::"):
        names |= {socket.gethostname(), socket.getfqdn()}
    else:
        names.add(f"[{host}]" if ":" in host else host)
    return frozenset(f"{name}:{port}" for name in names)


def remembered_token(root: Path) -> str:
    """A secret for this folder, kept where only this user can read it."""
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unisymnet"
    file = place / f"page-{hashlib.sha256(str(root).encode()).hexdigest()[:16]}.token"
    try:
        kept = file.read_text("ascii").strip()
        if len(kept) >= 32 and file.stat().st_mode & 0o077 == 0:
            return kept
    except (OSError, ValueError):
        pass
    token = secrets.token_urlsafe(32)
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.unlink(missing_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(handle, token.encode("ascii"))
        os.close(handle)
    except OSError:
        pass  # a home that cannot be written to: the token then lives as long as the server
    return token


def _listen(wish: Wish) -> tuple[socket.socket, int]:
    """A socket that listens: at the port asked for, or at the first that is free."""
    family = socket.AF_INET6 if ":" in wish.host else socket.AF_INET
    tried = range(PORT, PORT + PORTS) if wish.port is None else [wish.port]
    problem: OSError | None = None
    for port in tried:
        listener = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # a port of a server that was just killed
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((wish.host, port))
            listener.listen(128)
            return listener, int(listener.getsockname()[1])
        except OSError as error:
            listener.close()
            problem = error
    raise DataError(f"no free port on {wish.host} (tried {tried[0]} to {tried[-1]}): {problem}; use --port")
