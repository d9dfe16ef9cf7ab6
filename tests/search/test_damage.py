"""What is said when a search fails."""

from pathlib import Path

import pytest

from densephrases.errors import DataError, PhraseIndexError
from densephrases.search.damage import damage_explained
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    return PhraseIndex.create(tmp_path / "index", [Document("a", "It rains.")], model=HashEncoder())


def test_mistakes_of_a_caller_are_as_they_are(index: PhraseIndex) -> None:
    with pytest.raises(DataError, match=r"^none of it$"), damage_explained(index.searcher):
        raise DataError("none of it")


def test_a_sound_index_gets_a_note(index: PhraseIndex) -> None:
    with pytest.raises(IndexError, match="odd") as error, damage_explained(index.searcher):
        raise IndexError("odd")
    assert "densephrases check INDEX" in error.value.__notes__[0]


def test_a_damaged_file_is_named(index: PhraseIndex) -> None:
    segment = next((index.folder.folder / "segments").iterdir())
    damaged = min(segment.iterdir(), key=lambda path: (path.stat().st_size == 0, path.stat().st_size))
    damaged.write_bytes(bytes(len(damaged.read_bytes()) + 1))
    with pytest.raises(PhraseIndexError, match=damaged.name), damage_explained(index.searcher):
        raise IndexError("odd")
