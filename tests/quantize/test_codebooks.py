"""What a model folder tells of how its vectors become bytes, and what it may not hold."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import ModelError
from densephrases.model.load import load
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
from tests.index.made_up import code_for


def test_a_folder_gives_what_was_saved(tmp_path: Path) -> None:
    assert ProductQuantizer.read(tmp_path, 24) is None
    code_for(24).save(tmp_path)
    found = ProductQuantizer.read(tmp_path, 24)
    assert found is not None
    assert found.to_bytes() == code_for(24).to_bytes()
    assert found.digest == code_for(24).digest != code_for(25).digest
    assert found.residual.groups[-1].stop == len(found.residual.components_K) == found.reconstruction_KD.shape[0]
    np.testing.assert_allclose(found.centroid.centroids_KV, code_for(24).centroid.centroids_KV, atol=1e-3)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    code_for(24).save(tmp_path)
    with pytest.raises(ModelError, match="it is for vectors of 24 numbers, expected 25"):
        ProductQuantizer.read(tmp_path, 25)
    (tmp_path / CODEBOOKS_FILE).write_bytes(b"PK no archive")
    with pytest.raises(ModelError, match="cannot be read"):
        ProductQuantizer.read(tmp_path, 24)
    np.savez(tmp_path / CODEBOOKS_FILE, mean_D=np.zeros(24))
    with pytest.raises(ModelError, match="cannot be read"):
        ProductQuantizer.read(tmp_path, 24)


@pytest.mark.parametrize("part", ["sizes_F", "components_K", "centroids_KV", "scale_K"])
def test_parts_that_do_not_belong_together_are_refused(part: str) -> None:
    pq = code_for(24)
    odd = replace(pq, residual=replace(pq.residual, **{part: getattr(pq.residual, part)[:-1]}))
    with pytest.raises(ValueError, match="do not belong together"):
        ProductQuantizer.from_bytes(odd.to_bytes(), 24)


def test_variants_are_found_by_their_digests(tmp_path: Path) -> None:
    """And what is stored of a quantizer itself does not change with them."""
    pq = code_for(24)
    alone = replace(pq, variants=())
    assert alone.digest == pq.digest
    assert alone.small is None
    assert pq.small is not None
    pq.save(tmp_path)
    found = ProductQuantizer.read(tmp_path, 24)
    assert found is not None
    for each in (pq, pq.small):
        again = found.find(each.digest)
        assert again is not None
        np.testing.assert_allclose(again.residual.centroids_KV, each.residual.centroids_KV, atol=1e-3)
    assert pq.small.digest != pq.digest
    assert found.find("0" * 16) is None
    odd = replace(pq, variants=(replace(pq.variants[0], sizes_F=pq.variants[0].sizes_F[:-1]),))
    with pytest.raises(ValueError, match="do not belong together"):
        ProductQuantizer.from_bytes(odd.to_bytes(), 24)


def test_export_and_checkpoints_keep_it(tiny_base: Path, tmp_path: Path) -> None:
    model = PhraseModel.from_base(tiny_base)
    before = model.passage_fingerprint()
    pq = code_for(model.config.vector_size)
    model.product_quantizer = pq
    model.save_pretrained(tmp_path / "checkpoint")
    restored = PhraseModel.from_pretrained(tmp_path / "checkpoint")
    assert restored.passage_fingerprint() == before
    export_model(restored, tmp_path / "exported", ["fp32"])
    exported = OnnxEncoder.load(tmp_path / "exported")
    for found in (restored.encoder().product_quantizer, exported.product_quantizer):
        assert found is not None
        assert found.to_bytes() == pq.to_bytes()
    assert exported.fingerprint == before


def test_the_bundled_model_has_one() -> None:
    encoder = load("small")
    assert encoder.product_quantizer is not None
    assert len(encoder.product_quantizer.residual.sizes_F) == 48
    assert encoder.product_quantizer.small is not None
    assert len(encoder.product_quantizer.small.residual.sizes_F) == 24


def test_indexes_of_version_0_2_find_their_codebooks() -> None:
    pq = load("small").product_quantizer
    assert pq is not None
    assert pq.find("eb8282c0a9658ddd") is not None


def test_a_damaged_header_and_a_bomb_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code_for(24).save(tmp_path)
    path = tmp_path / CODEBOOKS_FILE
    content = path.read_bytes()
    path.write_bytes(content.replace(b"'shape': (24,)", b"'shape': ((24,", 1))
    with pytest.raises(ModelError, match="cannot be read"):
        ProductQuantizer.read(tmp_path, 24)
    path.write_bytes(content)
    monkeypatch.setattr("densephrases.quantize.codebooks._MOST_BYTES", 1000)
    with pytest.raises(ModelError, match="it expands to more than 1,000 bytes"):
        ProductQuantizer.read(tmp_path, 24)
