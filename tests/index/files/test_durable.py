"""Files that are hashed as they are written, and replaced as a whole."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import DiskFullError, PhraseIndexError
from densephrases.index.files.durable import FileEntry, HashedFile, full_disk_explained, replace_json


def test_the_entry_is_that_of_the_file(tmp_path: Path) -> None:
    file = HashedFile(tmp_path / "file.bin")
    for data in (b"", b"bytes", np.arange(5, dtype="<u4"), np.zeros(0)):
        file.write(data)
    content = b"bytes" + np.arange(5, dtype="<u4").tobytes()
    assert file.size == len(content)
    assert file.finish() == FileEntry.from_file(tmp_path / "file.bin")
    assert FileEntry.from_file(tmp_path / "file.bin") == FileEntry(len(content), sha256(content).hexdigest())


def test_json_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    replace_json(path, {"a": 1})
    with pytest.raises(TypeError):
        replace_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    replace_json(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 2}
    assert [each.name for each in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, link = tmp_path / "outside", tmp_path / "link.bin"
    outside.write_text("mine")
    link.symlink_to(outside)
    with pytest.raises(PhraseIndexError, match=r"link\.bin' is a symbolic link"):
        HashedFile(link)
    assert outside.read_text() == "mine"


def test_only_a_full_disk_is_explained(tmp_path: Path) -> None:
    with pytest.raises(DiskFullError, match="The disk is full"), full_disk_explained(tmp_path):
        raise OSError(28, "No space left on device")
    with pytest.raises(PermissionError), full_disk_explained(tmp_path):
        raise PermissionError(13, "Permission denied")
