"""From numbers to what the encoder reads: scaled by powers of two, then the bits of IEEE-754 floats.

Scaling never shifts (ADR 10) and is by powers of two, so the mantissa of every value survives.  A row of zeros stands
for "no point" (padding, or an undefined value).  Does not know torch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Bits = NDArray[np.uint8]

# After scaling the median magnitude of a column lies in [1, 2), so half floats cover 1e-7 to 6e4 times the median.
_HALF_MAX = 65504.0


def normalise(rows: Floats) -> NDArray[np.float32]:
    """Rows (…, n, d + 1) with every column divided by a power of two; zero rows and zero columns stay zero."""
    rows = np.asarray(rows, dtype=np.float64)
    magnitudes = np.where(rows == 0.0, np.nan, np.abs(rows))
    empty = np.isnan(magnitudes).all(axis=-2, keepdims=True)
    median = np.nanmedian(np.where(empty, 1.0, magnitudes), axis=-2, keepdims=True)
    scaled = rows * np.exp2(-np.floor(np.log2(median)))
    return np.clip(scaled, -_HALF_MAX, _HALF_MAX).astype(np.float32)


def to_bits(values: Floats, n_bits: int = 16) -> Bits:
    """The bits of each value, most significant (the sign) first: (…, k) becomes (…, k * n_bits)."""
    kind = np.float16 if n_bits == 16 else np.float32
    raw = np.ascontiguousarray(values, dtype=kind)
    as_bytes = raw.astype(raw.dtype.newbyteorder(">")).view(np.uint8)
    return np.unpackbits(as_bytes.reshape(*values.shape[:-1], -1), axis=-1)


def encode_points(rows: Floats, n_bits: int = 16) -> tuple[Bits, NDArray[np.bool_]]:
    """Bits (…, n, (d + 1) * n_bits) of the scaled rows, and which rows are points."""
    return to_bits(normalise(rows), n_bits), np.any(rows != 0.0, axis=-1)
