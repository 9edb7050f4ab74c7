"""The kinds of constraints, and their text: "y >= 0", "dy/dx1 >= 0 for x1 in [0, 10]", "even in x1", "uses x3", …

A rule knows columns by number.  What it says of a formula is checked in check.py.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...errors import DataError

Region = tuple[tuple[int, float, float], ...]  # column, from, to

_NUMBER = r"[+-]?(?:inf(?:inity)?|∞|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_SIGNS = r"<=|>=|≤|≥|==|=|<|>"
_UP, _DOWN = set("<≤"), set(">≥")
KINDS = (
    '"y >= 0", "0 <= y <= 1", "dy/dx1 >= 0", "d2y/dx1^2 <= 0 for x1 in [0, 10]", "y(x1=0) = 0", '
    '"y -> 1 as x1 -> inf", "even in x1", "y(x1, x2) = y(x2, x1)", "uses x3", "0 <= c <= 1"'
)


@dataclass(frozen=True)
class Rule:
    """One constraint; `text` as the user wrote it."""

    text: str


@dataclass(frozen=True)
class Between(Rule):
    """`low <= quantity <= high`, the quantity being y or a derivative of it (columns and orders), in a region or at a
    point (a region without width)."""

    by: tuple[tuple[int, int], ...] = ()
    low: float = -math.inf
    high: float = math.inf
    region: Region = ()

    @property
    def is_equality(self) -> bool:
        return self.low == self.high

    @property
    def points(self) -> dict[int, float]:
        return {column: low for column, low, high in self.region if low == high}


@dataclass(frozen=True)
class Limit(Rule):
    """y -> value as a column -> where."""

    column: int = 0
    where: float = math.inf
    value: float = 0.0


@dataclass(frozen=True)
class Parity(Rule):
    """y(-x) = sign·y(x)."""

    column: int = 0
    sign: float = 1.0


@dataclass(frozen=True)
class Exchange(Rule):
    """y is the same when columns take each other's places: column i gets the value of `order[i]`."""

    order: dict[int, int] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True)
class Uses(Rule):
    """The formula holds a column, or does not."""

    column: int = 0
    wanted: bool = True


@dataclass(frozen=True)
class Constants(Rule):
    """Every constant of the formula lies between two numbers."""

    low: float = -math.inf
    high: float = math.inf


def read_rules(texts: Sequence[str], names: Sequence[str], target: str) -> tuple[Rule, ...]:
    """Constraints from their texts; a DataError says which is not understood."""
    if isinstance(texts, str):
        texts = [texts]
    rules = tuple(rule for text in texts for rule in _Reader(names, target).read(text))
    for one, other in itertools.combinations(rules, 2):
        if _exclude(one, other):
            raise DataError(f"no formula can keep both {one.text!r} and {other.text!r}; leave one of them out")
    return rules


def _exclude(one: Rule, other: Rule) -> bool:
    """Do two constraints on the same thing leave nothing?"""
    if isinstance(one, Uses) and isinstance(other, Uses):
        return one.column == other.column and one.wanted != other.wanted
    if isinstance(one, Parity) and isinstance(other, Parity):
        return one.column == other.column and one.sign != other.sign  # but zero
    same = isinstance(one, Between) and isinstance(other, Between) and one.by == other.by and one.region == other.region
    if same or (isinstance(one, Constants) and isinstance(other, Constants)):
        assert isinstance(one, Between | Constants) and isinstance(other, Between | Constants)
        return max(one.low, other.low) > min(one.high, other.high)
    return False


