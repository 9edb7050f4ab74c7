"""Names from the browser reach nothing outside the folder of the page."""

from pathlib import Path

import pytest

from unisymnet.errors import DataError
from unisymnet.serve.place import Place, safe_name
from unisymnet.serve.runs import Run
from unisymnet.serve.server import Wish, remembered_token, where


@pytest.fixture
def place(tmp_path: Path) -> Place:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.csv").write_text("x,y\n1,2\n")
    (inside / ".hidden.csv").write_text("x,y\n1,2\n")
    (inside / "code.py").write_text("print()")
    (tmp_path / "secret.csv").write_text("x,y\n1,2\n")
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "up").symlink_to(tmp_path)
    return Place.at(inside)


def test_tables_of_the_folder(place: Place) -> None:
    assert [table["name"] for table in place.tables()] == ["a.csv"]
    assert place.table("a.csv").read_text().startswith("x,y")


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.csv", "link.csv", "up/secret.csv", "/etc/passwd", ".hidden.csv", "code.py", "missing.csv", ""),
        *("a.csv/../../secret.csv", "unisymnet-page/../../secret.csv", "a\0.csv", ".", ".."),
    ],
)
def test_nothing_else_is_read(place: Place, name: str) -> None:
    with pytest.raises(DataError):
        place.table(name)
    with pytest.raises(DataError):
        place.run(name)


def test_an_upload_has_its_name_only_when_it_is_whole(place: Place) -> None:
    with place.upload("../../My data!.CSV") as (file, name):
        file.write(b"x,y\n")
        assert len(place.tables()) == 1
    assert name == "unisymnet-page/data/My-data.csv"
    assert place.table(name).read_bytes() == b"x,y\n"
    with pytest.raises(RuntimeError), place.upload("My data.csv") as (file, _):
        file.write(b"x")
        raise RuntimeError("the line is cut")
    assert len(list((place.root / "unisymnet-page" / "data").iterdir())) == 1
    with place.upload("My data.csv") as (file, name):
        file.write(b"x,z\n")
    assert name == "unisymnet-page/data/My-data-2.csv"
    with pytest.raises(DataError, match=r"model\.pkl"), place.upload("model.pkl"):
        pass


def test_runs_get_names_of_their_own(place: Place) -> None:
    names = [place.new_run("data/a b.csv").name for _ in range(2)]
    assert names == ["unisymnet-page/a-b-1", "unisymnet-page/a-b-2"]
    assert place.runs() == []  # nothing in them yet
    Run(place.root / names[0], names[0]).ask({"data": "a.csv"})
    assert [run.name for run in place.runs()] == names[:1]
    assert safe_name("///") == "table"


def test_where_the_page_starts(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.root)
    assert where(Wish()) == (place, {})
    assert where(Wish("a.csv")) == (place, {"data": "a.csv"})
    assert where(Wish("../secret.csv")) == (Place.at(tmp_path), {"data": "secret.csv"})
    run = place.new_run("a.csv")
    run.ask({"data": "a.csv"})
    assert where(Wish(str(run.folder))) == (place, {"run": run.name})
    assert where(Wish(str(tmp_path))) == (Place.at(tmp_path), {})
    with pytest.raises(DataError, match="no table and no run"):
        where(Wish("nothing.csv"))
    with pytest.raises(DataError, match="not in the folder"):
        where(Wish("../secret.csv", folder="."))


def test_the_token_of_a_folder_stays_and_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    token = remembered_token(tmp_path)
    assert len(token) >= 32 and remembered_token(tmp_path) == token
    assert remembered_token(tmp_path / "other") != token
    (file,) = [f for f in (tmp_path / "cache" / "unisymnet").iterdir() if f.read_text() == token]
    assert file.stat().st_mode & 0o077 == 0
    file.chmod(0o644)  # somebody else may have read it: it is worth nothing any more
    assert remembered_token(tmp_path) != token
