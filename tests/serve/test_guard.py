"""Who is let in: the token, the host, the origin, and what every answer carries."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the page needs: pip install 'unisymnet[web]'")
pytest.importorskip("uvicorn", reason="the page needs: pip install 'unisymnet[web]'")

from serve.server import Server, served, write_tables


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("guard")
    write_tables(folder)
    (folder.parent / "outside.csv").write_text("x,y\n1,2\n")
    with served(folder) as found:
        yield found


def test_the_address_gives_a_cookie_and_hides_the_token(server: Server) -> None:
    status, headers, _ = server.raw("GET", f"/?token={server.token}")
    assert status == 303 and headers["location"] == "/"
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    status, headers, body = server.raw("GET", "/", headers={"Cookie": cookie.split(";")[0]})
    assert status == 200 and b"<main" in body


@pytest.mark.parametrize("path", ["/", "/api/home", "/static/js/main.js", "/report/page.css", "/?token=wrong"])
def test_nothing_without_the_token(server: Server, path: str) -> None:
    assert server.raw("GET", path)[0] == 401
    assert server.raw("GET", path, headers={"X-Unisymnet-Token": "wrong"})[0] == 401
    assert server.raw("GET", path, headers={"Cookie": f"unisymnet-{server.port}=wrong"})[0] == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_no_other_host_and_no_other_site(server: Server, headers: dict[str, str]) -> None:
    given = {"X-Unisymnet-Token": server.token} | headers
    assert server.raw("GET", "/api/home", headers=given)[0] == 403
    assert server.raw("POST", "/api/start", b"{}", headers=given)[0] == 403


def test_every_answer_forbids_foreign_code(server: Server) -> None:
    good = {"X-Unisymnet-Token": server.token, "Origin": f"http://127.0.0.1:{server.port}"}
    for path in ("/", "/api/home", "/static/js/main.js", "/nothing"):
        _, headers, _ = server.raw("GET", path, headers=good)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert server.raw("GET", "/", headers={})[1]["x-frame-options"] == "DENY"


def test_files_outside_the_folder_stay_closed(server: Server) -> None:
    for name in ("../outside.csv", "/etc/passwd", "..%2Foutside.csv", "energy.csv/../../outside.csv"):
        assert "folder of this page" in server.refusal("GET", "table", name=name)
    status, _, _ = server.raw("GET", "/static/../app.py", headers={"X-Unisymnet-Token": server.token})
    assert status in (400, 404)
    status, _, _ = server.raw("GET", "/static/%2e%2e/app.py", headers={"X-Unisymnet-Token": server.token})
    assert status == 404


def test_uploads_have_a_limit_and_must_be_tables(server: Server) -> None:
    assert "is not a table" in server.refusal("PUT", "tables/evil.pkl", b"x")
    assert server.ask("PUT", "tables/two words.csv".replace(" ", "%20"), b"x,y\n1,2\n2,4\n")["name"].endswith(".csv")
    # A body larger than is allowed for an object; tables have a limit of their own, counted the same way.
    assert "not JSON" in server.refusal("POST", "start", b"[" * 100_000)
    status, _, body = server.answer("POST", "start", b" " * (2 << 20))
    assert status == 413 and b"at most 1 MB" in body


def test_only_this_machine_is_listened_to(server: Server) -> None:
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if " 0A " in line]
    mine = [place for place in listening if int(place.split(":")[1], 16) == server.port]
    assert mine and all(place.startswith("0100007F") for place in mine)
