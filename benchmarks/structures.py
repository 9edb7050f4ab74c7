"""How often the constants are found when the structure is given, and which exponents stand where (ADR 21).

    python benchmarks/structures.py --count 150 --choices 8 16 30
    python benchmarks/structures.py --exponents

Random functions of the corpus with the structures of their labels; a brief look of SFO with so many choices of
exponents; found is what leaves less than 1e-8 of the spread.  The last line is for machines.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict

import numpy as np

from unisymnet.corpus import LOW, Corpus
from unisymnet.deadline import Deadline
from unisymnet.fit.polish import brief_look
from unisymnet.fit.sfo.sfo import SFO
from unisymnet.model.beam import vocabulary_of
from unisymnet.model.proposer import load_weights, weights_for
from unisymnet.problem import make_problem
from unisymnet.symbolic.expr import Call, Expr, Param, children, evaluate, parts, walk
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.skeleton import network_to_skeleton, to_skeleton

LEAST_ROWS = 20
FOUND = 1e-8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=78, help="of the corpus")
    parser.add_argument("--choices", type=int, nargs="+", default=[8, 16, 30])
    parser.add_argument("--exponents", action="store_true", help="how often each exponent stands in each role")
    options = parser.parse_args()
    if options.exponents:
        show_exponents(options.count, options.seed)
        return
    found = {n: constants_found(options.count, options.seed, n) for n in options.choices}
    print(" ".join(f"found{n}={k}" for n, k in found.items()), f"of={options.count}")


def constants_found(count: int, seed: int, n_choices: int) -> int:
    folder = weights_for(4)
    assert folder is not None, "the package has no weights"
    vocabulary = vocabulary_of(load_weights(folder))
    n_found, began = 0, time.process_time()
    for example in Corpus(LOW, seed=seed)(0, count):
        points = example.points.astype(np.float64)
        X = points[:, : example.n_features][np.any(points != 0.0, axis=1)]
        y = evaluate(example.expr, X)
        good = np.isfinite(y)
        if good.sum() < LEAST_ROWS:
            continue
        problem = make_problem(X[good], y[good])
        skeleton = to_skeleton(vocabulary.decode(example.label)).expr
        with np.errstate(all="ignore"):
            fit = brief_look(SFO(), n_choices).fit_expr(
                skeleton, problem, rng=np.random.default_rng(0), deadline=Deadline.never()
            )
        n_found += fit.loss <= FOUND**2 * float(np.var(problem.y))
    print(f"{n_choices:>3} choices: {n_found} of {count}, {(time.process_time() - began) / count:.3f} s each")
    return n_found


def show_exponents(count: int, seed: int) -> None:
    counts: dict[str, Counter[float]] = defaultdict(Counter)
    for example in Corpus(LOW, seed=seed)(0, count):
        skeleton, values = network_to_skeleton(identify(example.expr, example.n_features))
        roles: dict[int, str] = {}
        for node in walk(skeleton.expr):
            factors = [factor for factor in parts(node, "mul") if not isinstance(factor, Param)]
            for factor in factors:
                exponent = children(factor)[1] if isinstance(factor, Call) and factor.op == "pow" else None
                if isinstance(exponent, Param):
                    roles[exponent.index] = _role(children(factor)[0], len(factors))
        for index, role in roles.items():
            counts[role][round(values[index], 3)] += 1
    for role, found in counts.items():
        shares = ", ".join(f"{value:g} {n / found.total():.3f}" for value, n in found.most_common(8))
        print(f"{role:<10} {found.total():>6}  {shares}")


def _role(base: Expr, n_factors: int) -> str:
    if isinstance(base, Call) and base.op == "mul":
        return "product"
    return "factor" if n_factors > 1 else "alone"


if __name__ == "__main__":
    main()
