"""Which exported models a search finds: those that the user names, then those installed, then the package's own.

Beside its ordinary models the package has others that are used only by name, each in a folder of its own below
`WEIGHTS`: "points" reads points instead of statistics (ADR 40).
"""

from __future__ import annotations

import os
from pathlib import Path

from .runtime import MANIFEST, WEIGHTS, shipped

VARIABLE = "UNISYMNET_WEIGHTS"  # a folder with an exported model, or with several; or the name of one
POINTS = "points"


def user_folder() -> Path:
    """Where `unisymnet weights install` puts models."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "unisymnet" / "weights"


def folders(named: str | None = None) -> list[Path]:
    """Every model at hand, the first of a kind being the one that is used; ``named`` ones come first."""
    named = named or os.environ.get(VARIABLE)
    roots = [place_of(named)] if named else []
    found = [root for root in roots if (root / MANIFEST).is_file()]
    for root in (*roots, user_folder(), WEIGHTS):
        found += [root / name for name in shipped(root)]
    return found


def place_of(named: str) -> Path:
    """The folder of that path, or the package's models of that name."""
    inside = WEIGHTS / named
    return inside if not Path(named).exists() and named in alternatives() else Path(named)


def alternatives() -> list[str]:
    """Names of the package's models that are used only by name."""
    return sorted({path.parent.parent.name for path in WEIGHTS.glob(f"*/*/{MANIFEST}")})


def weights_for(n_features: int, root: Path | None = None, *, named: str | None = None) -> Path | None:
    """The model for this many columns: low up to four, high beyond; the other one if only that is there.

    With ``root`` only the models of that folder count; ``named`` ones go before all others.
    """
    found = folders(named) if root is None else [root / name for name in shipped(root)]
    wanted = "low" if n_features <= 4 else "high"
    return min(found, key=lambda folder: not folder.name.endswith(wanted), default=None)
