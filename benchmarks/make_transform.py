"""Write the catalog `transform`: each Feynman law solved for one of its inputs, which becomes the target.

Run once, or when the laws change: `python benchmarks/make_transform.py [--all] [--out FILE]`. For every law the inputs
are tried in an order drawn from the law's name; the first one that SymPy can solve for, in a form made of our operators
that gives the input back on every row of the law's own range, makes the problem. `--all` keeps every such input. Laws
with an even number (their place in the catalog, from 1) are the test half: nobody tunes on them.

SymPy may think for hours, so every attempt is a process with a time limit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_catalogs import CATALOGS, COLUMNS, Row, write
from unisymnet.bench.problems import BenchProblem, load_suite
from unisymnet.symbolic import Expr, evaluate, to_text
from unisymnet.symbolic.expr import Call, walk

SECONDS = 20.0  # for one attempt
CHECKS = 2000  # rows on which a solution must give the input back
ROWS = {"n_train": "1000", "n_test": "1000"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every input of every law")
    parser.add_argument("--out", type=Path, default=CATALOGS / "transform.csv")
    args = parser.parse_args()
    found = [row for number, law in enumerate(load_suite("feynman"), 1) for row in solved(number, law, args.all)]
    write(args.out, found, (*COLUMNS, "law", "pivot", "half"))
    print(f"{len(found)} problems of {len({row['law'] for row in found})} laws in {args.out}")


def solved(number: int, law: BenchProblem, everything: bool) -> Iterator[Row]:
    """The problems of one law, none where no input can be solved for."""
    rng = np.random.default_rng(zlib.crc32(law.name.encode()))
    for pivot in map(int, rng.permutation(law.n_features)):
        expr = within_limit(law, pivot)
        if expr is None:
            continue
        _, values = law.sample(CHECKS, rng=np.random.default_rng(0))
        ranges = [*np.delete(np.array([law.low, law.high]), pivot, axis=1).T, (values.min(), values.max())]
        others = [name for i, name in enumerate(law.names) if i != pivot]
        print(f"{law.name} for {law.names[pivot]}: {to_text(expr)}", file=sys.stderr, flush=True)
        yield {
            "suite": "transform",
            "name": f"{law.name.replace('feynman', 'transform')}_{law.names[pivot]}",
            "expression": to_text(expr),
            "names": ";".join([*others, "y"]),
            "low": ";".join(f"{low:.6g}" for low, _ in ranges),
            "high": ";".join(f"{high:.6g}" for _, high in ranges),
            "kind": "solved",
            "inverse": str(int(any(isinstance(node, Call) and node.op in ("asin", "acos") for node in walk(expr)))),
            "scored": "0",
            "law": law.name,
            "pivot": str(pivot),
            "half": "test" if number % 2 == 0 else "development",
            **ROWS,
        }
        if not everything:
            return


def within_limit(law: BenchProblem, pivot: int) -> Expr | None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        future = pool.submit(solve, law.name, pivot)
        try:
            return future.result(SECONDS)
        except TooLong:
            for process in list(pool._processes.values()):
                process.kill()
        except Exception as error:
            print(f"{law.name} for {law.names[pivot]}: {error}", file=sys.stderr)
    return None


def solve(name: str, pivot: int) -> Expr | None:
    """The first explicit real branch that is right on all rows."""
    import sympy

    from unisymnet.symbolic.rewrite.simplify import present
    from unisymnet.symbolic.writers.sympy_bridge import from_sympy, to_sympy

    law = next(problem for problem in load_suite("feynman") if problem.name == name)
    assert law.expr is not None
    plain = to_sympy(law.expr)
    signs = {
        sympy.Symbol(f"x{i}"): sympy.Symbol(f"x{i}", real=True, positive=low >= 0 or None)
        for i, low in enumerate(law.low)
    }
    y = sympy.Symbol("y", real=True)
    wanted = list(signs.values())[pivot]
    X, values = law.sample(CHECKS, rng=np.random.default_rng(0))
    rows = np.column_stack([np.delete(X, pivot, axis=1), values])
    columns = [f"x{i}" for i in range(law.n_features) if i != pivot] + ["y"]
    for branch in sympy.solve(sympy.nsimplify(plain.xreplace(signs), [sympy.pi]) - y, wanted):
        try:
            expr = present(from_sympy(sympy.simplify(branch), columns))
        except (ValueError, TypeError):
            continue
        if right(evaluate(expr, rows), X[:, pivot]):
            return expr
    return None


def right(found: Any, wanted: Any) -> bool:
    return bool(np.all(np.isfinite(found)) and np.allclose(found, wanted, rtol=1e-6, atol=0.0))


if __name__ == "__main__":
    main()
