"""What the data do not tell is said: rivals and the start that would decide, flat directions, a χ² far from one."""

import numpy as np
import pytest

from unisymnet import System
from unisymnet.deadline import Deadline
from unisymnet.dynamics.choose import SystemSearch
from unisymnet.dynamics.course import Course, make_course
from unisymnet.dynamics.doubts import fit_notes, flat_notes, parting_start, rival_notes, rivals
from unisymnet.dynamics.rate import shown
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.text import to_text

T = np.linspace(0.0, 2.0, 80)


@pytest.fixture(scope="module")
def growth() -> Course:
    """Too short a run to tell exponential growth from logistic growth."""
    x = System.parse({"n": "0.5*n - 0.02*n**2"}).simulate([0.5], T)
    return make_course(read_runs(T, x * (1.0 + 0.03 * np.random.default_rng(2).normal(size=x.shape)), states=["n"]))


def _fit(search: SystemSearch, text: str):  # type: ignore[no-untyped-def]
    return search.fit([parse(text, ["n", "t"])], 1)


def test_a_rival_and_the_start_that_would_decide(growth: Course) -> None:
    search = SystemSearch(growth, {}, Deadline.after(30.0))
    plain, bent = _fit(search, "0.5*n"), _fit(search, "0.5*n - 0.02*n**2")
    best, other = sorted([plain, bent], key=search.total)
    gap = search.total(other) - search.total(best)
    found = rivals(search, best)
    assert ([rival for rival, _ in found] == [other]) == (gap < 3.0)
    place = parting_start(growth, plain, _fit(search, "0.3*n + 0.2"))
    assert place is not None
    start, state, share = place.start, place.state, place.share
    assert place.beyond_noise
    runs = [System((c.exprs[0],), ("n",)).simulate(start, T) for c in (plain, _fit(search, "0.3*n + 0.2"))]
    width = np.ptp(growth.tables[0][:, 0])
    # The same with other times: the root mean square of the difference, over the range in the data.
    assert state == 0 and share == pytest.approx(np.sqrt(np.mean((runs[0] - runs[1]) ** 2)) / width, rel=0.1)


def test_rivals_are_named_with_their_equation(growth: Course) -> None:
    search = SystemSearch(growth, {}, Deadline.after(30.0))
    one, other = _fit(search, "0.5*n"), _fit(search, "0.5*n**1.01")
    best = min([one, other], key=search.total)
    notes = rival_notes(growth, search, best)
    assert len(notes) == len(rivals(search, best))
    assert all(note.startswith("the data can hardly tell it from n' = ") for note in notes)


def test_flat_directions_are_named() -> None:
    x = System.parse({"x": "0.7 - 0.5*x"}).simulate([1.4], T)  # it stays where it is
    rng = np.random.default_rng(0)
    course = make_course(read_runs(T, x + 0.05 * rng.normal(size=x.shape), states=["x"]))
    search = SystemSearch(course, {}, Deadline.after(30.0))
    (note,) = flat_notes(search.fit([parse("0.7 - 0.5*x", ["x", "t"])], 1).shot)
    assert "can change together" in note and "another start" in note


def test_a_poor_fit_is_told(growth: Course) -> None:
    search = SystemSearch(growth, {}, Deadline.after(30.0))
    assert fit_notes(growth, _fit(search, "0.5*n").shot) == [] == flat_notes(_fit(search, "0.5*n").shot)
    (note,) = fit_notes(growth, _fit(search, "-n").shot)
    assert "a term or a state is missing" in note


def test_signs_of_rivals_are_those_of_a_person(growth: Course) -> None:
    search = SystemSearch(growth, {}, Deadline.after(30.0))
    best, bent = _fit(search, "0.5*n"), _fit(search, "0.5*n + (-0.02)*n**2")
    assert "+ -" in to_text(bent.exprs[0], ["n", "t"], 4)  # as the search keeps it
    assert "- 0.0" in to_text(shown(bent.exprs[0]), ["n", "t"], 4)
    assert "+ -" not in " ".join(rival_notes(growth, search, best))


def test_the_same_form_with_a_factor_of_one_or_written_otherwise_is_no_rival(growth: Course) -> None:
    search = SystemSearch(growth, {}, Deadline.after(30.0))
    best = _fit(search, "0.5*n*inv(n + 9)")
    for text in ("n*inv(n + 9)", "0.5*(n/(n + 9))", "n*(0.5*inv(n + 8))"):
        _fit(search, text)
    assert rivals(search, best) == []
