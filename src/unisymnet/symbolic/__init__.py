"""Formulas, UniSymNet structures and their labels, in plain Python and numpy (sympy only in sympy_bridge)."""

from .expr import Call as Call
from .expr import Const as Const
from .expr import Expr as Expr
from .expr import Param as Param
from .expr import Var as Var
from .expr import evaluate as evaluate
from .parse import parse as parse
from .text import to_text as to_text
