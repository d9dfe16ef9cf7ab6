"""`densephrases reproduce`: the paper's tables."""

from densephrases.cli.reproduce.table import reproduce

__all__ = ["reproduce"]
