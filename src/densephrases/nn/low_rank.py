"""Low-rank matrices beside those of a backbone: one role of it learns, and the others stay as they are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from densephrases.nn.backbone import Backbone


class LowRankMatrices(nn.Module):
    """For each linear layer of a backbone a product of two narrow matrices, which is added to its output.

    The second matrix of each pair begins with zeros, so that nothing is added at first.
    """

    def __init__(self, backbone: Backbone, rank: int) -> None:
        super().__init__()
        layers = linear_layers(backbone).values()
        self.down = nn.ModuleList(nn.Linear(layer.in_features, rank, bias=False) for layer in layers)
        self.up = nn.ModuleList(nn.Linear(rank, layer.out_features, bias=False) for layer in layers)
        for weight in self.up.parameters():
            nn.init.zeros_(weight)

    @contextmanager
    def added_to(self, backbone: Backbone) -> Iterator[None]:
        """Within it the backbone computes with these matrices, for all threads."""
        triples = zip(linear_layers(backbone).values(), self.down, self.up, strict=True)
        hooks = [layer.register_forward_hook(_adding(down, up)) for layer, down, up in triples]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def linear_layers(backbone: Backbone) -> dict[str, nn.Linear]:
    """By their names, in the order of the network."""
    return {name: module for name, module in backbone.named_modules() if isinstance(module, nn.Linear)}


def _adding(down: nn.Module, up: nn.Module) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor]:
    def add(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        added: Tensor = up(down(inputs[0]))
        return output + added

    return add
