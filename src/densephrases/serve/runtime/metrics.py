"""What a Prometheus server reads: requests, batches, the queue, reloads."""

import os

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST
# Where several processes keep their numbers, so that any of them can tell those of all.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_QUESTIONS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The numbers of one service; registered apart, so that a process may hold several."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter("densephrases_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            "densephrases_request_seconds",
            "From the head of a request to the end of its response.",
            ["route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.batches = Histogram(
            "densephrases_batch_questions", "Questions answered at once.", registry=registry, buckets=_QUESTIONS
        )
        self.waiting = Gauge(
            "densephrases_waiting_questions", "In the queue.", registry=registry, multiprocess_mode="livesum"
        )
        self.refused = Counter("densephrases_refused", "Requests refused with 503.", ["reason"], registry=registry)
        self.reloads = Counter("densephrases_reloads", "Changed indexes opened.", ["result"], registry=registry)
        self.documents = Gauge(
            "densephrases_documents", "In the index.", registry=registry, multiprocess_mode="livemax"
        )

    def reloaded(self, successfully: bool) -> None:
        self.reloads.labels("served" if successfully else "failed").inc()

    def text(self) -> bytes:
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
