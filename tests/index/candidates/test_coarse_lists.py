"""Lists of codes of four bits are as faiss expects them."""

import faiss
import numpy as np

from densephrases.index.candidates.coarse_lists import CoarseCodebooks, packed
from densephrases.quantize.product import ResidualPQCodec
from tests.index.made_up import code_for


def test_codes_are_packed_as_faiss_packs_them() -> None:
    random = np.random.default_rng(0)
    for codes in (1, 2, 5, 6):
        quantizer = faiss.IndexFlatIP(codes)
        quantizer.add(np.zeros((1, codes), dtype=np.float32))
        index = faiss.IndexIVFPQFastScan(quantizer, codes, 1, codes, 4, faiss.METRIC_INNER_PRODUCT, 32)
        index.by_residual = False
        faiss.copy_array_to_vector(np.tile(np.arange(16, dtype=np.float32), codes), index.pq.centroids)
        index.is_trained = True
        values = random.integers(16, size=(75, codes)).astype(np.uint8)
        index.add(values.astype(np.float32))
        held = faiss.downcast_InvertedLists(index.invlists)
        size = 3 * held.block_size
        np.testing.assert_array_equal(packed(values, np.array([75])), faiss.rev_swig_ptr(held.get_codes(0), size))


def test_every_number_of_the_bytes_is_compared_once() -> None:
    codec = ResidualPQCodec(code_for(384))
    numbers = np.arange(1, len(codec.codebooks.components_K) + 1, dtype=np.float32)[None]
    compared = CoarseCodebooks.from_codec(codec).compared(numbers)[0]
    assert sorted(compared[compared > 0].tolist()) == sorted(numbers[0].tolist())
