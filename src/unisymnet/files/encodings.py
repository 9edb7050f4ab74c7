"""In which encoding a text file is written: by its mark, as UTF-8, or, of the older ones, the most likely.

Older encodings cannot be told apart for certain. Each has signs that are common in it; the bytes are the least
surprising in the right one. What had to be guessed is said in a note.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

from ..errors import DataError

HEAD_BYTES = 65_536
LEAST_NULS = 0.05  # of the bytes of a text of two bytes a sign
RARE = 1e-6  # chance of a sign that nearly nobody writes
BESIDE = 0.05  # chance that a western accent stands right behind another one
MARKS = (
    *((b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be")),  # before those that begin like them
    *((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")),
)
_WESTERN = frozenset("äöüßéèêàâçñåøæôîïûëœóíáúãõÄÖÜÉÅØµ°²³±·×§€–’“”…")
_PUNCTUATION = frozenset("　、。（）・「」％℃：，～［］")


def encoding_of(raw: bytes) -> tuple[str, int, str | None]:
    """The encoding, how many bytes its mark takes, and a note where it is a guess."""
    for mark, name in MARKS:
        if raw.startswith(mark):
            return name, len(mark), None
    head = raw[:HEAD_BYTES]
    if b"\0" in head:
        return _two_bytes(head), 0, None
    try:
        raw[: len(head) - 4 if len(raw) > len(head) else len(head)].decode("utf-8")
    except UnicodeDecodeError:
        return _older(head if len(raw) <= len(head) else head[: head.rfind(b"\n") + 1] or head)
    return "utf-8", 0, None


def _two_bytes(head: bytes) -> str:
    even, odd = head[::2].count(0), head[1::2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    text = head.decode(name, errors="replace")
    few = even + odd < LEAST_NULS * len(head)  # a stray one, which would make nonsense of every other sign
    if few or sum(sign.isprintable() or sign.isspace() for sign in text) < 0.95 * len(text):
        raise DataError("the file is not text; give a CSV, TSV, Excel or Parquet file")
    return name


def _older(head: bytes) -> tuple[str, int, str]:
    scores = {name: _likely(head, name, judge) for name, (_, judge) in _OLDER.items()}
    name = max(scores, key=lambda name: scores[name])
    shown = _OLDER[name][0]
    return name, 0, f"the file is not UTF-8; its text is read as {shown}: if a name looks wrong, save the file as UTF-8"


def _likely(head: bytes, name: str, judge: Callable[[str], float]) -> float:
    """The logarithm of how likely the signs beyond ASCII are in this encoding."""
    try:
        text = head.decode(name)
    except UnicodeDecodeError:
        return -math.inf
    runs = re.finditer(r"([A-Za-z]?)([^\0-\x7f]+)([A-Za-z]?)", text)
    # Within a word the alphabets of other languages do not mix with ours; accents do nothing else.
    mixed = 0.0 if name == "cp1252" else math.log(BESIDE)
    return sum(judge(run[2]) + (mixed if run[1] or run[3] else 0.0) for run in runs)


def _western(run: str) -> float:
    chances = [0.9 / len(_WESTERN) if sign in _WESTERN else 0.001 for sign in run]
    return sum(map(math.log, chances)) + (len(run) - 1) * math.log(BESIDE)


def _any_byte(run: str) -> float:
    return len(run) * math.log(RARE)  # Latin-1 reads everything: only where nothing else does


def _cyrillic(run: str) -> float:
    common = [0.02 if "а" <= sign <= "я" else 0.004 if "А" <= sign <= "Я" else 0.001 for sign in run]
    mixed = sum(a.islower() and b.isupper() for a, b in itertools.pairwise(run))
    return sum(map(math.log, common)) + mixed * math.log(BESIDE)


def _eastern(encoding: str, first: range, size: int, kana: bool = False) -> Callable[[str], float]:
    """Signs of two bytes whose common ones, so many, have their first byte in `first`; Japanese has kana too."""

    def judged(run: str) -> float:
        total = 0.0
        for sign in run:
            code = sign.encode(encoding)
            if kana and "\u3041" <= sign <= "\u30fe":
                chance = 0.5 / 160
            elif len(code) == 2 and code[0] in first and (encoding in ("cp932", "big5") or code[1] > 0xA0):
                chance = (0.45 if kana else 0.95) / size
            else:
                chance = 0.0005 if sign in _PUNCTUATION else RARE
            total += math.log(chance)
        return total

    return judged


_OLDER: dict[str, tuple[str, Callable[[str], float]]] = {
    "cp1252": ("Windows-1252 (western Europe)", _western),
    "cp1251": ("Windows-1251 (Cyrillic)", _cyrillic),
    "cp932": ("Shift-JIS (Japanese)", _eastern("cp932", range(0x88, 0x98), 2965, kana=True)),
    "euc_jp": ("EUC-JP (Japanese)", _eastern("euc_jp", range(0xB0, 0xD0), 2965, kana=True)),
    "gb18030": ("GB 18030 (Chinese)", _eastern("gb18030", range(0xB0, 0xD8), 3755)),
    "big5": ("Big5 (Chinese)", _eastern("big5", range(0xA4, 0xC7), 5401)),
    "cp949": ("EUC-KR (Korean)", _eastern("cp949", range(0xB0, 0xC9), 2350)),
    "latin-1": ("Latin-1 (western Europe)", _any_byte),
}
