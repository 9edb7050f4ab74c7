"""The pictures of the page in docs/howto/page.md: a real search on a table of the demo, in a real Chromium.

python docs/screenshot.py        # writes docs/_static/page-setup.png and page-run.png
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from report.browser import Browser, browser  # noqa: E402
from serve.server import LONG, served  # noqa: E402
from unisymnet.cli.demo import write_data  # noqa: E402

WIDTH = 1160


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "measurements"
        folder.mkdir()
        write_data(str(folder))
        with served(folder) as server, browser(WIDTH, 900) as window:
            window.visit(server.address)
            window.wait("document.querySelector('.drop')")
            _go(window, "/data?name=enzyme.csv")
            window.wait("document.querySelector('.commands pre')")
            _type(window, '[aria-label="Unit of substrate_mM"]', "mmol/L")
            _type(window, '[aria-label="Unit of inhibitor_mM"]', "mmol/L")
            _type(window, '[aria-label="Unit of rate"]', "mmol/L/s")
            window.wait("document.querySelector('.groups ul')")
            _shoot(window, 1140, "page-setup.png")
            window.click("label.choice")  # ten seconds
            window.click("button.primary")
            window.wait("document.querySelector('.go-on') && document.querySelector('.network')", LONG)
            time.sleep(0.5)
            _shoot(window, 1840, "page-run.png")


def _go(window: Browser, place: str) -> None:
    window.run(f"void (location.hash = {json.dumps(place)})")


def _type(window: Browser, selector: str, text: str) -> None:
    window.wait(f"document.querySelector({json.dumps(selector)})")
    window.type(selector, text)


def _shoot(window: Browser, height: int, name: str) -> None:
    window.ask("POST", "/window/rect", {"width": WIDTH, "height": height})
    window.run("void window.scrollTo(0, 0)")
    time.sleep(0.5)
    (DOCS / "_static" / name).write_bytes(window.screenshot())
    print(f"written to {DOCS / '_static' / name}")


if __name__ == "__main__":
    main()
