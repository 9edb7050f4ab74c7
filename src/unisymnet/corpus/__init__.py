"""Random functions with points and labels, for training (paper: "Data Generation")."""

from .files import generate_file, read_file, summary
from .settings import HIGH, LOW, SETTINGS, CorpusSettings
from .stream import Corpus, Example

__all__ = ["HIGH", "LOW", "SETTINGS", "Corpus", "CorpusSettings", "Example", "generate_file", "read_file", "summary"]
