"""A service on a real Ray cluster, with its index in a real object store that fails at times.

Whatever happens to replicas and machines, answers are those of one machine, or say that they are not complete.
"""

import logging
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from densephrases import Document, PhraseIndex
from densephrases.client.client import Client
from densephrases.cluster.serve.ray_versions import running_versions
from densephrases.cluster.serve.rollout import Rollout, stop_service
from densephrases.cluster.serve.settings import ClusterSettings
from densephrases.cluster.storage.places import open_store
from densephrases.errors import ServiceError
from densephrases.index.manifest import MANIFEST_FILE
from densephrases.sample import articles_path
from densephrases.search.answers import Answer
from densephrases.serve.settings import ServiceSettings
from densephrases.text.readers.read import read_documents
from tests.cluster.conftest import ray_cluster
from tests.cluster.s3 import BUCKET, s3_server

pytestmark = pytest.mark.cluster

PLACE = f"s3://{BUCKET}/served"
CHARACTERS = 1500  # of each article
QUESTIONS = [
    *("Where was Jesse Owens born?", "What is the capital of Iceland?", "When was Sputnik 1 launched?"),
    *("Who designed the Eiffel Tower?", "How deep is Lake Baikal?", "tea", "why is the sky blue?"),
]
_PATIENCE_S = 300  # other work may take the cores


@dataclass
class Served:
    """A service with two shards in two replicas each, and the same index on this machine."""

    cluster: Any
    rollout: Rollout
    whole: PhraseIndex
    port: int

    def client(self, **options: Any) -> Client:
        return Client(f"http://127.0.0.1:{self.port}", timeout=60.0, **options)

    def is_as_on_one_machine(self) -> None:
        with self.client() as client:
            for unit in ("phrase", "auto"):
                found, expected = (index.search(QUESTIONS, 5, unit=unit) for index in (client, self.whole))
                assert [each.complete for each in found] == [True] * len(QUESTIONS)
                assert list(map(shown, found)) == list(map(shown, expected))

    def is_complete_again(self) -> None:
        """Once Ray has started or woken the replicas that were lost."""
        until = time.monotonic() + _PATIENCE_S
        with self.client() as client:
            while not client.search(QUESTIONS[0]).complete:
                assert time.monotonic() < until
        self.is_as_on_one_machine()

    def publish(self) -> None:
        publish(self.whole.path, PLACE)


def shown(answers: list[Answer]) -> list[tuple[Any, ...]]:
    return [(a.document.id, a.start, a.end, a.text, a.score, a.confidence, a.verified) for a in answers]


def publish(folder: Path, place: str) -> None:
    """Copy an index to a store, its manifest last."""
    store, manifest = open_store(place), PhraseIndex.open(folder).folder.manifest
    for name, entry in manifest.files().items():
        store.put(folder / name, name, entry)
    store.write(MANIFEST_FILE, (folder / MANIFEST_FILE).read_bytes())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("serving")
    documents = [Document(d.id, d.text[:CHARACTERS], d.title) for d in read_documents([articles_path()])]
    whole = PhraseIndex.create(folder / "index", documents)
    whole.optimize(segments=2)
    with s3_server(fail_every=9), two_machines() as cluster:
        publish(whole.path, PLACE)
        settings = ClusterSettings(
            place=PLACE,
            service=ServiceSettings(index=Path(), deadline_seconds=12.0),
            shards=2,
            replicas=2,
            cpus=0.5,
            shard_seconds=10.0,
            cache=folder / "cache",
        )
        rollout, port = Rollout(settings), free_port()
        assert rollout.start("127.0.0.1", port) == len(whole)
        yield Served(cluster, rollout, whole, port)
        with suppress(Exception):
            stop_service(settings.name)


