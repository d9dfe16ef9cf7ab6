"""Worker processes that die, hang or cannot start."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import ServiceError
from densephrases.serve.workers import RestartPolicy, Workers, reason_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
POLICY = RestartPolicy(first_seconds=0.01, most=4)


def deadly(folder: Path, ready: Any) -> None:
    """Counts its lives and ends by SIGBUS."""
    (folder / str(os.getpid())).touch()
    ready.set()
    os.kill(os.getpid(), signal.SIGBUS)


def unable(ready: Any) -> None:
    sys.exit(3)


def deaf(folder: Path, ready: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (folder / "started").touch()
    ready.set()
    time.sleep(1000)


@pytest.fixture(autouse=True)
def signals_as_before() -> Any:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_workers_that_die_again_and_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    dead: list[int] = []
    workers = Workers(deadly, [(tmp_path,)], stop_seconds=60, policy=POLICY, died=dead.append)
    with pytest.raises(ServiceError, match=r"died 4 times in a row: it ended by SIGBUS \(a file .* changed in place"):
        workers.run()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(map(str, dead))
    assert len(dead) == 4
    assert caplog.text.count("ended by SIGBUS (a file of the index or of the model was changed in place") == 4
    assert [f"is replaced in {seconds:g} seconds" in caplog.text for seconds in (0.01, 0.02, 0.04)] == [True] * 3


def test_pauses_grow_and_end() -> None:
    assert [RestartPolicy().pause(deaths) for deaths in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


def test_workers_that_cannot_start() -> None:
    with pytest.raises(ServiceError, match="could not start: it ended with exit code 3"):
        Workers(unable, [()], stop_seconds=60, policy=POLICY).run()


def test_workers_that_do_not_listen_are_killed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def stop_when_started() -> None:
        while not (tmp_path / "started").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    stopping = threading.Thread(target=stop_when_started)
    stopping.start()
    Workers(deaf, [(tmp_path,)], stop_seconds=0.2, policy=POLICY).run()
    stopping.join()
    assert "did not end within 0.2 seconds: it is killed" in caplog.text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (-signal.SIGTERM, "by SIGTERM"),
        (-signal.SIGKILL, "by SIGKILL (killed from outside, maybe for want of memory)"),
        (-250, "by signal 250"),
        (1, "with exit code 1; see the log above"),
    ],
)
def test_reasons(code: int, expected: str) -> None:
    assert reason_of(code) == expected
