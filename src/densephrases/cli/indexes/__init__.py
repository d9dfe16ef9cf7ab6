"""Commands that make, change, describe and check an index, one a module."""

from densephrases.cli.indexes.add import add
from densephrases.cli.indexes.check import check
from densephrases.cli.indexes.delete import delete
from densephrases.cli.indexes.index import index
from densephrases.cli.indexes.info import info
from densephrases.cli.indexes.optimize import optimize
from densephrases.cli.indexes.update import update

__all__ = ["add", "check", "delete", "index", "info", "optimize", "update"]
