"""Experiments: the published numbers, tables made of records, figures, pages. Nothing is fitted here."""

import json
import math

import numpy as np
import pytest

from unisymnet.bench.experiments import NAMES, base, facts, find_experiment
from unisymnet.bench.experiments.ablations import LOSSES, POLICIES, STARTS
from unisymnet.bench.experiments.base import Figure, Setup, Table, save, shown
from unisymnet.bench.experiments.tally import mean_r2, seconds, tasks_among
from unisymnet.bench.methods import get_method
from unisymnet.bench.page import write_pages
from unisymnet.bench.problems import STANDARD, find_problem
from unisymnet.bench.versus import comparison, shortfalls
from unisymnet.model.proposer import TransformerProposer


def _record(method="unisymnet", problem="Nguyen-1", *, solved=True, **changes):
    scores = {"r2": 1.0 if solved else 0.5, "complexity": 9, "true_complexity": 9, "strict": solved, "form": solved}
    scores |= {"srbench": solved, "srbench_complexity": 11, "true_srbench_complexity": 11, "r2_wide": 0.9}
    return {
        "suite": find_problem(problem).suite, "method": method, "problem": problem, "form": "paper", "seed": 0,
        "noise": 0.0, "max_time": 10.0, "rows": None, "cores": 1, "commit": "abc", "machine": "a <machine>",
        "date": "2026-11-16T00:00:00", "version": "1", "status": "ok", "time": 2.0, "cpu": 1.0,
        "expression": "x0**3 + x0**2 + x0", "message": None, "scores": scores,
    } | changes  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_what_it_is_and_makes_nothing_of_nothing(name):
    experiment = find_experiment(name)
    assert experiment.name == name and experiment.about and experiment.full
    assert experiment.report([]) == []
    assert experiment.report([{"kind": "something else"}]) == []


def test_published_numbers_are_those_of_the_paper_and_of_srbench():
    assert facts.paper("in domain", "constant")["UniSymNet"] == (9.63, 1.0, 0.75)
    assert facts.paper("in domain", "jin")["ParFam"] == (100.92, 1.0, 0.3333)
    assert facts.paper("initialisation", "nguyen")["grid"] == (13.17, 0.8333, 0.1667, 75.35)
    assert facts.paper("losses", "nguyen")["quantile"] == (-1.87e-3, 0.0833, -2.25)
    assert facts.by_number("sensitivity", "exponential")[0.005] == (0.9989, 0.25, 13.5)
    assert facts.by_number("srbench", "feynman")[0.1] == (0.2845, 0.9596, 21.24)
    assert facts.by_number("optimisers", "dno-np")[0.001] == (0.105, 0.7724)
    for suite in STANDARD:
        counts = [len(facts.paper(table, suite)) for table in ("in domain", "initialisation", "losses")]
        assert counts == [7, 4, 2]
    for suite in ("feynman", "strogatz"):
        for noise in facts.NOISES:
            assert len(facts.published(suite, noise)) == 14
    assert facts.published("feynman", 0.0)["AIFeynman"]["rate"] == 0.5578


def test_the_newest_record_of_a_run_counts():
    old, new = _record(solved=False), _record(date="2026-11-17T00:00:00")
    assert tasks_among([new, old, {"kind": "other"}]) == [new]
    assert seconds(_record("pyoperon")) == 1.0 and seconds(_record()) == 2.0
    assert mean_r2([_record(), _record(scores={"r2": -3.0}), _record(scores={})]) == pytest.approx(1 / 3)


def test_the_in_domain_table_has_ours_beside_the_papers():
    blocks = find_experiment("indomain").report([_record(), _record("unisymnet", "Nguyen-2", solved=False)])
    nguyen = next(block for block in blocks if isinstance(block, Table) and block.title == "In-domain: nguyen")
    ours = dict(zip(nguyen.columns, nguyen.rows[0], strict=True))
    assert (ours["method"], ours["runs"], ours["Acc"], ours["Sol"]) == ("unisymnet (10 s)", 2, 0.5, 0.5)
    assert any(row[0] == "UniSymNet (paper)" and row[5] == 0.3333 for row in nguyen.rows)


def test_srbench_has_the_paper_and_fourteen_methods():
    records = [_record(method, "strogatz_lv1") for method in ("unisymnet", "pyoperon")]
    table = find_experiment("srbench").report(records)[0]
    assert isinstance(table, Table)
    names = [row[0] for row in table.rows]
    assert names[:3] == ["unisymnet (10 s)", "pyoperon (10 s)", "UniSymNet (paper)"]
    assert sum("(SRBench)" in str(name) for name in names) == 14


