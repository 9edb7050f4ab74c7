"""A real Chromium, driven through chromedriver with nothing but the standard library.

The machine's own browser is used; nothing is downloaded. `missing()` says why there is none.
"""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from endless import PATIENCE

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --disable-dev-shm-usage --disable-hang-monitor"
).split()
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Right": "\ue014", "Left": "\ue012", "Space": " ", "End": "\ue010"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def missing() -> str | None:
    """Why no browser can be driven here, or None."""
    if not (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")):
        return "there is no Chromium on this machine (Debian: apt-get install chromium chromium-driver)"
    if not shutil.which("chromedriver"):
        return "there is no chromedriver on this machine (Debian: apt-get install chromium-driver)"
    return None


class Browser:
    """One window."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(error.read().decode()[:500]) from None

    def open(self, path: Path, fragment: str = "") -> None:
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": path.as_uri() + fragment})

    def visit(self, address: str) -> None:
        self.ask("POST", "/url", {"url": address})

    def reload(self) -> None:
        self.ask("POST", "/refresh")

    def wait(self, script: str, seconds: float = PATIENCE) -> Any:
        """What the script gives as soon as it gives something; a busy machine may take its time."""
        end = time.monotonic() + seconds
        while True:
            found = self.run(script)
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"still waiting for {script}; the page says {self.run('document.body.innerText')}")
            time.sleep(0.1)

    def type(self, selector: str, text: str) -> None:
        """Into a text field, or as the path of a file to choose."""
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def clear(self, selector: str) -> None:
        self.ask("POST", f"/element/{self.find(selector)}/clear")

    def run(self, script: str) -> Any:
        return self.ask("POST", "/execute/sync", {"script": f"return ({script})", "args": []})

    def find(self, selector: str) -> str:
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector: str) -> None:
        self._at(selector, lambda found: self.ask("POST", f"/element/{found}/click"))

    def hover(self, selector: str) -> None:
        def move(found: str) -> None:
            step = {"type": "pointerMove", "duration": 0, "origin": {ELEMENT: found}, "x": 0, "y": 0}
            self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [step]}]})

        self._at(selector, move)

    def _at(self, selector: str, action: Callable[[str], None]) -> None:
        """A page that lives may replace an element between finding and using it: then it is looked for again."""
        for _ in range(20):
            try:
                return action(self.find(selector))
            except AssertionError as error:
                if "stale element" not in str(error) and "no such element" not in str(error):
                    raise
                time.sleep(0.1)
        action(self.find(selector))

    def press(self, *keys: str) -> None:
        steps = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def screenshot(self) -> bytes:
        return base64.b64decode(self.ask("GET", "/screenshot"))

    def log(self) -> list[str]:
        """What the page complained about."""
        return [row["message"] for row in self.ask("POST", "/se/log", {"type": "browser"})]


@contextmanager
def browser(width: int = 1200, height: int = 900, *, phone: bool = False, dark: bool = False) -> Iterator[Browser]:
    """A fresh browser with an empty profile; ended, with its driver, on the way out."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            base = f"http://127.0.0.1:{port}"
            _wait(base)
            options: dict[str, Any] = {
                "args": [*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"]
            }
            if dark:
                options["args"].append("--blink-settings=preferredColorScheme=0")
            if phone:
                metrics = {"width": 375, "height": 760, "pixelRatio": 2.0, "touch": True, "mobile": True}
                options["mobileEmulation"] = {"deviceMetrics": metrics}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = _session(base, wanted)
            window = Browser(f"{base}/session/{session['sessionId']}")
            try:
                yield window
            finally:
                window.ask("DELETE", "")
        finally:
            driver.terminate()
            driver.wait(timeout=PATIENCE)


def _session(base: str, wanted: dict[str, Any]) -> Any:
    """A busy machine may be too slow for the driver's own patience, or short of memory for a moment: ask again."""
    for attempt in range(5):
        try:
            return Browser(base).ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except AssertionError:
            if attempt == 4:
                raise
            time.sleep(2.0)


def _wait(base: str) -> None:
    for _ in range(int(10 * PATIENCE)):
        try:
            urllib.request.urlopen(base + "/status", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("chromedriver does not answer")
