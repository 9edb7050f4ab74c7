"""The paper's tables of equations, its DNO-NP subset, its scatter, its radar and its encoding figures, of records."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_experiments import _record

from unisymnet.bench.encoding import BFGS, fit_noisy
from unisymnet.bench.experiments import find_experiment
from unisymnet.bench.experiments.base import Figure, Setup, Table, save
from unisymnet.bench.experiments.equations import SRBENCH_SHOWN, STANDARD_SHOWN, SUBSET
from unisymnet.bench.experiments.tally import interval, mean_r2
from unisymnet.bench.problems import find_problem
from unisymnet.corpus import LOW, Corpus
from unisymnet.fit.polish import Polish
from unisymnet.symbolic import parse


def test_the_papers_problems_are_in_the_catalogs() -> None:
    for name in (*STANDARD_SHOWN, *SRBENCH_SHOWN, *SUBSET):
        assert find_problem(name).name == name
    assert (len(STANDARD_SHOWN), len(SRBENCH_SHOWN), len(SUBSET)) == (31, 31, 10)


def test_equations_stand_beside_the_truth() -> None:
    wrong = _record("unisymnet-literal", solved=False, expression="1.23456789*x0")
    found = find_experiment("equations").report([_record(), wrong, _record("svr"), _record(noise=0.1, seed=3)])
    (table,) = [block for block in found if isinstance(block, Table)]
    assert [row[0] for row in table.rows] == ["Nguyen-1", "Nguyen-1"]
    assert {row[2]: (row[3], row[5]) for row in table.rows}["unisymnet-literal (10 s)"] == ("1.235*x0", "F")


def test_the_subset_needs_networks_to_say_anything() -> None:
    report = find_experiment("subset").report
    plain = [_record("unisymnet-literal", name) for name in SUBSET]
    assert report(plain) == []
    (table,) = report([*plain, _record("unisymnet-dno-np", SUBSET[0], solved=False)])
    assert isinstance(table, Table) and [row[1] for row in table.rows] == [1, 10]


def test_intervals_are_over_seeds() -> None:
    values = {0: 1.0, 1: 0.5, 2: 0.75}
    runs = [_record(seed=seed, scores={"r2": r2}) for seed, r2 in values.items() for _ in range(2)]
    assert interval(runs[:2], lambda chosen: mean_r2(chosen) or 0.0) is None
    half = interval(runs, lambda chosen: mean_r2(chosen) or 0.0)
    assert half == pytest.approx(4.302653 * 0.25 / 3**0.5, rel=1e-6)


def test_scatter_counts_the_functions_of_the_ablations(tmp_path: Path) -> None:
    experiment = find_experiment("scatter")
    records = experiment.collect(Setup(tmp_path / "scatter.jsonl", quick=True))
    assert len(records) == 50 and experiment.collect(Setup(tmp_path / "scatter.jsonl", quick=True)) == records
    table, figure = experiment.report(records)
    assert isinstance(table, Table) and sum(n for row in table.rows for n in row[1:]) == 50  # type: ignore[misc]
    assert isinstance(figure, Figure) and all(path.stat().st_size for path in save(figure, tmp_path))


def test_every_figure_can_be_drawn(tmp_path: Path) -> None:
    standard = [_record(method, name) for method in ("unisymnet", "eql") for name in STANDARD_SHOWN]
    srbench = [_record(problem=name) for name in SRBENCH_SHOWN]
    fits = [
        {"noise": noise, "depth": depth, "solved": True, "accurate": True, "r2": 0.9}
        for noise in (0.0, 0.1)
        for depth in (1, 3)
    ]
    writings = [{"writing": kind, "examples": 1, "fits": fits} for kind in ("label", "prefix")]
    names = set()
    for name, records in (("indomain", standard), ("srbench", srbench), ("encoding", writings)):
        for block in find_experiment(name).report(records):
            if isinstance(block, Figure):
                names.add(block.name)
                assert all(path.stat().st_size > 1000 for path in save(block, tmp_path))
    assert {"indomain-r2", "srbench-feynman-methods", "srbench-strogatz-methods", "encoding"} <= names


def test_encoding_is_judged_by_depth_and_noise() -> None:
    fit = {"noise": 0.0, "depth": 3, "solved": True, "accurate": True, "r2": 1.0}
    records = [{"writing": "label", "fits": [fit, {**fit, "noise": 0.1, "solved": False, "r2": 0.5}]}]
    tables = {block.title: block for block in find_experiment("encoding").report(records) if isinstance(block, Table)}
    by_noise = tables["Encoding by noise: constants by BFGS alone"]
    assert [row[1:] for row in by_noise.rows] == [(0.0, 1, 1.0, 1.0, 1.0), (0.1, 1, 0.0, 1.0, 0.5)]


def test_bfgs_alone_fits_a_skeleton_and_noise_is_on_the_rows_that_are_fitted() -> None:
    X = np.random.default_rng(0).uniform(1, 3, (80, 4)) * [1, 0, 0, 0]
    example = Corpus(LOW, 1)(0, 1)[0]
    truth = parse("2.5*x0 + 1")
    rows = np.column_stack([X, 2.5 * X[:, 0] + 1]).astype(np.float32)
    line = SimpleNamespace(points=rows, n_features=1, expr=truth, depth=example.depth)
    solved, best = fit_noisy([parse("c0*x0 + c1")], line, 5.0, 0.0, Polish(sfo=BFGS))  # type: ignore[arg-type]
    assert solved and best > 0.999999
    solved, best = fit_noisy([parse("c0*x0 + c1")], line, 5.0, 0.1, Polish(sfo=BFGS))  # type: ignore[arg-type]
    assert not solved and 0.9 < best < 1.0
