"""Deadlines, and the clock that they count on."""

import time

import pytest

from unisymnet.deadline import CLOCK, Deadline, count


def test_never() -> None:
    never = Deadline.never()
    assert not never.expired()
    assert never.remaining() == float("inf")


def test_after() -> None:
    soon = Deadline.after(0.02)
    assert not soon.expired()
    assert 0.0 < soon.remaining() <= 0.02
    time.sleep(0.03)
    assert soon.expired()
    assert soon.remaining() == 0.0


def test_sooner_only_shortens() -> None:
    long, short = Deadline.after(100.0), Deadline.after(1.0)
    assert long.sooner(1.0).remaining() <= 1.0
    assert short.sooner(100.0) == short
    assert long.remaining() > 99.0


def test_without_slices_a_deadline_stays_itself() -> None:
    never = Deadline.never()
    assert never.sooner(5.0) is never
    counted = Deadline(time.monotonic() + 100.0, sliced=False)
    assert counted.sooner(1.0) is counted


def test_a_slice_remembers_the_end() -> None:
    whole = Deadline.after(100.0)
    assert whole.sooner(5.0).sooner(1.0).whole() == whole.whole() == whole


def test_limits_can_count_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOCK, "wall")  # put back afterwards
    count("processor")
    try:
        limit = Deadline.after(0.05)
        time.sleep(0.1)  # costs no processor time
        assert not limit.expired()
        end = time.process_time() + 0.06
        while time.process_time() < end:
            pass
        assert limit.expired()
    finally:
        count("wall")
