"""Which exported models a search finds: those that the user names, then those installed, then the package's own."""

from __future__ import annotations

import os
from pathlib import Path

from .runtime import MANIFEST, WEIGHTS, shipped

VARIABLE = "UNISYMNET_WEIGHTS"  # a folder with an exported model, or with several


def user_folder() -> Path:
    """Where `unisymnet weights install` puts models."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "unisymnet" / "weights"


def folders() -> list[Path]:
    """Every model at hand, the first of a kind being the one that is used."""
    named = os.environ.get(VARIABLE)
    roots = [Path(named)] if named else []
    found = [root for root in roots if (root / MANIFEST).is_file()]
    for root in (*roots, user_folder(), WEIGHTS):
        found += [root / name for name in shipped(root)]
    return found


def weights_for(n_features: int, root: Path | None = None) -> Path | None:
    """The model for this many columns: low up to four, high beyond; the other one if only that is there.

    With ``root`` only the models of that folder count.
    """
    found = folders() if root is None else [root / name for name in shipped(root)]
    wanted = "low" if n_features <= 4 else "high"
    return min(found, key=lambda folder: not folder.name.endswith(wanted), default=None)
