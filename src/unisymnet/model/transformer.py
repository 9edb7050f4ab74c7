"""The set-to-sequence model M_θ: points in, distribution over the next token of a label out.

Encoder: each point is embedded alone, a few latents read all points by attention, so the order of the points cannot
matter and padding is masked.  Decoder: causal, over the tokens of `Alphabet`, tied to an embedding that is a sum over
layer, row, column and the token itself.  Not known here: where examples come from, and which labels are valid beyond
"tokens increase", which both training and search take as given.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .alphabet import PAD
from .batches import statistics_size, writing_of
from .config import ModelConfig
from .reader import Reader

Cache = tuple[Tensor, Tensor]


class Attention(nn.Module):
    """Multi-head attention of ``x`` to ``source``."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def _split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], self.n_heads, -1).transpose(1, 2)

    def keys(self, source: Tensor) -> Cache:
        key, value = self.key_value(source).chunk(2, dim=-1)
        return self._split(key), self._split(value)

    def attend(self, x: Tensor, cache: Cache, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        mixed = F.scaled_dot_product_attention(self._split(self.query(x)), *cache, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).reshape(x.shape))

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        return self.attend(x, self.keys(source), mask, causal)


def _mlp(width: int, factor: int = 4) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, factor * width), nn.GELU(), nn.Linear(factor * width, width))


