"""What the islands tell whoever shows a search."""

import numpy as np

from unisymnet import pulse
from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.evolve.stage import Evolve


def test_a_reader_hears_islands_cores_and_speed() -> None:
    X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 2))
    problem = make_problem(X, X[:, 0] * np.sin(1.3 * X[:, 1]) + 0.01 * X[:, 0] ** 1.7)
    stage = Evolve(work=2_000_000, n_islands=3, max_epochs=3, n_jobs=2)
    with pulse.listening() as heard:
        assert heard.text() == ""
        list(stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()))
        assert heard.rate > 0.0
        assert heard.text().startswith("3 islands on 2 cores, ") and heard.text().endswith(" formulas/s")
    pulse.beat(9, 9, 9)  # nobody listens
    assert heard.n_islands == 3


def test_one_is_written_without_s_and_old_news_not_at_all() -> None:
    one = pulse.Pulse()
    one.take(1, 1, 100)
    assert one.text() == "1 island on 1 core, 0 formulas/s"
    one.moment -= 2.0
    one.take(1, 1, 1100)
    assert 300.0 < one.rate <= 500.0
    one.moment -= 2 * pulse.FRESH
    assert one.text() == ""
