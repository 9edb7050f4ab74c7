"""The command line: `unisymnet demo`, `fit`, `show`, `predict`, `export`, `report`, `score`, …

Commands are declared here and carried out in the other files of this folder, which are imported when needed, so
that `--help` answers at once. Exit codes: 0 found, 2 wrong usage, 3 bad data, 70 a mistake of ours,
130 stopped by a signal with the best saved.
"""

from .app import app as app
from .main import main as main
