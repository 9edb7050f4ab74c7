"""A fixed small sample of every attack; benchmarks/faults.py runs the long ones."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from attacks import tables, texts
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
    for place in range(120):
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
