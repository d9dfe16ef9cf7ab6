"""The service on a socket, in one process or in several that share its port."""

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
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

import uvicorn

from densephrases.errors import ConfigError, ServiceError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.app import create_app
from densephrases.serve.runtime.metrics import SHARED_FOLDER
from densephrases.serve.runtime.service import Service
from densephrases.serve.settings import ServiceSettings

_BACKLOG = 2048
_KEEP_ALIVE_SECONDS = 75  # longer than proxies keep theirs, so that none sends into a connection being closed
_GRACE_SECONDS = 5  # beyond the deadline, to send what was answered
_RESTART_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

log = logging.getLogger(__name__)


def bind(host: str, port: int, workers: int = 1) -> list[socket.socket]:
    """A listening socket for each worker, all on one port; the port 0 takes a free one.

    Where the system spreads connections over sockets of one port (Linux), each worker has its own: with a common one
    the first to wake takes most connections. Elsewhere they share one.
    """
    first = _bound(host, port, shared=False)  # alone, so that a port in use is noticed
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
    """Answer until SIGTERM or SIGINT, then finish what is in flight; one process for each socket.

    Args:
        settings: What is served and how.
        sockets: From `bind`.
        index: Already opened; taken if there is one socket.
        configure: Called first in every new process, to set up its log.
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
    # uvicorn stops on these signals itself and then raises them again, which is to end in a plain return.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(uvicorn_config(service)).run(sockets=[listening])


def uvicorn_config(service: Service) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(service),
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
    """Starts the processes, starts those again that die, and stops them all."""

    def __init__(
        self, settings: ServiceSettings, sockets: Sequence[socket.socket], configure: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._sockets = sockets
        self._configure = configure
        self._context: Any = get_context("spawn")
        self._ready = self._context.Event()  # once any worker has been
        self._stopping = False

    def run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        processes = [self._started(place) for place in range(len(self._sockets))]
        while not self._stopping:
            wait([process.sentinel for process in processes], timeout=_LOOK_SECONDS)
            for place, process in enumerate(processes):
                if process.exitcode is not None and not self._stopping:
                    processes[place] = self._replaced(place, process)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        if not self._ready.is_set() and any(process.exitcode for process in processes):
            raise ServiceError("A worker could not start; the log above tells why.")

    def _replaced(self, place: int, process: BaseProcess) -> BaseProcess:
        log.error("worker %s ended with exit code %s", process.pid, process.exitcode)
        if not self._ready.is_set():  # nor will another
            self._stopping = True
            return process
        _forget_numbers(process)
        time.sleep(_RESTART_SECONDS)
        return self._started(place)

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _started(self, place: int) -> BaseProcess:
        arguments = (self._settings, self._sockets[place], self._configure, self._ready)
        process: BaseProcess = self._context.Process(target=_work, args=arguments, name=f"worker-{place}")
        process.start()
        return process


def _forget_numbers(process: BaseProcess) -> None:
    """Of what a process that is gone had in its queue."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
