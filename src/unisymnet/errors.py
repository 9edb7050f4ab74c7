"""The errors a caller can meet.

Convention: an error says what is wrong, shows the value it got, and says what to do about it. Only mistakes
of the caller raise. A numerical failure during a search is data (a status on the candidate), never an
exception.

This module imports nothing, so every other module may import it.
"""

__all__ = ["CheckpointError", "DataError", "EncodingError", "ParseError", "UniSymNetError"]

_MAX_SHOWN = 72


class UniSymNetError(Exception):
    """Base of every error raised on purpose by this package; catch it to catch them all."""


class ParseError(UniSymNetError, ValueError):
    """The text of a formula cannot be read.

    `reason` says what is wrong and what to write instead, `text` is the formula as given, and `position`
    counts characters from 0. The message repeats the text with a caret under the offending character; a
    position equal to `len(text)` means that the text ends too early.
    """

    def __init__(self, reason: str, text: str = "", position: int = 0) -> None:
        self.reason = reason
        self.text = text
        self.position = min(max(position, 0), len(text))
        super().__init__(reason, text, position)

    def __str__(self) -> str:
        if not self.text:
            return f"{self.reason} (got an empty text)"
        shown, column = _window(self.text, self.position)
        return f"{self.reason} (at character {self.position + 1})\n  {shown}\n  {' ' * column}^"


class EncodingError(UniSymNetError):
    """A structure has no label in this vocabulary, or a label describes no structure.

    Typical causes: too many copies of one operator in a layer, too many layers or inputs, tokens out of
    order. Use a larger `Vocabulary`, or skip the function.
    """


class DataError(UniSymNetError, ValueError):
    """The data cannot be used as given: a wrong shape, missing or infinite values, an unknown column."""


class CheckpointError(UniSymNetError):
    """Stored weights or a saved run cannot be read: a file is missing, damaged, or of another version."""


def quoted(value: object) -> str:
    """A value as a message shows it: what was given may be longer than a screen."""
    try:
        shown = repr(value)
    except ValueError:  # of a whole number with thousands of digits
        return "a number with thousands of digits"
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"


def _window(text: str, position: int) -> tuple[str, int]:
    """One line of at most about `_MAX_SHOWN` characters around `position`, and the caret's column in it."""
    line = "".join(c if c.isprintable() else " " for c in text)
    if len(line) <= _MAX_SHOWN:
        return line, position
    start = min(max(position - _MAX_SHOWN // 2, 0), len(line) - _MAX_SHOWN)
    stop = start + _MAX_SHOWN
    head = "..." if start > 0 else ""
    tail = "..." if stop < len(line) else ""
    return head + line[start:stop] + tail, position - start + len(head)
