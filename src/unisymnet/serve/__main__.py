"""`python -m unisymnet.serve`: what `unisymnet serve` starts. A program of its own, above the command line."""

from __future__ import annotations

import argparse
import sys

from ..errors import UniSymNetError

BAD_DATA, MISSING = 3, 2


def main() -> None:
    reader = argparse.ArgumentParser(prog="unisymnet serve")
    reader.add_argument("what", nargs="?")
    reader.add_argument("--folder")
    reader.add_argument("--host", default="127.0.0.1")
    reader.add_argument("--port", type=int)
    reader.add_argument("--at-once", type=int, default=1)
    reader.add_argument("--no-browser", action="store_true")
    given = reader.parse_args()
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        print(f"error: the page needs one more package: pip install 'unisymnet[web]' ({error})", file=sys.stderr)
        sys.exit(MISSING)
    from .server import Wish, serve

    wish = Wish(given.what, given.host, given.port, max(given.at_once, 1), not given.no_browser, given.folder)
    try:
        serve(wish)
    except UniSymNetError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(BAD_DATA)


if __name__ == "__main__":
    main()
