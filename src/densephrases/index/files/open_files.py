"""How many files a process may have open: an index of many segments needs more than most systems allow at first."""

import errno
import sys
from collections.abc import Callable
from typing import TypeVar

from densephrases.errors import PhraseIndexError

if sys.platform != "win32":
    import resource

T = TypeVar("T")


def with_more_files(path: object, opening: Callable[[], T]) -> T:
    """What `opening` returns; while too many files are open for it, the process allows itself more."""
    while True:
        try:
            return opening()
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            if not _allow_more():
                raise PhraseIndexError(
                    f"'{path}' cannot be opened: the system lets this process open no more files; "
                    "allow more, for example by `ulimit -n 65536`, and run the same command again."
                ) from error


def _allow_more() -> bool:
    """Whether the limit could be raised, to twice what it was."""
    if sys.platform == "win32":
        return False
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * soft if hard == resource.RLIM_INFINITY else min(2 * soft, hard)
    if soft == resource.RLIM_INFINITY or wanted <= soft:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS allows less than it says
        return False
    return True
