"""An index of three documents and a service that answers from it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys

from .running import ADMIN, CITIES, READING, GatedEncoder, Running, running


@pytest.fixture
def encoder() -> GatedEncoder:
    return GatedEncoder()


@pytest.fixture
def index(tmp_path: Path, encoder: GatedEncoder) -> PhraseIndex:
    return PhraseIndex.create(tmp_path / "index", CITIES, model=encoder)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """For tests that change nothing."""
    made = PhraseIndex.create(tmp_path_factory.mktemp("served") / "index", CITIES, model=GatedEncoder())
    with running(made, hosts=("127.0.0.1", "localhost")) as service:
        yield service


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    (tmp_path / "keys").write_text(f"# of the reading room\n{READING}\n\n")
    (tmp_path / "admin-keys").write_text(f"{ADMIN}\n")
    return Keys.read(tmp_path / "keys", tmp_path / "admin-keys")
