"""What keeps people out of a page: controls without a name, low contrast, small targets, headings that skip.

Names and roles are those that Chromium itself tells a screen reader. A small check of our own, so that the tests need
no package from elsewhere; where `axe-core` is at hand (AXE_CORE names its file), its serious findings are added.
"""

import os
from pathlib import Path
from typing import Any

from report.browser import Browser

NAMED = {
    *("button", "link", "textbox", "combobox", "slider", "checkbox", "radio", "spinbutton", "progressbar", "image"),
    *("region", "navigation", "listbox", "searchbox"),
}

FINDINGS = (Path(__file__).parent / "accessibility.js").read_text("utf-8").split("\n", 1)[1]

AXE = """axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
  .filter(v => ["serious", "critical"].includes(v.impact)).map(v => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`))"""


def findings(window: Browser) -> list[str]:
    """One sentence each; empty is good."""
    found: list[str] = list(window.run(FINDINGS))
    tree: dict[str, Any] = window.ask("POST", "/goog/cdp/execute", {"cmd": "Accessibility.getFullAXTree", "params": {}})
    for node in tree["nodes"]:
        role = node.get("role", {}).get("value", "")
        if not node.get("ignored") and role in NAMED and not node.get("name", {}).get("value", "").strip():
            found.append(f"a {role} without a name")
    axe = os.environ.get("AXE_CORE")
    if axe:
        # Not through the page: its policy lets no foreign script in, and rightly so.
        code = Path(axe).read_text("utf-8")
        window.ask("POST", "/goog/cdp/execute", {"cmd": "Runtime.evaluate", "params": {"expression": code}})
        params = {"expression": AXE, "awaitPromise": True, "returnByValue": True}
        told = window.ask("POST", "/goog/cdp/execute", {"cmd": "Runtime.evaluate", "params": params})
        found += [f"axe: {text}" for text in told["result"]["value"]]
    return found
