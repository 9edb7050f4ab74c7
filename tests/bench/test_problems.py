import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from unisymnet.bench.problems import add_noise, find_problem, load_suite, suites

ROOT = Path(__file__).resolve().parents[2]
FACTS = ROOT.parent / "shared" / "benchmarks"
KNOWN = [problem for name in ("standard", "feynman", "strogatz") for problem in load_suite(name)]


def test_the_catalogs_have_the_published_numbers_of_problems():
    sizes = {name: size for name, (_, size) in suites().items()}
    assert (sizes["standard"], sizes["feynman"], sizes["strogatz"], sizes["blackbox"]) == (70, 119, 14, 4)
    assert [sizes[name] for name in ("nguyen", "nguyen*", "constant", "keijzer")] == [12, 5, 8, 12]
    assert [sizes[name] for name in ("livermore", "jin", "r", "koza")] == [22, 6, 3, 2]
    assert all(len(load_suite(name)) == size for name, size in sizes.items())


def test_names_are_unique_and_srbench_scores_130():
    names = [problem.name for problem in KNOWN]
    assert len(set(names)) == len(names)
    assert sum(problem.scored for problem in KNOWN) == 130
    assert [problem.name for problem in KNOWN if problem.inverse] == [
        "feynman_I_26_2",
        "feynman_I_30_5",
        "feynman_test_10",
    ]


@pytest.mark.parametrize("form", ["paper", "canonical"])
@pytest.mark.parametrize("part", ["train", "test", "wide"])
def test_every_truth_is_finite_on_its_samples(part, form):
    for suite in ("standard", "feynman", "strogatz"):
        for problem in load_suite(suite, form=form):
            X, y = problem.sample(50, rng=np.random.default_rng(1), part=part)
            assert X.shape == (50, problem.n_features) == (len(y), len(problem.low)), problem.name
            assert np.all(np.isfinite(X)) and np.all(np.isfinite(y)), problem.name
            np.testing.assert_array_equal(y, problem.evaluate(X))


def test_samples_follow_the_catalog():
    rng = np.random.default_rng(0)
    X, _ = find_problem("Keijzer-6").sample(rng=rng)
    np.testing.assert_allclose(X[:, 0], np.arange(1, 51))
    X, _ = find_problem("Livermore-1").sample(rng=rng)
    assert len(X) == 1000 and -10 <= X.min() < -9 and 9 < X.max() <= 10
    X, _ = find_problem("Nguyen-7").sample(rng=rng, part="test")
    assert len(X) == 100 and X.min() >= 0 and X.max() <= 2
    X, _ = find_problem("Nguyen-1").sample(2000, rng=rng, part="wide", factor=0.5)
    assert -2 <= X.min() < -1.9 and 1.9 < X.max() <= 2
    X, _ = find_problem("Nguyen-8").sample(500, rng=rng, part="wide")
    assert X.min() >= 0 and 4 < X.max() <= 4.4


def test_samples_repeat_with_the_seed():
    problem = find_problem("feynman_I_6_2")
    first = problem.sample(10, rng=np.random.default_rng(3))
    again = problem.sample(10, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(first[0], again[0])


@pytest.mark.parametrize("problem", load_suite("strogatz"), ids=lambda problem: problem.name)
def test_simulated_orbits_reach_the_extremes_of_the_published_ones(problem):
    X, _ = problem.sample(rng=np.random.default_rng(0))
    assert X.shape == (400, 2)
    np.testing.assert_array_equal(X[::100], problem.starts)
    np.testing.assert_allclose(X.min(axis=0), problem.low, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(X.max(axis=0), problem.high, rtol=1e-12, atol=1e-13)


def test_canonical_forms_differ_where_the_paper_does():
    paper, canonical = load_suite("standard"), load_suite("standard", form="canonical")
    changed = [p.name for p, c in zip(paper, canonical) if p.expression != c.expression]
    assert len(changed) == 9 and "Jin-6" in changed
    assert find_problem("Livermore-14").n_features == 1
    assert find_problem("Livermore-14", form="canonical").low == (-1.0, -1.0)


@pytest.mark.parametrize("problem", load_suite("blackbox"), ids=lambda problem: problem.name)
def test_black_boxes_have_data_but_no_truth(problem):
    X, y = problem.sample(40, rng=np.random.default_rng(0))
    assert X.shape == (40, problem.n_features) and len(y) == 40
    assert problem.expr is None
    with pytest.raises(ValueError, match="no known truth"):
        problem.evaluate(X)
    with pytest.raises(ValueError, match="outside its data"):
        problem.sample(40, rng=np.random.default_rng(0), part="wide")


def test_noise_has_the_level_of_the_rms():
    y = np.full(40_000, 3.0)
    noisy = add_noise(y, 0.1, rng=np.random.default_rng(0))
    assert np.std(noisy - y) == pytest.approx(0.3, rel=0.02)
    assert add_noise(y, 0.0, rng=np.random.default_rng(0)) is y
    with pytest.raises(ValueError, match="negative"):
        add_noise(y, -0.1, rng=np.random.default_rng(0))


def test_unknown_names_are_told_what_exists():
    with pytest.raises(ValueError, match="standard, feynman, strogatz"):
        load_suite("nguyens")
    with pytest.raises(ValueError, match="Nguyen-99"):
        find_problem("Nguyen-99")
    with pytest.raises(ValueError, match="401 rows of a table of 400"):
        find_problem("strogatz_lv1").sample(401, rng=np.random.default_rng(0))


@pytest.mark.skipif(not FACTS.exists(), reason="the published facts are not on this machine")
def test_the_catalogs_are_what_the_facts_give(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("make_catalogs", ROOT / "benchmarks" / "make_catalogs.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shipped = script.CATALOGS
    monkeypatch.setattr(script, "CATALOGS", tmp_path)
    script.main()
    for path in sorted(tmp_path.iterdir()):
        with path.open(newline="") as made, (shipped / path.name).open(newline="") as kept:
            assert list(csv.reader(made)) == list(csv.reader(kept)), path.name
