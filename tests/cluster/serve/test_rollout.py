"""What is refused before anything is deployed."""

from pathlib import Path
from typing import Any

import pytest

from densephrases import Document, PhraseIndex
from densephrases.cluster.connection import NodeResources
from densephrases.cluster.serve import rollout
from densephrases.cluster.serve.rollout import Rollout, needed_cpus, refuse_few_cpus
from densephrases.cluster.serve.settings import ClusterSettings
from densephrases.errors import ClusterError, ConfigError, PhraseIndexError
from densephrases.index.manifest import Manifest
from densephrases.serve.settings import ServiceSettings
from tests.index.made_up import HashEncoder

DOCUMENTS = [
    Document("a", "the tower in paris was built by it.", "Tower"),
    Document("b", "a city on the river.", "City"),
]


def settings(place: Path, **options: Any) -> ClusterSettings:
    return ClusterSettings(place=str(place), service=ServiceSettings(index=Path()), **options)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    PhraseIndex.create(tmp_path / "index", DOCUMENTS, model=HashEncoder())
    return tmp_path / "index"


def test_an_index_of_few_segments(index: Path) -> None:
    Rollout(settings(index)).check()
    with pytest.raises(ConfigError, match=r"shards=2 .*1 segments"):
        Rollout(settings(index, shards=2)).check()


def test_what_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(PhraseIndexError, match="is no index"):
        Rollout(settings(tmp_path)).check()


def test_cores_for_two_versions(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = settings(index, shards=3, replicas=2, cpus=0.5)
    assert needed_cpus(several) == 9  # 2 * (3 * 2 * 0.5 + 0.1) + 2 * (0.5 + 0.5)
    monkeypatch.setattr(rollout, "nodes", lambda: [NodeResources("one", 4, 0.0), NodeResources("two", 4, 0.0)])
    with pytest.raises(ClusterError, match="has 8 cores, and 3 shards in 2 replicas need 9"):
        refuse_few_cpus(several)
    monkeypatch.setattr(rollout, "nodes", lambda: [NodeResources("one", 9, 0.0)])
    refuse_few_cpus(several)


@pytest.mark.parametrize(
    "options", [{"shards": 0}, {"replicas": 0}, {"cpus": 0.0}, {"shard_seconds": -1.0}, {"name": "a-b"}]
)
def test_values_that_make_no_sense(index: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(options))}="):
        settings(index, **options)


def test_a_version_that_cannot_start_is_tried_once(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, tried = Rollout(settings(index)), list[int]()

    def fail(self: Rollout, manifest: Manifest, beside: dict[str, bytes]) -> None:
        tried.append(len(manifest.segments))
        raise ClusterError("Ray cannot start it")

    monkeypatch.setattr(rollout, "running_versions", lambda name: [])
    monkeypatch.setattr(Rollout, "_deploy_version", fail)
    with pytest.raises(ClusterError):
        one.update()
    assert not one.update()
    PhraseIndex.open(index, HashEncoder()).add([Document("c", "london by the river.")])
    with pytest.raises(ClusterError):
        one.update()
    assert tried == [1, 2]
