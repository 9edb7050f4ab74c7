# ruff: noqa: E501
"""Every route of `unisymnet serve` with methods, names, bodies and headers that the page would never send."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from attacks import tables, texts
from attacks.names import HOSTILE
from unisymnet.serve.app import Page, make_app
from unisymnet.serve.place import Place
from unisymnet.serve.workers import Workers

HOST, TOKEN = "127.0.0.1:7777", "t" * 43
GETS, POSTS = (
    ("home", "table", "run", "rows", "report"),
    ("commands", "start", "stop", "continue", "formula", "moved", "sources", "own", "simulate"),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "GTE")
NAMES = (
    "../x", "../../etc/passwd", "/etc/passwd", "..\\x", "a/../../b", ".", "..", "", " ", "run/../run", "run/model.json", ".hidden", "ok.csv\0",
    "C:\\x", "~/x", "//etc/passwd", "%2e%2e/x", "run\n", "x" * 3000, "\ud800", "nul", "unisymnet-page", "unisymnet-page/data", "link", "link/ok.csv",
    "ok.csv", "run", "motion", "decay.csv",
)  # fmt: skip


class Idle(Workers):
    """Nobody searches here; what is asked for stays in the queue."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._said.close()

    def look(self) -> None: ...


class Door:
    """The application as a server would call it, without a network."""

    def __init__(self, folder: Path, max_upload: int = 1 << 16) -> None:
        self.place = Place.at(folder)
        self.app = make_app(Page(self.place, Idle(self.place), {}, max_upload), TOKEN, frozenset({HOST}))

    def ask(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Any = ()
    ) -> tuple[int, Any, bytes]:
        """Status, headers and body; what the application lets through raises."""
        given = [(b"host", HOST.encode()), (b"x-unisymnet-token", TOKEN.encode())] if headers == () else list(headers)
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": quote(path, errors="surrogatepass").encode(),
            "query_string": query.encode(), "headers": given, "scheme": "http", "server": ("127.0.0.1", 7777), "client": ("127.0.0.1", 1), "root_path": "",
        }  # fmt: skip
        sent: list[dict[str, Any]] = []
        pieces = [body[i : i + 4096] for i in range(0, len(body), 4096)] or [b""]

        async def receive() -> dict[str, Any]:
            if not pieces:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))  # type: ignore[arg-type]
        first = next(message for message in sent if message["type"] == "http.response.start")
        whole = b"".join(message.get("body", b"") for message in sent)
        return first["status"], {k.decode().lower(): v.decode("latin-1") for k, v in first["headers"]}, whole


def home(folder: Path) -> Path:
    """A folder with tables, a run of formulas, a run of a system, a damaged run, and a link that leads outside."""
    from attacks import fits, waves

    place = folder / "place"
    place.mkdir()
    (folder / "secret.csv").write_text("key,value\n1,2\n3,4\n")
    fits.small_run(place)
    (place / "ok.csv").write_text(
        "length,mass,y\n" + "".join(f"{i},{i % 5 + 1},{2 * i / (i % 5 + 1)}\n" for i in range(1, 40))
    )
    (place / "decay.csv").write_text("t,x\n" + "".join(f"{i / 10},{0.9**i}\n" for i in range(40)))
    (place / "run" / "data.json").write_text(json.dumps({"path": str(place / "ok.csv")}))
    for name, which in (("motion", 1), ("damaged", 1)):
        (place / name).mkdir()
        data = waves.saved(which)
        (place / name / "model.json").write_text(json.dumps(data if name == "motion" else data | {"system": [1]}))
    os.symlink(folder, place / "link")
    return place


def _value(rng: random.Random, key: str) -> Any:
    usual: dict[str, tuple[Any, ...]] = {
        "run": ("run", "motion", "damaged", *NAMES), "data": ("ok.csv", "decay.csv", *NAMES), "target": ("y", "mass", "nope"), "time": ("t",), "kind": ("dynamics", "law"),
        "text": ("2*length/mass", "x +", None), "formula": ("a*length/mass", "length/0", "b*mass +", "9**9**9**9*a", "c*x99999"), "features": (["length"], ["y"], [""]),
        "states": (["x"], ["x", "x"], ["nope"]), "values": ([2.0], [], [1e308, 1e308]), "start": ([1.0, 2.0], [1e300, -1e300]), "until": (1.0, 1e5, -1), "seconds": (0.5, 1e9),
        "settings": ({"max_time": 1}, {"max_time": "1"}, {"operators": "+,boom"}, {"units": {"y": "m"}}, {"template": "f(length)"}, {"checkpoint": "/tmp/x"}, {"constraints": ["y >="]}, {"callback": "x"}, {"order": 2}),
    }  # fmt: skip
    good = usual.get(key, ())
    return rng.choice(good) if good and rng.random() < 0.7 else rng.choice((*texts.ODD, *HOSTILE[:40]))


KEYS = ("run", "data", "target", "features", "settings", "guesses", "groups", "weights", "sigma", "missing", "delimiter", "kind", "time", "states",
        "inputs", "trajectory", "text", "formula", "refit", "values", "light", "start", "until", "seconds", "keep")  # fmt: skip
