"""The page in a real Chromium: loaded from disk, clicked, driven by keyboard, on a phone, in the dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from report.browser import Browser, browser, missing
from report.models import energy, unwieldy
from unisymnet.report import report_html

pytestmark = [pytest.mark.skipif(missing() is not None, reason=str(missing())), pytest.mark.slow]

VISIBLE = "[...document.querySelectorAll('[data-formula]')].filter(e => !e.hidden).map(e => e.dataset.formula)"
PEEK = "document.getElementById('peek').textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_html(*energy()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as found:
        yield found


def test_it_loads_without_a_complaint_and_typesets_the_formula(window: Browser, page: Path) -> None:
    window.open(page)
    assert window.run(VISIBLE) == ["2"]
    assert window.log() == []
    height = window.run("document.querySelector('[data-formula=\"2\"] math').getBoundingClientRect().height")
    assert height > 20
    # A superscript stands above the line: the formula is set, not printed as text.
    raised = "document.querySelector('[data-formula=\"2\"] .formula msup > :last-child').getBoundingClientRect().top"
    base = "document.querySelector('[data-formula=\"2\"] .formula msup > :first-child').getBoundingClientRect().top"
    assert window.run(raised) < window.run(base)
    assert window.run("performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).length") == 0


def test_hover_shows_and_click_chooses(window: Browser, page: Path) -> None:
    window.open(page)
    chosen = window.run(PEEK)
    window.hover('.point[data-choose="1"]')
    assert window.run(PEEK) != chosen and "3.1" in window.run(PEEK)
    window.click('.point[data-choose="1"]')
    assert window.run(VISIBLE) == ["1"]
    assert window.run("location.hash") == "#formula-1"
    window.click('tr[data-row="0"] button')
    assert window.run(VISIBLE) == ["0"]
    assert window.run("[...document.querySelectorAll('.point')].map(e => e.getAttribute('aria-pressed'))") == [
        "true",
        "false",
        "false",
    ]
    assert window.log() == []


def test_the_keyboard_is_enough(window: Browser, page: Path) -> None:
    window.open(page)
    window.press("Tab")
    assert window.run("document.activeElement.dataset.choose") == "2"
    window.press("Left")
    assert "3.1" in window.run(PEEK) and window.run(VISIBLE) == ["2"]
    window.press("Enter")
    assert window.run(VISIBLE) == ["1"]
    window.press("Left", "Space")
    assert window.run(VISIBLE) == ["0"]
    reached = set()
    for _ in range(40):
        window.press("Tab")
        reached.add(window.run("document.activeElement.dataset.copy || document.activeElement.tagName"))
    assert {f"source-0-{language}" for language in ("latex", "python", "excel", "c")} <= reached


def test_copy_buttons_copy(window: Browser, page: Path) -> None:
    window.open(page)
    # The clipboard of a machine without a screen is nothing to rely on: what is handed to it is caught.
    caught = "{value: {writeText: async text => { window.got = text; }}}"
    window.run(f"void Object.defineProperty(navigator, 'clipboard', {caught})")
    for language, start in (("latex", "0.5"), ("python", "import math"), ("excel", "=0.5*A2"), ("c", "#include")):
        window.click(f'[data-copy="source-2-{language}"]')
        assert window.run("window.got").startswith(start)
    assert "copied" in window.run("document.getElementById('said').textContent")


def test_a_link_to_one_formula(window: Browser, page: Path) -> None:
    window.open(page, "#formula-1")
    assert window.run(VISIBLE) == ["1"]


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_by_day_and_night(page: Path, dark: bool) -> None:
    with browser(phone=True, dark=dark) as window:
        window.open(page)
        assert window.run("document.documentElement.scrollWidth <= innerWidth")
        ground = window.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 200) is dark
        small = "[...document.querySelectorAll('button')].filter(e => e.offsetParent && e.offsetHeight < 40).length"
        assert window.run(small) == 0
        assert window.screenshot().startswith(b"\x89PNG")


def test_no_width_cuts_anything_off(window: Browser, tmp_path: Path) -> None:
    """Names and numbers that do not end: the page never scrolls sideways, and a phone shows whole tables of numbers."""
    page, wide = tmp_path / "wide.html", "e => e.scrollWidth > e.clientWidth + 1"
    page.write_text(report_html(*unwieldy()), "utf-8")
    cut = f"[...document.querySelectorAll('.constants, .columns')].filter({wide}).length"
    command = {"cmd": "Emulation.setDeviceMetricsOverride"}
    for width in (360, 768, 1440):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        window.ask("POST", "/goog/cdp/execute", command | {"params": size})
        window.open(page)
        assert window.run("document.documentElement.scrollWidth") == width == window.run("innerWidth")
        assert window.run(cut) == 0, width
        outside = "[...document.querySelectorAll('.chart')].some(c => [...c.querySelectorAll('.name')].some("
        outside += "t => t.getBoundingClientRect().top < c.getBoundingClientRect().top - 2))"
        assert not window.run(outside)
    window.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})
