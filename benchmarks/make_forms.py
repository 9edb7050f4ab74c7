"""Writes the trees that the judge compares formulas with, src/unisymnet/judge/forms.json.

    python benchmarks/make_forms.py

To be run after a change of the list of textbook forms (judge/forms.py) or of how formulas are rewritten; the tests say
so when the file is not of the present list.
"""

from __future__ import annotations

import json
from pathlib import Path

from unisymnet.judge.forms import FORMS
from unisymnet.judge.special import make_table

OUT = Path(__file__).resolve().parents[1] / "src" / "unisymnet" / "judge" / "forms.json"


def main() -> None:
    made = make_table(FORMS)
    rows = ",\n".join(f"  {json.dumps(shape)}: {json.dumps(some)}" for shape, some in sorted(made["rows"].items()))
    head = f'"of": {json.dumps(made["of"])},\n"special_weight": {json.dumps(made["special_weight"])},\n'
    OUT.write_text(f'{{\n{head}"rows": {{\n{rows}\n}}\n}}\n', "utf-8")
    print(f"{sum(map(len, made['rows'].values()))} trees of {len(made['rows'])} shapes in {OUT}")


if __name__ == "__main__":
    main()
