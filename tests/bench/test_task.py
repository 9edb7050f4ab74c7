import numpy as np
import pytest

from unisymnet.bench.problems import find_problem
from unisymnet.bench.task import Task, perform, split


def _shapes(name, rows=None):
    data = split(find_problem(name), rng=np.random.default_rng(0), rows=rows)
    assert data.X_train.shape[1] == data.X_test.shape[1]
    return len(data.y_train), len(data.y_test)


@pytest.mark.parametrize(
    ("name", "rows", "shapes"),
    [
        ("Nguyen-1", None, (20, 100)),
        ("Nguyen-1", 33, (33, 100)),
        ("Keijzer-7", None, (100, 100)),
        ("feynman_I_6_2", None, (1000, 333)),
        ("feynman_I_6_2", 200, (200, 67)),
        ("strogatz_lv1", None, (300, 100)),
        ("strogatz_lv1", 50, (50, 100)),
        ("friedman1", None, (750, 250)),
        ("diabetes", None, (331, 111)),
    ],
)
def test_splits_have_the_published_sizes(name, rows, shapes):
    assert _shapes(name, rows) == shapes


def test_a_table_has_no_more_rows_than_it_has():
    with pytest.raises(ValueError, match="has only 300 training rows, 301"):
        _shapes("strogatz_lv1", 301)


def test_an_orbit_is_split_without_overlap():
    data = split(find_problem("strogatz_glider1"), rng=np.random.default_rng(0))
    rows = {tuple(row) for row in data.X_train} | {tuple(row) for row in data.X_test}
    assert len(rows) == 400


def test_a_run_reports_each_phase_and_repeats_itself():
    task = Task("linear", "Nguyen-10", seed=4, noise=0.1)
    first, again = list(perform(task)), list(perform(task))
    assert [update.get("phase") for update in first] == ["fit", "score", "judge", None]
    assert first[1]["expression"] == again[1]["expression"]
    assert first[-1]["scores"] == again[-1]["scores"]
    assert first[-1]["scores"]["strict"] is False and first[-1]["scores"]["srbench"] is False
    other = list(perform(Task("linear", "Nguyen-10", seed=5, noise=0.1)))
    assert other[1]["expression"] != first[1]["expression"]


def test_noise_touches_the_training_target_only():
    clean = list(perform(Task("linear", "diabetes", noise=0.0)))[-1]["scores"]["r2"]
    noisy = list(perform(Task("linear", "diabetes", noise=3.0)))[-1]["scores"]["r2"]
    assert noisy < clean < 1
    assert list(perform(Task("linear", "diabetes")))[-1]["scores"]["strict"] is None
