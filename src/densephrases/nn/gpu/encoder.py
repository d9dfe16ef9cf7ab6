"""Passages to vectors on a GPU: windows without padding, and no step that makes the GPU wait."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.model.bulk_encoder import BulkEncoder, KeptVectors, QuantizeVectors
from densephrases.model.encoder import DelegatingEncoder, Encoder
from densephrases.model.onnx import OnnxEncoder, exported_precisions
from densephrases.model.packing import Batch, PackedPassages, Packing
from densephrases.model.padding import TokenBatch
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.device import to_numpy
from densephrases.nn.gpu.packed_backbone import PackedBackbone, PackedInputs
from densephrases.nn.gpu.quantizer import GpuQuantizer
from densephrases.nn.onnx.restore import finest_graphs, restore_passages
from densephrases.nn.passage_tower import PassageTower
from densephrases.nn.phrase_model import PhraseModel
from densephrases.quantize.codebooks import ProductQuantizer

# Shape suffixes: N columns of all windows in computing order, T tokens of all passages in turn, P passages, W windows,
# R tokens that are kept, D vector size, H hidden size.

_RESERVED_CORES = 3  # for the threads that read, compute and write


@dataclass(frozen=True)
class IndexingModel:
    """A passage tower, and an encoder of the same model for its questions and its fingerprint."""

    tower: PassageTower
    encoder: Encoder


@dataclass(frozen=True, slots=True)
class PendingVectors:
    """Results that the GPU is still computing."""

    vectors_ND: Tensor
    positions_T: NDArray[np.int64]
    kept_T: Tensor  # in the host's memory; valid after `done`
    done: Any  # an event, or None on a CPU


class GpuEncoder(DelegatingEncoder, BulkEncoder):
    """Encodes passages on the GPU and leaves questions to the other encoder of the model."""

    tokens_per_batch = 1 << 18  # enough that arithmetic takes the time, not launching kernels
    tokens_per_chunk = 1 << 20

    def __init__(self, model: IndexingModel, device: torch.device, attention: str = "auto") -> None:
        super().__init__(model.encoder, model.tower.config, model.tower.tokens)
        self.device = device
        self.dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        self.passages = PassageStates(model.tower, device, self.dtype, attention)
        self.workers = max((os.cpu_count() or 1) - _RESERVED_CORES, 1) if device.type == "cuda" else 0

    @property
    def folder(self) -> str:
        """The folder that the model was read from."""
        return str(getattr(self.base, "folder", self.config.base))

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return self.base.fingerprint

    def forward_passages(self, batch: TokenBatch) -> tuple[Floats, Floats]:
        """Packs a padded batch and pads its results again."""
        lengths_W = batch.mask.sum(axis=1)
        seen = batch.mask.astype(bool)
        none: Any = np.zeros(0, dtype=np.int64)
        owns_W2 = np.stack([np.zeros_like(lengths_W), lengths_W], axis=1)
        ids_C, types_C = batch.ids[seen].astype(np.int32), batch.types[seen].astype(np.uint8)
        packed = PackedPassages(ids_C, types_C, lengths_W, owns_W2, none, none, none, none)
        packing = Packing.from_passages(packed, self.tokens_per_batch)
        with torch.inference_mode():
            vectors_ND, filter_N2 = self.passages(packing)
        positions = torch.from_numpy(packing.positions_T).to(self.device)
        vectors = np.zeros((*seen.shape, self.config.vector_size), dtype=np.float32)
        filters = np.zeros((*seen.shape, 2), dtype=np.float32)
        vectors[seen], filters[seen] = to_numpy(vectors_ND[positions]), to_numpy(filter_N2[positions])
        return vectors, filters

    def start(self, passages: PackedPassages, packing: Packing, threshold: float | None) -> PendingVectors:
        with torch.inference_mode():
            vectors_ND, filter_N2 = self.passages(packing)
            kept_T = self._kept(filter_N2, packing, passages.tokens_P, threshold)
            host_T = self._host(kept_T)
        return PendingVectors(vectors_ND, packing.positions_T, host_T, self._event())

    def _kept(
        self, filter_N2: Tensor, packing: Packing, tokens_P: NDArray[np.int64], threshold: float | None
    ) -> Tensor:
        """The same tokens as `PassageVectors.kept`, for all passages at once."""
        if threshold is None:
            return torch.ones(len(packing.positions_T), dtype=torch.bool, device=self.device)
        best_T = filter_N2.amax(dim=1)[self.passages.send(packing.positions_T)]
        passage_T = self.passages.send(np.repeat(np.arange(len(tokens_P)), tokens_P))
        best_P = torch.full((len(tokens_P),), -torch.inf, dtype=best_T.dtype, device=self.device)
        best_P.scatter_reduce_(0, passage_T, best_T, "amax")
        return (best_T > threshold) | (best_T == best_P[passage_T])

    def finish(self, started: PendingVectors) -> KeptVectors:
        if started.done is not None:
            started.done.synchronize()
        kept_R = np.flatnonzero(started.kept_T.numpy())
        with torch.inference_mode(), torch.cuda.stream(self._copy_stream):
            vectors_RD = started.vectors_ND[self.passages.send(started.positions_T[kept_R])]
            # numpy has no bfloat16; float16 has more digits, and vectors are of order 1.
            host_RD = self._host(vectors_RD.half() if self.dtype == torch.bfloat16 else vectors_RD)
            if (copied := self._event()) is not None:
                copied.synchronize()
        return KeptVectors(kept_R, host_RD.numpy())

    def quantizer(self, pq: ProductQuantizer) -> QuantizeVectors:
        return GpuQuantizer(pq, self.device)

    def _host(self, tensor: Tensor) -> Tensor:
        """Starts a copy to the host's memory, which is valid after an event that is recorded next."""
        if self.device.type != "cuda":
            return tensor
        host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        return host.copy_(tensor, non_blocking=True)

    def _event(self) -> Any:
        if self.device.type != "cuda":
            return None
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        return event

    @cached_property
    def _copy_stream(self) -> Any:
        """Copies finished vectors while the next ones are computed; None on a CPU."""
        return torch.cuda.Stream(self.device) if self.device.type == "cuda" else None  # type: ignore[no-untyped-call]


