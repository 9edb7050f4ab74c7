"""Data of any shape: what is left out and said, what is refused and how, and that scale and order do not matter."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from unisymnet import CheckpointError, DataError, UniSymNetRegressor
from unisymnet.candidate import ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem
from unisymnet.regressor.rows import canonical, sample_rows
from unisymnet.symbolic import parse
from unisymnet.tables.columns import choose_columns


class Script:
    name = "script"

    def __init__(self, *lines: str, pause: float = 0.0, sends: signal.Signals | None = None) -> None:
        self.lines, self.pause, self.sends = lines, pause, sends

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        for line in self.lines:
            yield Proposal(parse(line), self.name)
        if self.sends is not None:
            os.kill(os.getpid(), self.sends)
        ends = time.monotonic() + self.pause
        while time.monotonic() < ends and not deadline.expired():
            time.sleep(0.01)


def scripted(*lines: str, pause: float = 0.0, **settings: object) -> UniSymNetRegressor:
    return UniSymNetRegressor(**({"max_time": 20, "proposers": [Script(*lines, pause=pause)]} | settings))


def sending(line: str, number: signal.Signals) -> UniSymNetRegressor:
    """Proposes one formula, sends a signal to the fit, and would then wait for a long time."""
    return UniSymNetRegressor(max_time=4 * LATE, proposers=[Script(line, pause=2 * LATE, sends=number)])


LATE = 120.0  # seconds; so long no machine takes to end a fit that was told to
RNG = np.random.default_rng(0)
X = RNG.uniform(1.0, 5.0, (120, 3))
Y = 0.5 * X[:, 0] * X[:, 1] ** 2
NOISY = Y + np.random.default_rng(1).normal(0.0, 0.5, len(Y))


def frame_with(value: object) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=["m", "v", "T"]).astype(object)
    frame.loc[17, "v"] = value
    return frame


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (frame_with(np.nan), Y, "column 'v' holds NaN in row 17; drop these rows or fill them"),
        (frame_with(None), Y, "column 'v' holds NaN"),
        (frame_with(np.inf), Y, "column 'v' holds inf in row 17; drop these rows"),
        (frame_with("red"), Y, "column 'v' holds the text 'red' in row 17; drop the column"),
        (np.where(X == X[3, 2], np.nan, X), Y, "column x2 holds NaN in row 3"),
        (X, np.where(Y == Y[5], np.nan, Y), "the target 'y' holds NaN in row 5"),
        (X, pd.Series(np.where(Y == Y[5], np.inf, Y), name="E"), "the target 'E' holds inf in row 5"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X[:, 0], Y, "Expected 2D array"),
        (X + 1j, Y, "Complex data not supported"),
    ],
)
def test_bad_data_is_refused_by_name(table: object, target: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scripted("x0").fit(table, target)


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(DataError, match=r"must not be negative, got -1.0 in row 4"):
        scripted("x0").fit(X, Y, sample_weight=np.where(np.arange(len(Y)) == 4, -1.0, 1.0))
    with pytest.raises(ValueError, match=r"zero for every row|non-zero"):  # the latter is scikit-learn's
        scripted("x0").fit(X, Y, sample_weight=np.zeros(len(Y)))


def test_prediction_on_other_columns_is_refused() -> None:
    model = scripted("x0*x1**2*1.1").fit(pd.DataFrame(X, columns=["m", "v", "T"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["m", "w", "T"]))
    with pytest.raises(DataError, match="column 'v' holds NaN in row 17"):
        model.predict(frame_with(np.nan).astype(float))


def test_a_constant_target_gives_the_constant() -> None:
    model = scripted("x0").fit(X, np.full(len(Y), 2.5))
    assert str(model.formula_) == "2.5" and model.stopped_ == "exact"
    assert list(model.predict(X[:2])) == [2.5, 2.5]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_few_rows(n_rows: int) -> None:
    model = scripted("x0*1.1", "x0*x1*1.1").fit(X[:n_rows], Y[:n_rows])
    assert np.isfinite(model.predict(X[:n_rows])).all()
    assert any(f"only {n_rows} different row" in note for note in model.notes_)


def test_constant_and_repeated_columns_are_left_out_aloud() -> None:
    table = pd.DataFrame(X, columns=["m", "v", "T"]).assign(one=1.0, again=X[:, 1])
    model = scripted("x0*x1**2*1.1").fit(table, Y)
    assert str(model.formula_) == "0.5*m*v**2"
    assert "constant columns not used: one" in model.notes_
    assert "repeated columns not used: again (the same as v)" in model.notes_


def test_irrelevant_columns_are_left_out_aloud() -> None:
    rng = np.random.default_rng(2)
    wide = rng.uniform(1.0, 5.0, (400, 50))
    y = 3.0 * wide[:, 7] * wide[:, 31] / wide[:, 44] + rng.normal(0.0, 0.05, 400)
    weights = np.ones(len(y))
    names = [f"x{i}" for i in range(50)]
    kept = choose_columns(wide, y, weights, names, max_columns=10)
    assert {7, 31, 44} <= set(kept.kept) and len(kept.kept) <= 10
    assert "hardly depends on" in kept.notes[0]
    model = scripted().fit(wide, y, guesses=["a*x7*x31/x44"])
    assert model.formula_.columns == ("x7", "x31", "x44") and model.score(wide, y) > 0.99
    assert any("hardly depends on" in note for note in model.notes_)


def test_interactions_are_not_taken_for_noise() -> None:
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(1000, 20))
    y = wide[:, 3] * wide[:, 11]  # no column alone says anything about y
    kept = choose_columns(wide, y, np.ones(1000), [f"x{i}" for i in range(20)], max_columns=10)
    assert {3, 11} <= set(kept.kept)


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e9, 1e30])
def test_any_scale(scale: float) -> None:
    y = 0.5 * (X[:, 0] * scale) * X[:, 1] ** 2
    model = scripted("x0*x1**2*1.1").fit(X * [scale, 1.0, 1.0], y)
    assert model.score(X * [scale, 1.0, 1.0], y) == pytest.approx(1.0, abs=1e-14)
    assert str(model.formula_) == "0.5*x0*x1**2"


def test_the_order_of_rows_and_repetition_do_not_matter() -> None:
    rng = np.random.default_rng(4)
    weights = rng.integers(0, 4, len(Y)).astype(float)
    order = rng.permutation(len(Y))
    lines = ("x0*1.1", "x0*x1*1.1 + 0.1*x2")
    first = scripted(*lines).fit(X[order], NOISY[order], sample_weight=weights[order])
    repeated = np.repeat(np.arange(len(Y)), weights.astype(int))
    second = scripted(*lines).fit(X[repeated], NOISY[repeated])
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=1e-9)


def test_canonical_rows() -> None:
    table = np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0], [2.0, 1.0]])
    found = canonical(table, np.array([1.0, 3.0, 1.0, 7.0]), np.array([1.0, 2.0, 3.0, 0.0]))
    assert found.of(table).tolist() == [[1.0, 5.0], [2.0, 1.0]]
    assert found.of(table, [1]).tolist() == [[5.0], [1.0]]
    assert table[found.places(np.array([1]))].tolist() == [[2.0, 1.0]]
    assert found.y.tolist() == [3.0, 1.0] and found.weights.tolist() == [2.0, 4.0]


def test_sampled_rows_do_not_overlap() -> None:
    sample = sample_rows(10_000, fraction=0.2, max_rows=500, rng=np.random.default_rng(0))
    assert len(sample.fit) == 500 and len(sample.valid) == 2000
    assert not set(sample.fit) & set(sample.valid)
    assert len(sample_rows(49, fraction=0.2, max_rows=500, rng=np.random.default_rng(0)).valid) == 0


def test_large_data_are_searched_on_a_sample_and_checked_on_all() -> None:
    rng = np.random.default_rng(5)
    many = rng.uniform(1.0, 5.0, (200_000, 4))
    y = 0.5 * many[:, 0] * many[:, 1] ** 2 + rng.normal(0.0, 0.1, len(many))
    model = scripted("x0*x1**2*1.1", max_time=200).fit(many, y)
    assert model.n_train_ == 2000 and model.n_valid_ == 20_000
    assert "searched on 2000 of 200000 rows, checked on all" in model.notes_
    assert model.formula_.constants[0].value == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("name", ["SIGINT", "SIGALRM"])
def test_a_signal_keeps_the_best_so_far(name: str) -> None:
    number = getattr(signal, name)
    before = signal.getsignal(number)
    model = sending("x0*x1**2*1.1", number).fit(X, NOISY)
    assert model.seconds_ < LATE
    assert model.interrupted_ and model.stopped_ == "interrupted"
    assert model.formula_.columns == ("x0", "x1") and model.formula_.constants[0].stderr is not None
    assert signal.getsignal(number) is before


def test_an_alarm_of_the_caller_does_not_reach_the_caller() -> None:
    def too_late(number: int, frame: object) -> None:
        raise TimeoutError("the handler of SRBench")

    before = signal.signal(signal.SIGALRM, too_late)
    try:
        model = sending("x0*x1**2*1.1", signal.SIGALRM).fit(X, NOISY)
        assert model.interrupted_ and signal.getsignal(signal.SIGALRM) is too_late
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_callback_may_stop_the_fit() -> None:
    def stop(event: object) -> None:
        raise KeyboardInterrupt

    model = scripted("x0*x1**2*1.1", callback=stop).fit(X, NOISY)
    assert model.interrupted_ and len(model.front_) >= 1


def test_fits_in_other_threads_work_without_signals() -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(str(scripted("x0*x1**2*1.1").fit(X, Y).formula_)))
    thread.start()
    thread.join()
    assert found == ["0.5*x0*x1**2"]


def test_the_time_limit_holds() -> None:
    model = scripted("x0", pause=2 * LATE, max_time=3.0).fit(X, NOISY)
    assert model.seconds_ < LATE
    assert model.stopped_ in ("time", "exhausted")


def test_a_proposer_that_forgets_the_clock_is_stopped() -> None:
    class Forgetful(Script):
        def propose(self, problem, front, *, rng, deadline):  # type: ignore[no-untyped-def]
            yield Proposal(parse("x0*x1**2*1.1"), self.name)
            time.sleep(2 * LATE)

    scripted("x0").fit(X, NOISY)  # kernels loaded
    model = UniSymNetRegressor(max_time=5.0, proposers=[Forgetful()]).fit(X, NOISY)
    assert model.seconds_ < LATE
    assert model.stopped_ == "time" and not model.interrupted_
    assert model.formula_.columns == ("x0", "x1")


def test_a_checkpoint_is_resumed(tmp_path) -> None:
    folder = str(tmp_path / "saved")
    first = scripted("x0*x1**2*1.1", checkpoint=folder).fit(X, NOISY)
    (path,) = (tmp_path / "saved").glob("*.json")
    second = scripted("x2", checkpoint=folder).fit(X, NOISY)
    assert first.formula_.columns == second.formula_.columns == ("x0", "x1")
    assert len(list((tmp_path / "saved").iterdir())) == 1
    other = scripted("x2", checkpoint=folder).fit(X, Y * 2.0)  # other data, other file
    assert "x1**2" not in str(other.formula_)
    path.write_text("{")
    with pytest.raises(CheckpointError, match=r"cannot be read.*delete the file"):
        scripted("x2", checkpoint=folder).fit(X, NOISY)


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 1.0, 2.0], None])
def test_rows_are_ordered_as_by_all_keys(values: list[float] | None) -> None:
    from unisymnet.regressor.rows import _order

    rng = np.random.default_rng(0)
    for n, d in ((1, 1), (2, 3), (50, 4), (300, 7)):
        keys = list(rng.choice(values, (d, n)) if values else rng.normal(size=(d, n)))
        np.testing.assert_array_equal(_order(keys.__getitem__, d), np.lexsort(keys[::-1]))
