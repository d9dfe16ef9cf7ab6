"""Prometheus metrics: requests, batches, the queue, reloads."""

import os

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST
# Shared by all worker processes, so that each of them reports the sums of all.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_QUESTIONS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The metrics of one service, in a registry of its own: a process may run several services."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter("densephrases_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            "densephrases_request_seconds",
            "Seconds from the head of a request to the end of its response.",
            ["route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.batches = Histogram(
            "densephrases_batch_questions", "Questions per batch.", registry=registry, buckets=_QUESTIONS
        )
        self.waiting = Gauge(
            "densephrases_waiting_questions", "Questions in the queue.", registry=registry, multiprocess_mode="livesum"
        )
        self.refused = Counter("densephrases_refused", "Requests refused with 503.", ["reason"], registry=registry)
        self.incomplete = Counter(
            "densephrases_incomplete_answers", "Questions that not all shards answered.", registry=registry
        )
        self.shard_calls = Counter(
            "densephrases_shard_calls", "Calls of shards and of the encoder.", ["name", "outcome"], registry=registry
        )
        self.reloads = Counter("densephrases_reloads", "Reloads of a changed index.", ["result"], registry=registry)
        self.documents = Gauge(
            "densephrases_documents", "Documents in the index.", registry=registry, multiprocess_mode="livemax"
        )

    def reloaded(self, successfully: bool) -> None:
        self.reloads.labels("served" if successfully else "failed").inc()

    def text(self) -> bytes:
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)
