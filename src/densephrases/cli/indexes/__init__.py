"""Commands that make, change, describe and check an index, one a module."""

from densephrases.cli.indexes.add import add
from densephrases.cli.indexes.check import check
from densephrases.cli.indexes.delete import delete
from densephrases.cli.indexes.index import index
from densephrases.cli.indexes.info import info
from densephrases.cli.indexes.list_documents import list_documents
from densephrases.cli.indexes.optimize import optimize
from densephrases.cli.indexes.sync import sync
from densephrases.cli.indexes.update import update
from densephrases.cli.indexes.watch import watch

__all__ = ["add", "check", "delete", "index", "info", "list_documents", "optimize", "sync", "update", "watch"]
