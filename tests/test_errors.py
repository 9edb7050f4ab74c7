import pickle

import pytest

import unisymnet
from unisymnet import errors


def test_parse_error_points_at_the_character() -> None:
    lines = str(errors.ParseError("unknown function 'sni'; did you mean 'sin'?", "2*sni(x0)", 2)).splitlines()
    assert lines == ["unknown function 'sni'; did you mean 'sin'? (at character 3)", "  2*sni(x0)", "    ^"]


@pytest.mark.parametrize("position", [0, 7, 200, 399, 400])
def test_parse_error_shows_a_window_of_a_long_text(position: int) -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(400))
    _, shown, caret = str(errors.ParseError("bad", text, position)).splitlines()
    assert len(shown) < 90
    if position < len(text):
        assert shown[caret.index("^")] == text[position]
    else:  # the text ended too early: the caret stands behind it
        assert caret.index("^") == len(shown)


@pytest.mark.parametrize("text", ["x0 +\tx1\n* $", "", "x"])
def test_parse_error_copes_with_any_text(text: str) -> None:
    error = errors.ParseError("unexpected end", text, 10_000)
    assert len(str(error).splitlines()) == (3 if text else 1)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_errors_share_one_base_and_fit_the_usual_handlers() -> None:
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.UniSymNetError)
        assert getattr(unisymnet, name) is getattr(errors, name)
    assert issubclass(errors.ParseError, ValueError)
    assert issubclass(errors.DataError, ValueError)


def test_the_package_says_what_it_offers() -> None:
    assert {"UniSymNetRegressor", "Formula", "parse", "evaluate", "__version__"} <= set(dir(unisymnet))
    with pytest.raises(AttributeError, match="no attribute 'Regressor'; it offers UniSymNetRegressor"):
        _ = unisymnet.Regressor
