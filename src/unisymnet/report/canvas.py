"""Small pieces of SVG: axes with ticks, dots, lines, areas, and a picture of a grid of numbers.

Colours come from the classes of page.css, so that a chart follows light and dark. Knows no formula and no model.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats

LEFT, RIGHT, TOP, BOTTOM = 66, 14, 12, 42
LETTER = 7.2  # width of a letter of a label

# A scale from dark to bright that keeps its order for colour-blind eyes (viridis, eight stops).
_STOPS = bytes.fromhex("440154 46327f 365c8d 277f8e 1fa187 4ac26d 9fda3a fde725")
_SCALE = np.frombuffer(_STOPS, dtype=np.uint8).reshape(-1, 3).astype(np.float64)


@dataclass(frozen=True)
class Axis:
    """Numbers to places on the canvas; on a logarithmic axis the numbers are powers of ten."""

    low: float
    high: float
    start: float
    end: float
    label: str = ""
    powers: bool = False

    def at(self, values: Floats | float) -> Floats:
        share = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        if self.powers:
            step = max(1, math.ceil((self.high - self.low) / 6))
            exponents = range(math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9) + 1)
            return [(float(e), _power_text(e)) for e in exponents if e % step == 0]
        return [(value, _tick_text(value, self.high - self.low)) for value in nice_ticks(self.low, self.high)]


@dataclass
class Canvas:
    """A chart being drawn: axes first, marks in the order in which they are added."""

    title: str
    x: Axis
    y: Axis
    width: int = 380
    height: int = 270
    marks: list[str] = field(default_factory=list)

    def add(self, *marks: str) -> None:
        self.marks += marks

    def svg(self, css: str = "chart", role: str = "img") -> str:
        grid, labels = [], []
        bottom, left = self.height - BOTTOM, LEFT
        for value, text in self.x.ticks():
            at = float(self.x.at(value))
            grid.append(f"M{at:.1f} {TOP}V{bottom}")
            labels.append(f'<text x="{at:.1f}" y="{bottom + 15}" text-anchor="middle">{text}</text>')
        for value, text in self.y.ticks():
            at = float(self.y.at(value))
            grid.append(f"M{left} {at:.1f}H{self.width - RIGHT}")
            labels.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
        middle = (TOP + bottom) / 2
        labels.append(
            f'<text class="name" x="{(left + self.width - RIGHT) / 2:.0f}" y="{self.height - 6}" '
            f'text-anchor="middle">{_short(self.x.label, self.width - left - RIGHT)}</text>'
        )
        labels.append(
            f'<text class="name" transform="translate(12 {middle:.0f}) rotate(-90)" text-anchor="middle">'
            f"{_short(self.y.label, bottom - TOP)}</text>"
        )
        box = f"0 0 {self.width} {self.height}"
        return (
            f'<svg class="{css}" viewBox="{box}" role="{role}" aria-label="{escape(self.title)}">'
            f'<path class="grid" d="{"".join(grid)}"/>{"".join(self.marks)}{"".join(labels)}</svg>'
        )


def axes(
    width: int, height: int, x: tuple[float, float], y: tuple[float, float], labels: tuple[str, str]
) -> tuple[Axis, Axis]:
    """A pair of axes that fills a canvas, with a little room around the numbers."""
    (low, high), (bottom, top) = padded(*x), padded(*y)
    return (
        Axis(low, high, LEFT, width - RIGHT, labels[0]),
        Axis(bottom, top, height - BOTTOM, TOP, labels[1]),
    )


def padded(low: float, high: float, share: float = 0.04) -> tuple[float, float]:
    width = high - low
    if not width > 1e-12 * max(abs(low), abs(high)):
        width = 0.1 * (abs(high) or 1.0) / share
    return low - share * width, high + share * width


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between the two."""
    raw = (high - low) / most
    if not math.isfinite(raw) or raw <= 0.0:
        return []
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(m * unit for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * unit >= raw * (1.0 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [(first + k) * step for k in range(min(count, 2 * most))]


def dots(x: Axis, y: Axis, u: Floats, v: Floats, css: str = "dot", opacity: float = 1.0, half: float = 0.0) -> str:
    """Any number of dots in one path: a point is a line of no length with round ends (or of two halves: a dash)."""
    good = np.isfinite(u) & np.isfinite(v)
    low, high = sorted((y.start, y.end))
    places = zip(x.at(u[good]), np.clip(y.at(v[good]), low, high))
    path = "".join(f"M{a - half:.1f} {b:.1f}h{2 * half:g}" for a, b in places)
    faint = "" if opacity >= 1.0 else f' style="opacity:{opacity:.2f}"'
    return f'<path class="{css}" d="{path}"{faint}/>' if path else ""


def line(x: Axis, y: Axis, u: Floats, v: Floats, css: str = "curve") -> str:
    """A line, broken where there is no value, and at a pole: where it would cross the whole chart in one step."""
    low, high = sorted((y.start, y.end))
    reach = high - low
    pieces, pen, last = [], "M", math.nan
    for a, b in zip(x.at(u), y.at(v)):
        if not math.isfinite(b):
            pen = "M"
            continue
        if (last < low and b > high) or (last > high and b < low):
            pen = "M"
        last = float(b)
        pieces.append(f"{pen}{a:.1f} {min(max(b, low - reach), high + reach):.1f}")
        pen = "L"
    return f'<path class="{css}" d="{"".join(pieces)}"/>' if pieces else ""


def area(x: Axis, y: Axis, u: Floats, lower: Floats, upper: Floats, css: str = "band") -> str:
    """The area between two lines, where both have a value."""
    good = np.isfinite(lower) & np.isfinite(upper)
    if not good.any():
        return ""
    low, high = sorted((y.start, y.end))
    shapes = []
    # Runs of rows with values, so that an area does not bridge a gap.
    for run in np.split(np.flatnonzero(good), np.flatnonzero(np.diff(np.flatnonzero(good)) > 1) + 1):
        top = list(zip(x.at(u[run]), np.clip(y.at(upper[run]), low, high)))
        back = list(zip(x.at(u[run]), np.clip(y.at(lower[run]), low, high)))[::-1]
        shapes.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in [*top, *back]) + "Z")
    return f'<path class="{css}" d="{"".join(shapes)}"/>'


