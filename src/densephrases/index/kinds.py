"""The kinds of quantizers, candidates and devices and their defaults, named without importing faiss."""

from typing import Literal, get_args

CandidateKind = Literal["exact", "passages", "clusters", "ivf-pq", "ivf-sq4"]
CANDIDATE_KINDS: tuple[CandidateKind, ...] = get_args(CandidateKind)

Quantizer = Literal["fp16", "int8", "int4", "pq", "pq-small"]
QUANTIZERS: tuple[Quantizer, ...] = get_args(Quantizer)
PRODUCT_QUANTIZERS: tuple[Quantizer, ...] = ("pq", "pq-small")  # whose codebooks belong to the model

DEFAULT_EFFORT = 0.5  # of a search for candidates, from 0, fast, to 1, exact

Device = Literal["cpu", "cuda"]  # that encodes passages
DEVICES: tuple[Device, ...] = get_args(Device)
