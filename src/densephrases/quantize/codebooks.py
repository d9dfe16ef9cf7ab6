"""How a model's vectors become bytes: a basis, and what each value of each byte says of the numbers in it.

An index codes the mean of a passage's vectors, and of each vector what it has beyond that. Which numbers matter, and
how they are spread, an index could learn from its first rows only, which may all be of one article. So the model brings
it along. A model folder may have the file or not.
"""

from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ModelError

CODE_FILE = "code.npz"
VALUES = 256  # of a byte
_DIGEST_DIGITS = 16


# Shape suffixes: D vector size, K numbers, F bytes of a record, V values of a byte.


@dataclass(frozen=True, slots=True)
class Books:
    """Attributes:
    sizes_F: How many numbers share each byte.
    numbers_K: Which ones, byte after byte.
    leaves_KV: What the values of the byte say of each of them; values with the same upper four bits are neighbours.
    stretch_K: What leaves are multiplied with when they are read.
    """

    sizes_F: NDArray[np.uint8]
    numbers_K: NDArray[np.uint16]
    leaves_KV: Floats
    stretch_K: Floats

    @property
    def groups(self) -> list[slice]:
        """Where each byte's numbers stand in the other arrays."""
        edges = np.cumsum([0, *self.sizes_F.tolist()]).tolist()
        return [slice(first, stop) for first, stop in pairwise(edges)]

    def fits(self, numbers: int) -> bool:
        """Whether every number is in one byte, and all arrays are as long as they should be."""
        return (
            self.leaves_KV.shape == (numbers, VALUES)
            and self.stretch_K.shape == (numbers,)
            and int(self.sizes_F.sum()) == numbers
            and sorted(self.numbers_K.tolist()) == list(range(numbers))
        )


@dataclass(frozen=True, slots=True)
class VectorCode:
    """Numbers are (vector - mean) @ forth, vectors mean + numbers @ back. Stored in 16 bits, but for the mean."""

    mean_D: Floats
    forth_DK: Floats
    back_KD: Floats
    rows: Books  # of what a vector has beyond its passage's mean
    passages: Books  # of that mean

    @property
    def digest(self) -> str:
        """Names the code: indexes hold none, and say by this which one they need."""
        return sha256(b"".join(array.tobytes() for array in self._arrays().values())).hexdigest()[:_DIGEST_DIGITS]

    def to_bytes(self) -> bytes:
        """The same for the same code."""
        file = BytesIO()
        np.savez(file, allow_pickle=False, **self._arrays())
        return file.getvalue()

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """As they are stored."""
        arrays = {name: getattr(self, name).astype(kind) for name, kind in _MATRICES.items()}
        for part in _PARTS:
            books = getattr(self, part)
            arrays |= {f"{part}_{name}": getattr(books, name).astype(kind) for name, kind in _BOOKS.items()}
        return arrays

    @classmethod
    def from_bytes(cls, data: bytes, dim: int) -> Self:
        """Raises ValueError if it is no code of vectors of that size."""
        try:
            with np.load(BytesIO(data), allow_pickle=False) as stored:
                mean_D, forth_DK, back_KD = (_read(stored[name]) for name in _MATRICES)
                rows, passages = (Books(*(_read(stored[f"{part}_{name}"]) for name in _BOOKS)) for part in _PARTS)
        except (KeyError, EOFError, OSError, BadZipFile) as error:
            raise ValueError(str(error)) from error
        code = cls(mean_D, forth_DK, back_KD, rows, passages)
        numbers = code.back_KD.shape[0]
        if code.mean_D.shape != (dim,) or code.forth_DK.shape != (dim, numbers) or code.back_KD.shape != (numbers, dim):
            raise ValueError(f"it is for vectors of {code.mean_D.size} numbers, expected {dim}")
        if not (code.rows.fits(numbers) and code.passages.fits(numbers)):
            raise ValueError("its parts do not belong together")
        return code

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CODE_FILE).write_bytes(self.to_bytes())

    @classmethod
    def read(cls, folder: Path, dim: int) -> Self | None:
        """None where the folder has none."""
        path = folder / CODE_FILE
        if not path.is_file():
            return None
        try:
            return cls.from_bytes(path.read_bytes(), dim)
        except ValueError as error:
            raise ModelError(
                f"'{path}' cannot be read ({error}); write it anew with `densephrases eval code --write` or remove it."
            ) from error


_PARTS = ("rows", "passages")
_MATRICES = {"mean_D": "<f4", "forth_DK": "<f2", "back_KD": "<f2"}
_BOOKS = {"sizes_F": "u1", "numbers_K": "<u2", "leaves_KV": "<f2", "stretch_K": "<f4"}


def _read(stored: NDArray[Any]) -> NDArray[Any]:
    """Halves as floats, whole numbers as they are."""
    return stored.astype(np.float32) if stored.dtype.kind == "f" else stored
