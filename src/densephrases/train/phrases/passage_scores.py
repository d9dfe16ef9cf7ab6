"""Best token scores of passages on the model's device: a GPU ranks all dev passages within a second."""

import numpy as np
import torch
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.nn.device import to_numpy


class TorchPassageScores:
    """The highest inner product of each query in each passage; a torch version of `NumpyPassageScores`."""

    def __init__(self, vectors_ND: Floats, edges: NDArray[np.int64], device: torch.device) -> None:
        self.vectors_ND = torch.from_numpy(vectors_ND).to(device)
        self.lengths_P = torch.from_numpy(np.diff(edges)).to(device)

    def __call__(self, queries_BD: Floats) -> Floats:
        scores_NB = self.vectors_ND @ torch.from_numpy(queries_BD).to(self.vectors_ND).T
        best_PB = torch.segment_reduce(scores_NB, "max", lengths=self.lengths_P, axis=0, initial=-torch.inf)
        return to_numpy(best_PB.T)
