"""exp, ln, sin, cos and tanh without branches, so that the compiler turns a loop over rows into vector instructions.

numba without Intel's SVML calls libm once per row, which is three to six times slower.  Every function here is
accurate to 2 units in the last place (tanh: 3) and treats nan, infinities, zeros and subnormal numbers as numpy does;
only ``sin_cos`` needs a caller that sends arguments beyond ``SIN_LIMIT`` to libm.  Knows no tape and no array.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.extending import intrinsic


def _can_cache() -> bool:
    """Is there a place for compiled code?  numba tries the package, then the user's cache, and raises if neither is."""
    try:
        njit(cache=True)(_can_cache)
    except RuntimeError:
        return False
    return True


# numba compiles again when the file of a kernel changes, not when a file does whose functions it pastes in: after
# changing one of these, delete the caches (*.nbi, *.nbc): numba stamps a file by what it contains.
CAN_CACHE = _can_cache()

# "contract" (fused multiply-add) never loses accuracy; "reassoc" would undo the compensated differences below,
# and the "no nan, no inf" flags would break the IEEE semantics that all of the package shares.
STRICT: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "cache": CAN_CACHE}
# For functions that only other kernels call: entries from Python and C would cost compile time.
PART: dict[str, Any] = STRICT | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# For those that one place calls: pasted in there, because a function is optimised again in everything that calls it.
ONCE: dict[str, Any] = PART | {"inline": "always"}

SIN_LIMIT = 1.0e5  # the reduction below is exact to 2**20 quarter turns

_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then sits in the low bits
_ROUND_BITS = 0x4338000000000000
_TINY = 2.2250738585072014e-308  # the smallest normal number


@intrinsic
def _bits(_context: Any, _x: Any) -> Any:
    """The 64 bits of a float as an integer."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(_context: Any, _i: Any) -> Any:
    """The float with these 64 bits."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@njit(**PART)
def _split(x: float) -> tuple[int, float]:
    """k and q of e**x = 2**k (1 + q): x = k ln 2 + r, and a Taylor polynomial in r (|r| <= 0.35)."""
    shifted = x * 1.4426950408889634 + _ROUND
    k = _bits(shifted) - _ROUND_BITS
    n = shifted - _ROUND
    r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10
    r2 = r * r
    r4 = r2 * r2
    low = (0.5 + r * 0.16666666666666666) + r2 * (0.041666666666666664 + r * 0.008333333333333333)
    middle = (0.001388888888888889 + r * 0.0001984126984126984) + r2 * (
        2.48015873015873e-05 + r * 2.7557319223985893e-06
    )
    high = (2.755731922398589e-07 + r * 2.505210838544172e-08) + r2 * (
        2.08767569878681e-09 + r * 1.6059043836821613e-10
    )
    return k, r + r2 * (low + r4 * (middle + r4 * high))


@njit(**PART)
def exp(x: float) -> float:
    """e to the x."""
    x = 800.0 if x > 800.0 else x  # written so that nan passes
    x = -800.0 if x < -800.0 else x
    k, q = _split(x)
    value = 1.0 + q
    half = k >> 1  # two factors, because 2**k alone overflows or goes to zero too early
    return value * _from_bits((half + 1023) << 52) * _from_bits((k - half + 1023) << 52)


@njit(**PART)
def tanh(x: float) -> float:
    """Hyperbolic tangent: E / (E + 2) with E = e**(2 |x|) - 1, of which nothing cancels; 1 from 20 on."""
    size = -x if x < 0.0 else x
    size = 20.0 if size > 20.0 else size
    k, q = _split(2.0 * size)
    power = _from_bits((k + 1023) << 52)
    above = power * q + (power - 1.0)
    value = above / (above + 2.0)
    return -value if x < 0.0 else value


@njit(**PART)
def ln(x: float) -> float:
    """Natural logarithm: x = 2**k m with m around 1, then the series in (m - 1) / (m + 1)."""
    subnormal = x < _TINY
    scaled = x * 18014398509481984.0 if subnormal else x
    bits = _bits(scaled)
    # Shift the split so that m lies in [sqrt(1/2), sqrt(2)).
    high = (bits - 0x3FE6A09E667F3BCD) >> 52
    k = high - 54 if subnormal else high
    m = _from_bits(bits - (high << 52))
    n = _from_bits(k + _ROUND_BITS) - _ROUND  # int64 to float without a conversion instruction
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = z * (
        0.6666666666666735130 + w * (0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591))
    )
    even = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
    half = 0.5 * f * f
    value = n * 6.93147180369123816490e-01 - ((half - (s * (half + (odd + even)) + n * 1.90821492927058770002e-10)) - f)
    value = x if x == float("inf") else value
    value = -float("inf") if x == 0.0 else value
    return float("nan") if (x < 0.0) | (x != x) else value


@njit(**PART)
def sin_cos(x: float) -> tuple[float, float]:
    """Sine and cosine for |x| <= SIN_LIMIT: quarter turns taken off in three exact parts, then two polynomials."""
    shifted = x * 0.6366197723675814 + _ROUND
    quadrant = _bits(shifted)
    n = shifted - _ROUND
    t = x - n * 1.57079632673412561417e00
    w = n * 6.07710050630396597660e-11
    first = t - w
    r = first + (((t - first) - w) - n * 2.02226624879595063154e-21)
    z = r * r
    sine = r + r * z * (
        -1.66666666666666324348e-01
        + z
        * (
            8.33333333332248946124e-03
            + z
            * (
                -1.98412698298579493134e-04
                + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
            )
        )
    )
    tail = z * (
        4.16666666666666019037e-02
        + z
        * (
            -1.38888888888741095749e-03
            + z
            * (
                2.48015872894767294178e-05
                + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
            )
        )
    )
    half = 0.5 * z
    big = 1.0 - half
    cosine = big + (((1.0 - big) - half) + z * tail)
    odd = (quadrant & 1) != 0
    s = cosine if odd else sine
    c = sine if odd else cosine
    s = -s if (quadrant & 2) != 0 else s
    c = -c if ((quadrant + 1) & 2) != 0 else c
    return s, c
