"""How a model's vectors are spread: where questions look, and how tokens differ.

An index that codes vectors with few bits spends them where both meet. It learns of tokens from its first rows alone,
which may all be of one article; what the model carries steadies that. A model folder may have the file or not.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import ModelError

STATISTICS_FILE = "statistics.npz"

Floats = NDArray[np.float32]

# Shape suffixes: B questions, R kept tokens, D vector size.


@dataclass(frozen=True, slots=True)
class VectorStatistics:
    """Attributes are stored under their names, matrices in 16 bits."""

    questions_DD: Floats  # second moment of start and end vectors together; its mean eigenvalue is one
    mean_D: Floats  # of tokens
    tokens_DD: Floats  # covariance of tokens

    @classmethod
    def of(cls, start_BD: Floats, end_BD: Floats, tokens_RD: Floats) -> Self:
        asked = np.concatenate([start_BD, end_BD]).astype(np.float64)
        moment_DD = asked.T @ asked
        scale = np.trace(moment_DD) / len(moment_DD)
        mean_D = tokens_RD.mean(axis=0, dtype=np.float64)
        centred_RD = tokens_RD - mean_D
        tokens_DD = centred_RD.T @ centred_RD / len(tokens_RD)
        return cls(*(np.asarray(a, dtype=np.float32) for a in (moment_DD / (scale or 1.0), mean_D, tokens_DD)))

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        matrices = {name: getattr(self, name).astype("<f2") for name in ("questions_DD", "tokens_DD")}
        np.savez(folder / STATISTICS_FILE, mean_D=self.mean_D.astype("<f4"), **matrices)

    @classmethod
    def read(cls, folder: Path, dim: int) -> Self | None:
        """None where the folder has none."""
        path = folder / STATISTICS_FILE
        if not path.is_file():
            return None
        shapes = {"questions_DD": (dim, dim), "mean_D": (dim,), "tokens_DD": (dim, dim)}
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = {name: np.asarray(stored[name], dtype=np.float32) for name in shapes}
        except (ValueError, KeyError, EOFError, OSError, BadZipFile) as error:
            raise ModelError(f"'{path}' cannot be read ({error}); copy it again or remove it.") from error
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise ModelError(
                    f"'{path}' holds {name} in the shape {arrays[name].shape}, expected {shape}; "
                    "write it anew with `densephrases eval statistics --write`."
                )
        return cls(**arrays)
