"""Mapped files: released pages are read again, and an empty file is an empty array."""

import os
from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import PhraseIndexError
from densephrases.index.files.mapped import map_file, release_pages


def test_released_pages_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "numbers.bin").write_bytes(np.arange(5000, dtype="<u4").tobytes())
    numbers = map_file(tmp_path / "numbers.bin").view("<u4")
    assert numbers.sum() == 4999 * 2500
    release_pages(numbers[7:].view(np.uint8))
    release_pages(np.zeros(3))
    assert numbers.sum() == 4999 * 2500


def test_an_empty_file_is_an_empty_array(tmp_path: Path) -> None:
    (tmp_path / "empty.bin").touch()
    assert len(map_file(tmp_path / "empty.bin")) == 0


def test_a_file_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(b"abc")
    assert map_file(tmp_path / "file.bin", 3).tobytes() == b"abc"
    with pytest.raises(PhraseIndexError, match=r"file\.bin' has 3 bytes, 4 were written; restore it"):
        map_file(tmp_path / "file.bin", 4)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file.bin")
    with pytest.raises(PhraseIndexError, match="is no file"):
        map_file(tmp_path / "file.bin", 4)
