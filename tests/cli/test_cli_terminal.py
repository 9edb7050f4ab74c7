"""The commands in a real terminal: the panel, Ctrl-C, pipes, and a word before the libraries are loaded."""

import json
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from endless import PATIENCE, bumps

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")

COMMAND = [sys.executable, "-c", "from unisymnet.cli import main; main()"]


class Terminal:
    """A command in a pseudo-terminal; `text` is everything it has written so far, without colours."""

    def __init__(self, *words: str, columns: int = 100) -> None:
        self.raw = b""
        self.pid, self.door = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", COLUMNS=str(columns), LINES="40")
            os.execv(COMMAND[0], [*COMMAND, *words])

    def read(self, until: str | None = None, seconds: float = PATIENCE) -> bool:
        """Read until a text appears, or to the end."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if until is not None and until in self.text:
                return True
            if select.select([self.door], [], [], 0.1)[0]:
                try:
                    piece = os.read(self.door, 65536)
                except OSError:  # Linux says so when the other end is closed
                    piece = b""
                if not piece:
                    return until is None
                self.raw += piece
        return False

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw.decode("utf-8", "replace"))

    def end(self) -> int:
        assert self.read(), self.text[-2000:]
        os.close(self.door)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    bumps().to_csv("bumps.csv", index=False)
    return tmp_path


def test_the_panel_and_one_ctrl_c(here: Path) -> None:
    terminal = Terminal("fit", "bumps.csv", "--max-time", "3000")
    assert terminal.read("reading bumps.csv")
    assert terminal.read("Ctrl-C: stop and keep the best"), terminal.text
    assert terminal.read("formulas,"), terminal.text
    for word in ("searching", "s left", "size", "R²"):
        assert word in terminal.text
    os.write(terminal.door, b"\x03")
    code = terminal.end()
    assert code == 130, terminal.text
    after = terminal.text.rpartition("Ctrl-C")[2]
    for word in ("pick", ">>>", "y = ", "Stopped early", "The same in Python", "Next: unisymnet export"):
        assert word in after, word
    assert "Traceback" not in terminal.text
    assert json.loads((here / "bumps-run" / "model.json").read_text())["fitted"]["interrupted_"] is True


def test_a_reader_that_leaves_is_no_mistake(tmp_path: Path) -> None:
    done = subprocess.run(
        f'"{sys.executable}" -c "from unisymnet.cli import main; main()" --help | head -1; echo ${{PIPESTATUS[0]}}',
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "Traceback" not in done.stderr and done.stdout.startswith("Usage")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("unisymnet ex", ["export"]),
        ("unisymnet export run --to ma", ["matlab"]),
        ("unisymnet fit bumps.csv --target ", ["a", "b", "c", "y"]),
        ("unisymnet fit nothing.csv --target ", []),
    ],
)
def test_completion_in_a_shell(here: Path, line: str, expected: list[str]) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_UNISYMNET_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv[0] = 'unisymnet'; from unisymnet.cli import app; app(prog_name='unisymnet')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | words, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.split() == expected, done.stderr
