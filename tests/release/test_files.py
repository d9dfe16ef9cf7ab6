"""The files of a release agree with each other."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from densephrases.version import __version__

ROOT = Path(__file__).parents[2]


def read_yaml(path: Path) -> Any:
    return pytest.importorskip("yaml").safe_load(path.read_text())


def test_one_version() -> None:
    citation = read_yaml(ROOT / "CITATION.cff")
    heads = re.findall(r"^## \[([^]]+)\](?: - (\S+))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[0] == ("Unreleased", "")
    assert heads[1] == (__version__, str(citation["date-released"]))
    assert citation["version"] == __version__


def test_only_the_last_step_may_publish() -> None:
    """Nothing that runs code of the repository has the identity by which PyPI trusts the workflow."""
    jobs = read_yaml(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    assert not any("run" in step for step in jobs["publish"]["steps"])
    assert "make dist" in [step.get("run") for step in jobs["build"]["steps"]]


def test_the_pythons_of_the_matrix() -> None:
    """noxfile.py tries every Python that the package says it supports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pattern = r"Programming Language :: Python :: (3\.\d+)"
    named = [found[1] for each in project["classifiers"] if (found := re.fullmatch(pattern, each))]
    (tried,) = re.findall(r"^PYTHONS = \((.*)\)$", (ROOT / "noxfile.py").read_text(), re.MULTILINE)
    assert set(named) <= set(re.findall(r"3\.\d+", tried))
    assert project["requires-python"] == f">={named[0]}"
