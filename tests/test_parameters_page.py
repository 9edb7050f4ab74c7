"""docs/howto/parameters.md shows every parameter of the estimator, and no other."""

import inspect
import re
from pathlib import Path

from unisymnet import UniSymNetRegressor

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "parameters.md"


def test_every_parameter_has_a_row_with_an_example_and_is_used():
    names = set(inspect.signature(UniSymNetRegressor).parameters)
    text = PAGE.read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", text, re.MULTILINE))
    assert set(rows) == names
    assert all(f"{name}=" in example for name, example in rows.items())
    assert len(names) <= 26 and f"has {len(names)} parameters" in text
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    unused = [name for name in names if name not in code]
    assert not unused, f"no Python block of the page uses {unused}"
