"""Pooling, padding and resizing as modules."""

from __future__ import annotations

from typing import Any

from ogive.nn import functional
from ogive.nn.layers.wrapped import REQUIRED, Wrapped, wrap_function

_MAXIMUM: dict[str, Any] = {
    "kernel_size": REQUIRED, "stride": None, "padding": 0, "dilation": 1,
    "return_indices": False, "ceil_mode": False,
}  # fmt: skip
_AVERAGE: dict[str, Any] = {
    "kernel_size": REQUIRED, "stride": None, "padding": 0, "ceil_mode": False,
    "count_include_pad": True,
}  # fmt: skip
_FRACTIONAL: dict[str, Any] = {
    "kernel_size": REQUIRED, "output_size": None, "output_ratio": None, "return_indices": False,
    "_random_samples": None,
}  # fmt: skip
_POWER: dict[str, Any] = {
    "norm_type": REQUIRED, "kernel_size": REQUIRED, "stride": None, "ceil_mode": False,
}  # fmt: skip


class WindowPool(Wrapped):
    """The base of pooling layers. The stride is the window's size unless one is given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        given = self.settings()
        if given["stride"] is None:
            self.stride = given["kernel_size"]


def _window_pool(
    kind: str, function: str, axes: int, shown: str, defaults: dict[str, Any]
) -> type[WindowPool]:
    members = {
        "__doc__": f"{kind} over {axes} axes", "__module__": __name__, "defaults": defaults,
        "function": f"{function}{axes}d", "shown": tuple(shown.split()),
    }  # fmt: skip
    return type(f"{kind}{axes}d", (WindowPool,), members)


def _pool(kind: str, function: str, axes: int, shown: str = "", **defaults: Any) -> type[Wrapped]:
    name = f"{kind}{axes}d"
    return wrap_function(name, f"{function}{axes}d", f"{kind} over {axes} axes", shown, **defaults)


_MAXIMUM_SHOWN = "kernel_size stride padding dilation ceil_mode"
_AVERAGE_SHOWN = "kernel_size stride padding"
_DIVIDED = {**_AVERAGE, "divisor_override": None}

MaxPool1d = _window_pool("MaxPool", "max_pool", 1, _MAXIMUM_SHOWN, _MAXIMUM)
MaxPool2d = _window_pool("MaxPool", "max_pool", 2, _MAXIMUM_SHOWN, _MAXIMUM)
MaxPool3d = _window_pool("MaxPool", "max_pool", 3, _MAXIMUM_SHOWN, _MAXIMUM)
AvgPool2d = _window_pool("AvgPool", "avg_pool", 2, _AVERAGE_SHOWN, _DIVIDED)
AvgPool3d = _window_pool("AvgPool", "avg_pool", 3, _AVERAGE_SHOWN, _DIVIDED)


class AvgPool1d(WindowPool):
    """Means over one axis.

    >>> nn.AvgPool1d(2)(Tensor([[1.0, 3.0, 5.0, 7.0]])).tolist()
    [[2.0, 6.0]]
    """

    function = "avg_pool1d"
    defaults = _AVERAGE
    shown = tuple(_AVERAGE_SHOWN.split())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.shown:
            given = getattr(self, name)
            setattr(self, name, tuple(given) if isinstance(given, tuple | list) else (given,))


LPPool1d = _pool("LPPool", "lp_pool", 1, " ".join(_POWER), **_POWER)
LPPool2d = _pool("LPPool", "lp_pool", 2, " ".join(_POWER), **_POWER)
LPPool3d = _pool("LPPool", "lp_pool", 3, " ".join(_POWER), **_POWER)
AdaptiveAvgPool1d = _pool(
    "AdaptiveAvgPool", "adaptive_avg_pool", 1, "output_size", output_size=REQUIRED
)
AdaptiveAvgPool2d = _pool(
    "AdaptiveAvgPool", "adaptive_avg_pool", 2, "output_size", output_size=REQUIRED
)
AdaptiveAvgPool3d = _pool(
    "AdaptiveAvgPool", "adaptive_avg_pool", 3, "output_size", output_size=REQUIRED
)
AdaptiveMaxPool1d = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool", 1, "output_size",
    output_size=REQUIRED, return_indices=False,
)
AdaptiveMaxPool2d = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool", 2, "output_size",
    output_size=REQUIRED, return_indices=False,
)
AdaptiveMaxPool3d = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool", 3, "output_size",
    output_size=REQUIRED, return_indices=False,
)
FractionalMaxPool2d = _pool("FractionalMaxPool", "fractional_max_pool", 2, **_FRACTIONAL)
FractionalMaxPool3d = _pool("FractionalMaxPool", "fractional_max_pool", 3, **_FRACTIONAL)

class Upsample(Wrapped):
    """Resizes the axes after the channels.

    >>> nn.Upsample(scale_factor=2)(ogive.ones(1, 1, 2)).shape
    (1, 1, 4)
    """

    function = "interpolate"
    defaults = {
        "size": None, "scale_factor": None, "mode": "nearest", "align_corners": None,
        "recompute_scale_factor": None,
    }  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        factor = self.settings()["scale_factor"]
        if factor is not None:
            is_one = not isinstance(factor, tuple | list)
            self.scale_factor = float(factor) if is_one else tuple(map(float, factor))

    def extra_repr(self) -> str:
        given = self.settings()
        key = "size" if given["scale_factor"] is None else "scale_factor"
        return f"{key}={given[key]}, mode={given['mode']!r}"


class UpsamplingBilinear2d(Upsample):
    """`Upsample` with mode "bilinear" and aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class UpsamplingNearest2d(Upsample):
    """`Upsample` by repetition."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


ChannelShuffle = wrap_function(
    "ChannelShuffle", "channel_shuffle", "channels of several groups take turns", "groups",
    groups=REQUIRED,
)
PixelShuffle = wrap_function(
    "PixelShuffle", "pixel_shuffle", "channels become pixels", "upscale_factor",
    upscale_factor=REQUIRED
)
PixelUnshuffle = wrap_function(
    "PixelUnshuffle", "pixel_unshuffle", "pixels become channels", "downscale_factor",
    downscale_factor=REQUIRED
)
Unfold = wrap_function(
    "Unfold", "unfold", "every window as a column", "kernel_size dilation padding stride",
    kernel_size=REQUIRED, dilation=1, padding=0, stride=1,
)  # fmt: skip
Fold = wrap_function(
    "Fold", "fold", "columns put back and summed as windows",
    "output_size kernel_size dilation padding stride",
    output_size=REQUIRED, kernel_size=REQUIRED, dilation=1, padding=0, stride=1,
)  # fmt: skip


class Unpool(Wrapped):
    """Puts values back where `MaxPool` found them. Called with values, positions and a size."""

    axes: int

    def forward(self, x: Any, *others: Any) -> Any:
        indices, *size = others
        output_size = size[0] if size else None
        unpool = getattr(functional, self.function)
        return unpool(x, indices, **self.settings(), output_size=output_size)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.settings().items():
            value = self.settings()["kernel_size"] if value is None else value
            spread = tuple(value) if isinstance(value, tuple | list) else (value,) * self.axes
            setattr(self, name, spread)


def _unpool(axes: int) -> type[Unpool]:
    members = {
        "__doc__": f"MaxPool{axes}d undone", "__module__": __name__,
        "function": f"max_unpool{axes}d",
        "defaults": {"kernel_size": REQUIRED, "stride": None, "padding": 0}, "axes": axes,
        "shown": ("kernel_size", "stride", "padding"),
    }  # fmt: skip
    return type(f"MaxUnpool{axes}d", (Unpool,), members)


MaxUnpool1d = _unpool(1)
MaxUnpool2d = _unpool(2)
MaxUnpool3d = _unpool(3)


class Padding(Wrapped):
    """Pads the last axes: by one width on all sides, or by widths from the last axis backwards."""

    function = "pad"
    defaults = {"padding": REQUIRED}
    mode = "constant"
    axes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        width = self.settings()["padding"]
        given = isinstance(width, tuple | list)
        self.padding = tuple(width) if given else (width,) * (2 * self.axes)

    def forward(self, x: Any, *others: Any) -> Any:
        return x.pad(list(self.padding), mode=self.mode, value=getattr(self, "value", 0))

    def extra_repr(self) -> str:
        return super().extra_repr() if self.shown else str(self.padding)


def _padding(kind: str, axes: int, mode: str, **defaults: Any) -> type[Padding]:
    members = {
        "__doc__": f"{kind} around {axes} axes", "__module__": __name__, "mode": mode,
        "axes": axes, "defaults": {"padding": REQUIRED, **defaults},
        "shown": ("padding", *defaults) if defaults else (),
    }  # fmt: skip
    return type(f"{kind}Pad{axes}d", (Padding,), members)


ZeroPad1d = _padding("Zero", 1, "constant")
ZeroPad2d = _padding("Zero", 2, "constant")
ZeroPad3d = _padding("Zero", 3, "constant")
ConstantPad1d = _padding("Constant", 1, "constant", value=REQUIRED)
ConstantPad2d = _padding("Constant", 2, "constant", value=REQUIRED)
ConstantPad3d = _padding("Constant", 3, "constant", value=REQUIRED)
ReflectionPad1d = _padding("Reflection", 1, "reflect")
ReflectionPad2d = _padding("Reflection", 2, "reflect")
ReflectionPad3d = _padding("Reflection", 3, "reflect")
ReplicationPad1d = _padding("Replication", 1, "replicate")
ReplicationPad2d = _padding("Replication", 2, "replicate")
ReplicationPad3d = _padding("Replication", 3, "replicate")
CircularPad1d = _padding("Circular", 1, "circular")
CircularPad2d = _padding("Circular", 2, "circular")
CircularPad3d = _padding("Circular", 3, "circular")
