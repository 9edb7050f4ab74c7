"""`serve`: starts the page, which is a program of its own: it uses the command line, not the other way round."""

from __future__ import annotations

import runpy
import sys


def start_page(what: str | None, port: int | None, host: str, folder: str | None, at_once: int, browser: bool) -> None:
    words = ["--host", host, "--at-once", str(at_once)]
    words += [] if port is None else ["--port", str(port)]
    words += [] if folder is None else ["--folder", folder]
    words += [] if browser else ["--no-browser"]
    words += [] if what is None else ["--", what]
    sys.argv = ["unisymnet serve", *words]
    runpy.run_module("unisymnet.serve", run_name="__main__")
