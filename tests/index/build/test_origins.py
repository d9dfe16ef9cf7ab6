"""Files of one folder do not replace those of another unasked."""

from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.text.documents import Document, SourceFile
from tests.index.made_up import HashEncoder


@pytest.fixture
def encoder() -> HashEncoder:
    return HashEncoder()


@pytest.fixture
def index(encoder: HashEncoder, tmp_path: Path) -> IndexFolder:
    made = IndexFolder.create(tmp_path / "index", IndexSettings.from_encoder(encoder, "hash"))
    made.add([of_root("pa", "the city"), Document("bare", "a tower")], encoder)
    return made


def of_root(root: str, text: str, identifier: str = "README.md", folder: str | None = None) -> Document:
    file = SourceFile(root, "README.md", 1, 2, folder or f"/{root}")
    return Document(identifier, text, "", file.metadata(), file=file)


def text_of(index: IndexFolder, identifier: str) -> str:
    found = index.find(identifier)
    assert found is not None
    return found.text


def test_the_same_root_replaces(index: IndexFolder, encoder: HashEncoder) -> None:
    assert index.update([of_root("pa", "the river")], encoder).replaced == 1
    assert text_of(index, "README.md") == "the river"


def test_another_root_is_refused(index: IndexFolder, encoder: HashEncoder) -> None:
    with pytest.raises(DataError, match=r"'README.md' came from the folder 'pa', and that of 'pb' .*--replace-others"):
        index.update([of_root("pb", "the river")], encoder)
    assert text_of(index, "README.md") == "the city"
    assert list(index.manifest.roots) == ["pa"]
    index.update([of_root("pb", "the river")], encoder, replace_others=True)
    assert text_of(index, "README.md") == "the river"


def test_a_document_of_no_known_file_is_not_replaced_by_a_file(index: IndexFolder, encoder: HashEncoder) -> None:
    """As in indexes of earlier versions; the same content is no conflict."""
    assert index.update([of_root("pa", "a tower", "bare")], encoder).unchanged == 1
    with pytest.raises(DataError, match=r"does not know which file it came from; .*--replace-others"):
        index.update([of_root("pa", "the river", "bare")], encoder)
    index.update([of_root("pa", "the river", "bare")], encoder, replace_others=True)
    index.update([of_root("pa", "the city", "bare")], encoder)
    assert text_of(index, "bare") == "the city"


def test_a_document_without_a_file_replaces_any(index: IndexFolder, encoder: HashEncoder) -> None:
    assert index.update([Document("README.md", "the river")], encoder).replaced == 1


def test_another_folder_of_the_same_name(index: IndexFolder, encoder: HashEncoder, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="would be called 'pa' like '/pa'"):
        index.update([of_root("pa", "the river", "other", "/elsewhere/pa")], encoder)
    index.move_root("pa", tmp_path)
    assert index.manifest.roots == {"pa": {"folder": str(tmp_path), "prefix": ""}}
    index.update([of_root("pa", "the river", "other", str(tmp_path))], encoder)
    with pytest.raises(DataError, match="has no root 'none'; it has pa"):
        index.move_root("none", tmp_path)
    index.optimize()
    assert IndexFolder.open(index.folder).roots.roots[0].folder == tmp_path
