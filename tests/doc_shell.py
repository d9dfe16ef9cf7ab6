"""Runs shell commands of documents as a reader would, in one folder, and compares what they print."""

import os
import pty
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PORT = "8080"  # of all examples; each page gets a free one instead
_PATIENCE_S = 120
_NUMBER = re.compile(r"\d+\.\d+|\d+%")
_SPECIAL = re.compile(rf"( ?\.\.\. ?|{_NUMBER.pattern})")
_RELATIVE, _ABSOLUTE, _POINTS = 0.02, 0.05, 5.0
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")  # colours and the cursor


class Shell:
    """Bash in a folder, with the package's commands. A service runs in the background until the shell is closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables: dict[str, str] = {}
        self._services: list[subprocess.Popen[bytes]] = []
        self._port = str(_free_port())
        self._environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "TERM": "dumb",
        }

    def on_free_port(self, text: str) -> str:
        return text.replace(PORT, self._port)

    def run(self, command: str, *, terminal: bool = False) -> str:
        """What it prints; to a terminal also what goes to stderr."""
        command = self.on_free_port(command)
        if command.startswith("densephrases serve "):
            return self._serve(command)
        arguments = ["bash", "-euo", "pipefail", "-c", command]
        return self._at_terminal(arguments) if terminal else self._piped(arguments)

    def close(self) -> None:
        for service in self._services:
            service.terminate()
        for service in self._services:
            service.wait(_PATIENCE_S)

    def _piped(self, arguments: list[str]) -> str:
        done = subprocess.run(  # noqa: S603
            arguments,
            cwd=self.folder,
            env=self._environment | self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
        )
        assert done.returncode == 0, f"{arguments[-1]}\n{done.stderr}{done.stdout}"
        return done.stdout

    def _at_terminal(self, arguments: list[str]) -> str:
        """Programs print other things to a person than to a pipe."""
        ours, theirs = pty.openpty()
        environment = self._environment | self.variables
        with subprocess.Popen(  # noqa: S603
            arguments, cwd=self.folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            printed = b"".join(iter(lambda: _read(ours), b"")).decode()
        os.close(ours)
        assert process.returncode == 0, f"{arguments[-1]}\n{printed}"
        return _ESCAPE.sub("", printed)

    def _serve(self, command: str) -> str:
        """Starts a service and waits until it takes questions."""
        log = (self.folder / "serve.log").open("wb")
        arguments = ["bash", "-c", f"exec {command} --port {self._port}"]
        self._services.append(
            subprocess.Popen(arguments, cwd=self.folder, env=self._environment, stdout=log, stderr=log)  # noqa: S603
        )
        log.close()
        begun = time.monotonic()
        while time.monotonic() - begun < _PATIENCE_S and self._services[-1].poll() is None:
            with suppress(URLError, ConnectionError), urlopen(f"http://127.0.0.1:{self._port}/readyz"):
                return ""
            time.sleep(0.2)
        raise AssertionError(f"{command}\n{(self.folder / 'serve.log').read_text()}")


def same_output(shown: str, printed: str) -> bool:
    """Whatever the space; `...` stands for anything, and decimals and per cents may differ a little."""
    pieces = _SPECIAL.split(" ".join(shown.split()))
    expected = re.fullmatch("".join(map(_pattern, pieces)), " ".join(printed.split()))
    numbers = [piece for piece in pieces if _NUMBER.fullmatch(piece)]
    return expected is not None and all(map(_near, numbers, expected.groups()))


def _pattern(piece: str) -> str:
    if piece.strip() == "...":
        return ".*?"
    return f"({_NUMBER.pattern})" if _NUMBER.fullmatch(piece) else re.escape(piece)


def _near(one: str, other: str) -> bool:
    if one.endswith("%") != other.endswith("%"):
        return False
    allowed = _POINTS if one.endswith("%") else max(_ABSOLUTE, _RELATIVE * float(one))
    return abs(float(one.rstrip("%")) - float(other.rstrip("%"))) <= allowed


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # on Linux the end of a terminal is an error
        return b""


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