class Read(nn.Module):
    """One encoder round: points hear the latents (not in the first round), latents read the points, then themselves."""

    def __init__(self, width: int, n_heads: int, feedback: bool) -> None:
        super().__init__()
        self.feedback = feedback
        if feedback:
            self.norm_point, self.norm_told = nn.LayerNorm(width), nn.LayerNorm(width)
            self.tell = Attention(width, n_heads)
            self.norm_point_mlp, self.point_mlp = nn.LayerNorm(width), _mlp(width, 2)
        self.norm_read, self.norm_source = nn.LayerNorm(width), nn.LayerNorm(width)
        self.read = Attention(width, n_heads)
        self.norm_self, self.mix = nn.LayerNorm(width), Attention(width, n_heads)
        self.norm_mlp, self.mlp = nn.LayerNorm(width), _mlp(width)

    def forward(self, latents: Tensor, points: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        if self.feedback:
            points = points + self.tell(self.norm_point(points), self.norm_told(latents))
            points = points + self.point_mlp(self.norm_point_mlp(points))
        latents = latents + self.read(self.norm_read(latents), self.norm_source(points), mask)
        inner = self.norm_self(latents)
        latents = latents + self.mix(inner, inner)
        return latents + self.mlp(self.norm_mlp(latents)), points


class Write(nn.Module):
    """One decoder block: causal self-attention, attention to the latents, a small network."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.norm_self, self.past = nn.LayerNorm(width), Attention(width, n_heads)
        self.norm_data, self.data = nn.LayerNorm(width), Attention(width, n_heads)
        self.norm_mlp, self.mlp = nn.LayerNorm(width), _mlp(width)

    def forward(self, x: Tensor, latents: Tensor) -> Tensor:
        inner = self.norm_self(x)
        x = x + self.past(inner, inner, causal=True)
        x = x + self.data(self.norm_data(x), latents)
        return x + self.mlp(self.norm_mlp(x))

    def step(self, x: Tensor, past: Cache, latents: Cache) -> tuple[Tensor, Cache]:
        """One more token: ``x`` is (batch, 1, width), ``past`` holds the keys and values of the tokens before."""
        inner = self.norm_self(x)
        key, value = self.past.keys(inner)
        past = torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        x = x + self.past.attend(inner, past)
        x = x + self.data.attend(self.norm_data(x), latents)
        return x + self.mlp(self.norm_mlp(x)), past


class Summary(nn.Module):
    """Statistics, or points, to ``n_out`` numbers: a wide ``first`` part, then blocks that start as nothing."""

    def __init__(self, first: nn.Module, width: int, n_blocks: int, n_out: int) -> None:
        super().__init__()
        self.first, self.last = first, nn.Linear(width, n_out)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(n_blocks))
        self.blocks = nn.ModuleList(_mlp(width, 1) for _ in range(n_blocks))
        for block in self.blocks:
            nn.init.zeros_(block[-1].weight)  # type: ignore[index]

    def forward(self, *data: Tensor) -> Tensor:
        return self.last(self.hidden(*data))

    def hidden(self, *data: Tensor) -> Tensor:
        """What the last layer reads."""
        x = F.gelu(self.first(*data))
        for norm, block in zip(self.norms, self.blocks):
            x = x + block(norm(x))
        return x


class Transformer(nn.Module):
    """M_θ.  ``forward`` gives the summed negative log-likelihood of each label in the batch.

    Tokens outside ``config.live`` are to the model what padding is: never written, and free of charge in the loss.
    """

    layer_of: Tensor
    row_of: Tensor
    column_of: Tensor
    rank_of: Tensor
    bound_of: Tensor
    slot_of: Tensor
    live: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width = config.d_model
        alphabet = writing_of(config)
        live = np.array(config.live or range(alphabet.size), dtype=np.int64)
        slots = np.full(alphabet.size, PAD, dtype=np.int64)
        slots[live] = np.arange(len(live))
        rank, bound = alphabet.ranks()
        tables = {"layer": alphabet.layer, "row": alphabet.row, "column": alphabet.column, "rank": rank, "bound": bound}
        for name, values in tables.items():
            self.register_buffer(f"{name}_of", torch.from_numpy(values[live]), persistent=False)
        self.register_buffer("slot_of", torch.from_numpy(slots), persistent=False)
        self.register_buffer("live", torch.from_numpy(live), persistent=False)
        if config.n_reads:
            n_bits = (config.n_features + 1) * config.bits
            self.point = nn.Sequential(nn.Linear(n_bits, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.latents = nn.Parameter(torch.randn(config.n_latents, width) * 0.1)
        if config.n_summary:
            inner = config.summary_width or 2 * width
            first = (
                Reader(config.n_features, config.reader, inner)
                if config.reader
                else nn.Linear(statistics_size(config), inner)
            )
            self.summary = Summary(first, inner, config.summary_blocks, config.n_summary * width)
            self.norm_summary = nn.LayerNorm(width)
        self.reads = nn.ModuleList(Read(width, config.n_heads, i > 0) for i in range(config.n_reads))
        self.norm_latents = nn.LayerNorm(width)
        self.by_layer = nn.Embedding(config.max_depth + 1, width)
        self.by_row = nn.Embedding(alphabet.n_rows, width)
        self.by_column = nn.Embedding(alphabet.n_columns, width)
        self.by_token = nn.Embedding(len(live), width)
        self.position = nn.Embedding(config.max_tokens + 3, width)
        self.writes = nn.ModuleList(Write(width, config.n_heads) for _ in range(config.n_layers))
        self.norm_out = nn.LayerNorm(width)
        for embedding in (self.by_layer, self.by_row, self.by_column, self.by_token, self.position):
            nn.init.normal_(embedding.weight, std=0.02)

    @property
    def blocks(self) -> list[Write]:
        """The decoder's blocks, bottom first."""
        return [block for block in self.writes if isinstance(block, Write)]

    def encoder_parameters(self) -> list[nn.Parameter]:
        """What reads points; statistics belong to the decoder, which can use them from the start."""
        parts = [self.reads, self.norm_latents, *([self.point] if self.config.n_reads else [])]
        parts += [self.summary.first] if self.config.reader else []
        return [self.latents, *(p for part in parts for p in part.parameters())]

    def decoder_parameters(self) -> list[nn.Parameter]:
        encoder = {id(p) for p in self.encoder_parameters()}
        return [p for p in self.parameters() if id(p) not in encoder]

    def embedding(self) -> Tensor:
        """(live tokens, width): the vectors used for input and output."""
        parts = self.by_layer(self.layer_of) + self.by_row(self.row_of) + self.by_column(self.column_of)
        return parts + self.by_token.weight

    def encode(self, bits: Tensor, present: Tensor, summary: Tensor) -> Tensor:
        """Latents (batch, n_latents + n_summary, width) of bits (batch, n, k), ``present`` (batch, n), statistics."""
        latents = self.latents.expand(bits.shape[0], -1, -1)
        if self.config.n_reads:
            points = self.point(2.0 * bits - 1.0)
            mask = present[:, None, None, :]
            for read in self.reads:
                latents, points = read(latents, points, mask)
        latents = self.norm_latents(latents)
        if not self.config.n_summary:
            return latents
        # Statistics go straight to the decoder: through the reads their signal would drown for a long time.
        told = self.summary(*((bits, present) if self.config.reader else (summary,))).view(
            bits.shape[0], self.config.n_summary, -1
        )
        return torch.cat([latents, self.norm_summary(told)], dim=1)

    def decode(self, latents: Tensor, tokens: Tensor, vectors: Tensor) -> Tensor:
        """Hidden states (batch, length, width) after each of the ``tokens``, given as slots of `live`."""
        x = vectors[tokens] + self.position.weight[: tokens.shape[1]]
        for write in self.writes:
            x = write(x, latents)
        return self.norm_out(x)

    def mask_logits(self, logits: Tensor, last: Tensor) -> Tensor:
        """Nothing that cannot follow ``last`` because tokens ascend; in place, the head is a third of the work."""
        return logits.masked_fill_(self.rank_of <= self.bound_of[last][:, None], -1e9)

    def forward(self, bits: Tensor, present: Tensor, summary: Tensor, tokens: Tensor) -> Tensor:
        """Nats per sequence; ``tokens`` (batch, length + 1) are START, the label's tokens, END, PAD …"""
        tokens, vectors = self.slot_of[tokens], self.embedding()
        latents = self.encode(bits, present, summary)
        before, after = tokens[:, :-1], tokens[:, 1:]
        hidden = self.decode(latents, before, vectors)
        real = after != PAD
        logits = self.mask_logits(hidden[real] @ vectors.T, before[real])
        losses = F.cross_entropy(logits, after[real], reduction="none")
        return torch.zeros(real.shape, dtype=losses.dtype, device=losses.device).masked_scatter(real, losses).sum(1)
