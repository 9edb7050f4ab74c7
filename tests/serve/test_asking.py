"""Wishes of the page: checked before anything starts, and written as commands that do the same."""

import shlex
from typing import Any

import pytest
from typer.main import get_command

from unisymnet import DataError
from unisymnet.cli import app
from unisymnet.cli.options import pairs
from unisymnet.serve.asking import checked, known_settings, to_request
from unisymnet.serve.commands import fit_command

GOOD: dict[str, Any] = {"data": "a.csv", "target": "y"}


def test_a_wish_gets_every_field() -> None:
    wish = checked(GOOD)
    assert wish["settings"] == {"max_time": 60} and wish["features"] is None and wish["guesses"] == []
    request = to_request(wish)
    assert (request.data, request.target, request.settings) == ("a.csv", "y", {"max_time": 60})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "is an object"),
        ({"data": "a.csv"}, "a table and a target"),
        (GOOD | {"features": ["y"]}, "cannot be an input too"),
        (GOOD | {"features": []}, "at least one input"),
        (GOOD | {"features": "x"}, "must be a list"),
        (GOOD | {"groups": "y"}, "the groups and cannot be the target"),
        (GOOD | {"sigma": "x", "features": ["x"]}, "the errors and cannot be the target or an input"),
        (GOOD | {"weights": 3}, "must be a short text"),
        (GOOD | {"missing": "guess"}, "drop, indicator"),
        (GOOD | {"settings": {"noise": "loud"}}, "noise must be"),
        (GOOD | {"guesses": ["a" * 3000]}, "at most 2000 characters"),
        (GOOD | {"settings": {"callback": "print"}}, "no setting 'callback'"),
        (GOOD | {"settings": {"checkpoint": "/tmp"}}, "no setting 'checkpoint'"),
        (GOOD | {"settings": {"max_time": -1}}, "number of seconds"),
        (GOOD | {"settings": {"max_time": "long"}}, "number of seconds"),
        (GOOD | {"settings": {"operators": "+,eval"}}, "eval"),
        (GOOD | {"settings": {"max_complexity": [[[[1]]]]}}, "of a kind"),
    ],
)
def test_what_is_wrong_is_said(wrong: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        checked(wrong)


def test_only_settings_of_the_estimator_are_offered() -> None:
    assert {"max_time", "noise", "operators", "random_state"} <= set(known_settings())
    assert not {"callback", "checkpoint", "verbose", "proposers"} & set(known_settings())


def test_the_shell_command_is_one_that_the_command_line_takes() -> None:
    settings = {"max_time": 12.5, "random_state": 3, "noise": 0.1, "loss": ["huber", 2.5], "operators": "+,*"}
    wish = checked(
        GOOD | {"data": "my data.csv", "features": ["x 1", "x2"], "guesses": ["a*x2", "b"], "settings": settings}
    )
    words = shlex.split(fit_command(wish))
    assert words[:2] == ["unisymnet", "fit"]
    command: Any = get_command(app)
    with command.commands["fit"].make_context("fit", words[2:]) as context:
        found = context.params
    assert found["data"] == "my data.csv" and found["features"] == "x 1,x2" and list(found["guess"]) == ["a*x2", "b"]
    assert (found["max_time"], found["seed"], found["operators"]) == (12.5, 3, "+,*")
    assert (float(found["noise"]), found["loss"]) == (0.1, "huber:2.5")


def test_units_reach_the_command_line_as_it_reads_them() -> None:
    known = {"units": {"m": "kg", "v": "m/s"}, "constants": {"g": "9.81 m/s^2"}}
    words = shlex.split(fit_command(checked(GOOD | {"settings": known})))
    command: Any = get_command(app)
    with command.commands["fit"].make_context("fit", words[2:]) as context:
        assert pairs(context.params["units"], "--units", "") == known["units"]
        assert pairs(context.params["constant"], "--constant", "") == known["constants"]


def test_columns_with_a_role_reach_the_command_line() -> None:
    roles = {"groups": "site", "sigma": "error of y", "weights": "w", "missing": "indicator"}
    wish = checked(GOOD | roles | {"settings": {"noise": "relative", "selection": "accuracy"}})
    words = shlex.split(fit_command(wish))
    command: Any = get_command(app)
    with command.commands["fit"].make_context("fit", words[2:]) as context:
        found = context.params
    assert {role: found[role] for role in roles} == roles
    assert (found["noise"], found["selection"]) == ("relative", "accuracy")
    request = to_request(wish)
    assert (request.groups, request.sigma, request.weights) == ("site", "error of y", "w")
