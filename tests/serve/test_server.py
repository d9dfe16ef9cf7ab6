"""Sockets, and a stop that leaves nobody without an answer."""

import socket
import sys

import pytest

from densephrases.errors import ConfigError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.server import bind

from .running import GatedEncoder, running


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
