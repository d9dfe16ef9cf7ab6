"""Sockets, a stop that leaves nobody without an answer, and one that waits for nobody too long."""

import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from densephrases.errors import ConfigError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.server import bind
from tests.index.made_up import HashEncoder

from .own_process import CANCELLABLE, DEADLY, STUBBORN, OwnProcess, own_process
from .running import CITIES, QUESTION, GatedEncoder, running

without_signals = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


def test_a_port_in_use() -> None:
    (taken,) = bind("127.0.0.1", 0)
    port = taken.getsockname()[1]
    for workers in (1, 2):
        with pytest.raises(ConfigError, match=f"Cannot listen on 127.0.0.1 port {port}: Address already in use"):
            bind("127.0.0.1", port, workers)
    taken.close()


@pytest.mark.parametrize(("host", "port"), [("192.0.2.1", 0), ("no such name", 0), ("127.0.0.1", 70000)])
def test_addresses_that_are_none_of_ours(host: str, port: int) -> None:
    with pytest.raises(ConfigError, match=f"Cannot listen on {host} port {port}: .*; give another --host or --port"):
        bind(host, port)


def test_workers_share_a_port() -> None:
    sockets = bind("127.0.0.1", 0, 3)
    assert len({each.getsockname() for each in sockets}) == 1
    if sys.platform == "linux":
        assert len({each.fileno() for each in sockets}) == 3
    for each in sockets:
        each.close()


def test_a_stop_finishes_what_is_in_flight(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index) as service:
        encoder.gate.clear()
        encoder.reached.clear()
        asking = [service.start_asking()]
        encoder.reached.wait()
        asking.append(service.start_asking(question="who?"))
        while not service.service.waiting:
            pass
        service.server.should_exit = True
        while _listens(service.port):
            pass
        encoder.gate.set()
        assert [each.reply().status for each in asking] == [200, 200]


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.fixture
def hashed(tmp_path: Path) -> Path:
    return PhraseIndex.create(tmp_path / "index", CITIES, model=HashEncoder()).folder.folder


@without_signals
@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_without_end_is_ended(hashed: Path, workers: int) -> None:
    with own_process(hashed, workers, deadline=1.0) as service:
        for options in ({}, {"exact": True, "effort": 1}):
            status, content = service.ask(CANCELLABLE, **options)
            assert (status, content["code"]) == (503, "deadline")
        assert service.ask(QUESTION)[0] == 200
        assert service.stop() == 0


@without_signals
@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_ends_a_search_that_never_ends(hashed: Path, workers: int) -> None:
    with own_process(hashed, workers, deadline=0.5) as service:
        assert service.ask(STUBBORN)[0] == 503
        code = service.stop()
        assert code == (1 if workers == 1 else 0)
        assert "did not end within" in service.log()


@without_signals
def test_a_thorough_search_delays_no_other(hashed: Path) -> None:
    with own_process(hashed, deadline=600.0) as service:
        threading.Thread(target=_ask, args=(service, CANCELLABLE), daemon=True).start()
        while "densephrases_batch_questions_count 1.0" not in _metrics(service):
            time.sleep(0.01)
        assert service.ask(QUESTION)[0] == 200
        assert service.call("/healthz")[0] == 200
        service.process.kill()


@without_signals
def test_a_truncated_file_ends_the_workers(hashed: Path) -> None:
    """Not before some have been replaced in vain, and with the reason."""
    with own_process(hashed, 2) as service:
        while service.log().count("Started server process") < 2:  # one that starts later finds the damage itself
            time.sleep(0.01)
        assert service.ask(QUESTION)[0] == 200
        largest = max((path for path in (hashed / "segments").rglob("*") if path.is_file()), key=os.path.getsize)
        os.truncate(largest, 0)
        while service.process.poll() is None:
            _ask(service, DEADLY)
        assert service.process.returncode == 1
        log = service.log()
    assert "SIGBUS (a file of the index or of the model was changed in place" in log
    assert "ServiceError: A worker died 3 times in a row" in log


def _ask(service: OwnProcess, question: str) -> None:
    try:
        service.ask(question, exact=True)
    except OSError:  # nobody listens, or the worker died
        time.sleep(0.05)


def _metrics(service: OwnProcess) -> str:
    from urllib.request import urlopen

    with urlopen(f"http://127.0.0.1:{service.port}/metrics", timeout=60) as response:
        return str(response.read().decode())
