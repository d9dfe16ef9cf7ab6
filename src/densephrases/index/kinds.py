"""Names of what an index can be made of and with, without importing what implements them."""

from typing import Literal, get_args

CandidateKind = Literal["exact", "passages", "ivf-pq", "ivf-sq4"]
CANDIDATE_KINDS: tuple[CandidateKind, ...] = get_args(CandidateKind)

Quantizer = Literal["fp16", "int8", "int4", "pq"]
QUANTIZERS: tuple[Quantizer, ...] = get_args(Quantizer)

Device = Literal["cpu", "cuda"]  # which encodes the passages
DEVICES: tuple[Device, ...] = get_args(Device)
