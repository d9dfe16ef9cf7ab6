"""Benchmarks are scripts: their folder is on the path while they run, and so it is here."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


class Importing(Protocol):
    def __call__(self, name: str) -> ModuleType: ...


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Importing:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module
