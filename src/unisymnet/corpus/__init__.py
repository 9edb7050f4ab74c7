"""Random functions with points and labels, for training (paper: "Data Generation")."""

from .figure import draw_summary
from .files import generate_file, read_file, summary
from .settings import HIGH, LOW, SETTINGS, CorpusSettings, easier
from .shards import Shards, write_shards
from .stream import Corpus, Example, Mixture

__all__ = [
    "HIGH",
    "LOW",
    "SETTINGS",
    "Corpus",
    "CorpusSettings",
    "Example",
    "Mixture",
    "Shards",
    "draw_summary",
    "easier",
    "generate_file",
    "read_file",
    "summary",
    "write_shards",
]
