"""How contenders are measured: the same batches, the first ones not counted; and what is made of the seconds."""

import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from densephrases.data.matching.em_f1 import best_over_answers, exact_match
from densephrases.data.questions import OpenQuestion

Answering = Callable[[Sequence[str]], list[str]]

# Threads of ONNX Runtime keep cores busy for some 25 ms after a call. Nobody encodes questions just to encode them anew
# in order to answer: an answer must not be timed while the threads of the encoding alone are still at it.
REST_SECONDS = 0.06


@dataclass(slots=True)
class Timed:
    """Seconds of each call that counts, with as many questions each."""

    batch: int
    seconds: list[float] = field(default_factory=list)

    @property
    def questions_per_second(self) -> float:
        return self.batch * len(self.seconds) / sum(self.seconds)

    def milliseconds(self, percent: float) -> float:
        """Of a call, so that with one question in each it is what a user waits."""
        return 1000 * float(np.percentile(self.seconds, percent))

    def to_dict(self) -> dict[str, float]:
        speed = {"batch": self.batch, "calls": len(self.seconds), "questions_per_second": self.questions_per_second}
        return speed | {f"p{percent}_ms": self.milliseconds(percent) for percent in (50, 99)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Which calls are counted.

    Attributes:
        excluded: So many calls come first and are not counted.
        questions: At most so many questions are asked, those that are not counted included.
        seconds: After so many the measurement ends, if at least one call was counted.
    """

    excluded: int
    questions: int
    seconds: float = float("inf")


def whole_batches(questions: Sequence[str], batch: int, limits: Limits) -> list[list[str]]:
    """Full batches, more than are excluded: too few questions are asked again from the first on."""
    count = max(min(len(questions), limits.questions) // batch, limits.excluded + 1)
    return [[questions[i % len(questions)] for i in range(n * batch, (n + 1) * batch)] for n in range(count)]


@dataclass(slots=True)
class Recorded:
    """Keeps what is answered while it is timed: slow contenders need not be asked twice."""

    answering: Answering
    answers: list[str] = field(default_factory=list)

    def __call__(self, questions: Sequence[str]) -> None:
        self.answers += self.answering(questions)


def timed_calls(
    calls: Sequence[Callable[[Sequence[str]], Any]], batches: Sequence[list[str]], limits: Limits
) -> list[Timed]:
    """Each batch is given to all calls in turn, because a machine has good and bad moments, with a rest before each."""
    results = [Timed(len(batches[0])) for _ in calls]
    began = time.perf_counter()
    for number, batch in enumerate(batches):
        for call, result in zip(calls, results, strict=True):
            time.sleep(REST_SECONDS)
            begin = time.perf_counter()
            call(batch)
            if number >= limits.excluded:
                result.seconds.append(time.perf_counter() - begin)
        if results[0].seconds and time.perf_counter() - began > limits.seconds:
            break
    return results


def exact_match_share(questions: Sequence[OpenQuestion], answers: Sequence[str]) -> float:
    """In percent."""
    return 100 * float(np.mean(rights(questions, answers)))


def rights(questions: Sequence[OpenQuestion], answers: Sequence[str]) -> list[float]:
    pairs = zip(questions, answers, strict=True)
    return [best_over_answers(exact_match, answer, question.answers) for question, answer in pairs]


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes of this process that are resident now, and that were at most."""

    resident: float
    peak: float

    @classmethod
    def now(cls) -> "Memory":
        status = Path("/proc/self/status")
        if not status.is_file():
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
            return cls(float("nan"), peak)
        # not by getrusage, whose peak counts what the process was started from
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        resident, peak = (int(fields[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
        return cls(resident, peak)


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def use_threads(count: int) -> None:
    """For libraries that read it when they are loaded: call it before a process is started."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(count)
