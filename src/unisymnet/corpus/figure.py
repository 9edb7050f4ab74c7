"""A picture of a corpus: what `summary` counted, as bars.  matplotlib is an extra, loaded only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import DataError

_BAR, _REJECTED = "#1f5fbf", "#b5371f"


def draw_summary(found: Mapping[str, Any], path: Path | str) -> None:
    """Write dimension, depth, label length, operators and rejections of a summary to a PNG, SVG or PDF file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'unisymnet[plot]'") from error
    figure = Figure(figsize=(10.0, 6.4), layout="constrained")
    figure.suptitle(f"{found['n_examples']:,} random functions, {found['distinct_labels']:,} different labels")
    places = figure.subplots(2, 3).ravel()
    n = max(found["n_examples"], 1)
    shares = {key: {k: v / n for k, v in found[key].items()} for key in ("dimension", "depth", "label_length")}
    _bars(places[0], "input columns", "share of functions", shares["dimension"])
    _bars(places[1], "depth L of the network", "share of functions", shares["depth"])
    _bars(places[2], "length of the label", "share of functions", shares["label_length"], ticks=False)
    per_function = {op: count / n for op, count in found["operators"].items()}
    _lying(places[3], "operators in a function, on average", per_function, _BAR)
    _lying(places[4], "rejected, share of all tries", found["rejected"], _REJECTED)
    _known(places[5], found)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot write {path}: {error}; use a name that ends in .png, .svg or .pdf") from error


def _bars(place: Any, x: str, y: str, shares: Mapping[int, float], ticks: bool = True) -> None:
    place.bar(list(shares), list(shares.values()), color=_BAR, width=0.8)
    place.set(xlabel=x, ylabel=y)
    if ticks:
        place.set_xticks(list(shares))


def _lying(place: Any, title: str, shares: Mapping[str, float], colour: str) -> None:
    order = sorted(shares, key=lambda name: shares[name])
    if order:
        place.barh(order, [shares[name] for name in order], color=colour)
    else:
        place.text(0.5, 0.5, "not known", ha="center", transform=place.transAxes)
    place.set_xlabel(title)


def _known(place: Any, found: Mapping[str, Any]) -> None:
    """How concentrated the labels are: the share of functions that the most frequent labels cover."""
    covered = found["covered"]
    place.plot(list(covered), list(covered.values()), "o-", color=_BAR)
    place.set(xscale="log", ylim=(0.0, 1.0), xlabel="most frequent labels", ylabel="share of functions covered")
