"""Which records speak of this version?  Only those may stand on the page of results.

A record of ours does if the code that searches is the same at its commit as here, and the weights are those in use.
Code that only shows, serves or measures may differ. Records of other programs rest on the version of the program, which
they state. With `since`, records of that commit and later ones count too, and the page says so.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from .records import Record

# What a search finds does not depend on these parts of the package.
WITHOUT_EFFECT = ("bench/", "cli/", "serve/", "report/", "data/")
WITHOUT_WEIGHTS = ("unisymnet-no-transformer",)
OURS = ("unisymnet", "ours", "sfo", "dno-p", "dno-np", "default")
PACKAGE = Path(__file__).resolve().parents[1]


def current(
    records: Sequence[Record],
    weights: str | None,
    since: str | None = None,
    by_method: Mapping[str, str | None] | None = None,
) -> tuple[list[Record], int]:
    """The records that speak of this version, and how many others there are; some methods have weights of their own."""
    own = by_method or {}
    kept = [record for record in records if speaks(record, own.get(str(record.get("method")), weights), since)]
    return kept, len(records) - len(kept)


def speaks(record: Record, weights: str | None, since: str | None = None) -> bool:
    """Does the record hold for the code and the weights that are here?"""
    method = str(record.get("method", "unisymnet"))
    if not method.startswith(OURS):
        return True
    if method not in WITHOUT_WEIGHTS and record.get("weights") != weights:
        return False
    commit = record.get("commit")
    return isinstance(commit, str) and (same_search(commit) or (since is not None and is_after(commit, since)))


@cache
def same_search(commit: str) -> bool:
    """Is the code that searches the same at the commit and in the working copy?  A commit marked dirty never is."""
    changed = git("diff", "--name-only", "--relative", commit, "--", ".")
    if changed is None or commit.endswith("-dirty"):
        return False
    return all(name.startswith(WITHOUT_EFFECT) or not name.endswith((".py", ".json", ".onnx")) for name in changed)


@cache
def is_after(commit: str, since: str) -> bool:
    """Is the commit `since`, or does it stand on it?"""
    return not commit.endswith("-dirty") and git("merge-base", "--is-ancestor", since, commit) is not None


def git(*words: str) -> list[str] | None:
    """Lines that git says about the package's folder; None where it cannot."""
    try:
        done = subprocess.run(["git", *words], cwd=PACKAGE, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else [line for line in done.stdout.splitlines() if line]
