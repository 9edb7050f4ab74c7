"""Runs from start to report, through the real server and a real worker; kills included."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the page needs: pip install 'unisymnet[web]'")
pytest.importorskip("uvicorn", reason="the page needs: pip install 'unisymnet[web]'")

from serve.server import LONG, Server, served, write_tables
from unisymnet import UniSymNetRegressor
from unisymnet.serve.events import read_events

pytestmark = pytest.mark.slow

SLOW: dict[str, Any] = {"data": "slow.csv", "target": "y", "settings": {"max_time": 3000}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    write_tables(path)
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def energy(server: Server) -> str:
    """A finished run with an exact law."""
    found = server.ask("POST", "start", {"data": "energy.csv", "target": "E", "settings": {"max_time": 200}})
    assert server.events(found["run"])[-1]["kind"] == "end"
    return str(found["run"])


def test_a_table_is_described(server: Server) -> None:
    found = server.ask("GET", "table", name="messy.csv", target="E")
    by_name = {column["name"]: column for column in found["columns"]}
    assert by_name["m"]["kind"] == "number" and sum(by_name["m"]["bars"]) + by_name["m"]["missing"] == 60
    assert "the same word in every row" in by_name["site"]["kind"] and by_name["site"]["examples"] == ["north"]
    assert any("missing" in text or "misses" in text for text in found["warnings"])
    assert "no column" in server.refusal("GET", "table", name="messy.csv", target="nothing")


def test_a_search_tells_what_it_finds_and_the_stream_resumes(server: Server, energy: str, folder: Path) -> None:
    events = server.events(energy)
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["kind"] for event in events]
    assert kinds[:2] == ["queued", "start"] and kinds[-1] == "end" and {"formula", "front"} <= set(kinds)
    keys = {event["key"] for event in events if event["kind"] == "formula"}
    assert all(set(event["keys"]) <= keys for event in events if event["kind"] == "front")
    half = len(events) // 2
    assert server.events(energy, after=half) == events[half:]
    start = events[1]
    assert (
        start["shell"] == "unisymnet fit energy.csv --target E --max-time 200"
        and "UniSymNetRegressor" in start["python"]
    )
    # The folder is one that the command line reads.
    model = UniSymNetRegressor.load(folder / energy / "model.json")
    assert model.formula_.score(*_data(folder)) > 0.999999


def test_the_result_and_one_formula(server: Server, energy: str) -> None:
    view = server.ask("GET", "run", run=energy)
    assert view["state"] == "done" and view["entries"][view["picked"]]["r2"] > 0.999999
    formula = server.ask("POST", "formula", {"run": energy})
    assert formula["picked"] and "<math" in formula["equation"] and "network" in formula["sections"]
    assert {source["language"] for source in formula["sources"]} >= {"latex", "python", "excel", "c"}
    rows = server.ask("GET", "rows", run=energy)
    assert len(rows["y"]) == 60 and len(rows["columns"]) == 2
    moved = server.ask(
        "POST", "moved", {"run": energy, "text": formula["text"], "values": [2 * v for v in formula["values"]]}
    )
    assert moved["text"] != formula["text"] and moved["r2_text"] != formula["r2_text"]
    assert "constants" in server.refusal("POST", "moved", {"run": energy, "text": formula["text"], "values": [1, 2, 3]})
    assert "no longer" in server.refusal("POST", "formula", {"run": energy, "text": "42*m"})


def test_my_own_formula_stays_in_the_table(server: Server, energy: str, folder: Path) -> None:
    found = server.ask("POST", "own", {"run": energy, "formula": "a*m*v"})
    entries = server.ask("GET", "run", run=energy)["entries"]
    assert entries[found["index"]]["source"] == "yours" and entries[found["index"]]["r2"] < 0.99
    assert "m*v" in UniSymNetRegressor.load(folder / energy / "model.json").equations_["equation"].str.cat()
    exactly = server.ask("POST", "own", {"run": energy, "formula": "3*m*v", "refit": False})
    assert exactly["text"] == "3.0*m*v" or exactly["text"] == "3*m*v"
    for wrong in ("__import__('os')", "m*", "", "q" * 5000):
        assert server.refusal("POST", "own", {"run": energy, "formula": wrong})


def test_predictions_for_a_new_file(server: Server, energy: str) -> None:
    status, headers, body = server.answer("POST", "predict", b"v;m\n2;3\n4;5\n", run=energy, file="new.csv")
    assert status == 200 and "attachment" in headers["content-disposition"]
    assert json.loads(headers["x-note"])["rows"] == 2
    lines = body.decode().split()
    assert lines[0] == "v,m,E_predicted" and float(lines[1].split(",")[2]) == pytest.approx(6.0)
    assert "needs the column" in server.refusal("POST", "predict", b"v\n2\n", run=energy, file="new.csv")
    assert "is not a table" in server.refusal("POST", "predict", b"v\n2\n", run=energy, file="new.pkl")


def test_the_report_is_the_self_contained_page(server: Server, energy: str) -> None:
    status, headers, body = server.answer("GET", "report", run=energy)
    assert status == 200 and "attachment" in headers["content-disposition"]
    assert body.startswith(b"<!DOCTYPE html>") and b"Residuals" in body


def test_groups_and_errors_of_the_rows(server: Server) -> None:
    wish = {"data": "sites.csv", "target": "n", "groups": "site", "sigma": "error"}
    said = server.ask("POST", "commands", wish)
    assert "--groups site --sigma error" in said["shell"] and "sigma=table.sigma" in said["python"]
    run = server.ask("POST", "start", wish | {"settings": {"max_time": 10}})["run"]
    assert server.events(run)[-1]["kind"] == "end"
    view = server.ask("GET", "run", run=run)
    assert view["names"] == ["t"]
    last = server.ask("POST", "formula", {"run": run, "text": view["entries"][-1]["text"]})
    assert len(last["groups"]) == 3 and len(last["rows"]["columns"]) == len(last["names"]) > 1
    assert b"Constants of the groups" in server.answer("GET", "report", run=run)[2]
    status, _, body = server.answer("POST", "predict", b"t,site\n1,oak\n", run=run, file="new.csv")
    assert status == 200 and body.startswith(b"t,site,n_predicted")
    assert server.ask("POST", "own", {"run": run, "formula": "a*exp(-t)"})["text"]
    assert "constants for each" in server.refusal("POST", "predict", b"t\n1\n", run=run, file="new.csv")


def test_stop_keeps_the_best_and_the_search_goes_on(server: Server) -> None:
    run = server.ask("POST", "start", SLOW)["run"]
    first = server.events(run, until=("front",))
    assert first[-1]["keys"]
    # What is known so far can be looked at while the search goes on.
    assert "<math" in server.ask("POST", "formula", {"run": run, "light": True})["equation"]
    assert "when the search has ended" in server.refusal("POST", "own", {"run": run, "formula": "a*b"})
    assert "still going on" in server.refusal("POST", "continue", {"run": run, "seconds": 5})
    server.ask("POST", "stop", {"run": run})
    end = server.events(run)[-1]
    assert (end["kind"], end["stopped"]) == ("end", "interrupted")
    before = server.wait(run, "done")
    keep = before["entries"][-1]["text"]
    server.ask("POST", "continue", {"run": run, "seconds": 3000, "keep": keep})
    again = server.events(run, after=end["id"], until=("front",))
    assert [event["part"] for event in again if event["kind"] == "start"] == [2]
    server.ask("POST", "stop", {"run": run})
    server.wait(run, "done")
    assert _best(again) >= _best(first) - 1e-12
    assert keep in server.ask("GET", "run", run=run)["asked"]["guesses"]


def test_a_second_search_waits_and_may_leave_the_queue(server: Server) -> None:
    first = server.ask("POST", "start", SLOW)["run"]
    second, third = (server.ask("POST", "start", SLOW)["run"] for _ in range(2))
    server.events(first, until=("start",))
    assert server.ask("GET", "run", run=second)["state"] == "queued"
    server.ask("POST", "stop", {"run": third})
    assert server.ask("GET", "run", run=third)["state"] == "failed"
    server.ask("POST", "stop", {"run": first})
    assert server.events(second, until=("start",))[-1]["kind"] == "start"
    server.ask("POST", "stop", {"run": second})
    server.wait(second, "done")


def test_bad_data_end_with_a_sentence(server: Server, folder: Path) -> None:
    assert "no column" in server.refusal("POST", "start", {"data": "energy.csv", "target": "nothing"})
    assert "no table" in server.refusal("POST", "start", {"data": "gone.csv", "target": "y"})
    assert "text" in server.refusal("POST", "start", {"data": "messy.csv", "target": "site"})


def test_nothing_is_lost_when_worker_and_server_are_killed(folder: Path) -> None:
    with served(folder, outlive=True) as first:
        run = first.ask("POST", "start", SLOW)["run"]
        seen = first.events(run, until=("front",))
        first.kill()
    # Without a server the search goes on.
    count = len(read_events(folder / run))
    _until(lambda: len(read_events(folder / run)) > count)
    with served(folder) as second:
        assert second.ask("GET", "run", run=run)["state"] == "running"
        assert second.events(run, until=("front",)) == seen
        pid = int((folder / run / "worker.lock").read_text())
        known = {event["text"] for event in read_events(folder / run) if event["kind"] == "formula"}
        os.kill(pid, signal.SIGKILL)
        lost = second.events(run)
        assert lost[-1]["kind"] == "lost"
        assert known <= {event["text"] for event in lost if event["kind"] == "formula"}
        kept = second.wait(run, "lost")["entries"]
        assert kept and {entry["text"] for entry in kept} <= known | {e["text"] for e in lost if "text" in e}
        # Going on starts from the front that the killed search had.
        second.ask("POST", "continue", {"run": run, "seconds": 3000})
        again = second.events(run, after=lost[-1]["id"], until=("front",))
        assert _best(again) >= _best(lost) - 1e-12
        second.ask("POST", "stop", {"run": run})
        assert second.wait(run, "done")["entries"]


def _best(events: list[dict[str, Any]]) -> float:
    """The best R² of the last front that was told."""
    known = {event["key"]: event["r2"] for event in events if event["kind"] == "formula"}
    return max(known[key] for key in [e["keys"] for e in events if e["kind"] == "front"][-1])


def _until(true: Any, seconds: float = LONG) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def _data(folder: Path) -> tuple[Any, Any]:
    import pandas as pd

    table = pd.read_csv(folder / "energy.csv")
    return table[["m", "v"]], table["E"]
