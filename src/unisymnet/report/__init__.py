"""What a person looks at after a fit: `report_html`, one page without network, and `plot`, the same in matplotlib.

Reads a fitted estimator, never changes it, and runs no search. Importing this loads nothing but the name that is asked
for: the estimator needs the rows of a report, and not the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .page import report_html as report_html
    from .plots import plot as plot

_HOMES = {"report_html": "page", "plot": "plots"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(_HOMES)}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
