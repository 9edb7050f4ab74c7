"""The page in a real Chromium: upload, start, live rows, stop, click, move, export, reload, compare."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the page needs: pip install 'unisymnet[web]'")
pytest.importorskip("uvicorn", reason="the page needs: pip install 'unisymnet[web]'")

from report.browser import Browser, browser, missing
from serve.accessibility import findings
from serve.server import LONG, Server, served, write_tables
from unisymnet.formula import Formula
from unisymnet.serve.views import tree_of
from unisymnet.symbolic.operators import OPERATORS

pytestmark = [pytest.mark.skipif(missing() is not None, reason=str(missing())), pytest.mark.slow]

ROWS = "document.querySelectorAll('[data-row]').length"
CHOSEN = "document.querySelector('.point[aria-pressed=true]')?.dataset.choose"
FORMULA = "document.querySelector('.formula-card .formula')?.textContent"
OVER = "document.querySelector('.go-on')"
FOREIGN = """performance.getEntriesByType('resource').map(e => e.name)
  .filter(name => !name.startsWith(location.origin) && !name.startsWith('blob:') && !name.startsWith('data:'))"""
SLOW_TABLE = """void (window.fetch = (plain => async (address, options) => {
  if (String(address).startsWith('/api/run?')) await new Promise(done => setTimeout(done, 2500));
  return plain(address, options);
})(window.fetch))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page")
    (path / "mine").mkdir()
    write_tables(path)
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """The page knows only the folder `mine`: the tables beside it have to be uploaded."""
    with served(folder / "mine") as found:
        yield found


@pytest.fixture(scope="module")
def window(server: Server) -> Iterator[Browser]:
    with browser(1200, 1000) as found:
        found.visit(server.address)
        yield found


@pytest.fixture(scope="module")
def energy(server: Server, folder: Path) -> str:
    """A finished run to look at."""
    name = server.ask("PUT", "tables/energy.csv", (folder / "energy.csv").read_bytes())["name"]
    run = server.ask("POST", "start", {"data": name, "target": "E", "settings": {"max_time": 150}})["run"]
    server.events(run)
    return str(run)


def go(window: Browser, hash: str) -> None:
    window.run(f"void (location.hash = {json.dumps(hash)})")


def test_from_a_file_to_formulas_and_back(window: Browser, server: Server, folder: Path) -> None:
    window.wait("document.querySelector('.drop')")
    assert "token" not in window.run("location.href")
    assert findings(window) == []
    # Upload.
    window.type("#file", str(folder / "slow.csv"))
    window.wait("document.querySelectorAll('table.columns tbody tr').length === 4")
    assert window.run("document.querySelectorAll('.bars').length") == 4
    window.click('[aria-label="Use c as an input"]')
    window.clear("#seconds")
    window.type("#seconds", "3000")
    window.wait("document.querySelector('.commands')?.textContent.includes('--features a,b --max-time 3000')")
    assert findings(window) == []
    # Start, and rows come.
    began = time.monotonic()
    window.click("button.primary")
    window.wait(f"{ROWS} > 0", LONG)
    print(f"first_row_s={time.monotonic() - began:.2f}")
    window.wait(f"{ROWS} > 2", LONG)
    assert "left" in window.run("document.querySelector('.words').textContent")
    # A reload loses nothing: the events are told again.
    before = int(window.run("document.getElementById('main').dataset.events"))
    window.reload()
    window.wait(f"Number(document.getElementById('main').dataset.events ?? 0) >= {before}")
    window.wait(f"{ROWS} > 2")
    # Hover shows, a click chooses, while it searches.
    window.hover('.point[data-choose="0"]')
    window.click('.point[data-choose="0"]')
    assert window.run(CHOSEN) == "0"
    # Stop keeps the best. The finished table comes late, as on a busy machine: nothing may be asked of it before.
    window.run(SLOW_TABLE)
    window.click("button.stop")
    window.wait(OVER, LONG)
    window.wait("document.querySelector('.network')", LONG)
    assert "Ended: stopped" in window.run("document.querySelector('.words').textContent")
    assert window.run(FOREIGN) == []
    assert window.log() == []


