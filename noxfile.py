"""`nox` runs the tests on every Python from 3.11 to 3.13 that this machine has; `nox -s tests-3.12` on one."""

import nox

nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The whole suite in an environment of its own."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session(python=["3.11"])
def lowest(session: nox.Session) -> None:
    """The suite without torch, as a user's installation has it: tests that need torch skip themselves."""
    session.install("-e", ".[files,plot]", "pytest", "pytest-xdist", "hypothesis", "polars", "ruff", "mypy")
    session.run("pytest", "-n", "2", *session.posargs)
