"""What is packed comes out as it was."""

import numpy as np

from densephrases.cluster.serve.payloads import pack, unpacked
from densephrases.search.scoring.windows import Queries


def test_there_and_back() -> None:
    queries = Queries(np.ones((2, 3), dtype=np.float32), np.zeros((2, 3), dtype=np.float32))
    method, found = unpacked(pack(("around", queries)))
    assert method == "around"
    assert found.start_BD.dtype == np.float32
    assert found.start_BD.tolist() == queries.start_BD.tolist()
