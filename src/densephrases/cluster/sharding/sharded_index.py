"""An index whose segments are served in shards: it answers as `PhraseIndex` does with all of them on one machine."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from densephrases.cluster.sharding.shard_retriever import ShardCatalog, ShardRetriever
from densephrases.cluster.sharding.shards import MOST_SECONDS, Shards, ShardSession
from densephrases.index.info import IndexInfo
from densephrases.index.manifest import Manifest
from densephrases.index.snapshot import evenly_spread
from densephrases.model.encoder import Encoder
from densephrases.search.answering_index import AnsweringIndex
from densephrases.search.answers import AnswerList
from densephrases.search.deadline import Deadline
from densephrases.search.own_calibration import calibration_of
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest
from densephrases.search.searcher import Searcher
from densephrases.search.timings import Timings
from densephrases.text.documents import Document


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """A state of an index that is served.

    Attributes:
        name: Of the version.
        path: Folder on this machine with the manifest, and with fitted confidences if there are any.
        manifest: Of the whole index.
        shards: Those that hold its segments.
    """

    name: str
    path: Path
    manifest: Manifest
    shards: Shards


class IndexVersions(ABC):
    """The versions of an index that are served, of which the newest answers."""

    @abstractmethod
    def newest(self) -> str:
        """The name of the newest one that is ready."""

    @abstractmethod
    def open(self, name: str) -> IndexVersion: ...


class ShardedIndex(AnsweringIndex):
    """One version of an index in shards.

    Args:
        version: What is searched.
        encoder: Of questions.
        versions: Where newer ones come from.
        shard_seconds: That a shard has for one call; it has less if the deadline of the search is near, and where
            partial answers are allowed at most half of what is left until then.
        catalog: That of the same version, if it is known.
    """

    def __init__(
        self,
        version: IndexVersion,
        encoder: Encoder,
        versions: IndexVersions,
        shard_seconds: float = MOST_SECONDS,
        catalog: ShardCatalog | None = None,
    ) -> None:
        version.manifest.settings.refuse_other_model(encoder)
        self._version = version
        self.encoder = encoder
        self._versions = versions
        self._shard_seconds = shard_seconds
        self._catalog = ShardCatalog(version.shards) if catalog is None else catalog
        values = encoder.config.ranking
        self._calibration = calibration_of(version.path, encoder)
        self._ranking = None if values is None else PhraseRanking.from_dict(values)

    @property
    def path(self) -> Path:
        return self._version.path

    @property
    def vectors(self) -> int:
        return sum(entry.vectors for entry in self._version.manifest.segments)

    def __len__(self) -> int:
        return self.info().documents

    def info(self) -> IndexInfo:
        return IndexInfo.from_manifest(self._version.manifest)

    def document(self, identifier: str) -> Document | None:
        found = ShardSession(self._version.shards).ask_all("document", identifier)
        return next((document for document in found.values() if document is not None), None)

    def sample(self, count: int) -> Iterator[Document]:
        firsts, session = self._catalog.first_documents, ShardSession(self._version.shards)
        places: dict[int, list[int]] = {}
        for place in evenly_spread(firsts[-1], count):
            shard = next(shard for shard in session.asked if place < firsts[shard + 1])
            places.setdefault(shard, []).append(place - firsts[shard])
        calls = {shard: (several,) for shard, several in places.items()}
        for documents in session.ask("documents_at", calls).values():
            yield from documents

    def state(self) -> str:
        return self._versions.newest()

    def reopened(self) -> Self:
        newest = self._versions.newest()
        if newest == self._version.name:
            return self
        return type(self)(self._versions.open(newest), self.encoder, self._versions, self._shard_seconds)

    def with_encoder(self, encoder: Encoder) -> Self:
        return type(self)(self._version, encoder, self._versions, self._shard_seconds, self._catalog)

    def _answers(
        self, questions: Sequence[str], request: SearchRequest, timings: Timings | None, deadline: Deadline | None
    ) -> list[AnswerList]:
        def seconds() -> float:
            """Partial answers need time after the shards that hang."""
            left = math.inf if deadline is None else deadline.seconds_left
            return min(self._shard_seconds, left / 2 if request.allow_partial else left)

        session = ShardSession(self._version.shards, allow_partial=request.allow_partial, seconds=seconds)
        retriever = ShardRetriever(self._catalog, session)
        searcher = Searcher(retriever, self.encoder, self._calibration, self._ranking)
        found = searcher.search(questions, request, timings, deadline)
        return [AnswerList(each, complete=session.complete) for each in found]
