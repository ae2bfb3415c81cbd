"""Convolutions over one, two or three axes, and their transposes."""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.nn.drawn_layer import EvenlyDrawnLayer
from ogive.nn.init import default_parameter
from ogive.tensor.tensor import Tensor

Size = int | tuple[int, ...]


def to_sizes(given: Any, count: int, name: str) -> tuple[int, ...]:
    """One number per axis, from one number for all axes or a sequence."""
    sizes = tuple(given) if isinstance(given, tuple | list) else (given,) * count
    if len(sizes) != count:
        raise ArgumentError(f"{name} has {len(sizes)} entries for {count} axes")
    return sizes


class Convolution(EvenlyDrawnLayer):
    """The base of convolutions; `axes` is how many axes the windows move along."""

    axes: int
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        if in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"groups={groups} must divide in_channels={in_channels} and "
                f"out_channels={out_channels}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = to_sizes(kernel_size, self.axes, "kernel_size")
        self.stride = to_sizes(stride, self.axes, "stride")
        self.padding: str | tuple[int, ...] = (
            padding if isinstance(padding, str) else to_sizes(padding, self.axes, "padding")
        )
        self.dilation = to_sizes(dilation, self.axes, "dilation")
        self.output_padding = (0,) * self.axes
        self.groups = groups
        self.padding_mode = padding_mode
        first, second = out_channels, in_channels // groups
        if self.transposed:
            first, second = in_channels, out_channels // groups
        kind = (second * math.prod(self.kernel_size), device, dtype)
        self.weight = default_parameter((first, second, *self.kernel_size), *kind)
        self.bias = default_parameter((out_channels,), *kind) if bias else None
        self._finish()

    def _inputs(self) -> int:
        return math.prod(self.kernel_size) * (
            self.out_channels if self.transposed else self.in_channels
        ) // self.groups

    def check(self, x: Tensor) -> None:
        """Raise `ShapeError` for an input with the wrong number of channels or axes."""
        if x.ndim not in (self.axes + 1, self.axes + 2) or (
            x.shape[-self.axes - 1] != self.in_channels
        ):
            names = ", ".join(["D", "H", "W"][-self.axes :] if self.axes > 1 else ["L"])
            raise ShapeError(
                f"expected (N, {self.in_channels}, {names}) or ({self.in_channels}, {names}), "
                f"got {x.shape}"
            )

    def forward(self, x: Tensor) -> Tensor:
        self.check(x)
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            x = x.pad(self._flat_padding(), mode=self.padding_mode)
            padding = 0
        convolve = getattr(x, f"conv{self.axes}d")
        convolved: Tensor = convolve(
            self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )
        return convolved

    def _flat_padding(self) -> list[int]:
        """Padding before and after each axis, the last axis first."""
        if self.padding == "valid":
            return [0] * (2 * self.axes)
        if self.padding == "same":
            totals = [
                width * (taps - 1)
                for width, taps in zip(self.dilation, self.kernel_size, strict=True)
            ]
            pairs = [(total // 2, total - total // 2) for total in totals]
        else:
            pairs = [(int(size), int(size)) for size in self.padding]
        return [entry for pair in reversed(pairs) for entry in pair]

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        plain = (0,) * self.axes, (1,) * self.axes
        if self.padding != plain[0]:
            text += f", padding={self.padding}"
        if self.dilation != plain[1]:
            text += f", dilation={self.dilation}"
        if self.output_padding != plain[0]:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class Conv1d(Convolution):
    """Windows along one axis. Shapes: (N, in_channels, L) → (N, out_channels, L').

    >>> nn.Conv1d(2, 4, 3)(ogive.ones(1, 2, 8)).shape
    (1, 4, 6)
    """

    axes = 1


class Conv2d(Convolution):
    """Windows along two axes. Shapes: (N, in_channels, H, W) → (N, out_channels, H', W').

    >>> nn.Conv2d(2, 4, 3, padding=1)(ogive.ones(1, 2, 8, 8)).shape
    (1, 4, 8, 8)
    """

    axes = 2


class Conv3d(Convolution):
    """Windows along three axes. Shapes: (N, in_channels, D, H, W) → (N, out_channels, ...).

    >>> nn.Conv3d(1, 2, 2)(ogive.ones(1, 1, 3, 3, 3)).shape
    (1, 2, 2, 2, 2)
    """

    axes = 3


class TransposedConvolution(Convolution):
    """The base of transposed convolutions."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ArgumentError(
                "the padding_mode of a transposed convolution must be 'zeros', not "
                f"{padding_mode!r}"
            )
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            device=device, dtype=dtype,
        )  # fmt: skip
        self.output_padding = to_sizes(output_padding, self.axes, "output_padding")

    def forward(self, x: Tensor) -> Tensor:
        self.check(x)
        convolve = getattr(x, f"conv_transpose{self.axes}d")
        convolved: Tensor = convolve(
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )
        return convolved


class ConvTranspose1d(TransposedConvolution):
    """The transpose of `Conv1d`. Shapes: (N, in_channels, L) → (N, out_channels, L').

    >>> nn.ConvTranspose1d(2, 4, 3)(ogive.ones(1, 2, 6)).shape
    (1, 4, 8)
    """

    axes = 1


class ConvTranspose2d(TransposedConvolution):
    """The transpose of `Conv2d`. Shapes: (N, in_channels, H, W) → (N, out_channels, H', W').

    >>> nn.ConvTranspose2d(2, 4, 2, stride=2)(ogive.ones(1, 2, 3, 3)).shape
    (1, 4, 6, 6)
    """

    axes = 2


class ConvTranspose3d(TransposedConvolution):
    """The transpose of `Conv3d`. Shapes: (N, in_channels, D, H, W) → (N, out_channels, ...).

    >>> nn.ConvTranspose3d(1, 2, 2)(ogive.ones(1, 1, 2, 2, 2)).shape
    (1, 2, 3, 3, 3)
    """

    axes = 3
