"""What a model folder tells of its vectors, and what it may not hold."""

from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import ModelError
from densephrases.model.bundled import load
from densephrases.model.export import export_model
from densephrases.model.network import PhraseModel
from densephrases.model.runtime import OnnxEncoder
from densephrases.model.statistics import STATISTICS_FILE, VectorStatistics


def some(dim: int) -> VectorStatistics:
    random = np.random.default_rng(0)
    start, end, tokens = (random.normal(size=(50, dim)).astype(np.float32) for _ in range(3))
    return VectorStatistics.of(start, end, tokens + 1)


def test_worked_by_hand() -> None:
    start, end = np.array([[1, 0]], dtype=np.float32), np.array([[3, 1]], dtype=np.float32)
    found = VectorStatistics.of(start, end, np.array([[0, 2], [2, 2]], dtype=np.float32))
    np.testing.assert_allclose(found.questions_DD, np.array([[10, 3], [3, 1]]) / 5.5, rtol=1e-6)
    assert found.mean_D.tolist() == [1, 2]
    assert found.tokens_DD.tolist() == [[1, 0], [0, 0]]


def test_a_folder_gives_what_was_saved(tmp_path: Path) -> None:
    assert VectorStatistics.read(tmp_path, 5) is None
    some(5).save(tmp_path)
    found = VectorStatistics.read(tmp_path, 5)
    assert found is not None
    np.testing.assert_allclose(found.tokens_DD, some(5).tokens_DD, atol=1e-3)
    np.testing.assert_allclose(found.questions_DD, some(5).questions_DD, atol=1e-3)
    with pytest.raises(ModelError, match=r"shape \(5, 5\), expected \(6, 6\)"):
        VectorStatistics.read(tmp_path, 6)
    (tmp_path / STATISTICS_FILE).write_bytes(b"PK no archive")
    with pytest.raises(ModelError, match="cannot be read"):
        VectorStatistics.read(tmp_path, 5)


def test_export_and_checkpoints_keep_them(tiny_base: Path, tmp_path: Path) -> None:
    model = PhraseModel.from_base(tiny_base)
    before = model.passage_fingerprint()
    model.statistics = some(model.config.vector_size)
    model.save_pretrained(tmp_path / "checkpoint")
    restored = PhraseModel.from_pretrained(tmp_path / "checkpoint")
    assert restored.encoder().statistics is not None
    assert restored.passage_fingerprint() == before
    export_model(restored, tmp_path / "exported", ["fp32"])
    exported = OnnxEncoder.load(tmp_path / "exported")
    assert exported.statistics is not None
    assert exported.statistics.questions_DD.tolist() == restored.statistics.questions_DD.tolist()  # type: ignore[union-attr]
    assert exported.fingerprint == before


def test_the_bundled_model_has_them() -> None:
    encoder = load("small")
    assert encoder.statistics is not None
    assert encoder.statistics.tokens_DD.shape == (encoder.config.vector_size,) * 2
