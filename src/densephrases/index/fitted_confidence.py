"""Confidences that were fitted to a user's own questions: a file of the index, which its manifest does not list."""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from densephrases.atomic_files import new_path, sync_folder
from densephrases.errors import PhraseIndexError
from densephrases.index.files.durable import full_disk_explained, replace_json
from densephrases.index.files.lock import only_writer
from densephrases.json_input import check_fields, read_json_file

CONFIDENCE_FILE = "confidence.json"

_SCHEMA_VERSION = 1
_CHECKSUM = "checksum"
_REMEDY = "remove it with `densephrases tune confidence INDEX --reset` and fit it again, or restore it from a copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedConfidence:
    """What replaces the model's calibration.

    Attributes:
        model: Digest of the model that it was fitted for.
        weights: As in the model's configuration.
        questions: How many it was fitted to.
        date: When, such as 2026-03-31.
    """

    model: str
    weights: dict[str, float]
    questions: int
    date: str


def fitted_confidences(folder: Path) -> dict[str, FittedConfidence]:
    """By the names of query encoders; the default one has an empty name.

    Raises:
        PhraseIndexError: The file is damaged or of another version.
    """
    path = folder / CONFIDENCE_FILE
    if path.exists() and not path.is_file():
        raise PhraseIndexError(f"'{path}' is no file; {_REMEDY}.")
    try:
        return _from_values(read_json_file(path))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise PhraseIndexError(f"'{path}' is damaged ({error}); {_REMEDY}.") from error


def _from_values(values: Any) -> dict[str, FittedConfidence]:
    if not isinstance(values, dict) or values.pop(_CHECKSUM, None) != _checksum(values):
        raise ValueError("its checksum differs")
    if (version := values.get("schema_version")) != _SCHEMA_VERSION:
        raise ValueError(f"schema version {version}, this package reads {_SCHEMA_VERSION}")
    fits = values.get("query_encoders")
    if not isinstance(fits, dict):
        raise ValueError("no 'query_encoders'")
    for each in fits.values():
        check_fields(FittedConfidence, each)
    return {name: FittedConfidence(**each) for name, each in fits.items()}


def store_confidence(folder: Path, query_encoder: str, fitted: FittedConfidence) -> None:
    """Store it beside those of other query encoders."""
    with full_disk_explained(folder), only_writer(folder):
        fits = fitted_confidences(folder) | {query_encoder: fitted}
        stored = {name: asdict(each) for name, each in sorted(fits.items())}
        values = {"schema_version": _SCHEMA_VERSION, "query_encoders": stored}
        replace_json(folder / CONFIDENCE_FILE, values | {_CHECKSUM: _checksum(values)})


def remove_confidences(folder: Path) -> bool:
    """Whether there was a file, damaged or not."""
    path = folder / CONFIDENCE_FILE
    with only_writer(folder):
        new_path(path).unlink(missing_ok=True)
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        sync_folder(folder)
    return True


def _checksum(values: dict[str, Any]) -> str:
    return sha256(json.dumps(values, indent=1).encode()).hexdigest()