class _Reader:
    def __init__(self, names: Sequence[str], target: str) -> None:
        self.names = {str(name): index for index, name in enumerate(names)}
        words = sorted({*self.names, *(f"`{name}`" for name in self.names)}, key=len, reverse=True)
        self.name = "(?:" + "|".join(map(re.escape, words)) + ")"
        outs = sorted({target, f"`{target}`", "y"} - (set(self.names) - {target}), key=len, reverse=True)
        self.target = "(?:" + "|".join(map(re.escape, outs)) + ")"

    def read(self, text: str) -> list[Rule]:
        if not isinstance(text, str):
            raise DataError(f"a constraint must be text such as {KINDS}; got {text!r}")
        body, region = self._region(text)
        for attempt in (self._words, self._limit, self._exchange, self._comparison):
            found = attempt(body, text, region)
            if found is not None:
                return found
        shown = text if len(text) <= 80 else f"{text[:79]}…"
        raise DataError(f"the constraint {shown!r} is not understood; write it like {KINDS}. {self._known()}")

    def _known(self) -> str:
        return f"The columns are {', '.join(self.names)}"

    def column(self, name: str) -> int:
        return self.names[name.strip("`")]

    def _region(self, text: str) -> tuple[str, Region]:
        body, _, tail = re.sub(r"\s+", " ", text.strip()).partition(" for ")
        found: list[tuple[int, float, float]] = []
        rest = tail
        for match in re.finditer(rf"({self.name}) in [\[(]\s*({_NUMBER})\s*,\s*({_NUMBER})\s*[\])]", tail):
            low, high = _number(match[2]), _number(match[3])
            if not low < high:
                raise DataError(f"the constraint {text!r} has an empty range: {match[2]} is not below {match[3]}")
            found.append((self.column(match[1]), low, high))
            rest = rest.replace(match[0], "")
        for match in re.finditer(rf"({self.name}) ?(<=|>=|<|>) ?({_NUMBER})", rest):
            bound = _number(match[3])
            below = match[2].startswith("<")
            found.append((self.column(match[1]), -math.inf if below else bound, bound if below else math.inf))
            rest = rest.replace(match[0], "")
        if re.sub(r"\band\b|[,\s]", "", rest):
            raise DataError(
                f"the constraint {text!r}: {rest.strip()!r} is not a range; write for x1 in [0, 10]. {self._known()}"
            )
        return body, tuple(found)

    def _words(self, body: str, text: str, region: Region) -> list[Rule] | None:
        if match := re.fullmatch(rf"(even|odd) in ({self.name})", body):
            return [Parity(text, self.column(match[2]), 1.0 if match[1] == "even" else -1.0)]
        if match := re.fullmatch(rf"(uses|does not use|without) ({self.name})", body):
            return [Uses(text, self.column(match[2]), match[1] == "uses")]
        return None

    def _limit(self, body: str, text: str, region: Region) -> list[Rule] | None:
        match = re.fullmatch(rf"{self.target} ?-> ?({_NUMBER}) as ({self.name}) ?-> ?({_NUMBER})", body)
        return None if match is None else [Limit(text, self.column(match[2]), _number(match[3]), _number(match[1]))]

    def _exchange(self, body: str, text: str, region: Region) -> list[Rule] | None:
        listed = rf"\(\s*({self.name}(?:\s*,\s*{self.name})+)\s*\)"
        match = re.fullmatch(rf"{self.target} ?{listed} ?= ?{self.target} ?{listed}", body)
        if match is None:
            return None
        left, right = ([self.column(name.strip()) for name in part.split(",")] for part in match.groups())
        if sorted(left) != sorted(right) or len(set(left)) != len(left):
            raise DataError(f"the constraint {text!r} must name the same columns on both sides")
        return [Exchange(text, {a: b for a, b in zip(left, right, strict=True) if a != b})]

    def _comparison(self, body: str, text: str, region: Region) -> list[Rule] | None:
        parts = re.split(rf"\s*({_SIGNS})\s*(?![^(]*\))", body)
        if len(parts) not in (3, 5):
            return None
        numbers = [_number(part) if re.fullmatch(_NUMBER, part.strip()) else None for part in parts[0::2]]
        places = [i for i, number in enumerate(numbers) if number is None]
        if len(places) != 1:
            return None
        place = places[0]
        signs = {sign[0] for sign in parts[1::2]}
        if len(parts) == 5 and (place != 1 or not (signs <= _UP or signs <= _DOWN)):
            raise DataError(f"the constraint {text!r} must have what it bounds in the middle: 0 <= y <= 1")
        low, high = -math.inf, math.inf
        for i, sign in enumerate(parts[1::2]):
            left, right = numbers[i], numbers[i + 1]
            rising = sign[0] in "<≤"
            if sign[0] == "=":
                low = high = _some(left, right)
            elif (right is None) == rising:
                low = max(low, _some(left, right))
            else:
                high = min(high, _some(left, right))
        quantity = parts[2 * place]
        if low > high:
            raise DataError(f"the constraint {text!r} cannot hold: {low:g} is above {high:g}")
        if quantity in ("c", "constants") and quantity not in self.names:
            return [Constants(text, low, high)]
        read = self._quantity(quantity, text)
        if read is None:
            return None
        by, points = read
        fixed = {column for column, _, _ in points}
        return [Between(text, by, low, high, (*points, *(r for r in region if r[0] not in fixed)))]

    def _quantity(self, quantity: str, text: str) -> tuple[tuple[tuple[int, int], ...], Region] | None:
        points: Region = ()
        if match := re.fullmatch(r"(.*?)\s*\(([^()]*=[^()]*)\)", quantity):
            quantity, listed = match[1], match[2]
            found = []
            for part in listed.split(","):
                pair = re.fullmatch(rf"\s*({self.name})\s*=\s*({_NUMBER})\s*", part)
                if pair is None or not math.isfinite(_number(pair[2])):
                    raise DataError(
                        f"the constraint {text!r}: {part.strip()!r} should be COLUMN=NUMBER. {self._known()}"
                    )
                found.append((self.column(pair[1]), _number(pair[2]), _number(pair[2])))
            points = tuple(found)
        if re.fullmatch(self.target, quantity):
            return (), points
        match = re.fullmatch(
            rf"[d∂](?:\^?([1-4²³]))? ?{self.target} ?/ ?((?:[d∂]{self.name}(?:\^\d|[²³])? ?)+)", quantity
        )
        if match is None:
            return None
        order: dict[int, int] = {}
        for part in re.finditer(rf"[d∂]({self.name})(?:\^(\d)|([²³]))? ?", match[2]):
            times = int(part[2]) if part[2] else {"²": 2, "³": 3}.get(part[3] or "", 1)
            order[self.column(part[1])] = order.get(self.column(part[1]), 0) + times
        wanted = {"²": 2, "³": 3}.get(match[1] or "1") or int(match[1] or 1)
        if sum(order.values()) != wanted:
            raise DataError(
                f"the constraint {text!r}: {quantity} is of order {wanted} above and {sum(order.values())} below"
            )
        return tuple(sorted(order.items())), points


def _some(left: float | None, right: float | None) -> float:
    number = right if left is None else left
    assert number is not None
    return number


def _number(text: str) -> float:
    return float(text.strip().replace("∞", "inf"))
