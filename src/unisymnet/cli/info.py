"""`info`: what is installed and how it is set, for a bug report."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from .. import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "sympy", "onnxruntime", "pandas", "typer", "rich", "torch")


def print_info(as_json: bool) -> None:
    found = collect()
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {inner}" for key, inner in value.items())
        elif isinstance(value, list):
            value = ", ".join(value)
        print(f"{name:<10} {value}")


def collect() -> dict[str, Any]:
    package = Path(__file__).resolve().parents[1]
    weights = sorted(str(path.relative_to(package)) for path in package.rglob("*.onnx"))
    return {
        "unisymnet": __version__,
        "python": sys.version.split()[0],
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("NUMBA_NUM_THREADS", "not limited"),
        "cache": os.environ.get("NUMBA_CACHE_DIR", "beside the package"),
        "weights": weights or "none in this installation",
        "libraries": {name: _version(name) for name in LIBRARIES},
        "folder": str(package),
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
