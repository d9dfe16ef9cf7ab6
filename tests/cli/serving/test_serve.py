"""`densephrases serve` as a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from densephrases.index.folder import IndexFolder
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence


class Served:
    """The process and where it listens."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        assert process.stdout is not None
        self.process = process
        self._log = log
        self._seen = 0
        self.greeting = process.stdout.readline()
        found = re.search(r"at http://[\d.]+:(\d+);", self.greeting)
        assert found is not None, self.greeting
        self.url = f"http://127.0.0.1:{found.group(1)}"

    def get(self, path: str) -> Any:
        return self._read(Request(self.url + path))  # noqa: S310

    def ask(self, question: str, **terms: Any) -> Any:
        content = json.dumps({"question": question, **terms}).encode()
        return self._read(Request(self.url + "/v1/answers", content, {"Content-Type": "application/json"}))  # noqa: S310

    def _read(self, request: Request) -> Any:
        with urlopen(request) as response:  # noqa: S310
            body = response.read()
            return json.loads(body) if response.headers["Content-Type"] == "application/json" else body.decode()

    def log(self) -> list[dict[str, Any]]:
        """What has been logged since the last look; a line that is being written comes next time."""
        written = self._log.read_text()[self._seen :].rpartition("\n")[0]
        self._seen += len(written)
        return [json.loads(line) for line in written.splitlines() if line]

    def workers(self, count: int) -> list[int]:
        """The next processes that start."""
        started: list[int] = []
        while len(started) < count:
            found = [re.fullmatch(r"Started server process \[(\d+)\]", line["event"]) for line in self.log()]
            started += [int(each.group(1)) for each in found if each]
        return started


@contextmanager
def serving(index: Path, *options: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "densephrases", "serve", str(index), "--port", "0", *options]
    log = index.parent / "log"  # a file, for a pipe that nobody reads would stop the service
    with log.open("w") as file, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as process:  # noqa: S603
        try:
            yield Served(process, log)
        finally:
            process.terminate()


def test_serve(index: Path) -> None:
    with serving(index) as served:
        assert served.greeting.startswith("Serving 3 documents at http://127.0.0.1:")
        (result,) = served.ask("what is on the river?", k=2)["results"]
        assert len(result["answers"]) == 2
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait() == 0
        lines = served.log()
    assert [line["route"] for line in lines if line["event"] == "request"] == ["/v1/answers"]
    assert not [line for line in lines if line["level"] in ("warning", "error")]


def test_ctrl_c(index: Path) -> None:
    with serving(index) as served:
        served.get("/readyz")
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_workers(index: Path) -> None:
    """Two processes see a changed index; one that is killed is replaced; numbers are those of both; all stop."""
    with serving(index, "--workers", "2") as served:
        killed, _ = served.workers(2)
        assert served.get("/v1/info")["index"]["documents"] == 3
        deleted = IndexFolder.open(index)
        deleted.delete([deleted.segments[0].record(0).id])
        seen = 0
        while seen < 20:  # every connection may reach the other one
            seen = seen + 1 if served.get("/v1/info")["index"]["documents"] == 2 else 0
        os.kill(killed, signal.SIGKILL)
        assert served.workers(1) != [killed]
        for _ in range(10):
            assert served.ask("what is on the river?", k=1)["results"]
        assert 'densephrases_requests_total{route="/v1/answers",status="200"} 10.0' in served.get("/metrics")
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait() == 0


@pytest.mark.parametrize(("host", "with_key"), [("0.0.0.0", False), ("0.0.0.0", True), ("127.0.0.1", False)])  # noqa: S104
def test_a_warning_when_anyone_may_search(index: Path, tmp_path: Path, host: str, with_key: bool) -> None:
    (tmp_path / "keys").write_text("a-key-for-reading-only\n")
    options = ["--api-key-file", str(tmp_path / "keys")] if with_key else []
    with serving(index, *options, "--host", host) as served:
        served.get("/readyz")
        events = [line["event"] for line in served.log()]
    warned = any("give keys with --api-key-file" in event for event in events)
    assert warned is (host == "0.0.0.0" and not with_key)  # noqa: S104


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["no/index"], "'no/index' is no index"),
        (["{index}", "--model", "no/model"], "'no/model' does not exist"),
        (["{index}", "--workers", "0"], "--workers=0 is no number of processes"),
        (["{index}", "--api-key-file", "no.txt"], "'no.txt' cannot be read"),
        (["{index}", "--max-k", "0"], "--max-k 0 is no limit"),
        (["{index}", "--queue", "0"], "--queue 0 is out of range"),
        (["{index}", "--host", "192.0.2.1"], "Cannot listen on 192.0.2.1 port 8080"),
    ],
)
def test_mistakes(densephrases: Command, made_index: Path, arguments: list[str], expected: str) -> None:
    result = densephrases("serve", *(argument.format(index=made_index) for argument in arguments))
    assert is_one_sentence(result)
    assert expected in result.err
