"""Builds on Ray: the files of a plain build, whatever dies meanwhile, in a folder and in an S3-compatible store."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from densephrases.cluster.build import actor_pool
from densephrases.cluster.build.cluster_build import BuildState, Built, ClusterOptions, ShowState, build_index
from densephrases.cluster.build.plan import TaskSize
from densephrases.cluster.storage.fetch import fetch_index
from densephrases.cluster.storage.places import open_store
from densephrases.errors import ClusterError, DataError, StorageError
from densephrases.index.manifest import Manifest
from densephrases.index.snapshot import problems
from densephrases.sample import articles_path
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.readers.read import read_documents
from tests.cluster.conftest import add_node, ray_cluster
from tests.cluster.s3 import BUCKET, s3_server

from .corpus import assert_same, line, write_corpus

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

pytestmark = pytest.mark.cluster

SIZE = TaskSize(least=3000, most=9000)
ARTICLES, CHARACTERS = 16, 2500


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Documents that take some seconds to encode, and the index of a plain build of them."""
    folder = tmp_path_factory.mktemp("plain")
    source = write_corpus(folder / "corpus")
    for number, article in zip(range(ARTICLES), read_documents([articles_path()]), strict=False):
        (source / "few" / f"article-{number:02d}.txt").write_text(article.text[:CHARACTERS])
    PhraseIndex.create(folder / "index", read_documents([source]), quantizer="int8")
    return source, folder / "index"


@pytest.fixture(scope="module")
def cluster() -> "Iterator[Cluster]":
    """Of three nodes, which find a store that fails now and then. A test that removes a node adds one."""
    with s3_server(fail_every=9), ray_cluster(3) as cluster:
        yield cluster


def without_a_node(cluster: "Cluster") -> None:
    cluster.remove_node(sorted(cluster.worker_nodes, key=str)[0], allow_graceful=False)


def build(source: Path, place: str | Path, address: str, show: ShowState = lambda state: None, **options: Any) -> Built:
    given: dict[str, Any] = {"quantizer": "int8", "task_size": SIZE} | options
    return build_index(place, [source], ClusterOptions(address=address, **given), show=show)


def once(condition: Callable[[BuildState], bool], act: Callable[[], None]) -> tuple[ShowState, list[BuildState]]:
    """Acts when the condition is first met."""
    acted: list[BuildState] = []

    def show(state: BuildState) -> None:
        if not acted and condition(state):
            acted.append(state)
            act()

    return show, acted


def in_the_middle(state: BuildState) -> bool:
    return state.step == "encoding" and 2 <= state.tasks < state.all_tasks - 3


def actors_of(node: Any) -> list[int]:
    """Process ids of the actors of a raylet."""
    raylet = node.all_processes["raylet"][0].process.pid
    found = []
    for process in Path("/proc").iterdir():
        try:
            title = (process / "cmdline").read_bytes()
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if title.startswith(b"ray::EncoderActor") and parent == raylet:
            found.append(int(process.name))
    return found


def test_three_nodes(cluster: "Cluster", made: tuple[Path, Path], tmp_path: Path) -> None:
    states: list[BuildState] = []
    built = build(made[0], tmp_path / "index", cluster.address, states.append)
    assert_same(Manifest.load(made[1]), built.manifest)
    assert problems(tmp_path / "index") == []
    assert max(state.encoders for state in states) == 3
    assert built.progress.documents == sum(entry.documents for entry in built.manifest.segments)
    asked = ["Who built the tower?", "When was person 33 born?"]
    assert PhraseIndex.open(tmp_path / "index").search(asked) == PhraseIndex.open(made[1]).search(asked)


def test_a_node_dies(cluster: "Cluster", made: tuple[Path, Path], tmp_path: Path) -> None:
    show, acted = once(in_the_middle, lambda: without_a_node(cluster))
    built = build(made[0], tmp_path / "index", cluster.address, show, encoders=3)
    add_node(cluster)
    assert acted
    assert_same(Manifest.load(made[1]), built.manifest)
    assert problems(tmp_path / "index") == []


def test_a_worker_is_killed(cluster: "Cluster", made: tuple[Path, Path], tmp_path: Path) -> None:
    killed: list[int] = []

    def kill() -> None:
        killed.extend(actors_of(sorted(cluster.worker_nodes, key=str)[0]))
        for process in killed:
            os.kill(process, signal.SIGKILL)

    show, _ = once(in_the_middle, kill)
    built = build(made[0], tmp_path / "index", cluster.address, show)
    assert killed
    assert_same(Manifest.load(made[1]), built.manifest)


def test_in_a_store_that_fails_now_and_then(cluster: "Cluster", made: tuple[Path, Path], tmp_path: Path) -> None:
    place = f"s3://{BUCKET}/wiki"
    show, acted = once(in_the_middle, lambda: without_a_node(cluster))
    built = build(made[0], place, cluster.address, show, encoders=3)
    add_node(cluster)
    assert acted
    assert_same(Manifest.load(made[1]), built.manifest)
    assert sorted(open_store(place).names()) == sorted(["manifest.json", *built.manifest.files()])
    assert fetch_index(place, tmp_path / "copy") == built.manifest
    assert problems(tmp_path / "copy") == []
    with pytest.raises(StorageError, match=r"'s3://none/wiki/building/.*' failed: there is no such bucket"):
        build(made[0], "s3://none/wiki", cluster.address)


def test_errors_of_users_and_of_nodes(cluster: "Cluster", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "twice.jsonl").write_text(line(1, "person") + line(2, "person"))
    with pytest.raises(DataError, match="Two documents have the id 'person'; every document needs"):
        build(tmp_path / "twice.jsonl", tmp_path / "index", cluster.address)
    monkeypatch.setattr(actor_pool, "__version__", "9.9.9")
    with pytest.raises(ClusterError, match=r"Node '.*' has densephrases .*, the command is of 9\.9\.9; install"):
        build(tmp_path / "twice.jsonl", tmp_path / "other", cluster.address)


def test_a_command_that_is_interrupted_goes_on(made: tuple[Path, Path], tmp_path: Path) -> None:
    """The whole command with a Ray of its own, as at a terminal."""
    arguments = ["-m", "densephrases", "cluster", "build", str(made[0]), "--out", str(tmp_path / "index")]
    command = [sys.executable, *arguments, "--quantizer", "int8", "--encoders", "2"]
    with started(command) as process:
        _wait_for(lambda: (tmp_path / "index" / "building" / "plan.json").is_file(), process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1].startswith("Stopped. ")
    assert err.strip().endswith("run the same command again to go on.")
    assert "Traceback" not in err
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)  # noqa: S603
    assert " documents indexed: " in done.stdout
    assert "ray" not in done.stderr.lower()
    assert_same(Manifest.load(made[1]), Manifest.load(tmp_path / "index"))


@contextmanager
def started(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """Ended as by Ctrl-C, so that its Ray ends as well."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def _wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    begun = time.monotonic()
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begun < 120
        time.sleep(0.2)
