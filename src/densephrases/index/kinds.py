"""Names and numbers of an index's settings, without importing what implements them."""

from typing import Literal, get_args

CandidateKind = Literal["exact", "passages", "ivf-pq", "ivf-sq4"]
CANDIDATE_KINDS: tuple[CandidateKind, ...] = get_args(CandidateKind)

Quantizer = Literal["fp16", "int8", "int4", "pq"]
QUANTIZERS: tuple[Quantizer, ...] = get_args(Quantizer)

DEFAULT_EFFORT = 0.5  # of a search among candidates, from 0 to 1

Device = Literal["cpu", "cuda"]  # that encodes passages
DEVICES: tuple[Device, ...] = get_args(Device)
