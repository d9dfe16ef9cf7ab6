"""When a search must end: after some seconds, or when another thread says so."""

import math
import time
from threading import Event
from typing import Self

from densephrases.errors import DeadlineExceededError


class Deadline:
    """The end of one search or of several; any thread may cancel it."""

    def __init__(self, seconds: float | None = None) -> None:
        """None: it ends only when cancelled."""
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._cancelled = Event()

    @classmethod
    def after(cls, seconds: float) -> Self:
        """From now on."""
        return cls(seconds)

    @classmethod
    def never(cls) -> Self:
        """A new one, which can still be cancelled."""
        return cls()

    @property
    def seconds_left(self) -> float:
        if self._cancelled.is_set():
            return 0.0
        return math.inf if self._end is None else max(self._end - time.monotonic(), 0.0)

    def cancel(self) -> None:
        """End the searches that have this deadline, within a few tenths of a second."""
        self._cancelled.set()

    def check(self) -> None:
        """Raise DeadlineExceededError if it is over; searches call this all along."""
        if self._cancelled.is_set():
            raise DeadlineExceededError("The search was cancelled before it had found its answers.")
        if self._end is not None and time.monotonic() >= self._end:
            raise DeadlineExceededError(
                f"The search was ended after its limit of {self._seconds:g} s; "
                "allow more time, or ask for less: no exact=True, an effort below 1, fewer questions, a lower k or a "
                "lower verify."
            )
