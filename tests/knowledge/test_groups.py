"""Groups of rows: constants shared or not, their table, new groups, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.deadline import Deadline
from unisymnet.errors import DataError
from unisymnet.files.table import read_table
from unisymnet.formula import Formula
from unisymnet.knowledge.group.joint import fit_jointly, standard_errors
from unisymnet.knowledge.group.sharing import best_sharing, forms_of
from unisymnet.regressor.known.grouped import searched
from unisymnet.regressor.validation import Data
from unisymnet.symbolic import parse

SITES = ["oak", "elm", "fir", "ash"]


def _decays(noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    parts = []
    for k, site in enumerate(SITES):
        t = rng.uniform(0.5, 6.0, 30)
        n = (0.5 + 0.4 * k) * np.exp(-t / 1.2) + rng.normal(0, noise, 30)
        parts.append(pd.DataFrame({"t": t, "site": site, "n": n}))
    return pd.concat(parts, ignore_index=True)


def _groups(table: pd.DataFrame) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    parts = [table[table["site"] == site] for site in SITES]
    return [(p[["t"]].to_numpy(), p["n"].to_numpy(), np.ones(len(p))) for p in parts]


def test_groups_whose_target_moves_most_are_searched() -> None:
    """Of ten groups of the same size four are searched: where the form stands out of the noise."""
    labels = [str(k) for k in range(10) for _ in range(20)]
    t = np.tile(np.linspace(1.0, 2.0, 20), 10)
    data = Data(t[:, None], np.repeat(np.arange(10.0), 20) * t, None, ("t",), "y")
    parts = [part for part, _ in searched(data, labels, sorted(set(labels)))]
    assert [part.y[0] for part in parts[:4]] == [9.0, 8.0, 7.0, 6.0]
    assert len(parts[4].y) == 200


def test_a_joint_fit_finds_shared_and_own_constants() -> None:
    groups = _groups(_decays(0.0))
    form = parse("c0*exp(c1*x0)")
    fit = fit_jointly(form, groups, np.tile([1.0, -0.5], (4, 1)), (1,))
    assert np.allclose(fit.values[:, 1], -1 / 1.2, rtol=1e-6)
    assert np.allclose(fit.values[:, 0], [0.5, 0.9, 1.3, 1.7], rtol=1e-6)
    noisy = _groups(_decays(0.01))
    fit = fit_jointly(form, noisy, fit.values, (1,))
    errors = standard_errors(form, noisy, fit)
    assert np.all(errors > 0.0) and np.ptp(errors[:, 1]) == 0.0
    assert np.all(np.abs(fit.values[:, 0] - [0.5, 0.9, 1.3, 1.7]) < 4.0 * errors[:, 0])


def test_the_shortest_description_shares_what_is_the_same() -> None:
    ((form, start), *_) = forms_of([parse("1.1*exp(-0.7*x0)")])
    found = best_sharing(form, start, _groups(_decays(0.01)), Deadline.after(20), np.random.default_rng(0))
    assert found is not None and len(found.fit.shared) == 1 and len(found.fit.own) == 1


def test_the_estimator_with_groups(tmp_path: Path) -> None:
    table = _decays(0.01)
    model = UniSymNetRegressor(max_time=200, max_evaluations=30, proposers=["boltzmann", "monomial"])
    model.fit(table[["t", "site"]], table["n"], groups="site")
    formula = model.formula_
    assert formula.groups is not None and formula.groups.labels == tuple(SITES) and len(formula.groups.names) == 1
    assert formula.score(table, table["n"]) > 0.99
    assert np.allclose(model.predict(table[["t", "site"]]), formula.predict(table))
    alone = formula.of("fir")
    rows = table[table["site"] == "fir"]
    assert np.allclose(alone.predict(rows[["t"]].to_numpy()), formula.predict(rows))
    assert "site fir: c1 = 1." in str(model)
    model.save(tmp_path / "model.json")
    again = UniSymNetRegressor.load(tmp_path / "model.json")
    assert str(again) == str(model) and np.allclose(again.predict(table), model.predict(table))
    assert Formula.from_json(formula.to_json()) == formula
    new = pd.DataFrame({"t": [0.5, 1.0, 2.0, 3.0], "site": "yew"})
    with pytest.raises(DataError, match="refit"):
        formula.predict(new)
    fitted = formula.refit(new, 3.0 * np.exp(-new["t"] / 1.2))
    assert fitted.groups is not None and fitted.groups.values[0][0] == pytest.approx(3.0, rel=0.02)


def test_mistakes_and_missing_groups_are_told(tmp_path: Path) -> None:
    table = _decays(0.01)
    with pytest.raises(DataError, match="no column 'place'"):
        UniSymNetRegressor(max_time=1).fit(table[["t", "site"]], table["n"], groups="place")
    with pytest.raises(DataError, match="one entry per row"):
        UniSymNetRegressor(max_time=1).fit(table[["t"]], table["n"], groups=["a"])
    with pytest.raises(DataError, match="at least two groups"):
        UniSymNetRegressor(max_time=1).fit(table[["t"]], table["n"], groups=["a"] * len(table))
    table.loc[3, "site"] = None
    table.loc[5, "t"] = np.nan
    table.to_csv(tmp_path / "d.csv", index=False)
    read = read_table(str(tmp_path / "d.csv"), target="n", groups="site")
    assert read.groups is not None and len(read.groups) == len(read.y) == len(table) - 2
    assert list(read.X.columns) == ["t"]


def test_the_command_line_refits_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from unisymnet.cli.own import refit_formula

    table = _decays(0.0)
    model = UniSymNetRegressor(max_time=100, max_evaluations=20, proposers=["boltzmann"])
    model.fit(table[["t", "site"]], table["n"], groups="site").save(tmp_path / "model.json")
    new = table[table["site"] == "fir"].assign(site="yew")
    new.to_csv(tmp_path / "new.csv", index=False)
    refit_formula(str(tmp_path / "model.json"), str(tmp_path / "new.csv"), None, "n", None, False)
    assert "site yew: c1 = 1.3" in capsys.readouterr().out


def test_a_form_that_cannot_win_is_not_shared_any_further() -> None:
    """Sharing is the dear part of a fit: it is left out where not even sharing for nothing would help."""
    groups, rng = _groups(_decays(0.01)), np.random.default_rng(0)
    ((form, start), *_) = forms_of([parse("1.1*exp(-0.7*x0)")])
    right = best_sharing(form, start, groups, Deadline.after(20), rng)
    assert right is not None
    ((line, start), *_) = forms_of([parse("1.1 - 0.7*x0")])
    hopeless = best_sharing(line, start, groups, Deadline.after(20), rng, right.length)
    assert hopeless is not None and not hopeless.fit.shared and hopeless.length > right.length
    again = best_sharing(form, start, groups, Deadline.after(20), rng, right.length + 1.0)
    assert again is not None and len(again.fit.shared) == 1


def test_an_exponent_that_was_fitted_costs_as_a_shared_constant() -> None:
    groups, rng = _groups(_decays(0.01)), np.random.default_rng(0)
    lengths = []
    for text in ("c0*x0**0.5", "c0*x0**0.5001"):
        found = best_sharing(parse(text), (1.0,), groups, Deadline.after(20), rng)
        assert found is not None
        lengths.append(found.length - 0.5 * found.n_rows * np.log(found.loss))
    assert lengths[1] - lengths[0] == pytest.approx(0.5 * np.log(120))


def test_constants_without_any_error_are_compared_in_their_own_size() -> None:
    """Two rows say nothing about the errors of three constants; warnings are errors here."""
    X = np.array([[1.0], [2.0]])
    groups = [(X, np.array([1.0 + k, 2.0 + k]), np.ones(2)) for k in range(3)]
    found = best_sharing(
        parse("c0*exp(c1*x0) + c2"), (1.0, 0.1, 2.0), groups, Deadline.after(20), np.random.default_rng(0)
    )
    assert found is not None and np.isfinite(found.length)


def test_a_constant_that_hardly_matters_makes_no_warning() -> None:
    X = np.linspace(1.0, 2.0, 20)[:, None]
    groups = [(X, 1.0 + X[:, 0], np.ones(20))]
    fit = fit_jointly(parse("c0*x0 + 1e-160*c1"), groups, np.array([[1.0, 1.0]]), ())
    error = standard_errors(parse("c0*x0 + 1e-160*c1"), groups, fit)[0, 1]
    assert not error < 1e100  # nan where it is no number any more
