"""The alarm clock of a fit: on time, and not in places that swallow exceptions; kernels compiled beforehand."""

import time

import pytest

from unisymnet.regressor.interrupt import Interrupts


def inside(module: str):
    """A function that waits, as if it belonged to this module."""
    space: dict = {"__name__": module, "time": time}
    exec("def wait(seconds):\n    end = time.monotonic() + seconds\n    while time.monotonic() < end: pass", space)
    return space["wait"]


@pytest.mark.parametrize(("module", "seconds"), [("somebody", 60.0), ("numba.core", 0.6), ("llvmlite.binding", 0.6)])
def test_the_clock_waits_until_the_compiler_is_done(module: str, seconds: float) -> None:
    interrupts, done = Interrupts(), False
    with interrupts.caught(), pytest.raises(KeyboardInterrupt), interrupts.watched(0.1):
        inside(module)(seconds)
        done = True
        for _ in range(1200):  # a signal between two instructions of one long sleep would wait for its end
            time.sleep(0.05)
    assert done is (module != "somebody")
    assert not interrupts.requested  # nobody pressed anything


def test_a_postponed_alarm_does_not_ring_in_the_next_block() -> None:
    interrupts = Interrupts()
    with interrupts.caught():
        with interrupts.watched(0.05):
            inside("numba.core")(0.1)
        with interrupts.watched(60):
            time.sleep(0.5)


def test_the_warm_up_reaches_the_kernels_of_the_stages() -> None:
    from unisymnet.fit.kernels import signomials
    from unisymnet.regressor.warm import warm_stages

    warm_stages()
    # What the stage calls; the kernels within it come along.
    assert signomials._loop.signatures
