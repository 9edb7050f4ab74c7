"""Markdown pages as the tests run them: fenced blocks, and whether what was printed is what a page promises."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SKIPPED = re.compile(r"<!-- not run: [^>]+-->\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block; `promised` is the text block right behind a Python block, if any."""

    language: str
    text: str
    line: int
    promised: str | None = None


def pages() -> list[Path]:
    """README and the documentation, without records of decisions and experiments."""
    docs = ROOT / "docs"
    return [ROOT / "README.md", *sorted({*docs.glob("*.md"), *docs.glob("howto/*.md")} - {docs / "log.md"})]


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found: list[Block] = []
    matches = list(FENCE.finditer(text))
    for at, match in enumerate(matches):
        if SKIPPED.search(text[: match.start()]):
            continue
        after = matches[at + 1] if at + 1 < len(matches) else None
        next_to = after is not None and not text[match.end() : after.start()].strip()
        promised = after[2] if after is not None and next_to and after[1] == "text" else None
        found.append(Block(match[1], match[2], text.count("\n", 0, match.start()) + 1, promised))
    return found


def keeps(promised: str, printed: str) -> bool:
    """Is this what was promised?  "…" stands for anything, also for several lines."""
    pattern = ".*".join(re.escape(part) for part in promised.strip().split("…"))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None
