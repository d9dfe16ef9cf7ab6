"""The codebooks of a model's product quantizer, as `codebooks.npz` of a model folder.

Token vectors are stored relative to the centroid of their passage, so there are two sets of codebooks: one for the
centroids, one for the residuals. They are learned once from many passages and belong to the model: the first vectors of
an index may all come from one article. A model folder may have the file or not. The file may hold further codebooks for
the residuals: smaller ones, and former ones that older indexes need.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from itertools import count, pairwise, takewhile
from pathlib import Path
from typing import Any, Self
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.checksums import read_verified, replace_listed, unlist
from densephrases.errors import ModelError, first_line

CODEBOOKS_FILE = "codebooks.npz"
VALUES = 256  # of a byte
_DIGEST_DIGITS = 16


# Shape suffixes: D vector size, K components, F bytes of a record, V values of a byte.


@dataclass(frozen=True, slots=True)
class Codebooks:
    """One codebook of 256 centroids for each byte of a record.

    Attributes:
        sizes_F: How many components share each byte.
        components_K: Which ones, byte after byte.
        centroids_KV: The centroids, component by component; those with the same upper four bits are neighbours.
        scale_K: What centroids are multiplied with when they are decoded.
    """

    sizes_F: NDArray[np.uint8]
    components_K: NDArray[np.uint16]
    centroids_KV: Floats
    scale_K: Floats

    @property
    def groups(self) -> list[slice]:
        """Where each byte's components are in the other arrays."""
        edges = np.cumsum([0, *self.sizes_F.tolist()]).tolist()
        return [slice(first, stop) for first, stop in pairwise(edges)]

    def fits(self, components: int) -> bool:
        """Whether every component is in one byte, and all arrays have the right shape."""
        return (
            self.centroids_KV.shape == (components, VALUES)
            and self.scale_K.shape == (components,)
            and int(self.sizes_F.sum()) == components
            and sorted(self.components_K.tolist()) == list(range(components))
        )