class PassageStates:
    """Token vectors and filter logits of packed windows."""

    def __init__(self, tower: PassageTower, device: torch.device, dtype: torch.dtype, attention: str) -> None:
        self.device = device
        self.backbone = PackedBackbone(tower.passage, device, dtype, attention)
        projection = tower.projection.weight.detach() if tower.config.dim is not None else None
        self.projection = None if projection is None else projection.to(device, dtype)
        self.filter = [part.detach().to(device, dtype) for part in (tower.filter.weight, tower.filter.bias)]
        self.vector_size = tower.config.vector_size
        self.dtype = dtype

    def send(self, array: NDArray[Any]) -> Tensor:
        """Starts a copy to the GPU without waiting for it."""
        tensor = torch.from_numpy(array)
        if self.device.type != "cuda":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)

    def __call__(self, packing: Packing) -> tuple[Tensor, Tensor]:
        """Vectors (N, D) and float32 filter logits (N, 2) in computing order."""
        arrays: list[NDArray[Any]] = [packing.ids_N, packing.columns_N, packing.types_N, packing.edges_W]
        ids_N, columns_N, types_N, edges_W = map(self.send, arrays)
        positions_N = self.backbone.position_rows(columns_N, types_N)
        vectors_ND = torch.empty(len(ids_N), self.vector_size, dtype=self.dtype, device=self.device)
        filter_N2 = torch.empty(len(ids_N), 2, dtype=torch.float32, device=self.device)
        for batch in packing.batches:
            own = batch.columns
            hidden_NH = self.backbone(_inputs(batch, ids_N, positions_N, edges_W))
            filter_N2[own] = functional.linear(hidden_NH, *self.filter)
            vectors_ND[own] = hidden_NH if self.projection is None else functional.linear(hidden_NH, self.projection)
        return vectors_ND, filter_N2


def _inputs(batch: Batch, ids_N: Tensor, positions_N: Tensor, edges_W: Tensor) -> PackedInputs:
    edges = edges_W[batch.windows.start : batch.windows.stop + 1]
    return PackedInputs(ids_N[batch.columns], positions_N[batch.columns], batch.groups, edges - batch.columns.start)


def read_indexing_model(folder: Path) -> IndexingModel:
    """The checkpoint's weights if the folder has them, else the weights of its exported graph."""
    if (folder / WEIGHTS_FILE).is_file():
        model = PhraseModel.from_pretrained(folder)
        return IndexingModel(
            PassageTower.from_model(model), OnnxEncoder.load(folder) if exported_precisions(folder) else model.encoder()
        )
    encoder = finest_graphs(folder)
    return IndexingModel(restore_passages(encoder), encoder)


def load_on_gpu(folder: Path, device: str = "cuda") -> GpuEncoder:
    """The model of a checkpoint or of an exported folder on a GPU.

    Raises:
        ConfigError: torch sees no GPU, or cannot compute this kind of encoder packed.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            f"device='cuda' needs a GPU, and torch {torch.__version__} sees none; install torch for CUDA on a machine "
            "that has one, or use device='cpu'."
        )
    return GpuEncoder(read_indexing_model(folder), torch.device(device))
