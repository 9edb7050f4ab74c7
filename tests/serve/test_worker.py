"""A worker gets a run on stdin and searches, unless another one has begun."""

import io
import json
from pathlib import Path

import pytest

from unisymnet.serve import worker
from unisymnet.serve.events import Log
from unisymnet.serve.lock import is_held


@pytest.mark.parametrize(
    ("told", "begun"), [(("queued",), True), (("queued", "start"), False), (("queued", "end"), False)]
)
def test_a_worker_that_comes_late_begins_nothing_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: tuple[str, ...], begun: bool
) -> None:
    """Two servers on one folder handed a run over twice; when its worker was killed, the other began it again."""
    log = Log(tmp_path)
    for kind in told:
        log.write(kind)
    log.close()
    searched: list[Path] = []
    for name, does in (("_load", lambda: None), ("_detach", lambda folder: None), ("search", searched.append)):
        monkeypatch.setattr(worker, name, does)
    monkeypatch.setattr("signal.signal", lambda *args: None)
    monkeypatch.setattr("sys.argv", ["worker", str(tmp_path)])
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"folder": str(tmp_path)}) + "\n"))
    monkeypatch.chdir(tmp_path)
    worker.main()
    assert searched == [tmp_path] * begun and not is_held(tmp_path)
