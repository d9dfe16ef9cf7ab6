"""A model that may be changed."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def model(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "model"))
