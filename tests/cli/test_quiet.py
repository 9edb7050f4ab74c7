"""What compiled libraries print does not stand among the JSON of a command."""

import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from unisymnet.cli.quiet import ours_alone
with ours_alone(sys.argv[1] == "yes"):
    os.write(1, b"** On entry to DLASCL\\n")
print("{}")
"""


@pytest.mark.parametrize(("wanted", "out", "error"), [("yes", "{}", True), ("no", "** On entry to DLASCL\n{}", False)])
def test_others_speak_on_standard_error(wanted: str, out: str, error: bool) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, wanted], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == out
    assert ("DLASCL" in done.stderr) == error


def test_a_closed_standard_output_is_no_mistake() -> None:
    text = "import os; os.close(1)\nfrom unisymnet.cli.quiet import ours_alone\nwith ours_alone(True): pass\n"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
