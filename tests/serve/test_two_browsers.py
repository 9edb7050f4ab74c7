"""Two people in two browsers at one `unisymnet serve`: the same table name, the same run, the same button at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the page needs: pip install 'unisymnet[web]'")
pytest.importorskip("uvicorn", reason="the page needs: pip install 'unisymnet[web]'")

from report.browser import browser, missing
from serve.server import LONG, served, write_tables
from serve.test_page_browser import FORMULA, OVER, ROWS, go

pytestmark = [pytest.mark.skipif(missing() is not None, reason=str(missing())), pytest.mark.slow]


def test_two_browsers_do_not_get_into_each_others_way(tmp_path: Path) -> None:
    write_tables(tmp_path)
    for name in ("mine", "hers"):
        (tmp_path / name).mkdir()
    hers = tmp_path / "hers" / "slow.csv"
    hers.write_bytes((tmp_path / "energy.csv").read_bytes())  # another table of the same name
    with (
        served(tmp_path / "mine") as server,
        browser(1200, 1000) as one,
        browser(1200, 1000) as two,
        ThreadPoolExecutor(2) as hands,
    ):
        both = (one, two)
        for window, path in zip(both, (tmp_path / "slow.csv", hers), strict=True):
            window.visit(server.address)
            window.wait("document.querySelector('.drop')")
            window.type("#file", str(path))
            window.wait("document.querySelectorAll('table.columns tbody tr').length > 2")
            window.clear("#seconds")
            window.type("#seconds", "3000")
        # Both start at once, each on the table that it uploaded.
        list(hands.map(lambda window: window.click("button.primary"), both))
        one.wait(f"{ROWS} > 0", LONG)
        two.wait("document.querySelector('button.stop, .go-on')")  # one search at a time: hers may have to wait
        runs = [window.run("new URLSearchParams(location.hash.split('?')[1]).get('name')") for window in both]
        asked = [server.ask("GET", "run", run=run)["asked"] for run in runs]
        assert len(set(runs)) == 2 and asked[0]["data"] != asked[1]["data"]
        # The second looks at the run of the first, and both stop it at once.
        go(two, f"/run?name={runs[0]}")
        two.wait(f"{ROWS} > 0", LONG)
        list(hands.map(lambda window: window.click("button.stop"), both))
        for window in both:
            window.wait(OVER, LONG)
            window.wait("document.querySelector('.network')", LONG)
        assert one.run(FORMULA) == two.run(FORMULA)
        assert server.wait(runs[1], "done")["picked"] is not None
        # Both continue it at once: one search goes on, and the other window follows it.
        list(hands.map(lambda window: window.run("void document.querySelector('button.go-on').click()"), both))
        for window in both:
            window.wait("document.querySelector('button.stop')", LONG)
        assert server.ask("GET", "run", run=runs[0])["asked"]["part"] == 2
        one.click("button.stop")
        for window in both:
            window.wait(OVER, LONG)
        told = [line for window in both for line in window.log() if "400 (Bad Request)" not in line]
        assert told == [], json.dumps(told)  # a refusal of the second click is no error of the page
