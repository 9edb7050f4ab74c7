"""`bench constraints` and `bench templates`: what they give the search must be true, and their sums must add up."""

import numpy as np
import pytest
from typer.testing import CliRunner

from unisymnet.bench.known import constraints, templates
from unisymnet.bench.problems import load_suite
from unisymnet.bench.task import split
from unisymnet.cli.app import app
from unisymnet.cli.benching import KNOWN
from unisymnet.knowledge.shape.check import VIOLATED
from unisymnet.knowledge.shape.shapes import make_shapes
from unisymnet.knowledge.template.text import read_template
from unisymnet.symbolic import evaluate, parse


@pytest.mark.parametrize("name", ["feynman_I_6_2", "feynman_I_12_4", "feynman_I_12_11"])
def test_the_truth_keeps_every_constraint_that_is_given(name):
    problem = next(p for p in load_suite("feynman") if p.name == name)
    data = split(problem, rng=np.random.default_rng(0))
    X, y = data.X_train[:100], data.y_train[:100]
    told = constraints.true_constraints(problem, X, y)
    assert told
    shapes = make_shapes(told, X, y, [f"x{i}" for i in range(X.shape[1])], "y")
    assert all(verdict.kind != VIOLATED for verdict in shapes.verdicts(parse(problem.expression)))


def test_sixty_laws_twice_and_named_ones():
    keys = constraints.keys(None, None)
    assert len(keys) == 120 and len({key["problem"] for key in keys}) == 60
    assert len(constraints.keys(None, ["feynman_I_12_1"])) == 2
    with pytest.raises(ValueError, match="has no 'nothing'"):
        constraints.keys(None, ["nothing"])


def test_summary_of_constraints():
    def record(given, strict, violated):
        return {"given": given, "scores": {"strict": strict, "form": strict}, "violated": violated}

    text = constraints.summary([record(True, True, []), record(True, True, ["y >= 0"]), record(False, False, [])])
    assert "with: laws=2 found=2 form=2 picks_that_violate=1" in text and "without: laws=1 found=0" in text


def test_templates_fit_their_laws():
    assert len(templates.TASKS) == 20 == len({task.name for task in templates.TASKS})
    for task in templates.TASKS:
        n = templates.n_columns(task)
        read_template(task.template, [f"x{i}" for i in range(n)])
        X = np.random.default_rng(0).uniform(task.low, task.high, (50, n))
        assert np.isfinite(evaluate(parse(task.law), X)).all()


def test_summary_of_templates():
    def record(given, strict, seconds):
        return {"problem": "a", "given": given, "scores": {"strict": strict}, "seconds": seconds}

    text = templates.summary([record(True, True, 1.0), record(False, False, 10.0)])
    assert "solved_with=1  solved_without=0  in_half_the_time=1  median_ratio_of_times=0.10" in text


def test_the_command_knows_both(tmp_path):
    out = tmp_path / "t.jsonl"
    words = ["bench", "templates", "--problems", "law and its derivative", "--max-time", "0.5", "--out", str(out)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "tasks=1" in done.stdout and len(out.read_text().splitlines()) == 2
    assert KNOWN["constraints"] is constraints


def test_one_template_task_is_solved():
    key = templates.keys(None, ["law and its derivative"])[0]
    record = templates.perform({"noise": 0.0, "max_time": 20.0, "seed": 0, **key}, None)
    assert record["scores"]["strict"], record
