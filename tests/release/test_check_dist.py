"""What is wrong with a distribution; `make dist` builds and installs real ones."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from release import check_dist

GOOD = (*check_dist.NEEDED, "densephrases-0.2.0.dist-info/licenses/LICENSE")


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "densephrases-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, "")
    return path


def test_a_good_wheel(tmp_path: Path) -> None:
    assert check_dist.faults_of_wheel(wheel(tmp_path, *GOOD)) == []


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (GOOD[1:], "lacks densephrases/py.typed"),
        (GOOD[:-1], "lacks the licence"),
        ((*GOOD, "tests/test_house.py"), "has tests/test_house.py, which is no part of the package"),
        ((*GOOD, "densephrases/a.pyc"), "has densephrases/a.pyc"),
    ],
)
def test_wheels_with_a_fault(tmp_path: Path, names: tuple[str, ...], fault: str) -> None:
    (found,) = check_dist.faults_of_wheel(wheel(tmp_path, *names))
    assert fault in found


def test_a_large_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_dist, "MOST_BYTES", 10)
    (found,) = check_dist.faults_of_wheel(wheel(tmp_path, *GOOD))
    assert "bytes, more than 10" in found


def test_an_incomplete_sdist(tmp_path: Path) -> None:
    path = tmp_path / "densephrases-0.2.0.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        file.addfile(tarfile.TarInfo("densephrases-0.2.0/README.md"), io.BytesIO())
    found = "\n".join(check_dist.faults_of_sdist(path))
    assert "lacks pyproject.toml" in found
    assert "lacks src/densephrases/py.typed" in found
    assert "README" not in found


def test_the_environment_has_no_paths_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    assert "PYTHONPATH" not in check_dist.clean_environment()
