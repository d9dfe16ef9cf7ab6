"""The file of fitted confidences is read as it was written, or refused."""

import json
import os
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from densephrases.errors import IndexBusyError, PhraseIndexError
from densephrases.index.files.lock import only_writer
from densephrases.index.fitted_confidence import (
    CONFIDENCE_FILE,
    FittedConfidence,
    fitted_confidences,
    remove_confidences,
    store_confidence,
)
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from tests.faults.damage import damaged
from tests.index.made_up import HashEncoder

FITTED = FittedConfidence(model="0123", weights={"intercept": -1.5, "score": 0.25}, questions=20, date="2026-03-31")
OTHER = FittedConfidence(model="4567", weights={"intercept": 2.0}, questions=12, date="2026-04-01")


def test_each_query_encoder_has_its_own(tmp_path: Path) -> None:
    assert fitted_confidences(tmp_path) == {}
    store_confidence(tmp_path, "", FITTED)
    store_confidence(tmp_path, "slots", FITTED)
    store_confidence(tmp_path, "slots", OTHER)
    assert fitted_confidences(tmp_path) == {"": FITTED, "slots": OTHER}
    assert remove_confidences(tmp_path)
    assert fitted_confidences(tmp_path) == {}
    assert not remove_confidences(tmp_path)


@pytest.mark.parametrize("number", range(100))
def test_damage_is_refused_or_changes_nothing(tmp_path: Path, number: int) -> None:
    store_confidence(tmp_path, "", FITTED)
    path = tmp_path / CONFIDENCE_FILE
    path.write_bytes(damaged(path.read_bytes(), number, Random(number))[1])  # noqa: S311
    try:
        found, refusal = fitted_confidences(tmp_path), ""
    except PhraseIndexError as error:
        found, refusal = {}, str(error)
    if refusal:
        assert f"'{path}' is damaged (" in refusal
        assert "`densephrases tune confidence INDEX --reset`" in refusal
    else:
        assert found == {"": FITTED}
    assert remove_confidences(tmp_path)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"schema_version": 2}, "schema version 2, this package reads 1"),
        ({"query_encoders": []}, "no 'query_encoders'"),
        ({"query_encoders": {"": {"model": "0123"}}}, "no 'date', 'questions', 'weights'"),
    ],
)
def test_what_others_wrote_is_refused(tmp_path: Path, changed: dict[str, Any], reason: str) -> None:
    """With a checksum that vouches for it."""
    values = {"schema_version": 1, "query_encoders": {}} | changed
    checksum = sha256(json.dumps(values, indent=1).encode()).hexdigest()
    (tmp_path / CONFIDENCE_FILE).write_text(json.dumps(values | {"checksum": checksum}))
    with pytest.raises(PhraseIndexError, match=reason):
        fitted_confidences(tmp_path)


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / CONFIDENCE_FILE).mkdir()
    with pytest.raises(PhraseIndexError, match="is no file"):
        fitted_confidences(tmp_path)


def test_another_writer_is_not_disturbed(tmp_path: Path) -> None:
    with only_writer(tmp_path), pytest.raises(IndexBusyError):
        store_confidence(tmp_path, "", FITTED)
    assert fitted_confidences(tmp_path) == {}


def test_the_check_of_an_index_includes_it(tmp_path: Path) -> None:
    index = IndexFolder.create(tmp_path, IndexSettings.from_encoder(HashEncoder(), "hash"))
    store_confidence(tmp_path, "", FITTED)
    assert index.check() == []
    index.optimize()
    assert fitted_confidences(tmp_path) == {"": FITTED}, "changes of the index leave it"
    (tmp_path / CONFIDENCE_FILE).write_text("{}")
    assert index.check() == [
        f"'{tmp_path / CONFIDENCE_FILE}' is damaged (its checksum differs); remove it with `densephrases tune "
        "confidence INDEX --reset` and fit it again, or restore it from a copy."
    ]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_a_link_in_place_of_the_new_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("mine")
    (tmp_path / f".{CONFIDENCE_FILE}.new").symlink_to(tmp_path / "outside")
    with pytest.raises(PhraseIndexError, match="is a symbolic link"):
        store_confidence(tmp_path, "", FITTED)
    assert (tmp_path / "outside").read_text() == "mine"