@dataclass(frozen=True, slots=True)
class ProductQuantizer:
    """Components are (vector - mean) @ projection, vectors mean + components @ reconstruction.

    Stored in 16 bits, but for the mean.

    Attributes:
        residual: For a token vector minus its passage's centroid.
        centroid: For that centroid.
        variants: Other codebooks for residuals, with which all else is the same.
    """

    mean_D: Floats
    projection_DK: Floats
    reconstruction_KD: Floats
    residual: Codebooks
    centroid: Codebooks
    variants: tuple[Codebooks, ...] = ()

    @property
    def digest(self) -> str:
        """Names the quantizer without its variants: indexes hold none, and say by this which one they need."""
        return sha256(b"".join(array.tobytes() for array in self._own_arrays().values())).hexdigest()[:_DIGEST_DIGITS]

    def find(self, digest: str) -> Self | None:
        """The quantizer of this name among this one and those with its variants."""
        return next((pq for pq in (self, *map(self._with, self.variants)) if pq.digest == digest), None)

    @property
    def small(self) -> Self | None:
        """With the variant of the fewest bytes, if they are fewer than its own."""
        fewer = [books for books in self.variants if len(books.sizes_F) < len(self.residual.sizes_F)]
        return self._with(min(fewer, key=lambda books: len(books.sizes_F))) if fewer else None

    def _with(self, residual: Codebooks) -> Self:
        return replace(self, residual=residual, variants=())

    def to_bytes(self) -> bytes:
        """The same for the same quantizer."""
        file = BytesIO()
        arrays = self._own_arrays()
        for number, books in enumerate(self.variants):
            arrays |= _stored(books, _VARIANT.format(number))
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        """As they are stored, without those of variants."""
        arrays = {name: getattr(self, name).astype(kind) for name, kind in _MATRICES.items()}
        for part in _PARTS:
            arrays |= _stored(getattr(self, part), part)
        return arrays

    @classmethod
    def from_bytes(cls, data: bytes, dim: int) -> Self:
        """Raises ValueError if it is no quantizer of vectors of that size."""
        try:
            _refuse_bomb(data)
            with np.load(BytesIO(data), allow_pickle=False) as file:
                stored = {_FORMER_NAMES.get(name, name): _read(file[name]) for name in file.files}
            mean_D, projection_DK, reconstruction_KD = (stored[name] for name in _MATRICES)
            residual, centroid = (_restored(stored, part) for part in _PARTS)
            prefixes = takewhile(lambda prefix: f"{prefix}_sizes_F" in stored, map(_VARIANT.format, count()))
            variants = tuple(_restored(stored, prefix) for prefix in prefixes)
            quantizer = cls(mean_D, projection_DK, reconstruction_KD, residual, centroid, variants)
            quantizer._refuse_misfits(dim)
        except Exception as error:  # damaged headers of arrays make numpy raise nearly anything
            raise ValueError(first_line(error)) from error
        return quantizer

    def _refuse_misfits(self, dim: int) -> None:
        components = self.reconstruction_KD.shape[0]
        if (
            self.mean_D.shape != (dim,)
            or self.projection_DK.shape != (dim, components)
            or self.reconstruction_KD.shape != (components, dim)
        ):
            raise ValueError(f"it is for vectors of {self.mean_D.size} numbers, expected {dim}")
        if not all(books.fits(components) for books in (self.residual, self.centroid, *self.variants)):
            raise ValueError("its parts do not belong together")

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        replace_listed(folder / CODEBOOKS_FILE, self.to_bytes())
        (folder / _FORMER_FILE).unlink(missing_ok=True)
        unlist(folder / _FORMER_FILE)

    @classmethod
    def read(cls, folder: Path, dim: int) -> Self | None:
        """None where the folder has none."""
        path = codebooks_path(folder)
        if path is None:
            return None
        content = read_verified(path)
        try:
            return cls.from_bytes(content, dim)
        except ValueError as error:
            raise ModelError(
                f"'{path}' cannot be read ({error}); write it anew with `densephrases tune quantizer` or remove it."
            ) from error


def codebooks_path(folder: Path) -> Path | None:
    """The file of a model folder's codebooks, None if it has none; version 0.1 gave it another name."""
    files = (folder / name for name in (CODEBOOKS_FILE, _FORMER_FILE))
    return next((path for path in files if path.is_file()), None)


def _refuse_bomb(data: bytes) -> None:
    with ZipFile(BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
            raise ValueError(f"it expands to more than {_MOST_BYTES:,} bytes")


_MOST_BYTES = 1 << 29
_PARTS = ("residual", "centroid")
_VARIANT = "variant{}"
_MATRICES = {"mean_D": "<f4", "projection_DK": "<f2", "reconstruction_KD": "<f2"}
_BOOKS = {"sizes_F": "u1", "components_K": "<u2", "centroids_KV": "<f2", "scale_K": "<f4"}

_FORMER_FILE = "code.npz"  # of version 0.1, with these names
_FORMER_NAMES = {"forth_DK": "projection_DK", "back_KD": "reconstruction_KD"} | {
    f"{former}_{name}": f"{part}_{now}"
    for former, part in (("rows", "residual"), ("passages", "centroid"))
    for name, now in (
        ("sizes_F", "sizes_F"),
        ("numbers_K", "components_K"),
        ("leaves_KV", "centroids_KV"),
        ("stretch_K", "scale_K"),
    )
}


def _stored(books: Codebooks, prefix: str) -> dict[str, NDArray[Any]]:
    return {f"{prefix}_{name}": getattr(books, name).astype(kind) for name, kind in _BOOKS.items()}


def _restored(stored: Mapping[str, NDArray[Any]], prefix: str) -> Codebooks:
    return Codebooks(*(stored[f"{prefix}_{name}"] for name in _BOOKS))


def _read(stored: NDArray[Any]) -> NDArray[Any]:
    """Halves as floats, whole numbers as they are."""
    return stored.astype(np.float32) if stored.dtype.kind == "f" else stored