def test_a_formula_by_click_and_keyboard(window: Browser, energy: str) -> None:
    go(window, f"/run?name={energy}")
    window.wait("document.querySelector('h1')?.textContent.startsWith('E = f(')")
    window.wait("document.querySelector('.network')", LONG)
    assert findings(window) == []
    window.click("tr[data-row='0'] button")
    window.wait(f"{CHOSEN} === '0'")
    window.wait("document.querySelector('.formula-card h2').textContent.includes('Formula 0')")
    window.run("void document.querySelector('.point[data-choose=\"0\"]').focus()")
    window.press("End", "Enter")
    last = window.run(f"String({ROWS} - 1)")
    window.wait(f"{CHOSEN} === '{last}'")
    assert window.run("document.activeElement.dataset.choose") == last  # the focus stays where it was
    window.wait(f"{FORMULA}?.includes('m')")
    height = window.run("document.querySelector('.formula-card math').getBoundingClientRect().height")
    assert height > 20
    assert window.log() == []


def test_constants_move_and_the_curve_with_them(window: Browser, energy: str) -> None:
    go(window, f"/run?name={energy}")
    window.wait("document.querySelector('.slider')", LONG)
    curve = "document.querySelector('.play .curve').getAttribute('d')"
    before, formula = window.run(curve), window.run(FORMULA)
    assert window.run("document.querySelectorAll('.play figure').length") == 3
    window.run("void document.querySelector('.slider input').focus()")
    for _ in range(3):
        window.press("Right")
    window.wait(f"{curve} !== {json.dumps(before)}")
    window.wait(f"{FORMULA} !== {json.dumps(formula)}")
    assert "moved" in window.run("document.querySelector('.facts').textContent")
    window.click(".play .copies button")  # back to the fit
    window.wait(f"{curve} === {json.dumps(before)}")
    window.wait(f"{FORMULA} === {json.dumps(formula)}")


def test_copies_and_the_report(window: Browser, energy: str) -> None:
    go(window, f"/run?name={energy}")
    window.wait("document.querySelector('.formula-card .copies')", LONG)
    caught = "{value: {writeText: async text => { window.got = text; }}}"
    window.run(f"void Object.defineProperty(navigator, 'clipboard', {caught})")
    for label, start in (("LaTeX", "0.5"), ("Python", "import math"), ("Excel", "="), ("C", "#include")):
        window.run("void (window.got = '')")
        window.click(f'[aria-label="Copy as {label}"]')
        assert window.wait("window.got").startswith(start)
    address = window.run("document.querySelector('a[download]').getAttribute('href')")
    window.run(f"void fetch('{address}').then(a => a.text()).then(text => {{ window.report = text; }})")
    assert window.wait("window.report").startswith("<!DOCTYPE html>")
    shell = window.run("document.querySelector('.commands pre').textContent")
    assert "unisymnet fit" in shell and f"unisymnet export {energy}" in shell


def test_own_formula_predictions_and_another_run(window: Browser, server: Server, energy: str, tmp_path: Path) -> None:
    run = server.ask("GET", "run", run=energy)
    wish = run["asked"] | {"settings": {"max_time": 150, "operators": "+,-,*,/"}}
    other = server.ask("POST", "start", {k: wish[k] for k in ("data", "target", "settings")})["run"]
    server.events(other)
    go(window, "/")
    window.wait("document.querySelectorAll('.run').length >= 2")
    assert findings(window) == []
    go(window, f"/run?name={energy}")
    window.wait("document.getElementById('own-formula')", LONG)
    before = window.run(ROWS)
    window.type("#own-formula", "a*m + b*v")
    window.click(".tools form button")
    window.wait("document.querySelector('.tag')?.textContent === 'yours'", LONG)
    assert window.run(ROWS) == before + 1
    (tmp_path / "new.csv").write_text("m,v\n2,3\n", encoding="utf-8")
    window.type("#new-rows", str(tmp_path / "new.csv"))
    window.wait("document.querySelector('.tools pre')?.textContent.startsWith('m,v,E_predicted')")
    assert window.run("document.querySelector('.tools a[download]').getAttribute('href').startsWith('blob:')")
    window.wait("document.querySelectorAll('#other-run option').length > 1")
    window.run(
        f"void (s => {{ s.value = {json.dumps(other)}; s.dispatchEvent(new Event('change')); }})"
        "(document.getElementById('other-run'))"
    )
    window.wait("document.querySelectorAll('.other-spot').length > 0")
    assert "operators" in window.run("document.querySelector('table.settings').textContent")
    assert findings(window) == []
    assert window.log() == []


