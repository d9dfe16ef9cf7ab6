"""How the cores and GPUs of a cluster are shared among encoders."""

from collections.abc import Sequence
from dataclasses import dataclass

from densephrases.cluster.connection import NodeResources
from densephrases.errors import ConfigError

_CORES = 4  # of an encoder, unless the number of encoders is given: a forward pass has little use for more


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderShare:
    """How many encoders there are, and what each takes."""

    encoders: int
    cpus: int
    gpus: float = 0.0


def encoder_share(nodes: Sequence[NodeResources], encoders: int | None, gpus: float) -> EncoderShare:
    """One encoder for each `gpus` GPUs, or for each group of cores; of a given number, as many cores as all can have.

    Raises:
        ConfigError: So many do not fit on the nodes.
    """
    if encoders is not None and encoders < 1:
        raise ConfigError(f"encoders={encoders} is not a positive number.")
    if gpus < 0 or (gpus > 1 and gpus != int(gpus)):
        raise ConfigError(f"gpus_per_encoder={gpus:g} is no number of GPUs; expected 0, a share below 1, or 1, 2, ...")
    if gpus:
        return _by_gpus(nodes, encoders, gpus)
    cores = [node.cpus for node in nodes if node.cpus]
    if encoders is None:
        wanted = sum(max(cpus // _CORES, 1) for cpus in cores) or 1
        return _by_cores(cores, wanted)
    return _by_cores(cores, encoders)


def _by_cores(cores: Sequence[int], encoders: int) -> EncoderShare:
    for each in range(max(cores, default=0), 0, -1):
        if sum(cpus // each for cpus in cores) >= encoders:
            return EncoderShare(encoders=encoders, cpus=each)
    raise ConfigError(
        f"encoders={encoders} is more than the {sum(cores)} cores of the cluster; give fewer, or add nodes."
    )


def _by_gpus(nodes: Sequence[NodeResources], encoders: int | None, gpus: float) -> EncoderShare:
    fitting = {node: int(node.gpus / gpus) for node in nodes}
    room = sum(fitting.values())
    if room < (encoders or 1):
        there = sum(node.gpus for node in nodes)
        wanted = f"{encoders} encoders" if encoders and encoders > 1 else "an encoder"
        raise ConfigError(f"gpus_per_encoder={gpus:g} leaves no room for {wanted}: the cluster has {there:g} GPUs.")
    cpus = min(max(node.cpus // count, 1) for node, count in fitting.items() if count)
    return EncoderShare(encoders=encoders or room, cpus=cpus, gpus=gpus)
