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


def test_the_kubernetes_manifest_is_sound() -> None:
    """Its documents are read, and the command and the image that it names exist."""
    yaml = pytest.importorskip("yaml")
    kinds = {each["kind"]: each for each in yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text())}
    assert kinds.keys() == {"RayCluster", "Deployment", "Service"}
    (container,) = kinds["Deployment"]["spec"]["template"]["spec"]["containers"]
    ray, command = container["args"][0].split(" exec ")
    assert ray.startswith("ray start --address densephrases-head-svc:6379")
    words = command.split()
    assert words[:3] == ["densephrases", "cluster", "serve"]
    serve = get_command(app).commands["cluster"].commands["serve"]  # type: ignore[attr-defined]
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    groups = [kinds["RayCluster"]["spec"]["headGroupSpec"], *kinds["RayCluster"]["spec"]["workerGroupSpecs"]]
    images = {c["image"] for group in groups for c in group["template"]["spec"]["containers"]}
    assert images == {container["image"]}
    assert kinds["Service"]["spec"]["ports"][0]["targetPort"] == int(words[words.index("--port") + 1])
    assert "ARG EXTRAS=serve" in lines("Containerfile")


def test_the_unit_gives_no_privileges() -> None:
    """Each of these would be missed silently."""
    needed = {
        "DynamicUser=yes",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "AmbientCapabilities=",
        "PrivateDevices=yes",
        "PrivateTmp=yes",
        "PrivateUsers=yes",
        "ProtectHome=yes",
        "ProtectSystem=strict",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
        "RestrictNamespaces=yes",
        "RestrictSUIDSGID=yes",
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged @resources",
    }
    unit = lines("densephrases.service")
    assert needed - set(unit) == set()
    assert [line for line in unit if line.startswith(("User=", "ReadWritePaths=", "BindPaths="))] == []


def test_the_unit_waits_for_a_stop() -> None:
    """Longer than a process takes at most, with the default deadline."""
    from densephrases.serve.server import exit_seconds
    from densephrases.serve.settings import ServiceSettings

    (timeout,) = [line for line in lines("densephrases.service") if line.startswith("TimeoutStopSec=")]
    assert int(timeout.partition("=")[2]) > exit_seconds(ServiceSettings(index=DEPLOY)) + 1


def test_the_unit_exposes_little() -> None:
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd is not installed")
    command = [analyze, "security", "--offline=true", "--threshold=20", str(DEPLOY / "densephrases.service")]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stdout[-500:]


def test_the_container_has_no_root() -> None:
    last_stage = (DEPLOY / "Containerfile").read_text().rpartition("\nFROM ")[2].splitlines()
    user = next(number for number, line in enumerate(last_stage) if line.startswith("USER "))
    assert last_stage[user] == "USER 10001"
    assert not [line for line in last_stage[user:] if line.startswith(("RUN", "COPY", "ADD"))]
