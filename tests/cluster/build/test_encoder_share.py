"""Cores and GPUs of nodes are shared among encoders."""

import pytest

from densephrases.cluster.build.encoder_share import EncoderShare, encoder_share
from densephrases.cluster.connection import NodeResources
from densephrases.errors import ConfigError


def nodes(*cpus: int, gpus: float = 0.0) -> list[NodeResources]:
    return [NodeResources(f"node-{number}", count, gpus) for number, count in enumerate(cpus)]


@pytest.mark.parametrize(
    ("cpus", "encoders", "expected"),
    [
        ((2,), None, (1, 2)),
        ((2,), 2, (2, 1)),
        ((16,), None, (4, 4)),
        ((16, 8, 2), None, (7, 3)),
        ((2, 4), 2, (2, 2)),
        ((0, 8), None, (2, 4)),
        ((3, 3, 3), 3, (3, 3)),
    ],
)
def test_cores(cpus: tuple[int, ...], encoders: int | None, expected: tuple[int, int]) -> None:
    share = encoder_share(nodes(*cpus), encoders, 0)
    assert (share.encoders, share.cpus, share.gpus) == (*expected, 0)


def test_gpus() -> None:
    assert encoder_share(nodes(32, 16, gpus=4), None, 1) == EncoderShare(encoders=8, cpus=4, gpus=1)
    assert encoder_share(nodes(32, 16, gpus=4), 3, 2) == EncoderShare(encoders=3, cpus=8, gpus=2)
    assert encoder_share(nodes(8, gpus=1), None, 0.5) == EncoderShare(encoders=2, cpus=4, gpus=0.5)


@pytest.mark.parametrize(
    ("encoders", "gpus", "message"),
    [
        (0, 0.0, "encoders=0 is not a positive number"),
        (9, 0.0, "encoders=9 is more than the 6 cores of the cluster; give fewer, or add nodes"),
        (None, -1.0, "gpus_per_encoder=-1 is no number of GPUs"),
        (None, 1.5, "gpus_per_encoder=1.5 is no number of GPUs"),
        (3, 1.0, "gpus_per_encoder=1 leaves no room for 3 encoders: the cluster has 0 GPUs"),
        (None, 1.0, "gpus_per_encoder=1 leaves no room for an encoder: the cluster has 0 GPUs"),
    ],
)
def test_what_does_not_fit(encoders: int | None, gpus: float, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        encoder_share(nodes(4, 2), encoders, gpus)
