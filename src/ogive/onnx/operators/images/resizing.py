"""Images: resized, sampled at places, and boxes in them."""

from __future__ import annotations

import math

import numpy

from ogive.nn.layers.images.grids import affine_grid as make_affine_grid
from ogive.nn.layers.images.grids import grid_sample as sample_at
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.elements import Array
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor


@operator("Upsample")
def upsample(c: Call) -> Value:
    scales = c.get("scales") or c.array(1).tolist()
    return _resize_old(c, scales)


@operator("Resize", until=11)
def resize_by_scales(c: Call) -> Value:
    return _resize_old(c, c.array(1).tolist())


def _resize_old(c: Call, scales: list[float]) -> Value:
    """As resizing was before there was a choice of coordinates."""
    x = c.tensor(0)
    for axis, scale in enumerate(scales):
        if scale == 1:
            continue
        length = math.floor(shape_of(x)[axis] * scale)
        plan = _Axis(shape_of(x)[axis], length, scale, "asymmetric", None)
        x = plan.apply(x, axis, c.get("mode", "nearest"), "floor", -0.75, False, False)
    return x


@operator("Resize", since=11)
def resize(c: Call) -> Value:
    x = c.tensor(0)
    lengths = shape_of(x)
    axes = [axis % x.ndim for axis in c.get("axes") or range(x.ndim)]
    scales, sizes = _scales_and_sizes(c, [lengths[axis] for axis in axes])
    mode = c.get("coordinate_transformation_mode", "half_pixel")
    roi = c.array(1).tolist() if mode == "tf_crop_and_resize" else None
    wide = x if x.dtype.is_float else x.cast("float32")
    for place, axis in enumerate(axes):
        part = None if roi is None else (roi[place], roi[place + len(axes)])
        if sizes[place] == lengths[axis] and scales[place] == 1 and part in (None, (0.0, 1.0)):
            continue
        plan = _Axis(lengths[axis], sizes[place], scales[place], mode, part)
        wide = plan.apply(
            wide, axis, c.get("mode", "nearest"), c.get("nearest_mode", "round_prefer_floor"),
            c.get("cubic_coeff_a", -0.75), c.flag("exclude_outside"), c.flag("antialias"),
            c.get("extrapolation_value", 0.0),
        )  # fmt: skip
    return wide if x.dtype.is_float else _to_whole(wide, x)


def _to_whole(floats: Tensor, like: Tensor) -> Tensor:
    bounds = numpy.iinfo(like.dtype.name)
    return floats.round().clamp(int(bounds.min), int(bounds.max)).cast(like.dtype)


