"""Which product quantizer the vectors of an index are read by, and which is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import ConfigError, ModelError, PhraseIndexError
from densephrases.index.folder import IndexFolder
from densephrases.index.settings import IndexSettings
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
from densephrases.quantize.learn import learn_new_codebooks
from densephrases.text.documents import Document
from tests.index.made_up import DIM, CodedEncoder, HashEncoder, code_for

DOCUMENTS = [Document("curie", "she was born in the city and then went to the tower .", "the city")]


def other_pq() -> ProductQuantizer:
    pq = code_for(DIM)
    return replace(pq, mean_D=pq.mean_D + 1)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model folder with nothing but codebooks."""
    code_for(DIM).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def index(tmp_path: Path, model: Path) -> IndexFolder:
    encoder = CodedEncoder()
    made = IndexFolder.create(
        tmp_path / "index", IndexSettings.from_encoder(encoder, str(model)), encoder.product_quantizer
    )
    made.add(DOCUMENTS, encoder)
    return made


def test_an_index_holds_no_codebooks(index: IndexFolder) -> None:
    assert index.settings.product_quantizer == code_for(DIM).digest != other_pq().digest
    assert index.info().bytes < 2000 < len(code_for(DIM).to_bytes())


def test_the_product_quantizer_is_that_of_the_model_which_the_index_names(index: IndexFolder) -> None:
    alone = IndexFolder.open(index.folder)
    assert alone.segments[0].store.decode(slice(None)).tolist() == index.segments[0].store.decode(slice(None)).tolist()
    alone.optimize()
    assert alone.check() == []


def test_a_given_product_quantizer_will_do_if_that_model_is_gone(index: IndexFolder, model: Path) -> None:
    (model / CODEBOOKS_FILE).unlink()
    assert len(IndexFolder.open(index.folder, code_for(DIM)).segments[0].store) == index.vectors
    alone = IndexFolder.open(index.folder)
    assert alone.documents == 1
    with pytest.raises(PhraseIndexError, match=f"\\({index.settings.product_quantizer}\\), but there is none now"):
        _ = alone.segments[0].store
    model.rmdir()
    with pytest.raises(PhraseIndexError, match="there is none now"):
        _ = IndexFolder.open(index.folder).segments[0].store


def test_another_product_quantizer_is_refused(index: IndexFolder, model: Path) -> None:
    with pytest.raises(PhraseIndexError, match=f"there is {other_pq().digest} now; open the index with that model"):
        _ = IndexFolder.open(index.folder, other_pq()).segments[0].store
    other_pq().save(model)
    with pytest.raises(PhraseIndexError, match="restore the file, or build a new index"):
        IndexFolder.open(index.folder).settings.refuse_other_model(HashEncoder())


def test_an_index_of_former_codebooks_is_read_and_added_to(index: IndexFolder, model: Path) -> None:
    before = index.segments[0].store.decode(slice(None))
    random = np.random.default_rng(5)
    renewed = learn_new_codebooks(
        code_for(DIM), random.normal(size=(70, DIM)).astype(np.float32), np.full(10, 7), samples=500
    )
    renewed.save(model)
    encoder = CodedEncoder(renewed)
    later = IndexFolder.open(index.folder)
    later.settings.refuse_other_model(encoder)
    later.add([replace(DOCUMENTS[0], id="again")], encoder)
    assert later.settings.product_quantizer == code_for(DIM).digest != renewed.digest
    later.optimize()
    assert later.segments[0].store.decode(slice(None)).tolist() == [*before.tolist(), *before.tolist()]
    assert IndexSettings.from_encoder(encoder, "hash").product_quantizer == renewed.digest


def test_the_small_quantizer_is_a_variant_of_the_model_s(tmp_path: Path) -> None:
    encoder = CodedEncoder()
    settings = IndexSettings.from_encoder(encoder, "hash", "pq-small")
    assert code_for(DIM).small is not None
    made = IndexFolder.create(tmp_path / "index", settings, encoder.product_quantizer)
    made.add(DOCUMENTS, encoder)
    assert made.segments[0].store.codec.row_type.itemsize == 1
    encoder = CodedEncoder(replace(code_for(DIM), variants=()))
    with pytest.raises(ConfigError, match="'pq-small' needs a model with smaller codebooks, which this one lacks"):
        IndexSettings.from_encoder(encoder, "hash", "pq-small")
    with pytest.raises(PhraseIndexError, match="restore the file, or build a new index"):
        settings.resolve_pq(encoder.product_quantizer)


def test_an_unknown_model_name_is_refused(tmp_path: Path) -> None:
    settings = IndexSettings.from_encoder(CodedEncoder(), "hash")
    with pytest.raises(ModelError, match="'hash' is neither a bundled model"):
        settings.resolve_pq(None)
    assert settings.resolve_pq(code_for(DIM)) is code_for(DIM)


def test_other_quantizers_need_none() -> None:
    settings = IndexSettings.from_encoder(CodedEncoder(), "hash", "int8")
    assert settings.product_quantizer == ""
    assert settings.resolve_pq(code_for(DIM)) is None
    with pytest.raises(ConfigError, match="tune quantizer MODEL DATA"):
        IndexSettings.from_encoder(HashEncoder(), "hash", "pq")
