"""How long a build will still take, from where in the input it is and how fast it got there."""

import math
from collections import deque

_FEWEST_REPORTS = 4
_LEAST_SHARE = 0.01  # of the input, before which an estimate means nothing
_SMOOTHING = 0.05  # of the time so far, over which a change of the estimate takes effect


class InputPosition:
    """Where in the text a build is, in characters. Documents are read ahead of those that are encoded."""

    def __init__(self) -> None:
        self._ahead: deque[int] = deque()  # characters of each document
        self.passed = 0  # documents
        self._characters = 0  # of these

    def __len__(self) -> int:
        """Documents that are read and not yet passed."""
        return len(self._ahead)

    def read(self, characters: int) -> None:
        self._ahead.append(characters)

    def pass_documents(self, count: int) -> None:
        """The first `count` documents of all are done."""
        while self._ahead and self.passed < count:
            self._characters += self._ahead.popleft()
            self.passed += 1

    def share(self, encoded: int) -> float:
        """The share of the next document that is done; `encoded` counts its characters."""
        return min(encoded / max(self._ahead[0], 1), 1.0) if self._ahead else 0.0

    def characters(self, encoded: int = 0) -> int:
        """Characters up to there."""
        return self._characters + (min(encoded, self._ahead[0]) if self._ahead else 0)


class TimeLeft:
    """Seconds left, by the speed in the later half of the time so far: a slow start is soon forgotten.

    Documents that are in the index already pass in no time; they count like the others, and are forgotten likewise.
    `total` may change from call to call, where it is an estimate itself.
    """

    def __init__(self, total: float) -> None:
        self.total = total
        self._reports: list[tuple[float, float]] = []
        self._left: float | None = None

    def at(self, seconds: float, done: float) -> float | None:
        """None until there is enough to tell by; calls are in the order of time."""
        before = self._reports[-1][0] if self._reports else seconds
        self._reports.append((seconds, done))
        if len(self._reports) < _FEWEST_REPORTS or done < _LEAST_SHARE * self.total:
            return None
        since, already = self._halfway(seconds)
        if done <= already or seconds <= since:
            return None if self._left is None else max(self._left, 0.0)
        self._settle((self.total - done) * (seconds - since) / (done - already), seconds - before, seconds)
        return self._left

    def _halfway(self, seconds: float) -> tuple[float, float]:
        first = self._reports[0][0]
        middle = first + (seconds - first) / 2
        return max((each for each in self._reports if each[0] <= middle), default=self._reports[0])

    def _settle(self, estimate: float, passed: float, seconds: float) -> None:
        """Count down, and approach the new estimate."""
        if self._left is None:
            self._left = estimate
            return
        expected = self._left - passed
        weight = 1 - math.exp(-passed / (_SMOOTHING * max(seconds, 1e-9)))
        self._left = max(expected + weight * (estimate - expected), 0.0)


def in_words(seconds: float) -> str:
    """As exact as an estimate is."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"about {max(round(seconds / 10) * 10, 10)} s left"
    if minutes < 90:
        return f"about {minutes} min left"
    hours, rest = divmod(round(minutes, -1), 60)
    return f"about {hours} h {rest} min left"
