"""Laws as people write them: peaks by their place and height, waves without idle phases, plain denominators.

Exact for all values, unlike respell.py.  The constants become others, so this comes before they are made simple.
"""

from __future__ import annotations

import math

from ...metrics import complexity
from ...symbolic.expr import Call, Const, Expr, Var, rebuild, walk
from ...symbolic.rewrite.collect import coefficient_of, make_sum, terms_of
from ...symbolic.rewrite.powers import MAX_EXP_SHIFT
from ...symbolic.rewrite.simplify import present, simplify
from .respell import factors_of, product_of

TINY = 1e-11  # a phase that is none
FAR = 1e4  # a number of such a size, or as small, hides what it is
MAX_HEIGHT = 50.0  # nats between the height of a peak and its coefficient; beyond, the peak is far from the data
_WAVES = ("sin", "cos")
_TURNED = (("sin", 1.0), ("cos", 1.0), ("sin", -1.0), ("cos", -1.0))  # sin(u + k·π/2), k = 0, 1, 2, 3


def conventional(expr: Expr) -> Expr:
    """Waves, peaks and denominators as laws are usually written."""
    return unscaled(normalised(centred(phased(without_half_angles(expr)))))


def normalised(expr: Expr) -> Expr:
    """s/(0.2*s + 0.3) as 5*s/(s + 1.5), and 1/(0.2 + 0.3*exp(x)) as 5/(1 + 1.5*exp(x))."""

    def change(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "pow" and node.args[1] == Const(-1.0)):
            return node
        base = node.args[0]
        if not (isinstance(base, Call) and base.op == "add") or any(_is_whole(term) for term in base.args):
            return node
        last = base.args[-1]
        inputs = [coefficient_of(term) for term in base.args if type(term) is Call and type(term.args[-1]) is Var]
        if not inputs and not isinstance(last, Const):
            return node
        number = inputs[0] if inputs or not isinstance(last, Const) else last.value
        terms = [product_of([*factors_of(term), (Const(1.0 / number), 1.0)]) for term in base.args]
        return Call("mul", (Const(1.0 / number), Call("pow", (Call("add", terms), Const(-1.0)))))

    shorter = present(rebuild(simplify(expr), change))
    return shorter if complexity(shorter) <= complexity(expr) else expr


def unscaled(expr: Expr) -> Expr:
    """5*(0.3*x + 0.2)**4 as 0.04*(x + 0.67)**4: the scale of the input and the factor in front are one number.  Where
    that would be the root of a negative one, 6*(2.6 - 0.06*x)**5.2 as 900*(1 - 0.023*x)**5.2."""

    def change(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "pow" and isinstance(power := node.args[1], Const)):
            return node
        base = node.args[0]
        if not (isinstance(base, Call) and base.op == "add"):
            return node
        scales = {coefficient_of(term) for term in base.args if type(term) is not Const}
        scale = scales.pop() if len(scales) == 1 else 0.0
        if scale % 1.0 == 0.0:
            return node
        if scale < 0.0 and not power.value.is_integer():  # and a root takes the factor inside
            scale = 0.0 if abs(power.value) == 0.5 else _level(base)
            if scale <= 0.0 or scale == 1.0:
                return node
        if max(1.0, abs(power.value)) * abs(math.log(abs(scale))) > MAX_HEIGHT:  # its power may be no number
            return node
        terms = [product_of([*factors_of(term), (Const(1.0 / scale), 1.0)]) for term in base.args]
        return Call("mul", (Const(scale**power.value), Call("pow", (Call("add", terms), power))))

    shorter = present(rebuild(simplify(expr), change))
    return shorter if _price(shorter) < _price(expr) else expr


def levelled(expr: Expr) -> Expr:
    """4e-9/(exp(-x) + 2e-9) as 2/(5e8*exp(-x) + 1), 1/(28*exp(-x) + 0.7) as 1.4/(40*exp(-x) + 1), and 6e23*exp(-0.03*x)
    as exp(-0.03*(x - 1825)): the level of a curve, and where it turns, can be seen then."""
    shown = _levelled(expr, logistic=True)
    return shown if _numbers(shown) <= _numbers(expr) else _levelled(expr, logistic=False)


def _levelled(expr: Expr, logistic: bool) -> Expr:
    """Without ``logistic`` only where numbers are too large or small to be read, even if the formula grows."""

    def change(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "pow" and node.args[1] == Const(-1.0)):
            return node
        base = node.args[0]
        if not (isinstance(base, Call) and base.op == "add" and isinstance(level := base.args[-1], Const)):
            return node
        if 1.0 / FAR < abs(level.value) < FAR and not (logistic and _is_logistic(base, level.value)):
            return node
        terms = [simplify(product_of([*factors_of(term), (Const(1.0 / level.value), 1.0)])) for term in base.args[:-1]]
        return Call("mul", (Const(1.0 / level.value), Call("pow", (Call("add", (*terms, Const(1.0))), Const(-1.0)))))

    known = simplify(expr)
    changed = rebuild(rebuild(known, change), _started)
    return expr if changed == known else present(changed)


