"""The gallery: tables with sources, commands that exist, a page that follows the script; one example is really run.

`make gallery` runs all of them and takes a quarter of an hour.
"""

import runpy
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from unisymnet.cli import app

ROOT = Path(__file__).resolve().parents[1]
GALLERY: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "gallery.py"))
EXAMPLES = GALLERY["EXAMPLES"]


def name(example: Any) -> str:
    return str(example.name)


def test_there_are_a_dozen_and_every_table_is_used() -> None:
    assert len(EXAMPLES) >= 12 and len({example.name for example in EXAMPLES}) == len(EXAMPLES)
    tables = {path.stem for path in (ROOT / "examples" / "gallery").glob("*.csv")}
    assert tables == {example.data or example.name for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_a_table_says_where_it_comes_from(example: Any) -> None:
    source = GALLERY["source"](example)
    assert len(source.split()) > 6
    assert any(word in source for word in ("ublic domain", "Facts"))
    table = pd.read_csv(ROOT / example.table, comment="#")
    assert len(table) >= 8 and np.isfinite(table.select_dtypes("number").to_numpy()).all()


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_its_command_exists(example: Any) -> None:
    known: Any = get_command(app)
    command, *words = example.words()
    with known.commands[command].make_context(command, list(words)):
        pass


def test_the_page_shows_every_example_with_its_picture() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for example in EXAMPLES:
        assert f"## {example.title}\n" in page and example.story in page, f"{example.name}: run `make gallery`"
        command = shlex.join(["unisymnet", *example.words()]).replace("'", '"')
        assert command in page
        assert (ROOT / "docs" / "_static" / "gallery" / f"{example.name}.png").stat().st_size > 1000


@pytest.mark.slow
def test_an_example_runs(tmp_path: Path) -> None:
    example = GALLERY["find"]("ptolemy")  # exact, so that it ends by itself and no clock decides
    GALLERY["run"](example, tmp_path / "ptolemy", 500.0)
    (first, *_) = GALLERY["lines_of"](example, tmp_path / "ptolemy")
    assert first == "in_water = 0.0025*in_air*(330 - in_air)"
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"
    GALLERY["draw"](example, tmp_path / "ptolemy", picture)
    assert picture.read_bytes()[:4] == b"\x89PNG"
