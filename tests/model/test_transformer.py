"""The torch model: order and padding of points do not matter, the future does not leak, steps equal teacher forcing."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unisymnet.corpus import LOW, Corpus  # noqa: E402
from unisymnet.model.alphabet import PAD, START, Alphabet  # noqa: E402
from unisymnet.model.batches import Batch, collate  # noqa: E402
from unisymnet.model.config import ModelConfig  # noqa: E402
from unisymnet.model.train import tensors  # noqa: E402
from unisymnet.model.transformer import Transformer  # noqa: E402

TINY = ModelConfig(d_model=16, n_heads=2, n_latents=4)
ALPHABET = Alphabet(4, 5, 6)


@pytest.fixture(scope="module")
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TINY).eval()


@pytest.fixture(scope="module")
def batch() -> Batch:
    return collate(Corpus(replace(LOW, n_points=25), seed=2)(0, 6), TINY, ALPHABET)


def test_order_of_points_does_not_matter(model: Transformer, batch: Batch) -> None:
    bits, present, summary, _ = tensors(batch)
    order = torch.randperm(bits.shape[1], generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        plain = model.encode(bits, present, summary)
        assert torch.allclose(plain, model.encode(bits[:, order], present[:, order], summary), atol=1e-5)


def test_padding_of_points_and_labels_does_not_matter(model: Transformer, batch: Batch) -> None:
    wide = Batch(
        np.concatenate([batch.bits, np.ones((6, 9, batch.bits.shape[2]), dtype=np.uint8)], axis=1),
        np.concatenate([batch.present, np.zeros((6, 9), dtype=bool)], axis=1),
        batch.summary,
        np.concatenate([batch.tokens, np.full((6, 5), PAD)], axis=1),
    )
    with torch.no_grad():
        assert torch.allclose(model(*tensors(batch)), model(*tensors(wide)), atol=1e-4)


def test_the_future_does_not_leak(model: Transformer, batch: Batch) -> None:
    bits, present, summary, tokens = tensors(batch)
    changed = tokens.clone()
    changed[:, 5:] = 50
    with torch.no_grad():
        latents, vectors = model.encode(bits, present, summary), model.embedding()
        one, two = (model.decode(latents, t, vectors)[:, :5] for t in (tokens, changed))
    assert torch.allclose(one, two, atol=1e-5)


def test_likelihood_is_a_distribution(model: Transformer, batch: Batch) -> None:
    """The first token: the probabilities of all tokens that may follow START sum to one."""
    bits, present, summary, _ = tensors(batch)
    with torch.no_grad():
        vectors = model.embedding()
        hidden = model.decode(model.encode(bits, present, summary), torch.full((6, 1), START), vectors)[:, 0]
        logits = model.mask_logits(hidden @ vectors.T, torch.full((6,), START))
    assert torch.allclose(logits.softmax(-1)[:, 3:].sum(-1) + logits.softmax(-1)[:, 1], torch.ones(6), atol=1e-5)


def test_steps_with_a_cache_equal_teacher_forcing(model: Transformer, batch: Batch) -> None:
    bits, present, summary, tokens = tensors(batch)
    with torch.no_grad():
        latents, vectors = model.encode(bits, present, summary), model.embedding()
        whole = model.decode(latents, tokens, vectors)
        past = [(torch.zeros(6, 2, 0, 8), torch.zeros(6, 2, 0, 8)) for _ in model.blocks]
        for position in range(tokens.shape[1]):
            x = (vectors[tokens[:, position]] + model.position.weight[position])[:, None]
            for i, block in enumerate(model.blocks):
                x, past[i] = block.step(x, past[i], block.data.keys(latents))
            assert torch.allclose(model.norm_out(x)[:, 0], whole[:, position], atol=1e-5)
