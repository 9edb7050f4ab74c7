"""The results as pages: docs/results.md and a static docs/results.html, rebuilt from files of JSON lines.

Shows what the records hold and nothing else; numbers are never typed in.  Records of other versions are left out
(stale.py).  Every table is the one that the command prints.  The first part says where ours is behind, and compares
methods run for run.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from .beyond import beyond
from .experiments import NAMES, find_experiment
from .experiments.base import Block, Figure, Table, save, shown
from .experiments.tally import groups, load_results, tasks_among
from .records import Record
from .run import LITERAL, provenance, weights_in_use
from .stale import current
from .versus import comparison, shortfalls

FIGURES = "results"  # folder of the pictures, beside the pages


def write_pages(results: Path, out: Path, since: str | None = None) -> list[Path]:
    """Both pages and their pictures; returns the files written. With `since`, records from that commit on count."""
    records, stale = current(load_results(results), weights_in_use(), since, {LITERAL: weights_in_use(LITERAL)})
    sections: list[tuple[str, str, Sequence[Block]]] = [("comparison", "Methods run for run", _compared(records))]
    sections.append(("beyond", "Units, groups, systems, tables, other domains", beyond(records)))
    for name in NAMES:
        experiment = find_experiment(name)
        sections.append((name, experiment.about, experiment.report(records)))
    for _, _, blocks in sections:
        for block in blocks:
            if isinstance(block, Figure):
                save(block, out / FIGURES)
    head = _head(records, results)
    head.append(_age(stale, since))
    paths = [out / "results.md", out / "results.html"]
    out.mkdir(parents=True, exist_ok=True)
    paths[0].write_text(_markdown(head, sections), encoding="utf-8")
    paths[1].write_text(_page(head, sections), encoding="utf-8")
    return paths


Sections = Sequence[tuple[str, str, Sequence[Block]]]


def _compared(records: Sequence[Record]) -> list[Block]:
    """Where ours is behind comes first."""
    return [*shortfalls(records), *comparison(records)]


def _age(stale: int, since: str | None) -> str:
    which = "of this search and these weights" if since is None else f"of commit {since} or later, with these weights"
    left = f" {stale:,} records of other versions were left out." if stale else ""
    return f"Every number of ours has a record {which}.{left} How cost grows: [scale.md](scale.md)."


def _head(records: Sequence[Record], results: Path) -> list[str]:
    runs = tasks_among(records)
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    here = provenance()
    lines = [
        f"Built on {now} at commit {here['commit']} by `unisymnet bench page --results {results.as_posix()}` from "
        f"{len(records):,} records. Nothing on this page is typed in."
    ]
    for (machine,), chosen in groups([run for run in runs if run.get("machine")], "machine").items():
        dates = sorted(str(run["date"])[:10] for run in chosen)
        commits = sorted({str(run["commit"])[:8] for run in chosen})
        named = ", ".join(commits[:8]) + (", …" if len(commits) > 8 else "")
        lines.append(f"Machine: {machine}; {len(chosen):,} runs, {dates[0]} to {dates[-1]}, commits {named}.")
    lines.append(
        "Budgets are seconds for one fit on one core. Peers count processor time; ours does too where it was run with "
        "`--clock processor`, and wall time otherwise. Sol: SRBench's procedure. Strict: same values inside and "
        "outside the training range. Form: the law once its constants are refitted to clean data. Rows with a budget "
        "of 5 s are of `--quick` variants: a part of the problems, one run each."
    )
    return lines


def _markdown(head: Sequence[str], sections: Sections) -> str:
    parts = ["# Results", *head]
    for name, about, blocks in sections:
        parts.append(f"## {name}: {about}" if name in NAMES else f"## {about}")
        if not blocks:
            parts.append(f"Not run yet with this version{_command(name)}.")
        elif name in NAMES:
            parts.append(f"In full: {find_experiment(name).full}.")
        for block in blocks:
            parts += _markdown_block(block)
    return "\n\n".join(parts) + "\n"


def _command(name: str) -> str:
    return f": `unisymnet bench {name}`" if name in NAMES else ""


def _plain(text: str) -> str:
    """Without a meaning in Markdown: a suite is called nguyen*."""
    return text.replace("|", "\\|").replace("*", "\\*")


def _markdown_block(block: Block) -> list[str]:
    title = _plain(block.title)
    if isinstance(block, Figure):
        return [f"![{title}]({FIGURES}/{block.name}.png)"]
    if not block.rows:
        return [f"**{title}**", block.note]
    lines = ["| " + " | ".join(block.columns) + " |", "|---|" + "---:|" * (len(block.columns) - 1)]
    lines += ["| " + " | ".join(_plain(shown(cell)) for cell in row) + " |" for row in block.rows]
    return [f"**{title}**", "\n".join(lines), *([block.note] if block.note else [])]


def _page(head: Sequence[str], sections: Sections) -> str:
    links = " ".join(f'<a href="#{name}">{name}</a>' for name, _, _ in sections)
    body = [f"<h1>Results</h1><nav>{links}</nav>", *(f'<p class="soft">{_coded(line)}</p>' for line in head)]
    for name, about, blocks in sections:
        body.append(f'<h2 id="{name}">{html.escape(about[:1].upper() + about[1:])}</h2>')
        if not blocks:
            body.append(f'<p class="soft">{_coded(f"Not run yet with this version{_command(name)}")}</p>')
        body += [_figure(block) if isinstance(block, Figure) else _table(block) for block in blocks]
    content = "\n".join(body)
    style = files(__package__).joinpath("catalogs", "page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>unisymnet: results</title><style>\n{style}</style></head><body>\n{content}\n</body></html>\n"
    )


def _coded(text: str) -> str:
    """Escaped, with `code` marked."""
    pieces = html.escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))


def _figure(block: Figure) -> str:
    source, title = f"{FIGURES}/{block.name}.svg", html.escape(block.title)
    caption = f"<figcaption>{html.escape(block.note)}</figcaption>" if block.note else ""
    return f'<figure><img src="{source}" alt="{title}" loading="lazy">{caption}</figure>'


def _table(block: Table) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in block.columns)
    rows = []
    for row in block.rows:
        ours = ' class="ours"' if any(str(cell).startswith("unisymnet") for cell in row[:3]) else ""
        rows.append(f"<tr{ours}>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>")
    note = f'<p class="soft">{html.escape(block.note)}</p>' if block.note else ""
    if not rows:
        return f"<h3>{html.escape(block.title)}</h3>{note}"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<h3>{html.escape(block.title)}</h3><div class="scroll">{table}</div>{note}'