def test_columns_with_a_role(window: Browser, server: Server, folder: Path) -> None:
    name = server.ask("PUT", "tables/sites.csv", (folder / "sites.csv").read_bytes())["name"]
    go(window, f"/data?name={name}")
    window.wait("document.getElementById('set-groups')")
    for role, column in (("groups", "site"), ("sigma", "error")):
        window.run(
            f"void (s => {{ s.value = '{column}'; s.dispatchEvent(new Event('change')); }})"
            f"(document.getElementById('set-{role}'))"
        )
    window.run(
        "void (s => { s.value = 'relative'; s.dispatchEvent(new Event('change')); })"
        "(document.getElementById('set-noise-kind'))"
    )
    wanted = "--groups site --sigma error --max-time 60 --noise relative"
    window.wait(f"document.querySelector('.commands')?.textContent.includes('{wanted}')")
    assert window.run("document.querySelectorAll('table.columns .tag').length") == 2
    assert findings(window) == []
    assert window.log() == []


def test_differential_equations(window: Browser, server: Server, folder: Path) -> None:
    name = server.ask("PUT", "tables/decay.csv", (folder / "decay.csv").read_bytes())["name"]
    go(window, f"/dynamics?name={name}")
    window.wait("document.querySelector('.commands pre')?.textContent.includes('--time t --states x')")
    assert findings(window) == []
    window.click("button.primary")
    window.wait("document.querySelector('.system .simulated figure')", LONG)
    assert "−" in window.run("document.querySelector('.system .formula').textContent")
    course = "document.querySelector('.simulated .curve').getAttribute('d')"
    before = window.run(course)
    window.clear('[aria-label="x at the start"]')
    window.type('[aria-label="x at the start"]', "1")
    window.type('[aria-label="Simulate until"]', "0")  # ten times as long
    window.wait(f"{course} !== {json.dumps(before)}")
    assert findings(window) == []
    assert window.log() == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_by_day_and_night(server: Server, energy: str, dark: bool) -> None:
    with browser(phone=True, dark=dark) as window:
        window.visit(server.address)
        window.wait("document.querySelector('.drop')")
        for hash, ready in (("/", ".run"), (f"/run?name={energy}", ".network")):
            go(window, hash)
            window.wait(f"document.querySelector('{ready}')", LONG)
            assert window.run("document.documentElement.scrollWidth <= innerWidth"), hash
            assert findings(window) == []
        ground = window.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 200) is dark


def test_the_browser_computes_what_python_does(window: Browser, server: Server) -> None:
    """Every operator of the package, inside and outside its domain."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(0.0, 2.0, (40, 2)), 3)
    X[:4] = [[0.0, 0.0], [1.0, -1.0], [-2.0, 0.5], [2.0, 1.0]]
    signs = {"add": "x0 + x1 + 2.5", "sub": "x0 - x1", "mul": "x0*x1*1.5", "div": "x0/x1", "neg": "-x0"}
    signs |= {"pow": "x0**x1 + x0**3 + x1**0.5"}
    for name in OPERATORS:
        if name not in signs:
            signs[name] = f"{name}(x0) + 0.25*{name}(0.7*x1)" if OPERATORS[name].arity == 1 else f"{name}(x0, x1)"
    for name, text in signs.items():
        formula = Formula.parse(text, ["x0", "x1"])
        tree, values = tree_of(formula)
        script = (
            f"import('/static/js/formula.js').then(m => {{ window.got = m.evaluate({json.dumps(tree)}, "
            f"{json.dumps(X.T.tolist())}, {json.dumps(values)}, 40).map(String); }})"
            ".catch(e => { window.got = [String(e)]; })"
        )
        window.run(f"void ({script})")
        got = [float(v.replace("Infinity", "inf")) for v in window.wait("window.got")]
        window.run("void (window.got = null)")
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, formula.predict(X), rtol=1e-9, atol=1e-12, err_msg=name)
