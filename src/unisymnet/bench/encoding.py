"""The paper's comparison of encodings: labels of networks against prefix order of trees, same model, same functions.

Usage: python -m unisymnet.bench.encoding --out FOLDER [--quick] [--examples N] [--fresh N] [--fitted N]
Both models read the same statistics, have the same sizes but for their tokens, and see the same functions in the same
order.  A prefix is the skeleton of the very structure that the label encodes, so both write the same information and
nats per function can be compared.  Recall counts skeletons; "fitted" fits the constants of the five best candidates
by BFGS alone, as the paper does to rule out the optimiser, and judges strictly, by depth and under noise.  A run that
was cut short goes on; results go to FOLDER/encoding.jsonl.  Needs torch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..candidate import Proposal, Status
from ..corpus import LOW, Corpus, Example
from ..deadline import Deadline
from ..errors import DataError
from ..fit.polish import Polish
from ..fit.sfo.sfo import SFO
from ..metrics import is_solution_strict, r2
from ..model.alphabet import END, START
from ..model.batches import alphabet_of
from ..model.beam import beam_search
from ..model.config import ModelConfig, preset
from ..model.prefix import CONSTANT, PrefixAlphabet
from ..model.runtime import Floats, Runtime
from ..problem import make_problem
from ..symbolic.expr import Expr, evaluate
from ..symbolic.network.skeleton import to_skeleton
from .records import Key, Record, performed
from .run import provenance

WRITINGS = ("label", "prefix")
FRESH, VALIDATION, WIDTH, N_FITTED = 4242, 999, 20, 5
CUTS = (1, 5, 20)
_MAX_PREFIX = 96
NOISES = (0.0, 0.001, 0.01, 0.1)
VERDICTS = ("solved", "accurate")
# No policy and nothing that this package adds: exponents and all other constants by BFGS from ten starts.
BFGS = SFO(
    exponents=(None,), n_steps=1, n_rollouts=1, warm=False, climb=False, sweep=0, deepen=0, parsimony=False,
    optimiser="bfgs",
)  # fmt: skip


def run(
    quick: bool,
    out: Path,
    *,
    examples: int = 100_000,
    n_fresh: int = 200,
    n_fitted: int = 40,
    max_time: float = 5.0,
    seed: int = 1,
    threads: int = 1,
) -> list[Record]:
    """Train in a folder beside the records, measure and print; ``quick`` only shows that it works."""
    if quick:
        examples, n_fresh, n_fitted = min(examples, 3_000), min(n_fresh, 20), min(n_fitted, 4)

    def perform(key: Key) -> Record:
        own = out.with_suffix("") / key["writing"]
        trained = _train(config_for(key["writing"], seed), own, examples, seed, threads)
        found = measure(Runtime.load(own / "onnx", n_threads=threads), n_fresh, n_fitted, max_time)
        return {**key, **trained, **found, **provenance()}

    key = {"examples": examples, "n_fresh": n_fresh, "seed": seed}
    records = performed([{"writing": writing, **key} for writing in WRITINGS], out, perform)
    show(records)
    return records


def config_for(writing: str, seed: int) -> ModelConfig:
    """The small preset in this writing; labels with the tokens that occur, or most of their softmax would be idle."""
    config = preset("small-low")
    if writing == "prefix":
        return replace(config, writing=writing, max_tokens=_MAX_PREFIX)
    stream = Corpus(replace(LOW, n_points=16), seed)
    return replace(config, live=alphabet_of(config).occurring(e.label for k in range(20) for e in stream(k, 512)))


def _train(config: ModelConfig, folder: Path, examples: int, seed: int, threads: int) -> dict[str, Any]:
    try:
        from ..model.export import export
        from ..model.train import load_model, set_up, train, validate
    except ImportError as error:
        raise DataError(f"this comparison needs torch ({error}): pip install 'unisymnet[torch]'") from error
    from ..model.schedule import TrainSettings

    set_up(threads)
    corpus = replace(LOW, n_points=64)
    settings = TrainSettings(batch=64, n_parts=3, reuse=2, warmup=200, seed=seed)
    steps = examples // settings.batch
    settings = replace(settings, cooldown_from=steps // 2, cooldown_steps=steps - steps // 2)
    fresh = Corpus(corpus, VALIDATION)(0, 400)
    began = time.process_time()
    train(
        Corpus(corpus, seed), fresh, config, settings, folder, max_steps=steps, resume=True, n_workers=1,
        log=lambda line: print(f"{config.writing}: {line}", flush=True),
    )  # fmt: skip
    seconds = time.process_time() - began
    model = load_model(folder)
    found = validate(model, fresh)
    export(model, folder / "onnx")
    size = sum(p.numel() for p in model.parameters())
    return {"cpu_s": round(seconds, 1), "n_weights": size, "nll": found.nll, "gain": found.gain}


def measure(runtime: Runtime, n_fresh: int, n_fitted: int, max_time: float) -> dict[str, Any]:
    """Recall of skeletons among the best candidates, by depth, and what fitting the five best recovers."""
    writing = PrefixAlphabet(runtime.config.n_features, runtime.config.repeats, runtime.config.max_depth)
    functions = Corpus(LOW, FRESH)(0, n_fresh)
    places, depths, lengths, seconds = [], [], [], []
    fits: list[dict[str, Any]] = []
    for number, example in enumerate(functions):
        truth = writing.from_label(example.label)
        real = example.points[example.points.any(axis=1)]
        began = time.perf_counter()
        candidates = propose(runtime, real, example.n_features)
        seconds.append(time.perf_counter() - began)
        found = [writing.from_expr(candidate) for candidate in candidates]
        places.append(next((k for k, tokens in enumerate(found, 1) if tokens == truth), np.inf))
        depths.append(example.depth)
        lengths.append(len(truth) if runtime.config.writing == "prefix" else len(example.label))
        if number < n_fitted:
            fits += [fitted_at(runtime, example, noise, max_time) for noise in NOISES]
    shares = {f"recall{cut}": float(np.mean(np.array(places) <= cut)) for cut in CUTS}
    by_depth = {
        str(depth): [float(np.mean([p <= 20 for p, d in zip(places, depths) if d == depth])), depths.count(depth)]
        for depth in sorted(set(depths))
    }
    clean = [fit for fit in fits if fit["noise"] == 0]
    solved, accurate = (float(np.mean([fit[key] for fit in clean])) if clean else float("nan") for key in VERDICTS)
    return {
        **shares, "recall20_by_depth": by_depth, "tokens": float(np.mean(lengths)), "beam_s": float(np.median(seconds)),
        "n_fitted": len(clean), "solved": solved, "r2_above_0.99": accurate, "fits": fits,
    }  # fmt: skip


def fitted_at(runtime: Runtime, example: Example, noise: float, max_time: float) -> dict[str, Any]:
    """What the five best candidates come to where the target has noise: the model reads it, and BFGS fits it."""
    rows = example.points[example.points.any(axis=1)].astype(np.float64)
    size = float(np.sqrt(np.mean(rows[:, -1] ** 2)))
    rows[:, -1] += noise * size * np.random.default_rng(len(rows)).standard_normal(len(rows))
    candidates = propose(runtime, rows.astype(np.float32), example.n_features)[:N_FITTED]
    solved, best = fit_noisy(candidates, example, max_time, noise, Polish(sfo=BFGS))
    return {"noise": noise, "depth": example.depth, "solved": solved, "accurate": best > 0.99, "r2": max(best, 0.0)}


def propose(runtime: Runtime, rows: Floats, n_features: int) -> list[Expr]:
    """Skeletons, the likeliest first."""
    if runtime.config.writing == "prefix":
        return prefix_beam(runtime, rows, n_features, WIDTH)
    return [to_skeleton(found.structure).expr for found in beam_search(runtime, rows, n_features, width=WIDTH)]


def prefix_beam(runtime: Runtime, rows: Floats, n_features: int, width: int) -> list[Expr]:
    """Beam search over complete prefixes: a token may come only while operands are open, END only when none is."""
    writing = runtime.writing
    assert isinstance(writing, PrefixAlphabet)
    arity = writing.arities()
    usable = arity >= 0
    usable[CONSTANT + 1 + n_features : CONSTANT + 1 + writing.n_features] = False  # columns that the data do not have
    data, past = runtime.encode(rows[None]), runtime.empty_cache(1)
    tokens, totals, opened = np.array([[START]]), np.zeros(1), np.ones(1, dtype=np.int64)
    done: list[tuple[float, list[int]]] = []
    for position in range(runtime.config.max_tokens):
        logs, past = runtime.step(tokens[:, -1], position, np.repeat(data, len(tokens), axis=2), past)
        for k in np.flatnonzero(opened == 0):
            done.append((float(totals[k] + logs[k, END]), [int(t) for t in tokens[k, 1:]]))
        done = sorted(done, key=lambda found: -found[0])[:width]
        scores = totals[:, None] + np.where(usable & (opened > 0)[:, None], logs, -np.inf)
        best = np.argsort(-scores, axis=None)[:width]
        floor = done[-1][0] if len(done) == width else -np.inf
        rows_of, next_of = np.unravel_index(best[scores.ravel()[best] > floor], scores.shape)
        if not len(rows_of):
            break
        tokens = np.column_stack([tokens[rows_of], next_of])
        totals, opened = scores[rows_of, next_of], opened[rows_of] - 1 + arity[next_of]
        past = past[:, :, rows_of]
    return [writing.to_expr(found) for _, found in done]


def fit_noisy(
    candidates: Sequence[Expr], example: Example, max_time: float, noise: float, polish: Polish
) -> tuple[bool, float]:
    """Is one of the candidates the law, and the best R² on the other half of the rows, which have no noise."""
    rows = example.points[example.points.any(axis=1)].astype(np.float64)
    X, y = rows[:, : example.n_features], evaluate(example.expr, rows[:, : example.n_features])
    keep = np.isfinite(y)
    half = np.arange(keep.sum()) % 2 == 0
    rng, deadline = np.random.default_rng(0), Deadline.after(max_time)
    told = y[keep][half]
    told = told + noise * np.sqrt(np.mean(told**2)) * rng.standard_normal(len(told)) if noise else told
    problem = make_problem(X[keep][half], told)
    solved, best = False, -np.inf
    for i, candidate in enumerate(candidates):
        share = deadline.sooner(deadline.remaining() / (len(candidates) - i))
        fitted = polish.fit(Proposal(candidate, "model"), problem, rng=rng, deadline=share)
        if fitted.status is not Status.OK:
            continue
        solved = solved or is_solution_strict(example.expr, fitted.expr, X[keep])
        best = max(best, r2(y[keep][~half], evaluate(fitted.expr, X[keep][~half])))
    return solved, best


def show(records: Sequence[dict[str, Any]]) -> None:
    """The comparison as a table."""
    heads = ("cpu_s", "tokens", "nll", "gain", "recall1", "recall5", "recall20", "solved", "r2_above_0.99", "beam_s")
    print(f"{'writing':>8} {'examples':>9} " + " ".join(f"{h:>9}" for h in heads))
    for record in records:
        figures = " ".join(f"{record[h]:9.3f}" for h in heads)
        print(f"{record['writing']:>8} {record['examples']:9d} {figures}")
    for record in records:
        shares = "  ".join(f"L={k}: {share:.2f} (n={n})" for k, (share, n) in record["recall20_by_depth"].items())
        print(f"{record['writing']:>8} recall at 20  {shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--fresh", type=int, default=200)
    parser.add_argument("--fitted", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    run(
        args.quick, args.out, examples=args.examples, n_fresh=args.fresh, n_fitted=args.fitted, seed=args.seed,
        threads=args.threads,
    )  # fmt: skip


if __name__ == "__main__":
    main()
