"""Errors of object stores: which pass if one waits, and what the others mean to a user."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from densephrases.errors import StorageError, first_line

ATTEMPTS = 7
FIRST_PAUSE = 0.25  # seconds, doubled with each attempt: about 12 s together
_LASTING = (
    *(FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError),
    *(ValueError, TypeError, ImportError, NotImplementedError, AttributeError, KeyError, StorageError),
)
_NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound", "TokenRetrievalError")
_MISSING_BUCKET = ("NoSuchBucket", "bucket does not exist", "bucket is not valid")

T = TypeVar("T")
_log = logging.getLogger(__name__)


def with_retries(what: str, place: str, work: Callable[[], T], pause: Callable[[float], None] = time.sleep) -> T:
    """What `work` returns, after transient errors were waited out; `what` is a phrase such as 'writing'.

    FileNotFoundError is raised as it is, unless a whole bucket is missing; other errors become StorageError.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work()
        except Exception as error:
            if sentence := _lasting(error, what, place):
                raise StorageError(sentence) from error
            if isinstance(error, _LASTING):
                raise
            if attempt == ATTEMPTS:
                raise StorageError(
                    f"{what} '{place}' failed {ATTEMPTS} times, at last with: {first_line(error)}; "
                    "try again when the store can be reached."
                ) from error
            _log.info("%s '%s' failed (%s); trying again.", what, place, first_line(error))
            pause(FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1))  # noqa: S311
    raise AssertionError("the last attempt returns or raises")


def _lasting(error: Exception, what: str, place: str) -> str:
    """A sentence about an error that no waiting mends, if it is one that a user can mend."""
    if type(error).__name__ in _NO_CREDENTIALS:
        return (
            f"{what} '{place}' needs credentials, and there are none; set them as for the store's own tools "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role of the machine)."
        )
    if any(sign in str(error) for sign in _MISSING_BUCKET):
        return f"{what} '{place}' failed: there is no such bucket; create it, or correct the name."
    if isinstance(error, PermissionError):
        return f"{what} '{place}' is forbidden: {first_line(error)}; check the credentials and what they allow."
    return ""