def clip(inner: Iterable[str], name: str, width: int, height: int) -> str:
    """Marks that must not leave the frame; `name` must be unique in the page."""
    box = f'<rect x="{LEFT}" y="{TOP}" width="{width - LEFT - RIGHT}" height="{height - TOP - BOTTOM}"/>'
    return f'<clipPath id="{name}">{box}</clipPath><g clip-path="url(#{name})">{"".join(inner)}</g>'


def colours(values: Floats, low: float, high: float) -> NDArray[np.uint8]:
    """Colours (…, 4) of a scale from dark to bright; where there is no value, nothing."""
    share = np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
    good = np.isfinite(share)
    place = np.where(good, share, 0.0) * (len(_SCALE) - 1)
    rgb = np.stack([np.interp(place, np.arange(len(_SCALE)), _SCALE[:, k]) for k in range(3)], axis=-1)
    return np.concatenate([rgb, np.where(good, 255.0, 0.0)[..., None]], axis=-1).astype(np.uint8)


def picture(pixels: NDArray[np.uint8]) -> str:
    """A PNG of (height, width, 4) bytes as an address that needs no network."""
    height, width = pixels.shape[:2]
    lines = b"".join(b"\x00" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _tick_text(value: float, width: float) -> str:
    if abs(value) < 1e-9 * width:
        return "0"
    return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("-", "−")


def _power_text(exponent: int) -> str:
    if -2 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    signs = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"10{str(exponent).translate(signs)}"


def _short(label: str, room: float) -> str:
    """As much of a label as there is room for; the whole of it where the mouse rests on it."""
    most = int(room / LETTER)
    return escape(label) if len(label) <= most else f"{escape(label[: most - 1])}…<title>{escape(label)}</title>"
