"""Runs the service on a socket, in one process or in several that share a port."""

import logging
import math
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import uvicorn

from densephrases.errors import ConfigError, DensePhrasesError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.app import create_app
from densephrases.serve.runtime.connections import ConnectionLimits, LimitedConnection
from densephrases.serve.runtime.metrics import SHARED_FOLDER
from densephrases.serve.runtime.service import Service
from densephrases.serve.settings import ServiceSettings
from densephrases.serve.workers import Workers

_BACKLOG = 2048
_KEEP_ALIVE_SECONDS = 75  # longer than proxies do, so that none sends on a connection that is being closed
_GRACE_SECONDS = 5  # after the deadline, to send the last responses
_LAST_SECONDS = 5  # after the grace, to end what was cancelled; then the process exits without it
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

log = logging.getLogger(__name__)


def bind(host: str, port: int, workers: int = 1) -> list[socket.socket]:
    """A listening socket for each worker, all on one port; port 0 picks a free one.

    On Linux, which balances connections over the sockets of a port (SO_REUSEPORT), each worker has its own: with a
    shared socket the first worker to wake takes most connections. On other systems the workers share one.
    """
    first = _bound(host, port, shared=False)  # exclusively, to detect a port in use
    if workers == 1 or sys.platform != "linux":
        return [first] * workers
    address = first.getsockname()
    first.close()
    return [_bound(address[0], address[1], shared=True) for _ in range(workers)]


def _bound(host: str, port: int, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)  # from now on connections wait until a worker is ready
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"Cannot listen on {host} port {port}: {reason}; give another --host or --port.") from error
    return bound


def serve(
    settings: ServiceSettings,
    sockets: Sequence[socket.socket],
    index: PhraseIndex | None = None,
    configure: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in flight; one process per socket.

    Args:
        settings: Settings of the service.
        sockets: From `bind`.
        index: An open index to serve; with several sockets each process opens its own.
        configure: Called first in every new process, to set up logging.
    """
    if len(sockets) == 1:
        _run(Service(settings, index), sockets[0])
        return
    with tempfile.TemporaryDirectory(prefix="densephrases-metrics-") as folder:
        threads = max((os.cpu_count() or 1) // len(sockets), 1)
        os.environ.update({SHARED_FOLDER: folder, **dict.fromkeys(_THREADS, str(threads))})
        settings = settings if settings.threads else replace(settings, threads=threads)
        arguments = [(settings, each, configure) for each in sockets]
        Workers(_work, arguments, stop_seconds=exit_seconds(settings) + 1, died=_forget_metrics).run()


def _run(service: Service, listening: socket.socket) -> None:
    # uvicorn handles these signals and raises them again afterwards; without handlers that would kill the process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server = BoundedServer(uvicorn_config(service), exit_seconds(service.settings))
    server.run(sockets=[listening])
    if service.idle:
        server.ended()


def uvicorn_config(service: Service) -> uvicorn.Config:
    settings = service.settings
    limits = ConnectionLimits(
        head_bytes=settings.limits.head_bytes, seconds=settings.deadline_seconds, connections=settings.connections
    )
    return uvicorn.Config(
        create_app(service),
        http=partial(LimitedConnection, limits),  # type: ignore[arg-type]  # uvicorn only calls it
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_grace(settings),
    )


def _grace(settings: ServiceSettings) -> int:
    """Seconds until requests in flight are cancelled."""
    return math.ceil(settings.deadline_seconds) + _GRACE_SECONDS


def exit_seconds(settings: ServiceSettings) -> float:
    """The longest time from a signal to the end of a process."""
    return _grace(settings) + _LAST_SECONDS


class BoundedServer(uvicorn.Server):
    """Ends the process some seconds after a signal, even if a thread of it does not end."""

    def __init__(self, config: uvicorn.Config, seconds: float) -> None:
        super().__init__(config)
        self._seconds = seconds
        self._last_resort: threading.Timer | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._last_resort is None:
            self._last_resort = threading.Timer(self._seconds, self._exit)
            self._last_resort.daemon = True
            self._last_resort.start()

    def ended(self) -> None:
        """All threads have ended: the process may go on with something else."""
        if self._last_resort is not None:
            self._last_resort.cancel()

    def _exit(self) -> None:
        log.error("a search or a change did not end within %g seconds: exiting without it", self._seconds)
        logging.shutdown()
        os._exit(1)


def _work(settings: ServiceSettings, listening: socket.socket, configure: Callable[[], None], ready: Any) -> None:
    configure()
    try:
        service = Service(settings)
    except DensePhrasesError as error:
        log.error("cannot start: %s", error)
        sys.exit(1)
    ready.set()
    _run(service, listening)


def _forget_metrics(process: int) -> None:
    """Remove the gauges of a dead process, such as its queue length, from the shared metrics."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(process)  # type: ignore[no-untyped-call]
