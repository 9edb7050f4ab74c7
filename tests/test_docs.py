"""Every Python block of README and the documentation runs, prints what is promised, and every command exists.

Searches get a few seconds here, whatever the page says; pages promise only what does not depend on a time limit. One
terminal session walks through README and another through the tutorial, in the order in which they are read.
"""

import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pages import ROOT, Block, blocks, keeps, pages
from unisymnet import UniSymNetRegressor, deadline
from unisymnet.cli import app, main

MAX_TIME = 6.0
TOO_LONG = ("demo", "bench", "train", "generate")  # these are read, not run
WALKS = ("README.md", "docs/tutorial.md")
WITH_PYTHON = [page for page in pages() if any(block.language == "python" for block in blocks(page))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[list[str]]:
    """The lines of a page that call `unisymnet`, as words."""
    lines = [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines()]
    calls = [line.replace("$SLURM_ARRAY_TASK_ID", "7") for line in lines if line.startswith("unisymnet ")]
    return [shlex.split(call, comments=True)[1:] for call in calls]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, and searches that end soon."""
    real = UniSymNetRegressor.fit

    def fit(self: UniSymNetRegressor, *args: Any, **named: Any) -> UniSymNetRegressor:
        if self.max_time is not None:
            self.max_time = min(self.max_time, MAX_TIME)
        return real(self, *args, **named)

    monkeypatch.setattr(UniSymNetRegressor, "fit", fit)
    monkeypatch.chdir(tmp_path)
    # Processor time: beside other jobs, six seconds of wall time may end before the kernels are loaded.
    monkeypatch.setenv(deadline.CLOCK, "processor")
    monkeypatch.setattr(deadline, "_CLOCK", ["processor"])


# The alarm clock of a search may ring inside a callback of the interpreter, which reports it and goes on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_the_python_of_a_page_runs(page: Path, hurried: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name == "dno.md":
        pytest.importorskip("torch", reason="networks need torch")
    space: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python":
            _run(page, block, space)


def _run(page: Path, block: Block, space: dict[str, Any]) -> None:
    printed = StringIO()
    source = "\n" * block.line + block.text  # so that a traceback names the line of the page
    with redirect_stdout(printed):
        exec(compile(source, str(page), "exec"), space)
    if block.promised is not None:
        assert keeps(block.promised, printed.getvalue()), f"{name(page)}:{block.line} printed\n{printed.getvalue()}"


@pytest.mark.parametrize("page", WALKS)
def test_a_walk_through_the_commands(
    page: str, hurried: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    n_run = 0
    for words in commands(ROOT / page):
        if words[0] in TOO_LONG and "--save-data" not in words:
            continue
        monkeypatch.setattr(sys, "argv", ["unisymnet", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert not ended.value.code, f"unisymnet {' '.join(words)}\n{said.err}"
        assert said.out, f"unisymnet {' '.join(words)} says nothing"
        n_run += 1
    assert n_run >= 4


@pytest.mark.parametrize("page", [page for page in pages() if commands(page)], ids=name)
def test_every_command_of_a_page_exists(page: Path) -> None:
    known: Any = get_command(app)
    for words in commands(page):
        if words[0].startswith("--"):
            continue
        assert words[0] in known.commands, f"unisymnet {words[0]}"
        with known.commands[words[0]].make_context(words[0], words[1:]):
            pass


def test_what_is_promised_is_compared() -> None:
    assert keeps("a\n…\nb\n", "a\n1\n2\nb") and keeps("x = … s", "x = 0.3 s\n")
    assert not keeps("a\nb", "a\nc") and not keeps("(a)", "a")
