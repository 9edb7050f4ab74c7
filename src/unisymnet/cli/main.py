"""The door of the command line: runs a command and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TextIO

from ..errors import UniSymNetError
from ..symbolic.text import printable_lines
from .app import app

BAD_DATA, BUG, INTERRUPTED = 3, 70, 130


def main() -> None:
    """Run a command; mistakes in the data become one line and exit code 3, mistakes of ours another and 70."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _told
            app()
    except UniSymNetError as error:
        print(f"error: {printable_lines(str(error))}", file=sys.stderr)
        sys.exit(BAD_DATA)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `unisymnet … | head`: nobody reads on, which is no mistake
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # a full disk, a folder without permission
        about = f": {error.filename}" if error.filename else ""
        print(f"error: {error.strerror or error}{about}", file=sys.stderr)
        sys.exit(BAD_DATA)
    except MemoryError:
        print("error: not enough memory; give fewer rows or columns", file=sys.stderr)
        sys.exit(BAD_DATA)
    except Exception as error:
        if os.environ.get("UNISYMNET_DEBUG"):
            raise
        print(f"error: this should not happen, please report it: {type(error).__name__}: {error}", file=sys.stderr)
        print("  (UNISYMNET_DEBUG=1 shows where it happened)", file=sys.stderr)
        sys.exit(BUG)


def _told(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line; file and line of the code that warns mean nothing to whoever uses a command."""
    print(f"warning: {printable_lines(str(message))}", file=sys.stderr)
