"""The events of a run as server-sent events: all that the browser has not seen, then each as it happens.

The browser names the last event it has, in a header of its own when it connects again, so nothing comes twice or never.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import StreamingResponse

from .events import NAME, Reader
from .runs import Run

LOOK = 0.05  # seconds between two looks at the file
SILENCE = 15.0  # seconds after which a comment keeps proxies from closing the line
MAX_AT_ONCE = 500  # events in one piece


def stream(request: Request, run: Run) -> StreamingResponse:
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    after = int(given) if given.isdecimal() else 0
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(request, run, after), media_type="text/event-stream", headers=headers)


async def _events(request: Request, run: Run, after: int) -> AsyncIterator[str]:
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
