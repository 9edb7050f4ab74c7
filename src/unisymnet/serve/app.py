"""The routes of the page. Each reads its request, calls a view in a thread, and answers with JSON.

What a person did wrong comes back as one sentence with status 400.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .. import __version__
from ..errors import UniSymNetError
from ..formula.stored import finite
from .actions import Actions
from .events import NAME, Reader
from .guard import Guard
from .place import Place
from .runs import Run
from .workers import Workers

HERE = Path(__file__).parent
LOOKS = 0.25  # seconds between two looks after the workers
LOOK = 0.05  # seconds between two looks at the file
SILENCE = 15.0  # seconds after which a comment keeps proxies from closing the line
MAX_AT_ONCE = 500  # events in one piece
MAX_JSON, MAX_UPLOAD = 1 << 20, 200 << 20  # bytes


class Page:
    """The page of one place."""

    def __init__(self, place: Place, workers: Workers, opened: dict[str, str], max_upload: int = MAX_UPLOAD) -> None:
        self.actions = Actions(place, workers)
        self.workers = workers
        self.opened = opened
        self.max_upload = max_upload

    async def index(self, request: Request) -> Response:
        return FileResponse(HERE / "static" / "index.html", media_type="text/html")

    async def home(self, request: Request) -> Response:
        found = await run_in_threadpool(self.actions.home)
        return answer(found | {"opened": self.opened, "version": __version__, "max_upload": self.max_upload})

    async def upload(self, request: Request) -> Response:
        name = request.path_params["name"]
        with self.actions.place.upload(name) as (file, stored):
            async for piece in self._pieces(request):
                file.write(piece)
        return answer({"name": stored})

    async def table(self, request: Request) -> Response:
        name, target = request.query_params.get("name", ""), request.query_params.get("target")
        return answer(await run_in_threadpool(self.actions.table, name, target))

    async def events(self, request: Request) -> Response:
        return stream(request, self.actions.find(request.query_params.get("run", "")))

    async def predict(self, request: Request) -> Response:
        asked = dict(request.query_params)
        with self.actions.place.passing(asked.get("file", "")) as path:
            with path.open("wb") as file:
                async for piece in self._pieces(request):
                    file.write(piece)
            text, note = await run_in_threadpool(self.actions.predict, asked, path)
        headers = {"Content-Disposition": 'attachment; filename="predicted.csv"', "X-Note": json.dumps(note)}
        return Response(text, media_type="text/csv", headers=headers)

    async def report(self, request: Request) -> Response:
        name, text = await run_in_threadpool(self.actions.report, request.query_params.get("run", ""))
        policy = "sandbox allow-scripts allow-downloads"  # it brings its own policy; opened here it gets no cookie
        headers = {"Content-Disposition": f'attachment; filename="{name}.html"', "Content-Security-Policy": policy}
        return Response(text, media_type="text/html", headers=headers)

    def showing(self, action: Callable[[str], dict[str, Any]]) -> Callable[[Request], Any]:
        """A route that shows something of a run."""

        async def route(request: Request) -> Response:
            return answer(await run_in_threadpool(action, request.query_params.get("run", "")))

        return route

    def doing(self, action: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
        """A route that takes an object and gives one."""

        async def route(request: Request) -> Response:
            body = b"".join([piece async for piece in self._pieces(request, MAX_JSON)])
            try:
                asked = json.loads(body)
            except (ValueError, RecursionError) as error:
                raise HTTPException(400, f"the request is not JSON: {error}") from error
            if not isinstance(asked, dict):
                raise HTTPException(400, "the request must be an object")
            return answer(await run_in_threadpool(action, asked))

        return route

    async def _pieces(self, request: Request, most: int | None = None) -> AsyncIterator[bytes]:
        """The body, as long as it is not too long; a length that is not told is counted."""
        most, seen = self.max_upload if most is None else most, 0
        async for piece in request.stream():
            seen += len(piece)
            if seen > most:
                raise HTTPException(413, f"too large: at most {most / 2**20:.0f} MB can be sent to this page")
            yield piece

    def routes(self) -> list[Any]:
        do = self.actions
        posts = {"commands": do.commands, "start": do.start, "stop": do.stop, "continue": do.go_on}
        posts |= {"formula": do.formula, "moved": do.moved, "sources": do.sources, "own": do.own}
        posts |= {"simulate": do.simulate}
        gets: dict[str, Any] = {"home": self.home, "table": self.table, "events": self.events, "report": self.report}
        gets |= {"run": self.showing(do.run), "rows": self.showing(do.rows)}
        return [
            Route("/", self.index),
            Route("/api/tables/{name}", self.upload, methods=["PUT"]),
            Route("/api/predict", self.predict, methods=["POST"]),
            *(Route(f"/api/{name}", route) for name, route in gets.items()),
            *(Route(f"/api/{name}", self.doing(action), methods=["POST"]) for name, action in posts.items()),
            Mount("/static", StaticFiles(directory=HERE / "static")),
            Mount("/report", StaticFiles(directory=HERE.parent / "report")),
        ]


def stream(request: Request, run: Run) -> StreamingResponse:
    """The events of a run as server-sent events: all that the browser has not seen, then each as it happens.

    The browser names the last event it has, in a header of its own when it connects again, so nothing comes twice or
    never.
    """
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    after = int(given) if given.isdecimal() else 0
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_told(request, run, after), media_type="text/event-stream", headers=headers)


async def _told(request: Request, run: Run, after: int) -> AsyncIterator[str]:
    reader = Reader(run.folder / NAME)
    yield "retry: 700\n\n"
    spoke = time.monotonic()
    while not await request.is_disconnected():
        lines = reader.read(after)
        for start in range(0, len(lines), MAX_AT_ONCE):
            yield "".join(f"id: {number}\ndata: {text}\n\n" for number, text in lines[start : start + MAX_AT_ONCE])
        if lines:
            spoke = time.monotonic()
        elif time.monotonic() - spoke > SILENCE:
            spoke = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(LOOK)


def answer(found: Any) -> JSONResponse:
    return JSONResponse(finite(found))


def make_app(page: Page, token: str, hosts: frozenset[str]) -> Guard:
    """The whole application, guarded."""

    async def watch() -> None:
        while True:
            try:
                await run_in_threadpool(page.workers.look)
            except Exception:  # a folder may vanish while it is looked at; the next look must come all the same
                logging.getLogger("unisymnet").exception("while looking after the searches")
                await asyncio.sleep(20 * LOOKS)
            await asyncio.sleep(LOOKS)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(watch())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    def mistake(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status_code=400)

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, status_code=error.status_code)

    handlers: dict[Any, Any] = {UniSymNetError: mistake, ValueError: mistake, HTTPException: refused}
    return Guard(Starlette(routes=page.routes(), lifespan=life, exception_handlers=handlers), token, hosts)