NEEDED = {
    "commands": ("data", "target", "features", "settings"), "start": ("data", "target", "features", "settings"), "stop": ("run",), "continue": ("run", "seconds", "keep"),
    "formula": ("run", "text"), "moved": ("run", "text", "values"), "sources": ("run", "text", "values"), "own": ("run", "formula"), "simulate": ("run", "start", "until"),
}  # fmt: skip


def request(rng: random.Random) -> dict[str, Any]:
    """One request: most are nearly right, because what is nonsense is refused at the door."""
    kind = rng.random()
    if kind < 0.5:
        route = rng.choice(POSTS)
        keys = [*(key for key in NEEDED[route] if rng.random() < 0.9), *rng.sample(KEYS, rng.choice([0, 0, 1, 3]))]
        body = json.dumps({key: _value(rng, key) for key in keys}).encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            body = rng.choice([b"", b"[]", b"[" * 50_000, b"\xff", b"9" * 5000, b"nul", b"{}" * 3, b" " * (1 << 21)])
        return {"method": "POST", "path": f"/api/{route}", "body": body}
    if kind < 0.7:
        route, query = rng.choice((*GETS, "predict")), {}
        for key in ("run", "name", "target", "text", "file"):
            if rng.random() < 0.6:
                query[key] = str(rng.choice((*NAMES, *HOSTILE))).encode("utf-8", "surrogatepass")
        if rng.random() < 0.5:
            query |= {"run": b"run", "name": b"ok.csv", "file": rng.choice([b"a.csv", b"a.xlsx", b"a.parquet"])}
        method = "POST" if route == "predict" else "GET"
        return {"method": method, "path": f"/api/{route}", "query": urlencode(query), "body": tables.damaged(rng)}
    if kind < 0.85:
        stem = rng.choice((*HOSTILE, *NAMES))
        name = stem + rng.choice([".csv", ".CSV", ".xlsx", ".parquet", ".pkl", "", ".csv/", ".ods", ".xls"])
        return {"method": "PUT", "path": f"/api/tables/{name}", "body": tables.damaged(rng) * rng.choice([1, 1, 200])}
    place = rng.choice(
        [
            f"/api/{rng.choice((*GETS, *POSTS))}",
            "/",
            "/static/" + rng.choice(NAMES),
            "/report/" + rng.choice(NAMES),
            "/api/" + rng.choice(NAMES),
            "/" + rng.choice(NAMES),
        ]
    )
    return {"method": rng.choice(METHODS), "path": place}


def route_fault(door: Door, asked: dict[str, Any]) -> str | None:
    """An answer, in time, of a status that is no fault of ours, as JSON or a page, and nothing from outside."""
    began = time.process_time()
    try:
        status, headers, body = door.ask(**asked)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    spent = time.process_time() - began
    if status >= 500 or spent > 12.0:
        return f"status {status} after {spent:.1f} s"
    if status == 200 and (b"secret" in body or b"root:" in body):
        return "shows what lies outside its folder"
    if "default-src" not in headers.get("content-security-policy", "") and "sandbox" not in headers.get(
        "content-security-policy", ""
    ):
        return "an answer without a policy"
    if status == 400 and headers.get("content-type") == "application/json":
        told = json.loads(body)["error"]
        return None if 0 < len(told) < 1500 else "a message longer than a screen, or none"
    return None


def stray(folder: Path) -> str | None:
    """Has anything been written beside the folder of the page?"""
    found = sorted(path.name for path in folder.iterdir())
    return None if found == ["place", "secret.csv"] else f"written outside: {found}"


def guard_fault(door: Door, rng: random.Random) -> str | None:
    """A request without the token, or with another host or origin, is refused, whatever else it says."""
    host, token = (
        rng.choice([HOST, "evil.example", "127.0.0.1", "localhost:7777", "", "127.0.0.1:7777.evil.example"]),
        rng.choice([TOKEN, "", TOKEN[:-1], "é"]),
    )
    origin = rng.choice([None, f"http://{HOST}", "http://evil.example", "null", "https://127.0.0.1:7777", ""])
    site = rng.choice([None, "same-origin", "cross-site", "same-site", "none", "x"])
    headers = [(b"host", host.encode()), (b"x-unisymnet-token", token.encode("latin-1"))]
    headers += [(b"origin", origin.encode())] if origin is not None else []
    headers += [(b"sec-fetch-site", site.encode())] if site is not None else []
    headers += [
        (b"cookie", rng.choice([b"", b"unisymnet-7777=wrong", b"\xff=\xff; ;;==", b'unisymnet-7777="', b"a" * 5000]))
    ]
    try:
        status, _, _ = door.ask("GET", "/api/home", headers=headers)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    good = (
        host == HOST and token == TOKEN and origin in (None, f"http://{HOST}") and site in (None, "same-origin", "none")
    )
    return None if (status == 200) == good and status < 500 else f"status {status} for {host!r}, {origin!r}, {site!r}"


def faults(folder: Path) -> Callable[[int], str | None]:
    """Every route of `unisymnet serve`, nearly right and quite wrong; every tenth time what its guard must refuse."""
    door = Door(home(folder))

    def fault(number: int) -> str | None:
        if number % 10 == 0:
            return guard_fault(door, random.Random(number))
        return route_fault(door, request(random.Random(number))) or stray(folder)

    return fault
