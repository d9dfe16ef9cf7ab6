"""Mapped files: released pages are read again, and an empty file is an empty array."""

from pathlib import Path

import numpy as np

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
