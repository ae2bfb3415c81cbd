"""Normalization over batches, groups, instances and the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ShapeError
from ogive.nn.drawn_layer import UnitLayer
from ogive.nn.init import ones_, zeros_
from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.tensor.core import to_entries, to_integer
from ogive.tensor.creation.constructors import ones, zeros
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor


class RunningNorm(UnitLayer):
    """The base of batch and instance normalization: statistics that follow the batches.

    `ranks` are the numbers of axes that an input may have.
    """

    ranks: tuple[int, ...]
    default_affine = True
    default_tracking = True

    _version = 2  # PyTorch's version of states with num_batches_tracked

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool | None = None,
        track_running_stats: bool | None = None,
        device: str | None = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = self.default_affine if affine is None else affine
        tracked = self.default_tracking if track_running_stats is None else track_running_stats
        self.track_running_stats = tracked
        none, unit = [
            created(fill, num_features, dtype=dtype, device=device).realize()
            for fill in (zeros, ones)
        ]
        self.weight = Parameter(unit) if self.affine else None
        self.bias = Parameter(none) if self.affine and bias else None
        self.register_buffer("running_mean", none.clone().realize() if tracked else None)
        self.register_buffer("running_var", unit.clone().realize() if tracked else None)
        count = created(zeros, dtype=dtypes.int64, device=device).realize() if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self._finish()

    def reset_running_stats(self) -> None:
        """Forget the statistics."""
        if self.running_mean is not None:
            zeros_(self.running_mean)
        if self.running_var is not None:
            ones_(self.running_var)
        if self.num_batches_tracked is not None:
            zeros_(self.num_batches_tracked)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """A state from before there was `num_batches_tracked`, or that says no version, goes
        without it."""
        key = f"{prefix}num_batches_tracked"
        if self.num_batches_tracked is not None and rest[0].get("version") is None:
            state_dict.setdefault(key, self.num_batches_tracked.detach().clone())

    def _set_values(self) -> None:
        self.reset_running_stats()
        super()._set_values()

    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def check(self, x: Tensor, channel: int = 1) -> None:
        """Raise `ShapeError` for an input with the wrong number of axes or channels."""
        if x.ndim not in self.ranks or x.shape[channel] != self.num_features:
            axes = " or ".join(map(str, self.ranks))
            raise ShapeError(
                f"expected {axes} axes, axis {channel} of {self.num_features} channels, "
                f"got {x.shape}"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm(RunningNorm):
    """(x - mean) / √(variance + eps)·weight + bias, per channel over the whole batch.

    In training, the running statistics move towards those of the batch by `momentum`; with None,
    they are the averages over all batches. In evaluation, they normalize the input.
    """

    def forward(self, x: Tensor) -> Tensor:
        self.check(x)
        training = self.training or not self.track_running_stats
        momentum: float | Tensor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.assign(self.num_batches_tracked + 1)
            if self.momentum is None:
                momentum = self.num_batches_tracked.cast(x.dtype).reciprocal()
        return x.batch_norm(
            self.running_mean, self.running_var, self.weight, self.bias, training, momentum,
            self.eps,
        )  # fmt: skip


class BatchNorm1d(BatchNorm):
    """Shapes: (N, C) or (N, C, L), unchanged.

    >>> nn.BatchNorm1d(3)(ogive.ones(4, 3)).shape
    (4, 3)
    """

    ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Shapes: (N, C, H, W), unchanged.

    >>> nn.BatchNorm2d(3)(ogive.ones(4, 3, 2, 2)).shape
    (4, 3, 2, 2)
    """

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """Shapes: (N, C, D, H, W), unchanged.

    >>> nn.BatchNorm3d(1)(ogive.ones(2, 1, 2, 2, 2)).shape
    (2, 1, 2, 2, 2)
    """

    ranks = (5,)


