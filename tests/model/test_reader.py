"""The encoder that reads points: what it is told of each, that order does not matter, that exact relations are seen."""

from dataclasses import replace

import numpy as np
import pytest

from unisymnet.model.pointwise import BASE, pointwise, pointwise_size

torch = pytest.importorskip("torch")

from unisymnet.corpus import LOW, Corpus  # noqa: E402
from unisymnet.model.config import preset  # noqa: E402
from unisymnet.model.reader import RIDGE, Reader, Regression, invert  # noqa: E402
from unisymnet.model.schedule import settings_for  # noqa: E402
from unisymnet.model.train import Run, validate  # noqa: E402

EXAMPLES = Corpus(replace(LOW, n_points=40), seed=8)(0, 12)
ROWS = np.stack([e.points for e in EXAMPLES])


def test_numbers_of_points_are_finite_and_absent_points_are_zero() -> None:
    features, present = pointwise(ROWS)
    assert features.shape == (12, 40, pointwise_size(4)) and np.isfinite(features).all()
    assert not features[~present].any()
    wild = ROWS.astype(float)
    wild[:, 0, :] = 1e300
    assert np.isfinite(pointwise(wild)[0]).all()


def test_elasticities_of_a_monomial_are_its_exponents() -> None:
    X = np.random.default_rng(0).uniform(1, 2, (200, 2))
    rows = np.zeros((1, 200, 5))
    rows[0, :, :2], rows[0, :, -1] = X, X[:, 0] ** 2 / X[:, 1]
    local = pointwise(rows)[0][0, :, 5 * len(BASE) :]  # slopes, elasticities, use of four columns each, the misfit
    assert np.allclose(np.median(local[:, 4:8], axis=0), [2.0, -1.0, 0.0, 0.0], atol=0.1)
    assert np.array_equal(local[0, 8:12], [1.0, 1.0, 0.0, 0.0])


def test_inverse() -> None:
    a = torch.randn(3, 30, 40, dtype=torch.float64)
    a[:, 1] = a[:, 0]  # singular but for the ridge
    a = a / a.norm(dim=2, keepdim=True)
    a = a @ a.transpose(1, 2) + RIDGE * torch.eye(30, dtype=torch.float64)
    assert torch.allclose(invert(a) @ a, torch.eye(30, dtype=torch.float64).expand(3, -1, -1), atol=1e-5)


def test_the_order_of_points_does_not_matter_nor_do_absent_ones() -> None:
    torch.manual_seed(0)
    reader = Reader(4, 16, 8).eval()
    features, present = map(torch.from_numpy, pointwise(ROWS))
    order = torch.randperm(features.shape[1])
    said = reader(features, present)
    assert torch.allclose(said, reader(features[:, order], present[:, order]), rtol=1e-3, atol=1e-3)
    wider = torch.cat([features, torch.zeros_like(features[:, :5])], dim=1)
    absent = torch.cat([present, torch.zeros_like(present[:, :5])], dim=1)
    assert torch.allclose(said, reader(wider, absent), rtol=1e-3, atol=1e-3)


def test_regressions_stay_exact_where_training_takes_numbers_of_16_bits() -> None:
    torch.manual_seed(0)
    reader = Reader(4, 16, 8)
    features, present = map(torch.from_numpy, pointwise(ROWS))
    n_told = reader.regressed(features, present).shape[1]
    exact = reader.heard(features, present)[:, -n_told:]
    with torch.autocast("cpu", torch.bfloat16):
        assert not torch.equal(reader.regressed(features, present), exact)  # what would be lost
        assert torch.equal(reader.heard(features, present)[:, -n_told:], exact)


def test_training_and_evaluation_invert_alike() -> None:
    torch.manual_seed(0)
    reader = Reader(4, 16, 8)
    features, present = map(torch.from_numpy, pointwise(ROWS))
    assert torch.allclose(reader.train()(features, present), reader.eval()(features, present), rtol=1e-3, atol=1e-3)


def test_an_exact_relation_leaves_nothing() -> None:
    torch.manual_seed(0)
    functions, noise = torch.randn(2, 50, 3), torch.randn(2, 50, 1)
    exact = functions @ torch.tensor([[1.0], [0.0], [-2.0]])
    told = Regression().eval()(functions, torch.cat([exact, noise], dim=-1), torch.ones(2, 50, dtype=torch.bool))
    told = told.view(2, 7, 2)  # coefficients, worth, left; by target
    assert (told[:, -1, 0] < -2.0).all() and (told[:, -1, 1] > 3.0).all()
    assert (told[:, 1, 0].abs() < 1e-3).all() and (told[:, 0, 0].abs() > 0.3).all()


def test_a_reading_model_learns_and_needs_no_statistics() -> None:
    config = replace(preset("points-low"), d_model=32, n_heads=2, n_layers=1, reader=16, summary_width=32)
    run = Run(config, settings_for("points-low", batch=12, warmup=1, rate=3e-3))
    from unisymnet.model.batches import collate, writing_of

    batch = collate(EXAMPLES, config, writing_of(config))
    assert batch.summary.shape == (12, 0) and batch.bits.shape[-1] == pointwise_size(4)
    losses = [run.update((batch,)) for _ in range(12)]
    assert losses[-1] < losses[0] - 1.0
    assert np.isfinite(validate(run.averaged(), EXAMPLES).nll)
