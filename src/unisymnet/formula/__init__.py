"""One result that a user can hold: `Formula` and the constants in it, without the search or any weights."""

from .constants import Constant as Constant
from .formula import Formula as Formula
