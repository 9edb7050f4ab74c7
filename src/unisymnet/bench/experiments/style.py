"""One look for every figure: the same colours for the same method, quiet axes, PNG and SVG of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import Figure

COLOURS = {
    "unisymnet": "#1f5fa8",
    "unisymnet-paper": "#4aa3df",
    "paper": "#b8860b",
    "truth": "#222222",
    "pyoperon": "#c0392b",
    "gplearn": "#7d5ba6",
    "rils-rols": "#d2691e",
    "eql": "#5f7f3f",
    "mlp": "#c77d2e",
    "svr": "#3a9188",
    "boosting": "#7d5ba6",
    "linear": "#8a8a8a",
}
CYCLE = ("#1f5fa8", "#c0392b", "#3a9188", "#7d5ba6", "#c77d2e", "#5f7f3f", "#8a8a8a", "#d46a9f", "#4aa3df")
STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "svg.hashsalt": "unisymnet",
    "svg.fonttype": "none",
}


def colour(name: str, number: int = 0) -> str:
    """The colour of a method, or one of the cycle for what has none."""
    return COLOURS.get(name.partition(" ")[0], CYCLE[number % len(CYCLE)])


def save(figure: Figure, folder: Path) -> list[Path]:
    """Draw a figure and write it as PNG and SVG; the same records give the same files."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{figure.name}.{kind}" for kind in ("png", "svg")]
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        FigureCanvasAgg(canvas)
        figure.draw(canvas)
        canvas.suptitle(figure.title, fontsize=11.5, x=0.01, ha="left")
        canvas.savefig(paths[0], dpi=150)
        canvas.savefig(paths[1], metadata={"Date": None})
    return paths
