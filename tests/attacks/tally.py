"""What an attack counts."""

from __future__ import annotations

import sys
import time


class Tally:
    """Counts one attack, keeps the first failures, and shows that it goes on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count, self.n_failures, self.worst, self.remark = 0, 0, "", ""
        self.faults: list[dict[str, str]] = []
        self.began = self.shown = time.monotonic()

    def add(self, fault: str | None, about: str = "") -> None:
        self.count += 1
        if fault is not None:
            self.n_failures += 1
            self.worst = self.worst or f"{fault} ({about})"
            print(f"  {self.name}: {fault}  {about[:200]}", file=sys.stderr, flush=True)
            self.faults.append({"fault": fault[:300], "about": about[:600]})
        if time.monotonic() - self.shown > 30:
            self.shown = time.monotonic()
            print(f"  {self.name}: {self.count} so far, {self.n_failures} failures", file=sys.stderr, flush=True)
