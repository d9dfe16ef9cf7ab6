"""Low-rank matrices beside those of a backbone: one role of it learns, and the others stay as they are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

from torch import Tensor, nn

from densephrases.nn.backbone import Backbone


class LowRankMatrices(nn.Module):
    """For each matrix of a backbone's last layers a product of two narrow ones, which is added to its output.

    The second matrix of each pair begins with zeros, so that nothing is added at first.
    """

    def __init__(self, backbone: Backbone, rank: int, last: int | None = None) -> None:
        super().__init__()
        self.last = last
        layers = linear_layers(backbone, last).values()
        self.down = nn.ModuleList(nn.Linear(layer.in_features, rank, bias=False) for layer in layers)
        self.up = nn.ModuleList(nn.Linear(rank, layer.out_features, bias=False) for layer in layers)
        for weight in self.up.parameters():
            nn.init.zeros_(weight)

    @contextmanager
    def added_to(self, backbone: Backbone) -> Iterator[None]:
        """Within it the backbone computes with these matrices, for all threads."""
        triples = zip(linear_layers(backbone, self.last).values(), self.down, self.up, strict=True)
        hooks = [layer.register_forward_hook(_adding(down, up)) for layer, down, up in triples]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def linear_layers(backbone: Backbone, last: int | None = None) -> dict[str, nn.Linear]:
    """Those of the last layers, or of all, by their names, in the order of the network."""
    found = {name: module for name, module in backbone.named_modules() if isinstance(module, nn.Linear)}
    layers = int(backbone.encoder.config.num_hidden_layers)
    left_out = 0 if last is None else len(found) // layers * max(layers - last, 0)
    return dict(islice(found.items(), left_out, None))


def _adding(down: nn.Module, up: nn.Module) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor]:
    def add(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        added: Tensor = up(down(inputs[0]))
        return output + added

    return add
