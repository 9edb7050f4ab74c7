"""The readers of files under the names that the commands use."""

from __future__ import annotations

from ..files.dialect import Dialect as Dialect
from ..files.dialect import detect as detect
from ..files.read import read_frame as read_frame
from ..files.table import Table as Table
from ..files.table import read_table as load_table
from ..files.table import text_fault as _text_fault

__all__ = ["Dialect", "Table", "_text_fault", "detect", "load_table", "read_frame"]
