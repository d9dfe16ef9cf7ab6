"""Runs the service on a socket, in one process or in several that share a port."""

import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

import uvicorn

from densephrases.errors import ConfigError, ServiceError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.app import create_app
from densephrases.serve.runtime.connections import ConnectionLimits, LimitedConnection
from densephrases.serve.runtime.metrics import SHARED_FOLDER
from densephrases.serve.runtime.service import Service
from densephrases.serve.settings import ServiceSettings

_BACKLOG = 2048
_KEEP_ALIVE_SECONDS = 75  # longer than proxies do, so that none sends on a connection that is being closed
_GRACE_SECONDS = 5  # after the deadline, to send the last responses
_RESTART_SECONDS = 1.0
_POLL_SECONDS = 0.5
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
    else:
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="densephrases-metrics-"))
            threads = max((os.cpu_count() or 1) // len(sockets), 1)
            os.environ.update({SHARED_FOLDER: folder, **dict.fromkeys(_THREADS, str(threads))})
            settings = settings if settings.threads else replace(settings, threads=threads)
            _Workers(settings, sockets, configure).run()


def _run(service: Service, listening: socket.socket) -> None:
    # uvicorn handles these signals and raises them again afterwards; without handlers that would kill the process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(uvicorn_config(service)).run(sockets=[listening])


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
        timeout_graceful_shutdown=int(service.settings.deadline_seconds) + _GRACE_SECONDS,
    )


def _work(settings: ServiceSettings, listening: socket.socket, configure: Callable[[], None], ready: Any) -> None:
    configure()
    service = Service(settings)
    ready.set()
    _run(service, listening)


class _Workers:
    """Starts worker processes, restarts those that die, and stops them all."""

    def __init__(
        self, settings: ServiceSettings, sockets: Sequence[socket.socket], configure: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._sockets = sockets
        self._configure = configure
        self._context: Any = get_context("spawn")
        self._ready = self._context.Event()  # set once any worker has started
        self._stopping = False

    def run(self) -> None:
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, self._stop)
        processes = [self._started(number) for number in range(len(self._sockets))]
        while not self._stopping:
            wait([process.sentinel for process in processes], timeout=_POLL_SECONDS)
            for number, process in enumerate(processes):
                if process.exitcode is not None and not self._stopping:
                    processes[number] = self._replaced(number, process)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        if not self._ready.is_set() and any(process.exitcode for process in processes):
            raise ServiceError("A worker could not start; see the log above.")

    def _replaced(self, number: int, process: BaseProcess) -> BaseProcess:
        log.error("worker %s ended with exit code %s", process.pid, process.exitcode)
        if not self._ready.is_set():  # no worker can start: give up
            self._stopping = True
            return process
        _forget_metrics(process)
        time.sleep(_RESTART_SECONDS)
        return self._started(number)

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _started(self, number: int) -> BaseProcess:
        arguments = (self._settings, self._sockets[number], self._configure, self._ready)
        process: BaseProcess = self._context.Process(target=_work, args=arguments, name=f"worker-{number}")
        process.start()
        return process


def _forget_metrics(process: BaseProcess) -> None:
    """Remove the gauges of a dead process, such as its queue length, from the shared metrics."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
