"""UniSymNet: symbolic regression with unified symbolic networks.

The public names below are loaded on first use, so that `import unisymnet` stays cheap: it imports neither
torch, onnxruntime, sympy, numba, pandas nor scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dynamics import DynamicsRegressor as DynamicsRegressor
    from .dynamics import System as System
    from .errors import CheckpointError as CheckpointError
    from .errors import DataError as DataError
    from .errors import EncodingError as EncodingError
    from .errors import ParseError as ParseError
    from .errors import UniSymNetError as UniSymNetError
    from .files.table import read_table as read_table
    from .formula import Formula as Formula
    from .pde import PDERegressor as PDERegressor
    from .pde import PDESystem as PDESystem
    from .regressor import UniSymNetRegressor as UniSymNetRegressor
    from .symbolic import evaluate as evaluate
    from .symbolic import parse as parse
    from .symbolic.own import Operator as Operator

__version__ = "0.2.0"

# Public name -> the module that holds it.
_HOMES = {
    "UniSymNetRegressor": ".regressor",
    "DynamicsRegressor": ".dynamics",
    "System": ".dynamics",
    "PDERegressor": ".pde",
    "PDESystem": ".pde",
    "Formula": ".formula",
    "read_table": ".files.table",
    "Operator": ".symbolic.own",
    "parse": ".symbolic",
    "evaluate": ".symbolic",
    "UniSymNetError": ".errors",
    "ParseError": ".errors",
    "EncodingError": ".errors",
    "DataError": ".errors",
    "CheckpointError": ".errors",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")
    value = getattr(import_module(home, __name__), name)
    globals()[name] = value  # the next access does not come here again
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
