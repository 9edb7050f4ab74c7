"""The gate: the same data every time, a clock of processor time, and a verdict on two records."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def gate() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import gate

        yield gate
    finally:
        sys.path.remove(str(BENCHMARKS))


def row(name: str, found: bool, seconds: float, formula: str = "x0", group: str = "laws") -> dict[str, object]:
    return {"group": group, "name": name, "found": found, "seconds": seconds, "formula": formula,
            "source": "bases", "limit": 10.0}  # fmt: skip


def test_every_group_is_there_and_no_case_twice(gate: ModuleType) -> None:
    cases = gate.cases()
    assert len({(case.group, case.name) for case in cases}) == len(cases)
    sizes = {group: sum(case.group == group for case in cases) for group in dict.fromkeys(c.group for c in cases)}
    assert sizes["catalog"] == 203 and sizes["corpus"] == 60 and sizes["laws"] >= 155
    assert sizes["noise0.01"] == sizes["noise0.1"] >= 100


def test_a_case_has_the_same_rows_every_time_and_its_own_law_is_found(gate: ModuleType) -> None:
    for case in (gate.Case("catalog", "catalog", "Nguyen-1"), gate.Case("laws", "laws", "bmi")):
        X, y, judge = gate.data(case)
        again = gate.data(case)
        assert np.array_equal(X, again[0]) and np.array_equal(y, again[1])
        truth = {"Nguyen-1": "x0**3 + x0**2 + x0", "bmi": "x0/x1**2"}[case.name]
        from unisymnet.symbolic.parse import parse

        assert judge(parse(truth)) and not judge(parse("x0"))


def test_a_loss_on_balance_is_a_failure(gate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    old = [row("a", True, 2.0), row("b", False, 9.0)]
    assert gate.compare(old, old)
    assert gate.compare(old, [row("a", False, 9.0), row("b", True, 3.0)])
    assert not gate.compare(old, [row("a", False, 9.0), row("b", False, 9.0)])
    assert "lost a" in capsys.readouterr().out


def test_a_fast_law_may_not_be_exchanged_for_another(gate: ModuleType) -> None:
    old = [row("a", True, 0.2), row("b", False, 9.0)]
    assert not gate.compare(old, [row("a", False, 9.0), row("b", True, 3.0)])


def test_only_common_problems_are_compared(gate: ModuleType) -> None:
    assert gate.compare([row("a", True, 0.2), row("c", True, 0.2)], [row("a", True, 0.2)])


def test_the_timer_counts_processor_time(gate: ModuleType) -> None:
    rung: list[float] = []
    began = time.process_time()
    timer = gate.ProcessorTimer(0.1, lambda: rung.append(time.process_time() - began))
    timer.start()
    time.sleep(0.3)  # no processor time
    assert not rung
    while time.process_time() - began < 0.4:
        np.linalg.qr(np.ones((30, 30)))
    timer.join(1.0)
    assert rung and rung[0] >= 0.1
