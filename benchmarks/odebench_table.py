"""The table of issue 25's floors from records of `bench odebench`: medians over the seeds.

python benchmarks/odebench_table.py benchmarks/results/odebench13_*.jsonl
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

N_SYSTEMS = 63
FLOORS = {
    (0.0, 0.0, False): (62, 57, 51),
    (0.05, 0.0, False): (57, 44, 33),
    (0.05, 0.5, False): (56, 40, 29),
    (0.0, 0.0, True): (62, 61, 50),
    (0.05, 0.0, True): (55, 56, 31),
}


def counts(records: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Reconstruction, second start, form."""
    first, second = (sum((one[name] or 0.0) > 0.9 for one in records) for name in ("r2", "r2_second"))
    return first, second, sum(bool(one["form"]) for one in records)


def main() -> None:
    runs: dict[tuple[float, float, bool], dict[int, dict[int, dict[str, Any]]]] = {}
    for path in sys.argv[1:]:
        for line in Path(path).read_text("utf-8").splitlines():
            one = json.loads(line)
            if one["method"] == "ours":
                setting = one["noise"], one["subsample"], one["both"]
                runs.setdefault(setting, {}).setdefault(one["seed"], {})[one["system"]] = one
    for setting, floor in FLOORS.items():
        seeds = runs.get(setting, {})
        whole = {seed: list(found.values()) for seed, found in sorted(seeds.items()) if len(found) == N_SYSTEMS}
        part = [f"seed {seed}: {len(found)} of {N_SYSTEMS} run" for seed, found in seeds.items() if seed not in whole]
        noise, left_out, both = setting
        name = f"noise {noise:g}, {100 * left_out:.0f} % left out, {'both trajectories' if both else 'one trajectory'}"
        each = {seed: counts(records) for seed, records in whole.items()}
        told = "; ".join([f"seed {seed}: " + " / ".join(map(str, found)) for seed, found in each.items()] + part)
        print(f"{name}   floor {' / '.join(map(str, floor))}\n    {told or 'not run'}")
        if each:
            medians = [statistics.median(found[i] for found in each.values()) for i in range(3)]
            verdict = "met" if all(m >= f for m, f in zip(medians, floor)) else "MISSED"
            spent = [one["cpu"] for records in whole.values() for one in records]
            deep = [counts([one for one in records if one["dim"] == 3])[1] for records in whole.values()]
            print(f"    median {' / '.join(f'{m:g}' for m in medians)}: {verdict}; at most {max(spent):.1f} s")
            print(f"    three-dimensional systems at the second start: median {statistics.median(deep):g} of 10")


if __name__ == "__main__":
    main()
