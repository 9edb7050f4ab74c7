"""A fixed small sample of every attack; benchmarks/faults.py runs the long ones."""

import json
import random
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from attacks import commands, methods, motion, tables, texts, waves
from unisymnet import UniSymNetRegressor


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small fit."""
    folder = tmp_path_factory.mktemp("attacks") / "run"
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (40, 2))
    model = UniSymNetRegressor(max_time=10, proposers=["monomial"]).fit(X, 2.0 * X[:, 0] / X[:, 1])
    model.save(folder / "model.json")
    return folder


@pytest.mark.parametrize("kind", tables.SPELLINGS)
def test_a_known_table_is_read_as_what_it_is(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    for _ in range(6):
        frame, path = tables.table(rng), tmp_path / "t.csv"
        text = tables.SPELLINGS[kind](frame)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        assert tables.misread(frame, path) is None


def test_damaged_files_end_in_one_line(run: Path, tmp_path: Path) -> None:
    rng = random.Random(0)
    path, copied = tmp_path / "t.csv", tmp_path / "run"
    shutil.copytree(run, copied)
    for place in range(60):
        path.write_bytes(tables.damaged(rng))
        words = [("check", str(path)), ("predict", str(copied), str(path)), ("check", str(path), "--json")][place % 3]
        assert tables.failure(words) is None, (place, path.read_bytes()[:300])


def test_strange_texts_are_formulas_or_parse_errors() -> None:
    given, n_read = texts.texts(1500, seed=1), 0
    for text in given:
        assert texts.text_fault(text) is None, text[:200]
        n_read += texts.is_formula(text)
    assert 0.4 * len(given) < n_read < 0.8 * len(given)  # both ways out are taken


def test_damaged_json_is_refused_or_harmless(run: Path, tmp_path: Path) -> None:
    rng = random.Random(0)
    whole = json.loads((run / "model.json").read_text())
    formula = whole["formulas"][-1]["formula"]
    path = tmp_path / "model.json"
    for _ in range(150):
        text = texts.damaged_json(formula, rng)
        assert texts.formula_fault(text) is None, text[:300]
    for _ in range(60):
        text = texts.damaged_json(whole, rng)
        path.write_text(text, "utf-8", "surrogatepass")
        assert texts.model_fault(str(path)) is None, text[:300]


def test_damaged_systems_are_refused_or_harmless(tmp_path: Path) -> None:
    fault = waves.saved_faults(tmp_path)
    assert [found for number in range(60) if (found := fault(number)) is not None] == []


def test_names_of_states_stay_names_in_every_language(tmp_path: Path) -> None:
    fault = waves.export_faults(tmp_path)
    assert [found for number in range(30) if (found := fault(number)) is not None] == []


def test_odd_fields_are_refused_or_explained(tmp_path: Path) -> None:
    fault = waves.fields_faults(tmp_path)
    given = [19, 20, 30, 46, 84, 331, 347, 367, 1025, *range(8)]  # the first nine broke something
    assert [found for number in given if (found := fault(number)) is not None and "over" not in found] == []


def test_odd_time_series_are_refused_or_explained(tmp_path: Path) -> None:
    fault = motion.runs_faults(tmp_path)
    assert [
        found for number in (8, 10, 13, 14, 16) if (found := fault(number)) is not None and "over" not in found
    ] == []


def test_every_method_answers_odd_arguments_in_a_sentence(tmp_path: Path) -> None:
    fault = methods.method_faults(tmp_path)
    assert [found for number in range(400) if (found := fault(number)) is not None] == []


def test_odd_settings_are_refused_or_used(tmp_path: Path) -> None:
    given = [67, 81, 101, 121, 147, 186, 199, 224, 1079, 1087, *range(6)]  # the first ten broke something
    fault = methods.setting_faults(tmp_path)
    assert [found for number in given if (found := fault(number)) is not None] == []


def test_every_route_answers_whatever_it_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the page needs: pip install 'unisymnet[web]'")
    from attacks import routes

    fault = routes.faults(tmp_path)
    given = [80, 199, 379, 465, *range(120)]  # the first four broke version 0.2
    assert [found for number in given if (found := fault(number)) is not None] == []


def test_damaged_files_of_arrays_are_refused_or_read(tmp_path: Path) -> None:
    fault = commands.arrays_faults(tmp_path)
    assert [found for number in range(150) if (found := fault(number)) is not None] == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("kind", "number"), [pytest.param(0, signal.SIGKILL, marks=pytest.mark.slow), (1, signal.SIGTERM)]
)
def test_a_command_that_is_stopped_keeps_its_equations(kind: int, number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    assert commands.stopped(commands.KINDS[kind], folder, number, random.Random(2)) is None  # after the first write
