"""An index in shards does what `PhraseIndex` does, and says so when it cannot."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from densephrases import Document, PhraseIndex
from densephrases.cluster.sharding.assignment import assigned
from densephrases.cluster.sharding.shard import Shard
from densephrases.cluster.sharding.sharded_index import IndexVersion, IndexVersions, ShardedIndex
from densephrases.cluster.sharding.shards import MOST_SECONDS
from densephrases.errors import ShardsUnavailableError
from densephrases.index.snapshot import Snapshot
from densephrases.search.deadline import Deadline
from tests.cluster.sharding.in_process import ShardsInProcess
from tests.index.made_up import HashEncoder

WORDS = "the tower in paris was built by a river near london city of it"
DOCUMENTS = [
    Document(f"d{number}", " ".join([*WORDS.split()[number % 7 :], f"max_size_{number}."]), f"Title {number}")
    for number in range(12)
]
QUESTIONS = ["where is the river?", "who built the tower?", "what is max_size_7?"]


class Versions(IndexVersions):
    """Those of a folder, each a list of shards in this process."""

    def __init__(self, folder: Path, encoder: HashEncoder, failing: Mapping[str, set[int]] | None = None) -> None:
        self.folder, self.encoder, self.failing = folder, encoder, dict(failing or {})
        self.name = "v1"

    def newest(self) -> str:
        return self.name

    def open(self, name: str) -> IndexVersion:
        manifest = PhraseIndex.open(self.folder, self.encoder).folder.manifest
        parts = assigned([entry.vectors for entry in manifest.segments], len(manifest.segments))
        shards = [
            Shard(Snapshot(self.folder, replace(manifest, segments=manifest.segments[part])), part.start)
            for part in parts
        ]
        return IndexVersion(name, self.folder, manifest, ShardsInProcess(shards, self.failing))

    def sharded(self) -> ShardedIndex:
        return ShardedIndex(self.open("v1"), self.encoder, self)


@pytest.fixture
def whole(tmp_path: Path) -> PhraseIndex:
    index = PhraseIndex.create(tmp_path / "index", DOCUMENTS, model=HashEncoder(lexical_weight=1.0))
    index.optimize(segments=3)
    index.delete(["d3"])
    assert index.info().segments == 3
    return index


@pytest.fixture
def versions(whole: PhraseIndex) -> Versions:
    assert isinstance(whole.encoder, HashEncoder)
    return Versions(whole.path, whole.encoder)


@pytest.mark.parametrize("unit", ["phrase", "sentence", "passage", "document", "auto"])
def test_it_answers_as_the_whole_index_does(whole: PhraseIndex, versions: Versions, unit: str) -> None:
    index = versions.sharded()
    answers = index.search(QUESTIONS, 20, unit=unit)
    assert answers == whole.search(QUESTIONS, 20, unit=unit)
    assert all(each.complete for each in answers)


def test_identifiers_are_found_wherever_they_are(versions: Versions) -> None:
    assert "max_size_7" in versions.sharded().search(QUESTIONS[2])[0].passage


def test_documents_and_counts(whole: PhraseIndex, versions: Versions) -> None:
    index = versions.sharded()
    assert (len(index), index.vectors, index.info()) == (len(whole), whole.vectors, whole.info())
    assert index.document("d7") == DOCUMENTS[7]
    assert index.document("d3") is None
    for count in (1, 5, 100):
        assert list(index.sample(count)) == list(whole.sample(count))


def test_facts(whole: PhraseIndex, versions: Versions) -> None:
    expected = whole.extract(["the tower", "london"], "built", anywhere=True)
    assert versions.sharded().extract(["the tower", "london"], "built", anywhere=True) == expected


def test_a_missing_shard_leaves_the_answers_of_the_others(whole: PhraseIndex, versions: Versions) -> None:
    versions.failing = {"heads": {1}}
    answers = versions.sharded().search(QUESTIONS[0], 50)
    assert not answers.complete
    others = {entry for number, s in enumerate(whole.folder.segments) if number != 1 for entry in ids_of(s)}
    assert {answer.document.id for answer in answers} == others - {"d3"}


def ids_of(segment: object) -> list[str]:
    return [segment.record(number).id for number in range(segment.documents)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", ["scope", "identified", "heads"])
def test_a_missing_shard_is_an_error_if_the_caller_wants_all(versions: Versions, method: str) -> None:
    versions.failing = {method: {0, 2}}
    expected = r"2 of 3 shards did not answer in time \(shard 1, 3\).*or allow partial answers"
    with pytest.raises(ShardsUnavailableError, match=expected):
        versions.sharded().search(QUESTIONS, allow_partial=False)
    assert not versions.sharded().search(QUESTIONS)[0].complete


def test_a_shard_that_fails_is_not_asked_again_by_the_same_search(versions: Versions) -> None:
    versions.failing = {"scope": {1}}
    index = versions.sharded()
    index.search(QUESTIONS[2])
    calls = index._version.shards.calls  # type: ignore[attr-defined]
    assert ("scope", 1) in calls
    assert {shard for method, shard in calls if method in ("identified", "heads")} == {0, 2}
    versions.failing.clear()
    index._version.shards.failing.clear()  # type: ignore[attr-defined]
    assert index.search(QUESTIONS[2]).complete, "the next search asks it again"


@pytest.mark.parametrize(("allow_partial", "most"), [(True, 500.0), (False, 1000.0)])
def test_shards_that_hang_leave_time_for_the_answers_of_the_others(
    versions: Versions, allow_partial: bool, most: float
) -> None:
    index = versions.sharded()
    shards = index._version.shards
    assert isinstance(shards, ShardsInProcess)
    index.search(QUESTIONS[0], allow_partial=allow_partial, deadline=Deadline.after(1000.0))
    assert set(shards.seconds) == {MOST_SECONDS}, "that a shard has for a call, however late the deadline"
    index = ShardedIndex(index._version, index.encoder, versions, shard_seconds=2000.0)
    shards.seconds.clear()
    index.search(QUESTIONS[0], allow_partial=allow_partial, deadline=Deadline.after(1000.0))
    assert max(shards.seconds) == pytest.approx(most, rel=0.1)


def test_no_shard_at_all(versions: Versions) -> None:
    versions.failing = {"heads": {0, 1, 2}}
    with pytest.raises(ShardsUnavailableError, match=r"3 of 3 shards .*later\.$"):
        versions.sharded().search(QUESTIONS)


def test_facts_are_never_partial(versions: Versions) -> None:
    versions.failing = {"heads": {1}}
    with pytest.raises(ShardsUnavailableError):
        versions.sharded().extract(["london"], "built")


def test_approximate_search_asks_for_candidates_first(whole: PhraseIndex, versions: Versions) -> None:
    for options in ({"exact": False}, {"exact": False, "effort": 0.0, "lexical_weight": 0.0}):
        index = versions.sharded()
        assert index.search(QUESTIONS, 3, **options) == whole.search(QUESTIONS, 3, **options)


def test_a_newer_version_takes_over(whole: PhraseIndex, versions: Versions) -> None:
    index = versions.sharded()
    assert index.state() == "v1"
    assert index.reopened() is index
    whole.add([Document("new", "a new city on the river.", "New")])
    versions.name = "v2"
    assert index.state() == "v2"
    newer = index.reopened()
    assert newer.document("new") is not None
    assert newer.search(QUESTIONS, 20) == whole.search(QUESTIONS, 20)
    assert index.document("new") is None, "what is under way keeps its version"


def test_questions_of_another_model(versions: Versions) -> None:
    index = versions.sharded()
    other = HashEncoder(lexical_weight=3.0)
    assert index.with_encoder(other).encoder is other
    assert index.with_encoder(other).search(QUESTIONS[0]).complete