@contextmanager
def two_machines() -> Iterator[Any]:
    """A head that computes nothing and two nodes; this process is connected to them."""
    import ray
    from ray import serve

    with ray_cluster(nodes=2, cpus=8) as cluster:
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        yield cluster
        serve.shutdown()  # type: ignore[no-untyped-call]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def replicas(name: str) -> list[int]:
    """The processes of a deployment's replicas, which Ray names."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            title = (process / "cmdline").read_bytes().partition(b"\0")[0].decode()
            if title.startswith("ray::ServeReplica:") and title.rpartition(":")[2].partition(".")[0] == name:
                found.append(int(process.name))
    return found


@contextmanager
def stopped(processes: list[int]) -> Iterator[None]:
    """They hang: they neither answer nor end."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


@dataclass
class Asking:
    """One question after the other, from a thread, until it shall end."""

    served: Served
    ended: Event = field(default_factory=Event)
    answers: list[tuple[str, Any]] = field(default_factory=list)
    failures: list[ServiceError] = field(default_factory=list)

    def __enter__(self) -> "Asking":
        self._thread = Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._thread.join()

    def _run(self) -> None:
        with self.served.client(retries=0) as client:
            while not self.ended.is_set():
                for question in QUESTIONS:
                    try:
                        self.answers.append((question, client.search(question, 3)))
                    except ServiceError as error:
                        self.failures.append(error)

    def more(self, count: int) -> None:
        """Wait for further answers."""
        wanted, until = len(self.answers) + count, time.monotonic() + _PATIENCE_S
        while len(self.answers) < wanted:
            assert time.monotonic() < until, self.failures[-3:]
            time.sleep(0.1)


def test_answers_are_those_of_one_machine(served: Served) -> None:
    served.is_as_on_one_machine()
    with served.client() as client:
        assert client.info() == served.whole.info()
        assert client.document("enwiki2015-28484") == served.whole.document("enwiki2015-28484")
        assert client.document("nothing") is None
        fact, expected = (index.extract(["Grace Hopper"], "date of birth") for index in (client, served.whole))
        assert [each.to_dict() for each in fact] == [each.to_dict() for each in expected]


def test_a_replica_that_hangs_delays_answers_and_changes_none(served: Served) -> None:
    one, _ = replicas("shard-1")
    with stopped([one]):
        served.is_as_on_one_machine()


def test_a_shard_that_hangs_gives_partial_answers_or_an_error(served: Served) -> None:
    both = replicas("shard-2")
    assert len(both) == 2
    with stopped(both), served.client(retries=0) as client:
        question = QUESTIONS[0]
        answers = client.search(question, 5)
        assert not answers.complete
        with pytest.raises(ServiceError, match="1 of 2 shards did not answer in time"):
            client.search(question, allow_partial=False)
    served.is_complete_again()


def test_a_new_version_is_rolled_out_without_a_failed_request(served: Served) -> None:
    before = running_versions(served.rollout.settings.name)
    with Asking(served) as asking:
        asking.more(10)
        served.whole.update([Document("new", "The town of Obernau was founded in 1234 by Otto the Tall.", "Obernau")])
        served.whole.optimize(segments=2)
        served.publish()
        assert served.rollout.update()
        asking.more(10)
    assert asking.failures == []
    assert all(answers.complete for _, answers in asking.answers)
    assert running_versions(served.rollout.settings.name) != before
    assert len(running_versions(served.rollout.settings.name)) == 1
    assert not served.rollout.update(), "nothing has changed since"
    with served.client() as client:
        assert client.search("When was Obernau founded?")[0].text == "1234"
    served.is_as_on_one_machine()


def test_a_machine_that_is_lost_loses_no_answer(served: Served) -> None:
    expected = {question: shown(served.whole.search(question, 3)) for question in QUESTIONS}
    with Asking(served) as asking:
        asking.more(10)
        served.cluster.remove_node(sorted(served.cluster.worker_nodes, key=id)[0], allow_graceful=False)
        asking.more(40)
    assert len(asking.failures) <= 5, "requests that an ingress on the lost machine was answering"
    for question, answers in asking.answers:
        assert not answers.complete or shown(answers) == expected[question]
    served.is_complete_again()
