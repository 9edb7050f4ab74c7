"""Rates that something outside drives at a frequency that nobody has told: m(x)·cos(ω t + φ) beside other terms.

A wave is two terms, cosine and sine, once its frequency is known.  So frequencies are scanned: what a wave, alone or
times a term, takes of what the other terms leave of the weak rows is a spectrum.  Its highest peaks are made sharp with
all coefficients projected out, and best subsets of terms and waves become rates if they describe the rows shorter than
terms alone.  Amplitude and phase stand for cosine and sine, because then one frequency is one constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...fit.projected import refined, taken_out
from ...fit.subset import Subset, best_subsets, subset_codelength
from ...symbolic.expr import Call, Const, Expr, Var, call, evaluate, product
from ..course import Course
from ..library import LARGEST_TURN, finite_terms
from ..rate import Terms, sum_of, terms_of
from ..weak import WeakRows

MAX_SIZE = 7  # terms and waves of a rate
ALONE = 5  # terms that are taken out before waves are looked for: the best 1, 2, …
MAX_TERMS = 30  # of one library
MAX_FACTORS = 9
MAX_FREQUENCIES = 800
PASSED = 8.0  # ω times half the width of a bump from which on next to nothing of a wave passes it
PEAKS = 2  # of one spectrum
TRIED = 5  # frequencies, those of the highest peaks
TONES = 2
FURTHER = 0.1  # of what the first wave leaves: a second leaves less, or it follows what curves are wrong by
SURE = 5.0  # nats by which a wave must be shorter
KEPT = 3  # rates of one library
SMALL = 6  # terms of rates that are kept in any case, the best of each size
SHARPENED = 12  # steps
PRICE = 4.0  # nats for saying that there is a wave: two functions more, in a product of their own


@dataclass(frozen=True)
class Driven:
    """Rates with waves, and the terms that they were chosen from."""

    rates: tuple[Expr, ...]
    frequencies: tuple[float, ...]
    factors: tuple[Expr, ...]


@dataclass(frozen=True)
class _Tones:
    """The best rates with waves of these frequencies; length and loss of the first."""

    length: float
    loss: float
    frequencies: tuple[float, ...]
    rates: list[Expr]


class DrivenSearch:
    """Waves in the rate of one state."""

    def __init__(self, course: Course, rows: WeakRows, n_rows: float) -> None:
        self.course, self.rows, self.n_rows = course, rows, n_rows
        self.time = course.n_columns - 1
        self.filters = [whitening @ bump for bump, whitening in zip(rows.bumps, rows.whitenings)]
        self.grid = _frequencies(course, rows)

    def run(self, terms: Sequence[Expr], factors: Sequence[Expr] | None = None, n_always: int = 0) -> Driven | None:
        """Rates of some of the terms, the first few in any case, and of waves times one of the ``factors``.

        None where no wave shortens the description.
        """
        terms = list(terms)[: max(MAX_TERMS, n_always)]
        if not terms or not len(self.grid):
            return None
        table = self.rows.columns(terms, self.course.tables)
        subsets = self._subsets(table, 0, n_always)
        if not subsets:
            return None
        plainest = min(subsets, key=lambda s: self._length(s, len(terms), 0))
        least = self._length(plainest, len(terms), 0) - SURE
        smallest = {s.size: s for s in reversed(subsets)}
        bases = [table[:, list(smallest[size].columns)] for size in sorted(smallest)[:ALONE]]
        if table.shape[1] < 0.5 * len(self.rows.target):
            bases.append(table)
        factors = self._factors(terms, subsets) if factors is None else factors
        found: Driven | None = None
        loss = math.inf
        for _ in range(TONES):
            best = self._one_more(terms, table, bases, factors, n_always, found.frequencies if found else ())
            if best is None or not best.length < least or not best.loss < FURTHER * loss:
                break
            least, loss = best.length, best.loss
            rates = tuple(sum_of(merged(terms_of(expr), self.time)) for expr in best.rates)
            found = Driven((*rates, *(found.rates if found else ())), best.frequencies, tuple(factors))
            if loss <= len(self.rows.target):
                break  # no more than the noise
            bases = [self.rows.columns([term for _, term in terms_of(best.rates[0])], self.course.tables)]
        return found

    def _one_more(
        self,
        terms: Sequence[Expr],
        table: Floats,
        bases: Sequence[Floats],
        factors: Sequence[Expr],
        n_always: int,
        known: tuple[float, ...],
    ) -> _Tones | None:
        """The best frequency beside those that are known."""
        found: _Tones | None = None
        for frequency in self._peaks(bases, factors, known):
            every = (*known, frequency)
            waves = [w for tone in every for factor in factors for w in pair(tone, factor, self.time)]
            waves = finite_terms(waves, self.course.tables)
            columns = np.column_stack([table, self.rows.columns(waves, self.course.tables)]) if waves else table
            both = [*terms, *waves]
            subsets = [s for s in self._subsets(columns, len(every), n_always) if s.columns[-1] >= len(terms)]
            ranked = sorted(subsets, key=lambda s: self._length(s, len(both), len(every)))
            length = self._length(ranked[0], len(both), len(every)) if ranked else math.inf
            if length < (found.length if found else math.inf):
                # Rows of curves are no independent measurements: short rates get a chance in the trajectories, too.
                small = {s.size: s for s in reversed(subsets) if s.size <= n_always + SMALL}
                chosen = [*ranked[:KEPT], *(small[size] for size in sorted(small))]
                rates = [sum_of([(float(c), both[i]) for i, c in zip(s.columns, s.coefficients)]) for s in chosen]
                found = _Tones(length, ranked[0].loss, every, rates)
        return found

    def _subsets(self, columns: Floats, n_tones: int, n_always: int) -> list[Subset]:
        if columns.shape[1] == n_always:
            every = tuple(range(n_always))
            coefficients = np.asarray(np.linalg.lstsq(columns, self.rows.target, rcond=None)[0], dtype=np.float64)
            return [Subset(every, coefficients, float(np.sum((self.rows.target - columns @ coefficients) ** 2)))]
        size = n_always + MAX_SIZE + 2 * n_tones
        try:
            return best_subsets(columns, self.rows.target, max_size=size, beam=15, keep=2, always=range(n_always))
        except ValueError:
            return []

    def _length(self, subset: Subset, n_columns: int, n_tones: int) -> float:
        """With the frequencies: constants, and chosen among so many."""
        floor = float(len(self.rows.target)) if self.course.clean else 0.0
        tone = 0.5 * math.log(max(self.n_rows, 2.0)) + math.log(len(self.grid)) + PRICE
        return subset_codelength(subset.loss, self.n_rows, subset.size, n_columns, floor=floor) + n_tones * tone

    def _factors(self, terms: Sequence[Expr], subsets: Sequence[Subset]) -> list[Expr]:
        """What a wave may be multiplied by: nothing, states, their products, terms that explain most without it."""
        best = {s.size: s for s in reversed(subsets)}
        used = [terms[i] for size in sorted(best)[:ALONE] for i in best[size].columns]
        plain = [term for term in terms if isinstance(term, Var)]
        both = [t for t in terms if isinstance(t, Call) and t.op == "mul" and all(isinstance(a, Var) for a in t.args)]
        return list(dict.fromkeys([Const(1.0), *plain, *both, *used]))[:MAX_FACTORS]

    def _peaks(self, bases: Sequence[Floats], factors: Sequence[Expr], known: Sequence[float]) -> Iterator[float]:
        """Frequencies of the highest peaks, each made sharp; different ones."""
        target = self.rows.target
        spans = [_orthonormal(basis) for basis in bases]
        peaks: list[tuple[float, float, Floats, Expr]] = []
        for factor in factors:
            cosines, sines = self._waves(self.grid, factor)
            for span in spans:
                rest = target - span @ (span.T @ target)
                share = _explained(taken_out(cosines, span), taken_out(sines, span), rest) / max(
                    float(rest @ rest), 1e-300
                )
                inner = np.r_[-1.0, share, -1.0]
                tops = np.flatnonzero((share >= inner[:-2]) & (share >= inner[2:]))
                tops = tops[np.argsort(-share[tops], kind="stable")][:PEAKS]
                left = float(rest @ rest)
                peaks += [(left * (1.0 - float(share[i])), float(self.grid[i]), span, factor) for i in tops]
        apart = float(self.grid[1] - self.grid[0]) if len(self.grid) > 1 else float(self.grid[0])
        different = list(known)
        count = 0
        for _, start, span, factor in sorted(peaks, key=lambda peak: peak[0]):
            if any(abs(start - other) < 1.5 * apart for other in different):
                continue
            frequency = self._sharp(start, span, factor)
            different += [start, frequency]
            if count == TRIED:
                return
            if abs(frequency - start) < 3.0 * apart and all(abs(frequency - other) > 0.5 * apart for other in known):
                count += 1
                yield frequency

    def _sharp(self, start: float, span: Floats, factor: Expr) -> float:
        target = self.rows.target - span @ (span.T @ self.rows.target)

        def columns(frequencies: Floats) -> Floats:
            return np.stack(self._waves(frequencies, factor), axis=-1).transpose(1, 0, 2)

        return float(refined(columns, span, target, start, SHARPENED)[0])

    def _waves(self, frequencies: Floats, factor: Expr) -> tuple[Floats, Floats]:
        """Cosines and sines times the factor as columns of the weak rows, (rows, frequencies) each."""
        cosines, sines = [], []
        for filter_, table in zip(self.filters, self.course.tables):
            angle = table[:, self.time][:, None] * frequencies
            scaled = filter_ * evaluate(factor, table)
            cosines.append(scaled @ np.cos(angle))
            sines.append(scaled @ np.sin(angle))
        return np.concatenate(cosines), np.concatenate(sines)


def pair(frequency: float, factor: Expr, time: int) -> list[Expr]:
    """Cosine and sine of one frequency, times a factor."""
    angle = Const(frequency) * Var(time)
    return [product([*_parts(factor), call(op, angle)]) for op in ("cos", "sin")]


def merged(terms: Terms, time: int) -> list[tuple[float, Expr]]:
    """Cosine and sine of one angle and factor as one cosine with a phase."""
    waves: dict[tuple[Expr, Expr], dict[str, float]] = {}
    rest: list[tuple[float, Expr]] = []
    for coefficient, term in terms:
        read = _read(term, time)
        if read is None:
            rest.append((coefficient, term))
        else:
            op, angle, factor = read
            waves.setdefault((angle, factor), {})[op] = coefficient
    for (angle, factor), parts in waves.items():
        if len(parts) == 1:
            ((op, coefficient),) = parts.items()
            rest.append((coefficient, product([*_parts(factor), call(op, angle)])))
        else:
            size, phase = math.hypot(parts["cos"], parts["sin"]), math.atan2(-parts["sin"], parts["cos"])
            rest.append((size, product([*_parts(factor), call("cos", angle + Const(phase))])))
    return rest


def split(terms: Terms, time: int) -> list[tuple[float, Expr]]:
    """The inverse of `merged`."""
    found: list[tuple[float, Expr]] = []
    for coefficient, term in terms:
        read = _read(term, time, phased=True)
        if read is None:
            found.append((coefficient, term))
            continue
        op, angle, factor = read
        assert isinstance(angle, Call)
        phase = next(arg for arg in angle.args if isinstance(arg, Const)).value
        bare = next(arg for arg in angle.args if not isinstance(arg, Const))
        turned = phase if op == "cos" else phase - 0.5 * math.pi
        for name, part in (("cos", math.cos(turned)), ("sin", -math.sin(turned))):
            found.append((coefficient * part, product([*_parts(factor), call(name, bare)])))
    return found


def _read(term: Expr, time: int, phased: bool = False) -> tuple[str, Expr, Expr] | None:
    """A term with one wave of the time as its function, angle (with a phase or without) and factor."""
    parts = list(_parts(term))
    for i, part in enumerate(parts):
        if isinstance(part, Call) and part.op in ("cos", "sin"):
            angle = part.args[0]
            bare = angle
            if phased:
                if not (isinstance(angle, Call) and angle.op == "add" and len(angle.args) == 2):
                    continue
                constants = [arg for arg in angle.args if isinstance(arg, Const)]
                if len(constants) != 1:
                    continue
                bare = next(arg for arg in angle.args if not isinstance(arg, Const))
            if _is_angle(bare, time):
                return part.op, angle, product(parts[:i] + parts[i + 1 :]) if len(parts) > 1 else Const(1.0)
    return None


def wave_of(term: Expr, time: int) -> Expr | None:
    """What a wave without a phase is multiplied by; None where the term is no such wave."""
    read = _read(term, time)
    return None if read is None else read[2]


def _is_angle(expr: Expr, time: int) -> bool:
    if not (isinstance(expr, Call) and expr.op == "mul" and len(expr.args) == 2):
        return False
    return any(isinstance(arg, Const) for arg in expr.args) and Var(time) in expr.args


def frequencies_of(expr: Expr, time: int) -> list[float]:
    """Of the waves of a rate."""
    found = []
    for _, term in split(terms_of(expr), time):
        read = _read(term, time)
        if read is not None and isinstance(read[1], Call):
            found += [arg.value for arg in read[1].args if isinstance(arg, Const)]
    return list(dict.fromkeys(found))


def _parts(factor: Expr) -> tuple[Expr, ...]:
    if factor == Const(1.0):
        return ()
    return factor.args if isinstance(factor, Call) and factor.op == "mul" else (factor,)


def _frequencies(course: Course, rows: WeakRows) -> Floats:
    """From one turn in the longest piece to the fastest that the rows still see, fine enough to miss no peak."""
    spans = [float(grid[-1] - grid[0]) for grid in course.grids]
    whole = max(float(grid[-1]) for grid in course.grids) - min(float(grid[0]) for grid in course.grids)
    lowest = 2.0 * math.pi / max(spans)
    steps = [float(grid[1] - grid[0]) for grid in course.grids]
    halves = [0.5 * step * float(np.median(np.count_nonzero(b, axis=1))) for step, b in zip(steps, rows.bumps)]
    highest = min(PASSED / min(halves), LARGEST_TURN / max(steps))
    if not highest > lowest:
        return np.empty(0)
    count = int(np.clip(math.ceil((highest - lowest) * 2.0 * whole / math.pi), 2, MAX_FREQUENCIES))
    return np.linspace(lowest, highest, count)


def _orthonormal(columns: Floats) -> Floats:
    sizes = np.linalg.norm(columns, axis=0)
    u, values, _ = np.linalg.svd(columns / np.where(sizes > 0.0, sizes, 1.0), full_matrices=False)
    return np.asarray(u[:, values > 1e-9 * values[0]])


def _explained(cosines: Floats, sines: Floats, rest: Floats) -> Floats:
    """The sum of squares that cosine and sine together take of the rest, for every frequency."""
    a, b = np.sum(cosines**2, axis=0), np.sum(sines**2, axis=0)
    c = np.sum(cosines * sines, axis=0)
    p, q = rest @ cosines, rest @ sines
    size = a * b - c * c
    good = size > 1e-10 * a * b
    return np.where(good, (b * p * p - 2.0 * c * p * q + a * q * q) / np.where(good, size, 1.0), 0.0)
