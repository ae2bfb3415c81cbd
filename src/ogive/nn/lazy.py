"""Layers that take their number of features from the first input.

    LazyLinear(3)(x of shape (5, 4))   →   Linear(4, 3)(x)

Until then their parameters have no shape. The layer becomes one of the plain class in place, and
its parameters stay the same objects.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from ogive.errors import ArgumentTypeError, ShapeError
from ogive.nn.drawn_layer import DrawnLayer
from ogive.nn.layers.images.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from ogive.nn.layers.linear import Linear
from ogive.nn.layers.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from ogive.nn.module import AnyModule
from ogive.nn.parameter import UninitializedParameter


class Lazy(DrawnLayer):
    """The base of lazy layers: the `plain` class that they become, and the `axis` of features."""

    plain: ClassVar[Any]
    axis: ClassVar[int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = list(inspect.signature(self.plain).parameters)[1:]
        if len(args) > len(names) or not set(kwargs) <= set(names):
            raise ArgumentTypeError(
                f"{type(self).__name__} takes {', '.join(names)}; got "
                f"{', '.join([*map(repr, args), *kwargs])}"
            )
        self._settings = {**dict(zip(names, args, strict=False)), **kwargs}
        # A plain layer of few features has the parameters that this one will have.
        model = self.plain(self._settings.get("groups", 1), **self._settings)
        for name, parameter in model.named_parameters():
            setattr(self, name, UninitializedParameter(parameter.dtype))
        setattr(model, next(iter(inspect.signature(self.plain).parameters)), 0)  # not known yet
        self._text: str = model.extra_repr()

    def forward(self, x: Any) -> Any:
        """Become the plain layer for this input, and call it."""
        if not -x.ndim <= self.axis < x.ndim:
            raise ShapeError(
                f"{type(self).__name__} has its features along axis {self.axis}, but the input has "
                f"the shape {x.shape}"
            )
        self._become(self.plain(int(x.shape[self.axis]), **self._settings))
        return self.forward(x)

    def _become(self, layer: AnyModule) -> None:
        own = vars(self)
        waiting = {
            name: own.pop(name)
            for name in list(own)
            if isinstance(own[name], UninitializedParameter)
        }
        for name, parameter in waiting.items():
            layer.to(parameter.dtype)  # the lazy layer may have been converted in the meantime
            parameter.materialize(getattr(layer, name))
            setattr(layer, name, parameter)
        del own["_settings"], own["_text"]
        vars(self).update({**vars(layer), **own})
        self.__class__ = self.plain

    def extra_repr(self) -> str:
        return self._text


class LazyLinear(Lazy):
    """`Linear` for inputs of any width.

    >>> layer = nn.LazyLinear(3)
    >>> layer(ogive.ones(5, 4)).shape
    (5, 3)
    >>> layer
    Linear(in_features=4, out_features=3, bias=True)
    """

    plain = Linear
    axis = -1


class LazyConv1d(Lazy):
    """`Conv1d` for inputs of any number of channels."""

    plain = Conv1d
    axis = -2


class LazyConv2d(Lazy):
    """`Conv2d` for inputs of any number of channels."""

    plain = Conv2d
    axis = -3


class LazyConv3d(Lazy):
    """`Conv3d` for inputs of any number of channels."""

    plain = Conv3d
    axis = -4


class LazyConvTranspose1d(Lazy):
    """`ConvTranspose1d` for inputs of any number of channels."""

    plain = ConvTranspose1d
    axis = -2


class LazyConvTranspose2d(Lazy):
    """`ConvTranspose2d` for inputs of any number of channels."""

    plain = ConvTranspose2d
    axis = -3


class LazyConvTranspose3d(Lazy):
    """`ConvTranspose3d` for inputs of any number of channels."""

    plain = ConvTranspose3d
    axis = -4


class LazyBatchNorm1d(Lazy):
    """`BatchNorm1d` for inputs of any number of channels."""

    plain = BatchNorm1d
    axis = 1


class LazyBatchNorm2d(Lazy):
    """`BatchNorm2d` for inputs of any number of channels."""

    plain = BatchNorm2d
    axis = 1


class LazyBatchNorm3d(Lazy):
    """`BatchNorm3d` for inputs of any number of channels."""

    plain = BatchNorm3d
    axis = 1


class LazyInstanceNorm1d(Lazy):
    """`InstanceNorm1d` for inputs of any number of channels."""

    plain = InstanceNorm1d
    axis = -2


class LazyInstanceNorm2d(Lazy):
    """`InstanceNorm2d` for inputs of any number of channels."""

    plain = InstanceNorm2d
    axis = -3


class LazyInstanceNorm3d(Lazy):
    """`InstanceNorm3d` for inputs of any number of channels."""

    plain = InstanceNorm3d
    axis = -4