def _scales_and_sizes(c: Call, lengths: list[int]) -> tuple[list[float], list[int]]:
    if c.has(2) and c.array(2).size:
        scales = [float(scale) for scale in c.array(2)]
        sizes = [
            each if scale == 1 else int(each * scale)
            for each, scale in zip(lengths, scales, strict=True)
        ]
        return scales, sizes
    sizes = c.integers(3)
    scales = [
        1.0 if size is length else size / length
        for size, length in zip(sizes, lengths, strict=True)
    ]
    policy = c.get("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        scale = min(scales) if policy == "not_larger" else max(scales)
        scales = [scale] * len(scales)
        sizes = [int(scale * length + 0.5) for length in lengths]
    return scales, sizes


class _Axis:
    """The places of the new elements of one axis among the old ones."""

    def __init__(
        self, length: int, size: int, scale: float, mode: str, roi: tuple[float, float] | None
    ) -> None:
        self.length, self.size, self.scale = length, size, scale
        places = numpy.arange(size, dtype=numpy.float64)
        exact = scale * length
        self.outside: Array | None = None
        if mode == "align_corners":
            self.places = places * 0 if exact == 1 else places * (length - 1) / (exact - 1)
        elif mode == "asymmetric":
            self.places = places / scale
        elif mode == "tf_crop_and_resize":
            assert roi is not None, "this mode has a region"
            span = (roi[1] - roi[0]) * (length - 1)
            inner = places * span / (exact - 1) if exact != 1 else places * 0 + span / 2
            self.places = inner + roi[0] * (length - 1)
            self.outside = (self.places < 0) | (self.places > length - 1)
        elif mode == "pytorch_half_pixel" and exact == 1:
            self.places = places * 0 - 0.5
        else:
            self.places = (places + 0.5) / scale - 0.5
            if mode == "half_pixel_symmetric":
                self.places = self.places + length / 2 * (1 - size / exact)

    def apply(
        self, x: Tensor, axis: int, mode: str, nearest: str, cubic: float, exclude: bool,
        antialias: bool, beyond: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """The new elements: for each a few old ones, weighted."""
        base = numpy.floor(self.places)
        ratios = numpy.where(self.places == base, 1.0, self.places - base)
        scale = min(self.scale, 1.0) if antialias else 1.0
        weights = numpy.array(
            [_weights(ratio, scale, mode, nearest, cubic) for ratio in ratios.tolist()]
        )
        count = weights.shape[1] if self.size else 1
        first = numpy.where(self.places == base, base - 1, base) - (count // 2 - 1)
        index = first[:, None] + numpy.arange(count)
        if exclude:
            weights = numpy.where((index < 0) | (index >= self.length), 0.0, weights)
            total = weights.sum(1, keepdims=True)
            weights = weights / numpy.where(total == 0, 1.0, total)
        index = index.clip(0, self.length - 1)
        lengths = shape_of(x)
        before, after = lengths[:axis], lengths[axis + 1 :]
        resampled = _weigh(x, axis, index, weights).reshape(*before, self.size, *after)
        if self.outside is None:
            return resampled
        mask = Tensor.from_numpy(self.outside).reshape(*[1] * axis, -1, *[1] * len(after))
        return (resampled * 0 + beyond).where(mask, resampled)


def _weigh(x: Tensor, axis: int, index: Array, weights: Array) -> Tensor:
    rank = x.ndim
    if set(numpy.unique(weights)) <= {0.0, 1.0}:  # one element each
        chosen = numpy.take_along_axis(index, weights.argmax(1)[:, None], 1)[:, 0]
        return x.index_select(axis, index_tensor(chosen))
    total: Tensor | None = None
    for place in range(index.shape[1]):
        factor = Tensor.from_numpy(numpy.array(weights[:, place])).cast(x.dtype)
        factor = factor.reshape(*[1] * axis, -1, *[1] * (rank - 1 - axis))
        part = x.index_select(axis, index_tensor(index[:, place])) * factor
        total = part if total is None else total + part
    assert total is not None, "a kernel has elements"
    return total


def _weights(ratio: float, scale: float, mode: str, nearest: str, cubic: float) -> list[float]:
    if mode == "nearest":
        return _nearest_weights(ratio, nearest)
    reach = 1 if mode == "linear" else 2
    start = math.floor(-reach / scale) + 1
    arguments = [abs((place - ratio) * scale) for place in range(start, 2 - start)]
    if mode == "linear":
        weights = [max(1 - argument, 0.0) for argument in arguments]
    else:
        weights = [_cubic_weight(argument, cubic) for argument in arguments]
    total = sum(weights)
    return [each / total for each in weights] if scale < 1 else weights


def _nearest_weights(ratio: float, nearest: str) -> list[float]:
    if ratio == 1:
        return [0.0, 1.0]
    takes_next = {
        "round_prefer_floor": ratio > 0.5, "round_prefer_ceil": ratio >= 0.5, "floor": False,
        "ceil": True,
    }[nearest]  # fmt: skip
    return [0.0, 1.0] if takes_next else [1.0, 0.0]


def _cubic_weight(x: float, a: float) -> float:
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0


@operator("GridSample")
def grid_sample(c: Call) -> Value:
    modes = {"linear": "bilinear", "cubic": "bicubic"}
    mode = c.get("mode", "linear" if c.version >= 20 else "bilinear")
    padding = c.get("padding_mode", "zeros")
    aligned = c.flag("align_corners")
    return sample_at(c.tensor(0), c.tensor(1), modes.get(mode, mode), padding, aligned)


@operator("AffineGrid")
def affine_grid(c: Call) -> Value:
    return make_affine_grid(c.tensor(0), tuple(c.integers(1)), c.flag("align_corners"))


@operator("NonMaxSuppression")
def non_max_suppression(c: Call) -> Value:
    boxes, scores = c.array(0), c.array(1)
    limit = int(c.number(2)) if c.has(2) else 0
    overlap = float(c.number(3)) if c.has(3) else 0.0
    least = float(c.number(4)) if c.has(4) else None
    chosen_boxes: list[tuple[int, int, int]] = []
    for batch, by_class in enumerate(scores):
        corners = _corners(boxes[batch], c.flag("center_point_box"))
        for kind, row in enumerate(by_class):
            kept = _keep(corners, row, limit, overlap, least)
            chosen_boxes += [(batch, kind, place) for place in kept]
    return numpy.array(chosen_boxes, numpy.int64).reshape(-1, 3)


def _corners(boxes: Array, by_center: bool) -> Array:
    """Boxes as their least and greatest corners."""
    if by_center:
        return numpy.concatenate(
            [boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1
        )
    first, second = boxes[:, :2], boxes[:, 2:]
    return numpy.concatenate([numpy.minimum(first, second), numpy.maximum(first, second)], 1)


def _keep(
    corners: Array, scores: Array, limit: int, overlap: float, least: float | None
) -> list[int]:
    """The best boxes that do not overlap a better one."""
    kept: list[int] = []
    for place in numpy.argsort(-scores, kind="stable").tolist():
        if len(kept) >= limit or (least is not None and not scores[place] > least):
            break
        if not any(_shared(corners[place], corners[other]) > overlap for other in kept):
            kept.append(place)
    return kept


def _shared(one: Array, other: Array) -> float:
    """The part that two boxes share of all that they cover together."""
    low, high = numpy.maximum(one[:2], other[:2]), numpy.minimum(one[2:], other[2:])
    inside = float(numpy.prod(numpy.maximum(high - low, 0)))
    both = float(numpy.prod(one[2:] - one[:2]) + numpy.prod(other[2:] - other[:2]))
    return inside / (both - inside) if inside > 0 else 0.0
