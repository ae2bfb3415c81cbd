"""Operators of PyTorch that `ogive` has in other forms: copies of views, views by strides, layers
that also return statistics, modes as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ogive
from ogive.compiler.live.registry import graph_lock
from ogive.eager.shapes.elements import show_strided
from ogive.errors import ArgumentError
from ogive.nn import functional
from ogive.tensor.core import wrap
from ogive.tensor.memory import views
from ogive.tensor.memory.strided_views import span_of, strided
from ogive.tensor.tensor import Tensor
from ogive.torch.names import COPIES, OPERATORS

__all__ = [*COPIES, *OPERATORS]

igamma = ogive.special.gammainc
igammac = ogive.special.gammaincc
GRID_MODES = ("bilinear", "nearest", "bicubic")
GRID_PADDINGS = ("zeros", "border", "reflection")


def _copy_of(method: str) -> Callable[..., Any]:
    """A function that copies what the view `method` shows; or each part, for a view in parts."""

    def copied(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        views = input if method == "alias" else getattr(input, method)(*args, **kwargs)
        return views.clone() if isinstance(views, Tensor) else [each.clone() for each in views]

    copied.__name__ = copied.__qualname__ = f"{method}_copy"
    copied.__doc__ = f"`{method}` of a tensor, in memory of its own."
    return copied


for _name in COPIES:
    globals()[_name] = _copy_of(_name.removesuffix("_copy"))


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """The elements of a tensor's storage at `storage_offset` plus multiples of `stride`.

    >>> ogive.torch.as_strided(ogive.torch.arange(6), (2, 2), (2, 1), 1).tolist()
    [[1, 2], [3, 4]]

    Raises `ArgumentError` if the storage has too few elements, or if the tensor is a view and
    `storage_offset` is not given.
    """
    shape, steps, begin = tuple(size), tuple(stride), storage_offset or 0
    if input.is_eager:
        view = show_strided(input, shape, steps, begin, as_strided)
        if view is not None:
            return view
    with graph_lock:
        storage = views.shared_storage(input)
        whole = input if storage is None else wrap(storage.node, storage.device)
    if storage is not None and storage_offset is None and whole.shape != input.shape:
        raise ArgumentError("as_strided of a view: say where it begins, by storage_offset")
    flat, span = whole.reshape(-1), span_of(shape, steps)
    if begin + span > flat.shape[0]:
        raise ArgumentError(
            f"as_strided: the shape {shape} with the strides {steps} from {begin} on needs "
            f"{begin + span} elements, but the storage has {flat.shape[0]}"
        )
    return strided(flat[begin : begin + span], shape, steps)


def as_strided_copy(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy of what `as_strided` shows."""
    return as_strided(input, size, stride, storage_offset).clone()


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy of a tensor with `src` at the elements that `as_strided` shows."""
    positions = ogive.arange(input.numel()).contiguous().realize()
    chosen = as_strided(positions, size, stride, storage_offset or 0).reshape(-1)
    changed = input.reshape(-1).index_put((chosen,), src.reshape(-1))
    return changed.reshape(*input.shape)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` filled with `value`. No gradient flows to `input`."""
    everywhere = ogive.ones(*input.shape, dtype="bool")
    filled = value if isinstance(value, Tensor) else ogive.full_like(input, value)
    return ogive.where(everywhere, filled.to(input.dtype), input)


def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, with the means and the reciprocal deviations that it used."""
    axes = tuple(range(-len(normalized_shape), 0))
    mean = input.mean(axes, keepdim=True)
    rate = (input.var(axes, correction=0, keepdim=True) + eps).rsqrt()
    return functional.layer_norm(input, normalized_shape, weight, bias, eps), mean, rate


def native_batch_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`batch_norm`, with the means and the reciprocal deviations of the batch, if it used them.

    Shapes: (n, channels, ...), then (channels,), or (0,) if the running statistics were used.
    """
    given = (input, running_mean, running_var, weight, bias, training, momentum, eps)
    axes = (0, *range(2, input.ndim))
    mean, rate = ogive.zeros(0, dtype=input.dtype), ogive.zeros(0, dtype=input.dtype)
    if training:
        mean, rate = input.mean(axes), (input.var(axes, correction=0) + eps).rsqrt()
    return functional.batch_norm(*given), mean, rate


_native_batch_norm_legit = native_batch_norm


def native_group_norm(
    input: Tensor, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, with the means and the reciprocal deviations that it used."""
    grouped = input.reshape(N, group, HxW * (C // group))
    rate = (grouped.var(-1, correction=0) + eps).rsqrt()
    return functional.group_norm(input, group, weight, bias, eps), grouped.mean(-1), rate


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient of a dropout that kept the elements in `mask`."""
    return grad_output * mask * scale


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`grid_sample` with its modes as numbers."""
    modes = GRID_MODES[interpolation_mode], GRID_PADDINGS[padding_mode]
    samples: Tensor = functional.grid_sample(input, grid, *modes, align_corners)
    return samples


grid_sampler_2d = grid_sampler_3d = grid_sampler


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The LU factors of matrices and their pivots; with `get_infos` also whether they exist."""
    factors = ogive.linalg.lu_factor_ex(A, pivot=pivot)
    return factors if get_infos else factors[:2]


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution of A x = b, given the LU factors of A."""
    solution: Tensor = ogive.linalg.lu_solve(LU_data, LU_pivots, b)
    return solution


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """The gradient of a softmax, given its result `output`."""
    product = grad_output * output
    return (product - output * product.sum(dim, keepdim=True)).to(input_dtype)


def _chunk_cat(tensors: Any, dim: int, num_chunks: int) -> Tensor:
    """Divide tensors into chunks, padded with zeros, and concatenate them chunk by chunk."""
    parts = []
    for tensor in tensors:
        size = -(-tensor.shape[dim] // num_chunks)
        missing = size * num_chunks - tensor.shape[dim]
        pads = [0, 0] * (tensor.ndim - 1 - dim) + [0, missing]
        filled = functional.pad(tensor, pads)
        parts.append(filled.reshape(*tensor.shape[:dim], num_chunks, -1))
    return ogive.cat(parts, dim + 1)


def _inside(input: Tensor, indices: Any) -> tuple[Any, ...]:
    """Clamp positions into range, since masked positions may have any value."""
    sizes = zip(indices, input.shape, strict=False)
    return tuple(slice(None) if i is None else i.clamp(-n, n - 1) for i, n in sizes)


def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: float) -> Tensor:
    """The elements at `indices` where `mask` is True, and `fill` elsewhere."""
    elements: Tensor = input[_inside(input, indices)]
    return elements.masked_fill(mask.logical_not(), fill)


def _unsafe_masked_index_put_accumulate(
    input: Tensor, mask: Tensor, indices: Any, values: Tensor
) -> Tensor:
    """A tensor with `values` added at `indices` where `mask` is True."""
    changed = input.clone()
    kept = values.masked_fill(mask.logical_not(), 0)
    return changed.index_put_(_inside(input, indices), kept, accumulate=True)
