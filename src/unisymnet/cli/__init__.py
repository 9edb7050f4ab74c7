"""The command line: `unisymnet demo`, `fit`, `show`, `predict`, `export`, `report`, `score`, …

Commands are declared here and carried out in the other files of this folder, which are imported when needed, so
that `--help` answers at once. Exit codes: 0 found, 2 wrong usage, 3 bad data, 130 interrupted with the best saved.
"""

from .app import app as app
from .app import main as main