def _is_logistic(base: Call, level: float) -> bool:
    """A number times an exponential, plus a number, and not both are plain."""
    if len(base.args) > 2 or level <= 0.0 or level == 1.0:
        return False
    factor = coefficient_of(base.args[0])
    plain = factor % 1.0 == 0.0 and abs(factor) < FAR and _is_short(level)
    return not plain and any(isinstance(core, Call) and core.op == "exp" for core, _ in factors_of(base.args[0]))


def _started(node: Expr) -> Expr:
    """A product without a factor of a size that no measurement has: its exponential starts elsewhere."""
    if not (isinstance(node, Call) and node.op == "mul"):
        return node
    factor = coefficient_of(node)
    if factor <= 0.0 or abs(height := math.log(factor)) <= MAX_EXP_SHIFT:
        return node
    rest = [part for part in node.args if type(part) is not Const]
    for place, part in enumerate(rest):
        terms = terms_of(part.args[0]) if isinstance(part, Call) and part.op == "exp" else {}
        x = next(iter(terms), None)
        if len(terms) == 1 and isinstance(x, Var):
            start = Call("add", (x, Const(height / terms[x])))
            rest[place] = Call("exp", (Call("mul", (Const(terms[x]), start)),))
            return product_of([(part, 1.0) for part in rest])
    return node


def centred(expr: Expr) -> Expr:
    """0.055*exp(4*x - x**2) as 3*exp(-(x - 2)**2): a peak by its place and height, if that is shorter."""

    def change(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "exp"):
            return node
        terms = terms_of(node.args[0])
        height = 0.0
        for x in [core for core in terms if isinstance(core, Var)]:
            a = terms.pop(Call("pow", (x, Const(2.0))), 0.0)
            if a == 0.0:
                continue
            shift = terms.pop(x) / (2.0 * a)
            terms[Call("pow", (Call("add", (x, Const(shift))), Const(2.0)))] = a
            height -= a * shift**2
        if height == 0.0 or abs(height) > MAX_HEIGHT:
            return node
        place = Call("exp", (make_sum((c, core) for core, c in terms.items()),))
        return Call("mul", (Const(math.exp(height)), place))

    shorter = present(rebuild(simplify(expr), change))
    return shorter if complexity(shorter) < complexity(expr) else expr


def phased(expr: Expr) -> Expr:
    """sin(x + 1.5707963) as cos(x), sin(x + 2.0707963) as cos(x + 0.5): phases that are none, or a short number."""

    def change(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op in _WAVES and isinstance(node.args[0], Call)):
            return node
        *terms, last = node.args[0].args
        if node.args[0].op != "add" or not isinstance(last, Const) or _is_short(last.value):
            return node
        for turns in (1, -1, 2, -2, 3, -3, 4, -4):
            phase = last.value - turns * math.pi / 2.0
            if _is_short(phase):
                name, sign = _TURNED[(_WAVES.index(node.op) + turns) % 4]
                rest = [] if abs(phase) < TINY else [(1.0, Const(phase))]
                inner = make_sum([*((1.0, term) for term in terms), *rest])
                return Call("mul", (Const(sign), Call(name, (inner,))))
        return node

    shorter = present(rebuild(simplify(expr), change))
    return shorter if complexity(shorter) <= complexity(expr) else expr


def without_half_angles(expr: Expr) -> Expr:
    """4*sin(0.5*x)**2 as 2*(1 - cos(x)), if that is shorter."""

    def change(node: Expr) -> Expr:
        if not (isinstance(node, Call) and node.op == "pow" and node.args[1] == Const(2.0)):
            return node
        wave = node.args[0]
        if not (isinstance(wave, Call) and wave.op in _WAVES) or coefficient_of(wave.args[0]) not in (0.5, -0.5):
            return node
        whole = Call("cos", (simplify(product_of([(Const(2.0), 1.0), *factors_of(wave.args[0])])),))
        return make_sum([(0.5, Const(1.0)), (-0.5 if wave.op == "sin" else 0.5, whole)])

    shorter = present(rebuild(simplify(expr), change))
    return shorter if complexity(shorter) < complexity(expr) else expr


def _is_short(number: float) -> bool:
    """Is this 0, or a number of few digits, up to rounding?"""
    return abs(number) < TINY or abs(number - float(f"{number:.4g}")) < TINY * max(1.0, abs(number))


def _level(base: Call) -> float:
    last = base.args[-1]
    return last.value if type(last) is Const else 0.0


def _price(expr: Expr) -> tuple[int, int]:
    return complexity(expr), _numbers(expr)


def _numbers(expr: Expr) -> int:
    """How many numbers other than 1 and -1 are written."""
    return sum(isinstance(node, Const) and abs(node.value) != 1.0 for node in walk(expr))


def _is_whole(term: Expr) -> bool:
    """Does the term have a whole number in front, or none?  Then it looks right as it is."""
    return type(term) is not Const and coefficient_of(term) % 1.0 == 0.0
