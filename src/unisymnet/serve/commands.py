"""What stands under every view: the shell command and the Python that do the same.

Options are looked up in the command line itself, so that nothing is shown that it would refuse.
"""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

from .asking import ROLES

# Where the name of a setting is not the option's.
OPTIONS = {"random_state": "--seed", "n_jobs": "--jobs", "constants": "--constant", "constraints": "--constraint"}
ALWAYS = ("max_time", "random_state")


def fit_command(asked: dict[str, Any]) -> str:
    """The search as one line for a shell."""
    words = ["unisymnet", "fit", asked["data"], "--target", asked["target"]]
    if asked["features"] is not None:
        words += ["--features", ",".join(asked["features"])]
    for role in (*ROLES, "missing"):
        words += [f"--{role}", asked[role]] if asked.get(role) else []
    for guess in asked["guesses"]:
        words += ["--guess", guess]
    known = _options()
    for name, value in asked["settings"].items():
        option = _option(name, known)
        if option is not None:
            words += [word for text in _values(value) for word in (option, text)]
    return shlex.join(words)


def not_in_shell(asked: dict[str, Any]) -> list[str]:
    """Settings that only the Python below the command carries."""
    known = _options()
    return [name for name in asked["settings"] if _option(name, known) is None]


def result_commands(run: str, index: int, data: str | None) -> dict[str, str]:
    """For the formula `index` of a finished run."""
    lines = [
        shlex.join(["unisymnet", "show", run]),
        shlex.join(["unisymnet", "export", run, "--pick", str(index), "--to", "latex"]),
        shlex.join(["unisymnet", "predict", run, "NEW.csv", "--pick", str(index), "--out", "predicted.csv"]),
        shlex.join(["unisymnet", "report", run, *([data] if data else []), "--out", "report.html"]),
    ]
    code = [
        "from unisymnet import UniSymNetRegressor",
        "",
        f"model = UniSymNetRegressor.load({run + '/model.json'!r})",
        f"formula = model[{index}]",
        "print(formula, formula.constants)",
        "formula.predict(table)  # a DataFrame with the columns of the formula",
    ]
    return {"shell": "\n".join(lines), "python": "\n".join(code)}


def _option(name: str, known: frozenset[str]) -> str | None:
    spellings = (OPTIONS.get(name), f"--{name.replace('_', '-')}")
    return next((option for option in spellings if option in known), None)


@cache
def _options() -> frozenset[str]:
    """What `unisymnet fit` takes."""
    from typer.main import get_command

    from ..cli import app

    known: Any = get_command(app)
    return frozenset(option for parameter in known.commands["fit"].params for option in parameter.opts)


def _values(value: Any) -> list[str]:
    """One setting as the words behind its option; a list repeats the option."""
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, tuple):  # ("huber", 2.5)
        return [":".join(map(_word, value))]
    if isinstance(value, list):
        return [_word(item) for item in value]
    if isinstance(value, dict):
        return [",".join(f"{key}={_word(item)}" for key, item in value.items())]
    return [_word(value)]


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
