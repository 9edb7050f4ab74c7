"""A system as source text: Python with scipy's solver, C, Julia, MATLAB, LaTeX.

Names from data are made safe identifiers, and comments cannot be left by what a name holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...symbolic.writers.latex import latex_name
from ...symbolic.writers.names import comment_line
from ...symbolic.writers.source import safe_names, write_body

if TYPE_CHECKING:
    from .system import System

LANGUAGES = ("python", "c", "julia", "matlab", "latex", "text", "json")


_OWN = frozenset({"rates", "state", "rate", "inputs", "simulate", "solve_ivp", "start", "times", "numpy"})


def write_system(system: System, language: str) -> str:
    """Source text of the system in one of `LANGUAGES`."""
    writers = {"python": _python, "c": _c, "julia": _julia, "matlab": _matlab}
    if language in writers:
        names = safe_names([*system.states, *system.inputs, system.time], language, _OWN)
        places = dict(enumerate(names))
        bodies = [write_body(expr, places, language) for expr in system.exprs]
        d, m = len(system.states), len(system.inputs)
        comment = [comment_line(line) for line in system.lines(None)]  # stays one in any of the languages
        return writers[language](names[:d], names[d : d + m], names[-1], bodies, comment)
    if language == "latex":
        return system_latex(system, 4)
    raise ValueError(f"cannot write a system as {language!r}; choose one of {', '.join(LANGUAGES)}")


def system_latex(system: System, digits: int | None) -> str:
    """Aligned lines, the rate of a state with a dot."""
    lines = []
    for formula, state in zip(system.formulas, system.states):
        lines.append(rf"\dot{{{latex_name(state)}}} &= {formula.latex(digits)}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _python(states: list[str], inputs: list[str], time: str, bodies: list[str], comment: list[str]) -> str:
    taken = [f"    {', '.join(states)}{',' if len(states) == 1 else ''} = state"]
    if inputs:
        taken.append(f"    {', '.join(inputs)}{',' if len(inputs) == 1 else ''} = inputs({time})")
    extra = ", inputs" if inputs else ""
    arguments = ", args=(inputs,)" if inputs else ""
    head = [
        "import math",
        "",
        "from scipy.integrate import solve_ivp",
        "",
        "",
        f"def rates({time}, state{extra}):",
        '    """' + "\n    ".join(comment) + '\n    """',
        *taken,
        "    return [",
        *(f"        {body}," for body in bodies),
        "    ]",
        "",
        "",
        f"def simulate(start, times{extra}):",
        '    """States at the times, one row each."""',
        f"    span = (times[0], times[-1]){'' if not inputs else '  # inputs: a function of the time'}",
        f'    return solve_ivp(rates, span, start, t_eval=times, method="LSODA", rtol=1e-8, atol=1e-10{arguments}).y.T',
        "",
    ]
    return "\n".join(head)


def _c(states: list[str], inputs: list[str], time: str, bodies: list[str], comment: list[str]) -> str:
    lines = ["#include <math.h>", "", "/* " + "\n   ".join(comment) + " */"]
    extra = ", const double *inputs" if inputs else ""
    lines.append(f"void rates(double {time}, const double *state{extra}, double *rate)")
    lines.append("{")
    lines += [f"    const double {name} = state[{k}];" for k, name in enumerate(states)]
    lines += [f"    const double {name} = inputs[{k}];" for k, name in enumerate(inputs)]
    lines += [f"    (void){name};" for name in [time, *states, *inputs]]
    lines += [f"    rate[{k}] = {body};" for k, body in enumerate(bodies)]
    return "\n".join([*lines, "}", ""])


def _julia(states: list[str], inputs: list[str], time: str, bodies: list[str], comment: list[str]) -> str:
    lines = [*(f"# {line}" for line in comment), f"function rates!(rate, state, inputs, {time})"]
    lines += [f"    {name} = state[{k + 1}]" for k, name in enumerate(states)]
    lines += [f"    {name} = inputs[{k + 1}]" for k, name in enumerate(inputs)]
    lines += [f"    rate[{k + 1}] = {body}" for k, body in enumerate(bodies)]
    return "\n".join([*lines, "    return nothing", "end", ""])


def _matlab(states: list[str], inputs: list[str], time: str, bodies: list[str], comment: list[str]) -> str:
    extra = ", inputs" if inputs else ""
    lines = [f"function rate = rates({time}, state{extra})", *(f"% {line}" for line in comment)]
    lines += [f"    {name} = state({k + 1});" for k, name in enumerate(states)]
    lines += [f"    {name} = inputs({k + 1});" for k, name in enumerate(inputs)]
    lines.append("    rate = [")
    lines += [f"        {body}" for body in bodies]
    return "\n".join([*lines, "    ];", "end", ""])
