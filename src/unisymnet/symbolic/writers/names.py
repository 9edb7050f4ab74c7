"""Names for generated source: whatever a column is called, what is written is a plain identifier or one plain line.

A column name comes from outside, and a file that we generate is run by somebody else. So nothing of a name gets into
code but letters, digits and single underscores, never a word that the language knows, never one twice; and a comment is
one printable line without the signs that could end it.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Sequence

from ..operators import OPERATORS

MAX_IDENTIFIER = 48  # characters; C promises to tell 63 apart and MATLAB refuses more
MAX_COMMENT = 2000


def identifiers(names: Sequence[str], reserved: frozenset[str]) -> list[str]:
    """Distinct identifiers, as near to the names as any language allows: ASCII letters, digits and underscores."""
    found: list[str] = []
    for name in names:
        base = _identifier(name, reserved)
        safe, count = base, 2
        while safe in found:
            safe, count = f"{base}_{count}", count + 1
        found.append(safe)
    return found


def comment_line(text: str) -> str:
    """One printable line that ends no comment and no string: no line ends, no backslash, no quotes, no `*/`."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text.replace("\\", "/").replace('"', "'"))
    plain = re.sub(r"(?<=[*/])(?=[*/])", " ", plain).replace("* *", "**")  # "*/" and "//" come apart, powers do not
    return plain if len(plain) <= MAX_COMMENT else plain[: MAX_COMMENT - 1] + "…"


def _identifier(name: str, reserved: frozenset[str]) -> str:
    spelled = "".join(_ASCII.get(sign, sign) for sign in str(name)[:200])
    bare = "".join(c for c in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(c))
    safe = re.sub(r"[^A-Za-z0-9]+", "_", bare).strip("_")[:MAX_IDENTIFIER].strip("_") or "x"
    if safe[0].isdigit() or safe in reserved:
        return f"x_{safe}"
    return safe


_ASCII = {unicodedata.lookup(f"GREEK SMALL LETTER {n}"): n.lower() for n in (
    "ALPHA", "BETA", "GAMMA", "DELTA", "EPSILON", "ZETA", "ETA", "THETA", "IOTA", "KAPPA", "LAMDA", "MU", "NU", "XI",
    "RHO", "SIGMA", "TAU", "UPSILON", "PHI", "CHI", "PSI", "OMEGA",
)}  # fmt: skip
_ASCII |= {unicodedata.lookup(f"GREEK CAPITAL LETTER {n}"): n.capitalize() for n in (
    "GAMMA", "DELTA", "THETA", "LAMDA", "SIGMA", "PHI", "PSI", "OMEGA",
)}  # fmt: skip
_ASCII |= {"λ": "lambda", "Λ": "Lambda", "µ": "mu", "°": "deg", "%": "percent", "ß": "ss", "ø": "o", "æ": "ae"}

# Words of the languages that an argument or a function must not be called.
_FUNCTIONS = " ".join([*OPERATORS, "log", "double"])
_MATH_H = (
    "acosh asinh atanh atan2 cbrt ceil copysign drem erf erfc exp2 expm1 fabs fdim finite floor fma fmax fmin fmod "
    "frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llrint llround log10 log1p log2 logb lrint lround modf "
    "nan nearbyint nextafter nexttoward remainder remquo rint round scalb scalbln scalbn significand tgamma trunc "
    "y0 y1 yn roundeven canonicalize fmaxmag fminmag nextup nextdown llogb ufromfp fromfp totalorder getpayload "
    "exp10 pow10 sincos"
)
_MACROS = (
    "FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO HUGE HUGE_VAL HUGE_VALF HUGE_VALL "
    "INFINITY MATH_ERREXCEPT MATH_ERRNO M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 "
    "M_SQRT1_2 M_SQRT2 NAN SNAN OVERFLOW UNDERFLOW DOMAIN SING PLOSS TLOSS MAXFLOAT X_TLOSS NULL "
    "FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_LLOGB0 FP_LLOGBNAN "
    "fpclassify isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal isunordered iszero "
    "issubnormal issignaling iscanonical iseqsig math_errhandling signbit signgam linux unix i386 main double_t "
    "float_t errno true false bool"
)
_C_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof "
    "alignas alignof constexpr nullptr static_assert thread_local typeof_unqual "
    # of C++, for those who paste the function there
    "and and_eq bitand bitor catch class compl concept const_cast consteval constinit co_await co_return co_yield "
    "decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq operator or or_eq "
    "private protected public reinterpret_cast requires static_cast template this throw try typeid typename using "
    "virtual wchar_t char8_t char16_t char32_t xor xor_eq"
)
_JS_WORDS = (
    "await break case catch class const continue debugger default delete do else enum export extends finally for "
    "function if implements import in instanceof interface let new package private protected public return static "
    "super switch this throw try typeof var void while with yield null true false undefined NaN Infinity arguments "
    "eval Math require module exports globalThis window document location top"
)
_JULIA_WORDS = (
    "baremodule begin break catch const continue do else elseif end export finally for function global if import let "
    "local macro module quote return struct try using while abstract mutable primitive type where in isa outer "
    "true false nothing missing pi im Inf NaN ans Base Core Main Float64 Int Any eval include"
)
_MATLAB_WORDS = (
    "break case catch classdef continue else elseif end for function global if otherwise parfor persistent return spmd "
    "switch try while methods properties events enumeration arguments import ans end_try_catch end_unwind_protect "
    "endfor endfunction endif endswitch endwhile unwind_protect until do"
)

C_WORDS = frozenset(f"{_C_KEYWORDS} {_MACROS} {_FUNCTIONS} {_MATH_H}".split())
C_WORDS |= {f"{word}{end}" for word in f"{_FUNCTIONS} {_MATH_H}".split() for end in ("f", "l", "_r", "f_r", "l_r")}
JS_WORDS = frozenset(f"{_JS_WORDS} {_FUNCTIONS}".split())
JULIA_WORDS = frozenset(f"{_JULIA_WORDS} {_FUNCTIONS}".split())
MATLAB_WORDS = frozenset(f"{_MATLAB_WORDS} {_FUNCTIONS}".split())
PYTHON_WORDS = frozenset([*keyword.kwlist, *_FUNCTIONS.split(), "math", "np"])
