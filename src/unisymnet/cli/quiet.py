"""Standard output for ours alone: compiled libraries complain there (LAPACK of a matrix with nan), and what is to be
JSON must hold nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ours_alone"]

STDOUT, STDERR = 1, 2


@contextmanager
def ours_alone(wanted: bool) -> Iterator[None]:
    """Send what others print to standard error while the block runs, if that is ``wanted``."""
    try:
        kept = os.dup(STDOUT) if wanted else None
    except OSError:  # standard output is closed
        kept = None
    if kept is None:
        yield
        return
    sys.stdout.flush()
    try:
        os.dup2(STDERR, STDOUT)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, STDOUT)
        os.close(kept)
