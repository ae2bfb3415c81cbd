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


def _pool(kind: str, function: str, axes: int, **defaults: Any) -> type[Wrapped]:
    name = f"{kind}{axes}d"
    return wrap_function(name, f"{function}{axes}d", f"{kind} over {axes} axes", **defaults)


MaxPool1d = _pool("MaxPool", "max_pool", 1, **_MAXIMUM)
MaxPool2d = _pool("MaxPool", "max_pool", 2, **_MAXIMUM)
MaxPool3d = _pool("MaxPool", "max_pool", 3, **_MAXIMUM)
AvgPool1d = _pool("AvgPool", "avg_pool", 1, **_AVERAGE)
AvgPool2d = _pool("AvgPool", "avg_pool", 2, **_AVERAGE, divisor_override=None)
AvgPool3d = _pool("AvgPool", "avg_pool", 3, **_AVERAGE, divisor_override=None)
LPPool1d = _pool("LPPool", "lp_pool", 1, **_POWER)
LPPool2d = _pool("LPPool", "lp_pool", 2, **_POWER)
LPPool3d = _pool("LPPool", "lp_pool", 3, **_POWER)
AdaptiveAvgPool1d = _pool("AdaptiveAvgPool", "adaptive_avg_pool", 1, output_size=REQUIRED)
AdaptiveAvgPool2d = _pool("AdaptiveAvgPool", "adaptive_avg_pool", 2, output_size=REQUIRED)
AdaptiveAvgPool3d = _pool("AdaptiveAvgPool", "adaptive_avg_pool", 3, output_size=REQUIRED)
AdaptiveMaxPool1d = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool", 1, output_size=REQUIRED, return_indices=False
)
AdaptiveMaxPool2d = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool", 2, output_size=REQUIRED, return_indices=False
)
AdaptiveMaxPool3d = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool", 3, output_size=REQUIRED, return_indices=False
)
FractionalMaxPool2d = _pool("FractionalMaxPool", "fractional_max_pool", 2, **_FRACTIONAL)
FractionalMaxPool3d = _pool("FractionalMaxPool", "fractional_max_pool", 3, **_FRACTIONAL)

Upsample = wrap_function(
    "Upsample", "interpolate", "larger or smaller along the axes after the channels",
    size=None, scale_factor=None, mode="nearest", align_corners=None,
    recompute_scale_factor=None,
)  # fmt: skip
UpsamplingBilinear2d = wrap_function(
    "UpsamplingBilinear2d", "upsample_bilinear", "`Upsample` whose corners keep their place",
    size=None, scale_factor=None,
)  # fmt: skip
UpsamplingNearest2d = wrap_function(
    "UpsamplingNearest2d", "upsample_nearest", "`Upsample` by repetition",
    size=None, scale_factor=None,
)  # fmt: skip
ChannelShuffle = wrap_function(
    "ChannelShuffle", "channel_shuffle", "channels of several groups take turns", groups=REQUIRED
)
PixelShuffle = wrap_function(
    "PixelShuffle", "pixel_shuffle", "channels become pixels", upscale_factor=REQUIRED
)
PixelUnshuffle = wrap_function(
    "PixelUnshuffle", "pixel_unshuffle", "pixels become channels", downscale_factor=REQUIRED
)
Unfold = wrap_function(
    "Unfold", "unfold", "every window as a column",
    kernel_size=REQUIRED, dilation=1, padding=0, stride=1,
)  # fmt: skip
Fold = wrap_function(
    "Fold", "fold", "columns put back and summed as windows",
    output_size=REQUIRED, kernel_size=REQUIRED, dilation=1, padding=0, stride=1,
)  # fmt: skip


class Unpool(Wrapped):
    """Values put back where `MaxPool` found them; called with values, positions and a size."""

    def forward(self, x: Any, *others: Any) -> Any:
        indices, *size = others
        output_size = size[0] if size else None
        unpool = getattr(functional, self.function)
        return unpool(x, indices, **self.settings(), output_size=output_size)


def _unpool(axes: int) -> type[Unpool]:
    members = {
        "__doc__": f"MaxPool{axes}d undone", "__module__": __name__,
        "function": f"max_unpool{axes}d",
        "defaults": {"kernel_size": REQUIRED, "stride": None, "padding": 0},
    }  # fmt: skip
    return type(f"MaxUnpool{axes}d", (Unpool,), members)


MaxUnpool1d = _unpool(1)
MaxUnpool2d = _unpool(2)
MaxUnpool3d = _unpool(3)


class Padding(Wrapped):
    """Values around the last axes: as many on all sides, or given from the last axis back."""

    function = "pad"
    defaults = {"padding": REQUIRED}
    mode = "constant"
    axes: int

    def forward(self, x: Any, *others: Any) -> Any:
        width = self.settings()["padding"]
        given = isinstance(width, tuple | list)
        widths = list(width) if given else [width] * (2 * self.axes)
        return x.pad(widths, mode=self.mode, value=getattr(self, "value", 0))


def _padding(kind: str, axes: int, mode: str, **defaults: Any) -> type[Padding]:
    members = {
        "__doc__": f"{kind} around {axes} axes", "__module__": __name__, "mode": mode,
        "axes": axes, "defaults": {"padding": REQUIRED, **defaults},
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