def test_settings_of_sfo_are_methods():
    ablations = {"initialisation": STARTS, "losses": LOSSES, "temperature": POLICIES}
    for name, methods in ablations.items():
        records = [_record(method) for method in methods]
        for method in methods:
            assert get_method(method).name == method
        (table,) = find_experiment(name).report(records)
        assert isinstance(table, Table) and len(table.rows) == len(records) - (name == "losses")
        assert find_experiment(name).report(records[:-1]) == []
    with pytest.raises(ValueError, match="unknown setting 'speed'"):
        get_method("unisymnet-paper[speed=9]")
    with pytest.raises(ValueError, match="schedule must be one of"):
        get_method("unisymnet-paper[schedule=never]")


def test_paper_mode_looks_at_whole_beams_and_the_settings_of_sfo_are_compared_without(monkeypatch):
    asked = []
    monkeypatch.setattr(TransformerProposer, "propose", lambda self, *_, **__: asked.append(self.brief) or iter(()))
    X = np.linspace(1.0, 2.0, 20)[:, None]
    for name in ("unisymnet-paper", "unisymnet-no-policy", "unisymnet-paper[init=grid]"):
        get_method(name).fit(X, X[:, 0], max_time=60.0, seed=0, names=["x0"])
    assert asked[0] == asked[1] > 0 == asked[2]


def test_comparison_is_on_common_problems_and_shortfalls_are_told():
    records = [
        _record(), _record(problem="Nguyen-2", solved=False), _record(problem="Nguyen-3"),
        _record("pyoperon"), _record("pyoperon", problem="Nguyen-2"),
        _record("gplearn", noise=0.1),
    ]  # fmt: skip
    (table,) = comparison(records)
    assert isinstance(table, Table)
    assert [row[3:6] for row in table.rows] == [("unisymnet", 2, 1), ("pyoperon", 2, 2)]
    (behind,) = shortfalls(records)
    assert isinstance(behind, Table)
    against = {(row[1], row[2]) for row in behind.rows}
    assert ("strict solutions", "pyoperon") in against
    assert ("median time where both solve", "pyoperon") in against  # 2 s of ours against 1 s
    (nothing,) = shortfalls([_record()])
    assert isinstance(nothing, Table) and "No other method" in nothing.note


def test_figures_are_png_and_svg_and_the_same_twice(tmp_path):
    def draw(fig):
        fig.subplots().plot([1, 2, 3])

    first = save(Figure("one", "A title", draw), tmp_path / "a")
    again = save(Figure("one", "A title", draw), tmp_path / "b")
    assert [path.name for path in first] == ["one.png", "one.svg"]
    assert first[0].read_bytes()[:4] == b"\x89PNG"
    assert first[1].read_bytes() == again[1].read_bytes()


def test_pages_hold_what_the_records_hold(tmp_path, monkeypatch):
    monkeypatch.setattr("unisymnet.bench.page.current", lambda records, *rules: (records, 0))
    results = tmp_path / "results"
    results.mkdir()
    records = [_record(), _record("pyoperon", solved=False), _record("unisymnet", "feynman_I_6_2a")]
    (results / "some.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    paths = write_pages(results, tmp_path / "docs")
    markdown, page = (path.read_text("utf-8") for path in paths)
    assert "| standard | 0 | 10 s | unisymnet | 1 | 1 | 1 |" in markdown
    assert "Not run yet with this version: `unisymnet bench losses`" in markdown
    assert markdown.index("behind") < markdown.index("Ours beside each peer")
    assert "a &lt;machine&gt;" in page and "<machine>" not in page
    assert "http://" not in page and "<script" not in page
    for line in markdown.splitlines():
        if line.startswith("!["):
            assert (tmp_path / "docs" / line.split("(")[-1].rstrip(")")).exists()


def test_tasks_of_the_quick_variant_fit_into_ten_minutes(monkeypatch):
    wanted = []
    monkeypatch.setattr(base, "run_missing", lambda tasks, *_, **__: wanted.extend(tasks) or [])
    peers = ("unisymnet", "unisymnet-paper", "pyoperon", "gplearn")
    for name in ("indomain", "extrapolation", "srbench", "initialisation", "losses", "temperature", "tabular"):
        wanted.clear()
        find_experiment(name).collect(Setup(None, quick=True, max_time=5.0, methods=peers))
        assert wanted and len(set(wanted)) == len(wanted)
        # Two at a time, and three seconds for the judge of each.
        assert sum(task.max_time + 3 for task in wanted) / 2 <= 600, name


def test_cells_are_short():
    cells = (None, 0.123456, 1234567.0, 3, "x", math.pi)
    assert [shown(cell) for cell in cells] == ["–", "0.1235", "1.23e+06", "3", "x", "3.142"]
