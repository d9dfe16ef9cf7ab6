"""Where the time of a search goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

Stage = Literal["encode", "candidates", "window", "verification"]


@dataclass(slots=True)
class Timings:
    """Seconds, added up over all searches it was given to."""

    total: float = 0.0
    encode: float = 0.0
    candidates: float = 0.0
    window: float = 0.0
    verification: float = 0.0

    @property
    def rest(self) -> float:
        return self.total - self.encode - self.candidates - self.window - self.verification

    @contextmanager
    def measured(self, stage: Stage | Literal["total"]) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            setattr(self, stage, getattr(self, stage) + perf_counter() - begin)
