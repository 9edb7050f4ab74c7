"""A flow from one state into another is one change of a system, and rates lend each other their terms."""

import numpy as np

from unisymnet import System
from unisymnet.deadline import Deadline
from unisymnet.dynamics.choose import SystemSearch
from unisymnet.dynamics.course import Course, make_course
from unisymnet.dynamics.propose import RateSearch
from unisymnet.dynamics.proposers.exchange import exchanged
from unisymnet.dynamics.rate import terms_of
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.symbolic.parse import parse

NAMES = ["a", "b", "t"]


def _course(equations: dict[str, str], start: list[float], end: float, share: float) -> Course:
    t = np.linspace(0.0, end, 160)
    x = System.parse(equations).simulate(start, t)
    noise = share * x.std(axis=0) * np.random.default_rng(3).normal(size=x.shape)
    return make_course(read_runs(t, x + noise, states=list(equations)))


def test_a_missing_flow_is_added_to_both_equations_at_once() -> None:
    course = _course({"a": "1 - 0.4*a - 0.3*a*b", "b": "0.3*a*b - 0.5*b"}, [3.0, 0.5], 15.0, 0.02)
    search = SystemSearch(course, {}, Deadline.after(60.0))
    poor = search.fit([parse("1 - 0.9*a", NAMES), parse("0.2 - 0.1*b", NAMES)], 4)
    flow, pool = parse("a*b", NAMES), [parse(text, NAMES) for text in ("1", "a", "b", "a*b", "a**2", "b**2")]
    found = [
        [dict((t, f) for f, t in terms_of(rate)) for rate in rates] for rates in exchanged(course, {}, poor, [pool] * 2)
    ]
    both = [(one[flow], other[flow]) for one, other in found if flow in one and flow in other]
    assert any(a == -b for a, b in both)  # one column, told once
    best = search.improve(poor, [pool] * 2)
    assert [set(dict((t, f) for f, t in terms_of(rate))) for rate in best.exprs] == [
        {pool[0], pool[1], flow},
        {pool[2], flow},
    ]


def test_what_has_been_exchanged_is_not_exchanged_again() -> None:
    course = _course({"a": "-0.5*a", "b": "0.5*a - 0.2*b"}, [3.0, 0.5], 8.0, 0.02)
    search = SystemSearch(course, {}, Deadline.after(60.0))
    pool = [parse(text, NAMES) for text in ("1", "a", "b")]
    best = search.improve(search.fit([parse("-0.4*a", NAMES), parse("0.3*a - 0.1*b", NAMES)], 2), [pool] * 2)
    fitted = len(search.seen)
    assert search.improve(best, [pool] * 2) is best and len(search.seen) == fitted
    assert search.total(search.shortest()) == min(map(search.total, search.seen.values()))


def test_a_rate_borrows_the_terms_of_others() -> None:
    flows = {"a": "-2*a/(0.5 + a)", "b": "2*a/(0.5 + a) - 1.1*b/(0.3 + b)"}
    course = _course(flows, [4.0, 0.1], 6.0, 0.005)
    search = RateSearch(course, 1, [0, 1], Deadline.after(60.0))
    lent = [parse(text, NAMES) for text in ("a*inv(a + 0.5)", "b*inv(b + 0.3)")]
    search.libraries = search.libraries[:1]  # monomials alone
    search.run()
    before = search.ranked()[0]
    search.borrow([*lent, parse("a", NAMES)], Deadline.after(60.0))
    best = search.ranked()[0]
    assert best.source == "shared" and best.length < before.length - 5.0
    assert len(terms_of(best.expr)) == 2


def test_repression_with_an_inner_constant_is_found_in_clean_data() -> None:
    switch = {"a": "3.2/(1 + b**2) - a", "b": "2.8/(1 + a**2) - b"}
    search = RateSearch(_course(switch, [0.4, 0.7], 10.0, 0.0), 0, [0, 1], Deadline.after(60.0))
    search.libraries = [library for library in search.libraries if library.name == "Hill curves of 1"]
    search.try_all(search._grouped(search.libraries[0]), "Hill curves of 1")
    assert search.ranked()[0].reduced < 1.0
