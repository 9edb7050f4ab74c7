"""The exported graphs equal the torch model, with weights that half floats can hold exactly."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402

from unisymnet.corpus import LOW, Corpus  # noqa: E402
from unisymnet.model.alphabet import Alphabet  # noqa: E402
from unisymnet.model.batches import collate  # noqa: E402
from unisymnet.model.config import ModelConfig  # noqa: E402
from unisymnet.model.export import export  # noqa: E402
from unisymnet.model.runtime import DECODER, ENCODER, Runtime  # noqa: E402
from unisymnet.model.train import tensors  # noqa: E402
from unisymnet.model.transformer import Transformer  # noqa: E402

EXAMPLES = Corpus(replace(LOW, n_points=30), seed=8)(0, 5)
POINTS = ModelConfig(d_model=32, n_heads=2, n_latents=4, n_reads=2, n_layers=1)
STATISTICS = replace(
    POINTS, n_reads=0, greedy=True, relations=True, summary_width=48, summary_blocks=1,
    live=Alphabet(4, 5, 6).occurring(e.label for e in EXAMPLES),
)  # fmt: skip
# Two columns, because four take the exporter a minute; one of them is absent, which must not become 0 / 0 in the graph.
LINE = Corpus(replace(LOW, n_points=30, dimensions=((1, 1.0), (2, 1e-9)), extra_binary=1), seed=8)(0, 5)
READER = replace(POINTS, n_features=2, n_reads=0, summary_width=48, summary_blocks=1, reader=24)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("config", [POINTS, STATISTICS, READER], ids=["points", "statistics", "reader"])
def test_parity_with_torch(config: ModelConfig, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Transformer(config).eval()
    with torch.no_grad():  # stored as halves: start from halves, so that only the arithmetic is compared
        for parameter in model.parameters():
            parameter.copy_(parameter.half().float())
        model.by_layer.weight.zero_(), model.by_row.weight.zero_(), model.by_column.weight.zero_()
    export(model, tmp_path, frequent={2: [(1, 0, 1, 2)]}, about={"examples": 0})
    runtime = Runtime.load(tmp_path, n_threads=1)
    assert runtime.config == config and runtime.frequent == {2: ((1, 0, 1, 2),)}
    examples, alphabet = LINE if config.reader else EXAMPLES, Alphabet(config.n_features, 5, 6)
    batch = collate(examples, config, alphabet)
    bits, present, summary, tokens = tensors(batch)
    rows = np.stack([e.points for e in examples])
    live = config.live or range(alphabet.size)
    never = [t for t in range(alphabet.size) if t not in live]
    with torch.no_grad():
        vectors = model.embedding()
        hidden = model.decode(model.encode(bits, present, summary), model.slot_of[tokens], vectors)
        data, past = runtime.encode(rows), runtime.empty_cache(5)
        for position in range(tokens.shape[1]):
            logits, past = runtime.decoder.run(
                None,
                {"token": batch.tokens[:, position], "position": np.array(position), "data": data, "past": past},
            )
            expected = (hidden[:, position] @ vectors.T).numpy()
            assert np.abs(logits[:, live] - expected).max() < 1e-3 and (logits[:, never] < -1e8).all()
    for name in (ENCODER, DECODER):
        stored = [numpy_helper.to_array(w) for w in onnx.load(tmp_path / name).graph.initializer]
        assert all(w.dtype != np.float32 or w.size < 256 for w in stored) and max(w.size for w in stored) > 1000
