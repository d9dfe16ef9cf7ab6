"""Product quantisation on a GPU: the codes of `quantize.product`, many times as fast."""

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densephrases.model.bulk_encoder import PQCodes
from densephrases.quantize.codebooks import Codebooks, ProductQuantizer

# Shape suffixes: R token vectors, P passages, D vector size, K components, M components of a byte, F bytes, V values
# of a byte.


class GpuQuantizer:
    """Codes token vectors relative to the centroid of their passage. Called by one thread at a time."""

    def __init__(self, pq: ProductQuantizer, device: torch.device, rows_at_once: int = 1 << 16) -> None:
        self.device = device
        self.rows_at_once = rows_at_once
        with self._own_stream:  # the stream that uses them: another one would not wait for the copies
            self.mean_D = self._send(pq.mean_D)
            self.projection_DK = self._send(pq.projection_DK)
            self.reconstruction_KD = self._send(pq.reconstruction_KD)
            self.residual = _GpuCodebooks(pq.residual, device)
            self.centroid = _GpuCodebooks(pq.centroid, device)

    def __call__(self, vectors_RD: NDArray[np.floating[Any]], rows_P: NDArray[np.int64]) -> PQCodes:
        with torch.inference_mode(), self._own_stream:
            vectors = self._send(vectors_RD)
            counts_P = self._send(rows_P)
            means_PF = self._centroid_codes(vectors, counts_P)
            decoded_PD = self.centroid.decode(means_PF) @ self.reconstruction_KD + self.mean_D
            passage_R = torch.repeat_interleave(counts_P)
            codes = [torch.zeros(0, len(self.residual.bytes), dtype=torch.uint8, device=self.device)]
            for some_RD, passages_R in zip(
                torch.split(vectors, self.rows_at_once), torch.split(passage_R, self.rows_at_once), strict=True
            ):
                codes.append(self.residual.nearest((some_RD.float() - decoded_PD[passages_R]) @ self.projection_DK))
            return PQCodes(torch.cat(codes).cpu().numpy(), means_PF.cpu().numpy())

    def _centroid_codes(self, vectors_RD: Tensor, counts_P: Tensor) -> Tensor:
        """Vectors are summed in their order, so that equal vectors always get equal codes."""
        sums_PD = torch.segment_reduce(vectors_RD.float(), "sum", lengths=counts_P, axis=0, initial=0, unsafe=True)
        means_PD = sums_PD / counts_P.clamp(min=1)[:, None]
        return self.centroid.nearest((means_PD - self.mean_D) @ self.projection_DK)

    def _send(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    @cached_property
    def _stream(self) -> Any:
        return torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]

    @property
    def _own_stream(self) -> AbstractContextManager[Any]:
        """Runs beside the encoding of the next passages."""
        return torch.cuda.stream(self._stream) if self.device.type == "cuda" else nullcontext()


class _GpuCodebooks:
    def __init__(self, books: Codebooks, device: torch.device) -> None:
        self.order_K = torch.from_numpy(books.components_K.astype(np.int64)).to(device)
        centroids_KV = torch.from_numpy(books.centroids_KV).to(device)
        self.bytes = [
            (group, -2 * centroids_KV[group], centroids_KV[group].square().sum(dim=0)) for group in books.groups
        ]
        values_KV = centroids_KV * torch.from_numpy(books.scale_K).to(device)[:, None]
        inverse_K = torch.argsort(self.order_K)
        self.values_KV = values_KV[inverse_K]
        self.byte_of_K = torch.from_numpy(np.repeat(np.arange(len(books.sizes_F)), books.sizes_F)).to(device)[inverse_K]

    def nearest(self, components_RK: Tensor) -> Tensor:
        """The bytes (R, F) of the nearest centroids."""
        ordered_RK = components_RK[:, self.order_K]
        codes_RF = torch.empty(len(components_RK), len(self.bytes), dtype=torch.uint8, device=components_RK.device)
        for byte, (group, doubled_MV, squares_V) in enumerate(self.bytes):
            codes_RF[:, byte] = torch.addmm(squares_V, ordered_RK[:, group], doubled_MV).argmin(dim=1)
        return codes_RF

    def decode(self, codes_PF: Tensor) -> Tensor:
        """The components (P, K) that codes stand for."""
        components = torch.arange(len(self.byte_of_K), device=codes_PF.device)
        return self.values_KV[components, codes_PF[:, self.byte_of_K].long()]
