"""Actors in this process in place of Ray's, so that all of a build but Ray is tested in seconds."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, ClassVar

import pytest

from densephrases.cluster.build import cluster_build, encoder_actor
from densephrases.cluster.build.actor_pool import Job
from densephrases.cluster.build.encoder_actor import EncoderActor, EncoderOptions
from densephrases.cluster.build.encoder_share import EncoderShare
from densephrases.cluster.connection import NodeResources
from densephrases.errors import DensePhrasesError
from densephrases.index.progress import Progress
from densephrases.index.settings import IndexSettings
from densephrases.model.load import load
from densephrases.model.onnx import OnnxEncoder
from densephrases.version import __version__


class InlinePool:
    """As ActorPool, with one actor in this process. `before` is called with each job."""

    before: ClassVar[Callable[[Job], None]] = staticmethod(lambda job: None)
    jobs: ClassVar[list[Job]] = []

    def __init__(self, share: EncoderShare, encoder: EncoderOptions, sources: Sequence[str]) -> None:
        self.actor = EncoderActor(encoder)
        self.sources = sources
        self.encoders = share.encoders

    def running(self) -> list[Progress]:
        return []

    def settings(self, tick: Callable[[], None]) -> IndexSettings:
        checked = self.actor.check(__version__, self.sources)
        if isinstance(checked, DensePhrasesError):
            raise checked
        return checked

    def run(self, jobs: Sequence[Job], done: Callable[[Job, Any], None], tick: Callable[[], None]) -> None:
        for job in jobs:
            type(self).before(job)
            self.jobs.append(job)
            result = getattr(self.actor, job.method)(*job.arguments)
            if isinstance(result, DensePhrasesError):
                raise result
            done(job, result)
            tick()

    def stop(self) -> None:
        pass


def not_connected(address: str | None = None) -> AbstractContextManager[None]:
    return nullcontext()


@cache
def loaded(model: str, threads: int | None = None) -> OnnxEncoder:
    """Once for all tests: opening a model takes longer than what they encode."""
    return load(model, threads=threads)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> type[InlinePool]:
    monkeypatch.setattr(encoder_actor, "load", loaded)
    monkeypatch.setattr(cluster_build, "ActorPool", InlinePool)
    monkeypatch.setattr(cluster_build, "connected", not_connected)
    monkeypatch.setattr(cluster_build, "nodes", lambda: [NodeResources("here", 2, 0.0)])
    monkeypatch.setattr(InlinePool, "before", staticmethod(lambda job: None))
    monkeypatch.setattr(InlinePool, "jobs", [])
    return InlinePool
