"""`make release`: build the sdist and the wheel, and check them as a user gets them, in a fresh environment.

    python tools/release.py [--out dist] [--no-install] [--keep FOLDER]

1. hatchling builds both; the wheel must be at most 30 MB and hold no test; the sdist must hold tests, docs, examples.
2. A new virtual environment gets the wheel (this is the only step that may use the network), timed and weighed.
3. Without network: the command's version, the demo, and the walk through README and tutorial from the unpacked sdist.
4. A quick part of the sdist's own tests against the installed wheel.

The network is cut by a network namespace where the system has one (`unshare`), and otherwise by a `sitecustomize` that
refuses every connection but those to this machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_WHEEL_MB = 30.0
MAX_INSTALL_MB, MAX_INSTALL_SECONDS = 800.0, 120.0
TOOLS = ("pytest>=8.2", "hypothesis>=6.130")
QUICK = (
    "tests/test_problem.py",
    "tests/test_metrics.py",
    "tests/test_candidate.py",
    "tests/symbolic/test_parse.py",
    "tests/symbolic/test_expr.py",
    "tests/formula/test_names.py",
    "tests/golden",
)
IN_SDIST = ("README.md", "LICENSE", "pyproject.toml", "Makefile", "CHANGELOG.md", "CITATION.cff", "docs/tutorial.md",
            "tests/test_docs.py", "examples/gallery.py", "contrib/srbench/regressor.py")  # fmt: skip
NO_NETWORK = """
import socket as _socket
_connect = _socket.socket.connect
def _refuse(self, address):
    if self.family != _socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"no network at run time, asked for {address!r}")
    return _connect(self, address)
_socket.socket.connect = _refuse
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-install", action="store_true", help="build and look inside only")
    parser.add_argument("--keep", type=Path, help="folder for the environment, kept afterwards")
    args = parser.parse_args()
    sdist, wheel = build(args.out)
    look_inside(sdist, wheel)
    if args.no_install:
        return
    with tempfile.TemporaryDirectory() as scratch:
        place = args.keep or Path(scratch)
        python = install(wheel, place)
        source = unpack(sdist, place)
        run_without_network(python, source, place)
    print("release: all checks passed")


def build(out: Path) -> tuple[Path, Path]:
    """Both files, by the backend itself: nothing is downloaded."""
    shutil.rmtree(out, ignore_errors=True)
    call([sys.executable, "-m", "hatchling", "build", "-d", str(out)], ROOT)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def look_inside(sdist: Path, wheel: Path) -> None:
    megabytes = wheel.stat().st_size / 1e6
    names = zipfile.ZipFile(wheel).namelist()
    strange = [name for name in names if not name.startswith(("unisymnet/", "unisymnet-"))]
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in IN_SDIST if name not in inside]
    print(
        f"wheel {megabytes:.1f} MB, {len(names)} files; sdist {sdist.stat().st_size / 1e6:.1f} MB, {len(inside)} files"
    )
    if megabytes > MAX_WHEEL_MB:
        raise SystemExit(f"the wheel has {megabytes:.1f} MB, more than {MAX_WHEEL_MB:g}")
    if strange:
        raise SystemExit(f"the wheel holds what is not the package: {', '.join(strange[:5])}")
    if missing:
        raise SystemExit(f"the sdist lacks {', '.join(missing)}")


def install(wheel: Path, place: Path) -> Path:
    """A fresh environment with the wheel; its size and the seconds it took are told, and too much is said aloud."""
    folder = place / "venv"
    call([sys.executable, "-m", "venv", "--clear", str(folder)], place)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-compile"]
    before, began = megabytes_of(folder), time.monotonic()
    call([*pip, str(wheel)], place)
    seconds, weight = time.monotonic() - began, megabytes_of(folder) - before
    print(f"install {weight:.0f} MB in {seconds:.0f} s")
    if weight > MAX_INSTALL_MB:
        raise SystemExit(f"the installation has {weight:.0f} MB, more than {MAX_INSTALL_MB:g}")
    if seconds > MAX_INSTALL_SECONDS:
        print(f"install took more than {MAX_INSTALL_SECONDS:g} s; on a busy machine or a slow line that proves nothing")
    call([*pip, *TOOLS], place)
    return python


def unpack(sdist: Path, place: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    return place / sdist.name.removesuffix(".tar.gz")


def run_without_network(python: Path, source: Path, place: Path) -> None:
    """Demo, walk and tests against the wheel: the unpacked `src` is moved out of the way, so that nothing finds it."""
    (source / "src").rename(source / "src-not-imported")
    blocked = place / "blocked"
    blocked.mkdir(exist_ok=True)
    (blocked / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    env = {"PYTHONPATH": str(blocked), "NUMBA_CACHE_DIR": str(place / "numba")}
    cut = ["unshare", "-rn"] if _has_namespaces() else []
    command = [*cut, str(python), "-m", "unisymnet"]
    call([*command, "--version"], place, env)
    call([*command, "demo", "--max-time", "8"], place, env)
    pytest = [*cut, str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    call([*pytest, "tests/test_docs.py", "-k", "tutorial or README"], source, env)
    call([*pytest, *QUICK], source, env)


def megabytes_of(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _has_namespaces() -> bool:
    return shutil.which("unshare") is not None and not subprocess.call(
        ["unshare", "-rn", "true"], stderr=subprocess.DEVNULL
    )


def call(words: list[str], where: Path, env: dict[str, str] | None = None) -> None:
    print("+", " ".join(words), flush=True)
    done = subprocess.run(words, cwd=where, env={**_plain_environment(), **(env or {})}, check=False)
    if done.returncode:
        raise SystemExit(f"failed with {done.returncode}: {' '.join(words)}")


def _plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


if __name__ == "__main__":
    main()
