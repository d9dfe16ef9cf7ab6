"""Product quantisation on a GPU: the codes of `quantize.product`, many times as fast."""

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densephrases.model.bulk_encoder import PQCodes
from densephrases.quantize.anisotropic import ALONG, LEAST_NORM, first_weighed
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
                components_RK = (some_RD.float() - decoded_PD[passages_R]) @ self.projection_DK
                codes.append(self.residual.anisotropic(components_RK, (some_RD - self.mean_D) @ self.projection_DK))
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
        values_KV = torch.from_numpy(books.centroids_KV * books.scale_K[:, None]).to(device)
        self.bytes = [_GpuByte(group, values_KV[group]) for group in books.groups]
        self.first_weighed = first_weighed(books)
        inverse_K = torch.argsort(self.order_K)
        self.values_KV = values_KV[inverse_K]
        self.byte_of_K = torch.from_numpy(np.repeat(np.arange(len(books.sizes_F)), books.sizes_F)).to(device)[inverse_K]

    def nearest(self, components_RK: Tensor) -> Tensor:
        """The bytes (R, F) of the nearest centroids."""
        ordered_RK = components_RK[:, self.order_K]
        codes = [byte.costs(ordered_RK[:, byte.group]).argmin(dim=1) for byte in self.bytes]
        return torch.stack(codes, dim=1).to(torch.uint8)

    def anisotropic(self, components_RK: Tensor, vectors_RK: Tensor) -> Tensor:
        """The bytes (R, F) that `quantize.anisotropic` chooses for residuals of these vectors."""
        points_RK, vectors_RK = components_RK[:, self.order_K], vectors_RK[:, self.order_K]
        norms_R1 = vectors_RK.norm(dim=1, keepdim=True).clamp(min=LEAST_NORM)
        along_RK = vectors_RK * (ALONG**0.5 / norms_R1)
        lost_R = torch.zeros_like(points_RK[:, 0])
        codes = []
        for number, byte in enumerate(self.bytes):
            points_RM, along_RM = points_RK[:, byte.group], along_RK[:, byte.group]
            wanted_R = lost_R + (points_RM * along_RM).sum(dim=1)
            if number < self.first_weighed:
                costs_RV = byte.costs(points_RM)
            else:
                costs_RV = byte.costs(points_RM + wanted_R[:, None] * along_RM)
                costs_RV += (along_RM @ byte.centroids_MV).square_()
            codes.append(costs_RV.argmin(dim=1))
            lost_R = wanted_R - (byte.centroids_MV.T[codes[-1]] * along_RM).sum(dim=1)
        return torch.stack(codes, dim=1).to(torch.uint8)

    def decode(self, codes_PF: Tensor) -> Tensor:
        """The components (P, K) that codes stand for."""
        components = torch.arange(len(self.byte_of_K), device=codes_PF.device)
        return self.values_KV[components, codes_PF[:, self.byte_of_K].long()]


class _GpuByte:
    """The centroids of one byte."""

    def __init__(self, group: slice, centroids_MV: Tensor) -> None:
        self.group = group
        self.centroids_MV = centroids_MV
        self.doubled_MV = -2 * centroids_MV
        self.squares_V = centroids_MV.square().sum(dim=0)

    def costs(self, points_RM: Tensor) -> Tensor:
        """Squared distances to points, but for what all centroids have in common."""
        return torch.addmm(self.squares_V, points_RM, self.doubled_MV)
