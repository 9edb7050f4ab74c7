"""Networks as text and as SVG, and a formula explained: its network, label and skeleton in a form to read.

Text lists the nodes layer by layer, each as a small formula of the nodes below it.  Knows no plotting library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ...errors import EncodingError
from ..expr import Expr
from ..text import number_text, to_text
from .counts import counts
from .identify import identify
from .psi import unify
from .skeleton import network_to_skeleton
from .structure import Network, Structure
from .tokens import Vocabulary

# The paper's two settings, the smaller first.
SETTINGS = (Vocabulary(4, 5, 6), Vocabulary(10, 7, 7))

_GAP_X, _GAP_Y, _RADIUS, _MARGIN = 120, 56, 19, 44


def draw_text(network: Network | Structure, names: Sequence[str] | None = None, digits: int = 4) -> str:
    """One line per node, from the inputs up; without numbers weights are written w."""
    lines = []
    for layer, rows in enumerate(_named_rows(network, names, digits), 1):
        for i, (label, op, argument) in enumerate(rows):
            value = argument if op == "id" else f"{op}({argument})"
            lines.append((f"layer {layer}" if i == 0 else "", op, f"{label} = {value}"))
    width = max(len(head) for head, _, _ in lines)
    return "\n".join(f"{head:<{width}}  {op:<3}  {text}" for head, op, text in lines)


def draw_svg(network: Network | Structure, names: Sequence[str] | None = None, digits: int = 3) -> str:
    """A picture: inputs left, output right, one circle per node, weights on the lines if there are numbers."""
    structure = network.structure if isinstance(network, Network) else network
    columns = [[_input(j, names) for j in range(structure.n_features)], *map(list, structure.ops)]
    tallest = max(map(len, columns))
    width = 2 * _MARGIN + _GAP_X * (len(columns) - 1) + 60
    height = 2 * _MARGIN + _GAP_Y * max(tallest - 1, 0)
    spots: list[list[tuple[float, float]]] = [
        [(_MARGIN + _GAP_X * at, height / 2 + _GAP_Y * (i - (len(column) - 1) / 2)) for i in range(len(column))]
        for at, column in enumerate(columns)
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}"'
        ' font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img">',
        f"<title>{escape(repr(structure)[1:-1])}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *_edges(network, structure, spots, digits),
        *_circles(network, structure, columns, spots, digits),
    ]
    x, y = spots[-1][0]
    parts.append(f'<line x1="{x + _RADIUS}" y1="{y:g}" x2="{x + 46}" y2="{y:g}" stroke="#c0392b" stroke-width="1.6"/>')
    parts.append(f'<text x="{x + 52}" y="{y + 5:g}" font-size="14" fill="#222">y</text></svg>')
    return "\n".join(parts) + "\n"


def explain(expr: Expr, names: Sequence[str] | None = None, vocabulary: Vocabulary | None = None) -> str:
    """Formula, unified form, network, label and skeleton of ``expr``, to print."""
    network = identify(expr)
    skeleton, values = network_to_skeleton(network)
    size = counts(expr)
    constants = ", ".join(f"c{i} = {number_text(v, 4)}" for i, v in enumerate(values))
    sections = [
        ("formula", [f"y = {to_text(expr, names, 6)}"]),
        ("unified", [f"y = {to_text(unify(expr), names, 4)}".replace("+ -", "- ")]),
        ("network", draw_text(network, names).splitlines()),
        ("label", [*_label_lines(network.structure, vocabulary)]),
        ("skeleton", [f"y = {to_text(skeleton.expr, names)}", *([f"with {constants}"] if values else [])]),
        (
            "size",
            [
                f"{title}: {part.depth} layers, {part.nodes} nodes"
                for title, part in (("UniSymNet", size.unisymnet), ("EQL-type network", size.eql))
            ]
            + [f"symbolic tree: depth {size.tree.depth}, {size.tree.nodes} nodes"],
        ),
    ]
    lines = []
    for title, body in sections:
        lines += [f"{title if i == 0 else '':<10}{line}" for i, line in enumerate(body)]
        lines.append("")
    return "\n".join(lines)


def _label_lines(structure: Structure, vocabulary: Vocabulary | None) -> Iterator[str]:
    choices = (vocabulary,) if vocabulary else SETTINGS
    for at, choice in enumerate(choices):
        limits = f"at most {choice.n_features} inputs, {choice.repeats} copies, {choice.max_depth} layers"
        try:
            yield " ".join(map(str, choice.encode(structure)))
        except EncodingError as error:
            if at == len(choices) - 1:
                yield f"none: {error} ({limits})"
        else:
            yield f"({limits})"
            return


def _input(index: int, names: Sequence[str] | None) -> str:
    return names[index] if names is not None and index < len(names) else f"x{index}"


def _named_rows(
    network: Network | Structure, names: Sequence[str] | None, digits: int
) -> Iterator[list[tuple[str, str, str]]]:
    """(name, operator, argument as text) of every node, layer by layer."""
    structure = network.structure if isinstance(network, Network) else network
    below = [_input(j, names) for j in range(structure.n_features)]
    for at, ops in enumerate(structure.ops):
        last = at == structure.depth - 1
        labels = ["y"] if last else [_name(at, i, len(ops)) for i in range(len(ops))]
        rows = []
        for i, op in enumerate(ops):
            if isinstance(network, Network):
                _, weights, bias = network.rows[at][i]
                terms = [(number_text(weights[j], digits), below[j]) for j in structure.inputs[at][i]]
                shift = None if bias is None else number_text(bias, digits)
            else:
                terms = [("w", below[j]) for j in structure.inputs[at][i]]
                shift = "bias" if structure.biases[at][i] else None
            rows.append((labels[i], op, _signed_sum(terms, shift)))
        yield rows
        below = labels


def _name(layer: int, index: int, width: int) -> str:
    letter = chr(ord("a") + layer % 24)
    return letter if width == 1 else f"{letter}{index + 1}"


def _signed_sum(terms: list[tuple[str, str]], bias: str | None) -> str:
    pieces = [_times(weight, name) for weight, name in terms] + ([bias] if bias is not None else [])
    text = pieces[0] if pieces else "0"
    for piece in pieces[1:]:
        text += f" - {piece[1:]}" if piece.startswith("-") else f" + {piece}"
    return text


def _times(weight: str, name: str) -> str:
    if weight in ("1", "-1"):
        return weight[:-1] + name
    return f"{weight}·{name}"


def _edges(
    network: Network | Structure, structure: Structure, spots: list[list[tuple[float, float]]], digits: int
) -> Iterator[str]:
    for at, layer in enumerate(structure.inputs):
        for i, sources in enumerate(layer):
            x2, y2 = spots[at + 1][i]
            for j in sources:
                x1, y1 = spots[at][j]
                yield (
                    f'<line x1="{x1 + _RADIUS:g}" y1="{y1:g}" x2="{x2 - _RADIUS:g}" y2="{y2:g}" '
                    'stroke="#c0392b" stroke-width="1.4" stroke-opacity="0.75"/>'
                )
                if isinstance(network, Network) and network.rows[at][i][1][j] != 1.0:
                    # Nearer to the source, where the lines into one node are still apart.
                    x, y = x1 + _RADIUS + 0.32 * (x2 - x1 - 2 * _RADIUS), y1 + 0.32 * (y2 - y1)
                    yield _caption(x - 10 * (y2 < y1), y - 4, number_text(network.rows[at][i][1][j], digits))


def _circles(
    network: Network | Structure,
    structure: Structure,
    columns: list[list[str]],
    spots: list[list[tuple[float, float]]],
    digits: int,
) -> Iterator[str]:
    for at, column in enumerate(columns):
        fill = "#fdebd0" if at == 0 else "#d5f5e3" if at == len(columns) - 1 else "#dbe7fb"
        for i, text in enumerate(column):
            x, y = spots[at][i]
            yield f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS}" fill="{fill}" stroke="#34495e" stroke-width="1.2"/>'
            size = 13 if len(text) <= 4 else 9
            yield (
                f'<text x="{x:g}" y="{y + 4.5:g}" font-size="{size}" text-anchor="middle" fill="#222">'
                f"{escape(text if len(text) <= 6 else text[:5] + '…')}</text>"
            )
            if at and structure.biases[at - 1][i]:
                bias = network.rows[at - 1][i][2] if isinstance(network, Network) else None
                shown = "+b" if bias is None else f"{bias:+.{digits}g}"
                yield _caption(x, y + _RADIUS + 12, shown, "#2c3e50")


def _caption(x: float, y: float, text: str, colour: str = "#7b241c") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="10" text-anchor="middle" fill="{colour}">{escape(text)}</text>'
