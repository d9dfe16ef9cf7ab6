"""The examples of `deploy/` as their own tools judge them, and against the command as it is."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from densephrases.cli.main import app

DEPLOY = Path(__file__).parents[2] / "deploy"


def lines(name: str) -> list[str]:
    return (DEPLOY / name).read_text().splitlines()


def test_the_unit_is_sound(tmp_path: Path) -> None:
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd is not installed")
    # the command it starts is not installed here: another that is there stands for it
    unit = (DEPLOY / "densephrases.service").read_text().replace("/opt/densephrases/bin/densephrases", sys.executable)
    (tmp_path / "densephrases.service").write_text(unit)
    done = subprocess.run(  # noqa: S603
        [analyze, "verify", "--man=no", str(tmp_path / "densephrases.service")], capture_output=True, text=True
    )
    ours = [line for line in done.stderr.splitlines() if "densephrases.service" in line]
    assert (done.returncode, ours) == (0, [])


def test_the_container_file_is_sound() -> None:
    beside = Path(sys.executable).with_name("hadolint")
    found = str(beside) if beside.exists() else shutil.which("hadolint")
    if found is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([found, str(DEPLOY / "Containerfile")], capture_output=True, text=True)  # noqa: S603
    assert (done.returncode, done.stdout) == (0, "")


def test_their_options_exist() -> None:
    serve = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    known = {option for parameter in serve.params for option in parameter.opts}
    started = [line for line in lines("densephrases.service") if line.startswith("ExecStart=")]
    started += [line.replace('"', " ").replace(",", " ") for line in lines("Containerfile") if line.startswith("CMD [")]
    used = {word for line in started for word in line.split() if word.startswith("--")}
    assert len(started) == 2
    assert used <= known
