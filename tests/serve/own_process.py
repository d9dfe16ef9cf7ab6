"""A service in a process of its own, or in several, whose searches can be told to end never or only when cancelled.

Run as `python -m tests.serve.own_process FOLDER WORKERS DEADLINE QUEUE`; the first line that it prints is the port.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from densephrases.search.deadline import Deadline
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve import server, workers
from densephrases.serve.keys import Keys
from densephrases.serve.runtime import service
from densephrases.serve.runtime.logs import JsonLines
from densephrases.serve.server import bind, serve
from densephrases.serve.settings import Limits, ServiceSettings
from densephrases.serve.workers import RestartPolicy
from tests.index.made_up import HashEncoder

ADMIN = "a-key-for-administration"
CANCELLABLE, STUBBORN, DEADLY, FAILING = "until cancelled?", "for ever?", "and die?", "and fail?"
ROOT = Path(__file__).parents[2]


def configure() -> None:
    """In every process: the made-up encoder, and searches that last."""
    server._GRACE_SECONDS = server._LAST_SECONDS = 1  # tests need not wait as long as clients may
    workers.RestartPolicy = partial(RestartPolicy, first_seconds=0.1, most=3)  # type: ignore[assignment,misc]
    service.load = lambda *_, **__: HashEncoder()  # type: ignore[assignment,attr-defined]
    usual = PhraseIndex.search

    def search(index: Any, questions: Any, *arguments: Any, deadline: Deadline | None = None, **options: Any) -> Any:
        while CANCELLABLE in questions and deadline is not None:
            deadline.check()
            time.sleep(0.001)
        while STUBBORN in questions:
            time.sleep(0.1)
        if FAILING in questions:
            raise RuntimeError(FAILING)
        if DEADLY in questions:
            os.kill(os.getpid(), signal.SIGBUS)
        return usual(index, questions, *arguments, deadline=deadline, **options)

    PhraseIndex.search = search  # type: ignore[method-assign,assignment]
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class OwnProcess:
    """Where it listens, and how to ask it."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        assert process.stdout is not None
        self.process = process
        self._log = log
        self.port = int(process.stdout.readline())

    def call(self, path: str, content: Any = None, method: str | None = None) -> tuple[int, Any]:
        body = None if content is None else json.dumps(content).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {ADMIN}"}
        request = Request(f"http://127.0.0.1:{self.port}{path}", body, headers, method=method)
        try:
            with urlopen(request, timeout=60) as response:  # noqa: S310
                return response.status, json.load(response)
        except HTTPError as error:
            return error.code, json.load(error)

    def ask(self, question: str, **options: Any) -> tuple[int, Any]:
        return self.call("/v1/answers", {"question": question, **options})

    def log(self) -> str:
        return self._log.read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def own_process(folder: Path, workers: int = 1, deadline: float = 10.0, queue: int = 512) -> Iterator[OwnProcess]:
    """Serves the index of a folder, which the made-up encoder has built."""
    arguments = [str(folder), str(workers), str(deadline), str(queue)]
    log = folder.parent / "log"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-m", "tests.serve.own_process", *arguments]
    with (
        log.open("w") as file,
        subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=file, text=True, cwd=ROOT, env=environment
        ) as process,
    ):
        try:
            yield OwnProcess(process, log)
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> None:
    folder, processes, deadline, queue = sys.argv[1:]
    configure()
    settings = ServiceSettings(
        index=Path(folder),
        deadline_seconds=float(deadline),
        queue=int(queue),
        reload_seconds=0.2,
        keys=Keys(admin=(sha256(ADMIN.encode()).digest(),)),
        limits=Limits(documents=50),
    )
    sockets = bind("127.0.0.1", 0, int(processes))
    sys.stdout.write(f"{sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    serve(settings, sockets, None, configure)


if __name__ == "__main__":
    main()
