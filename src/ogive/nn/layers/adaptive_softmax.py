"""A softmax over many classes, the rare ones of which are told apart by smaller layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.named import NamedTuple
from ogive.nn.containers import ModuleList, Sequential
from ogive.nn.layers.linear import Linear
from ogive.nn.module import Module
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.movement.joining import cat, where
from ogive.tensor.tensor import Tensor


class AdaptiveOutput(NamedTuple):
    """The log-probability of each target, and the mean loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes in clusters, the most frequent ones first.

    The classes below `cutoffs[0]` have outputs of their own in `head`, and each later cluster has
    one there. In cluster i they are told apart by two layers, with in_features / div_value^(i + 1)
    features between them. All clusters are computed for all examples, so that no shape depends on
    the targets.

    Shapes: (batch, in_features) with targets (batch,), or both without the batch → `output` as the
    targets, `loss` ().

    >>> layer = nn.AdaptiveLogSoftmaxWithLoss(8, 100, cutoffs=[10, 50])
    >>> output, loss = layer(ogive.ones(3, 8), Tensor([0, 20, 99]))
    >>> output.shape, layer.log_prob(ogive.ones(3, 8)).shape
    ((3,), (3, 100))

    Raises `ArgumentError` for cutoffs that do not increase between 1 and n_classes - 1,
    `ShapeError` for other shapes; `IndexRangeError` for targets out of range, when computed.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        bounds = [0, *cutoffs, n_classes]
        if len(bounds) < 3 or any(low >= high for low, high in pairwise(bounds)):
            raise ArgumentError(
                f"cutoffs must increase between 1 and {n_classes - 1}, got {list(cutoffs)}"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            inner = int(in_features // div_value ** (number + 1))
            self.tail.append(Sequential(
                Linear(in_features, inner, False, device, dtype),
                Linear(inner, high - low, False, device, dtype),
            ))

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        self.head.reset_parameters()
        for layer in self.tail.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> AdaptiveOutput:
        if target.ndim > 1 or input.shape[:-1] != target.shape:
            raise ShapeError(
                f"input and target have the shapes {tuple(input.shape)} and "
                f"{tuple(target.shape)}; expected (batch, {self.in_features}) and (batch,), or "
                "both without the batch"
            )
        head = self.head(input).log_softmax(-1)
        cluster = zeros_like(target)
        for low in self.cutoffs:
            cluster = cluster + (target >= low)
        place = where(cluster.eq(0), target, cluster + (self.shortlist_size - 1))
        output = _at(head, place)
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            is_here = (target >= low) & (target < high)
            inside = self.tail[number](input).log_softmax(-1)
            output = output + where(is_here, _at(inside, where(is_here, target - low, 0)), 0)
        return AdaptiveOutput(output, -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes. Shapes: (batch, in_features) → (batch, n_classes).
        """
        head = self.head(input).log_softmax(-1)
        parts = [head[..., : self.shortlist_size]]
        for number, cluster in enumerate(self.tail):
            at = self.shortlist_size + number
            parts.append(cluster(input).log_softmax(-1) + head[..., at : at + 1])
        return cat(parts, -1)

    def predict(self, input: Tensor) -> Tensor:
        """The class for each example, of those in the cluster that `head` prefers.

        Where it prefers the first, that is its class; else the likeliest class of all. Shapes:
        (batch, in_features) → (batch,).
        """
        first = self.head(input).argmax(-1)
        return where(first < self.shortlist_size, first, self.log_prob(input).argmax(-1))


def _at(values: Tensor, positions: Tensor) -> Tensor:
    """The value at a position of each row."""
    return values.gather(-1, positions.unsqueeze(-1)).squeeze(-1)