class InstanceNorm(RunningNorm):
    """Batch normalization of each entry of the batch by itself."""

    default_affine = False
    default_tracking = False

    def forward(self, x: Tensor) -> Tensor:
        batched = x.ndim == self.ranks[-1]
        self.check(x, 1 if batched else 0)
        normalized = (x if batched else x.unsqueeze(0)).instance_norm(
            self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum, self.eps,
        )  # fmt: skip
        return normalized if batched else normalized.squeeze(0)


class InstanceNorm1d(InstanceNorm):
    """Shapes: (N, C, L) or (C, L), unchanged.

    >>> nn.InstanceNorm1d(3)(ogive.ones(4, 3, 5)).shape
    (4, 3, 5)
    """

    ranks = (2, 3)


class InstanceNorm2d(InstanceNorm):
    """Shapes: (N, C, H, W) or (C, H, W), unchanged.

    >>> nn.InstanceNorm2d(3)(ogive.ones(4, 3, 2, 2)).shape
    (4, 3, 2, 2)
    """

    ranks = (3, 4)


class InstanceNorm3d(InstanceNorm):
    """Shapes: (N, C, D, H, W) or (C, D, H, W), unchanged.

    >>> nn.InstanceNorm3d(1)(ogive.ones(2, 1, 2, 2, 2)).shape
    (2, 1, 2, 2, 2)
    """

    ranks = (4, 5)


class LayerNorm(UnitLayer):
    """(x - mean) / √(variance + eps)·weight + bias over the last axes. Shapes: unchanged.

    >>> nn.LayerNorm(3)(Tensor([[1.0, 2.0, 3.0]])).shape
    (1, 3)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = to_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = self.bias = None
        if elementwise_affine:
            shape = self.normalized_shape
            self.weight = Parameter(created(ones, *shape, dtype=dtype, device=device))
            none = created(zeros, *shape, dtype=dtype, device=device) if bias else None
            self.bias = None if none is None else Parameter(none)
        self._finish()

    def forward(self, x: Tensor) -> Tensor:
        check_last_axes(x, self.normalized_shape)
        return x.layer_norm(self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(UnitLayer):
    """x / √(mean of x² + eps)·weight over the last axes. Shapes: unchanged.

    >>> nn.RMSNorm(3)(Tensor([[1.0, 2.0, 3.0]])).shape
    (1, 3)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = to_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = None
        if elementwise_affine:
            weight = created(ones, *self.normalized_shape, dtype=dtype, device=device)
            self.weight = Parameter(weight)
        self._finish()

    def forward(self, x: Tensor) -> Tensor:
        check_last_axes(x, self.normalized_shape)
        return x.rms_norm(self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(UnitLayer):
    """Normalization over groups of channels. Shapes: (N, C, ...), unchanged.

    >>> nn.GroupNorm(2, 4)(ogive.ones(3, 4, 5)).shape
    (3, 4, 5)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        if num_channels % num_groups:
            raise ArgumentError(
                f"num_groups={num_groups} must divide num_channels={num_channels}"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.weight = self.bias = None
        if affine:
            self.weight = Parameter(created(ones, num_channels, dtype=dtype, device=device))
            none = created(zeros, num_channels, dtype=dtype, device=device) if bias else None
            self.bias = None if none is None else Parameter(none)
        self._finish()

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ShapeError(f"expected (N, {self.num_channels}, ...), got {x.shape}")
        return x.group_norm(self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides each channel by a norm of its neighbouring channels. Shapes: (N, C, ...), unchanged.

    >>> nn.LocalResponseNorm(2)(ogive.ones(1, 4, 3)).shape
    (1, 4, 3)
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x: Tensor) -> Tensor:
        return x.local_response_norm(self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def to_shape(given: int | Sequence[int]) -> tuple[int, ...]:
    """The lengths of the last axes, from one length or several."""
    return tuple([to_integer(size, "a layer: a length") for size in to_entries(given)])


def check_last_axes(x: Tensor, shape: tuple[int, ...]) -> None:
    """Raise `ShapeError` unless the last axes of `x` are `shape`."""
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ShapeError(f"expected (..., {', '.join(map(str, shape))}), got {x.shape}")
