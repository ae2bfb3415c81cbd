"""Second derivatives of functions that are affine in each of their tensors.

    y = f(x, w)              a convolution, a product, a part, a sum of rows by number
    g = dy · ∂f/∂x           its gradient for x: linear in dy, affine in w, without x
    dg·h for dy              f(h, w) - f(0, w)
    dg·h for w               dy · ∂f(h, w)/∂w - dy · ∂f(0, w)/∂w

So the form of such a function and its gradient say all that derivatives of any order need. The
gradient is an operation of its own, with a form that is affine itself.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ogive.autograd.tensor_gradients import grad
from ogive.eager.forms import Form, forms
from ogive.eager.gradients.records import Record
from ogive.eager.tensors import give
from ogive.nn.layers.images import grids
from ogive.tensor.elementwise import arithmetic, pairwise
from ogive.tensor.indexing import scattering, selection
from ogive.tensor.linear_algebra import einsum, matrix_product, named_products
from ogive.tensor.movement import derived_movements, diagonals, padding, repeating
from ogive.tensor.neural import (
    adaptive_pooling,
    convolutions,
    im2col,
    resize,
    table_lookup,
    window_pooling,
)
from ogive.tensor.reduction import scanning
from ogive.tensor.tensor import Tensor

_AFFINE = (
    arithmetic.lerp, pairwise.addcmul,
    scattering.index_add, scattering.index_copy, scattering.index_fill, scattering.index_put,
    scattering.put, scattering.scatter, scattering.scatter_add, scattering.take,
    scattering.take_along_dim, selection.masked_scatter, selection.masked_select,
    table_lookup.embedding, derived_movements.unfold, diagonals.diag, diagonals.diag_embed,
    diagonals.diagonal, diagonals.trace, padding.pad, repeating.repeat,
    repeating.repeat_interleave, repeating.roll, scanning.cumsum,
    einsum.einsum, einsum.tensordot, matrix_product.reflected_matmul, named_products.addmm,
    named_products.addmv, named_products.baddbmm, named_products.bilinear, named_products.cross,
    named_products.inner, named_products.outer, named_products.vdot,
    convolutions.conv1d, convolutions.conv2d, convolutions.conv3d, convolutions.conv_transpose1d,
    convolutions.conv_transpose2d, convolutions.conv_transpose3d,
    im2col.fold_windows, im2col.unfold_windows, window_pooling.avg_pool1d,
    window_pooling.avg_pool2d, window_pooling.avg_pool3d, adaptive_pooling.adaptive_avg_pool1d,
    adaptive_pooling.adaptive_avg_pool2d, adaptive_pooling.adaptive_avg_pool3d,
    resize.interpolate, grids.affine_grid,
)  # fmt: skip
"""The functions that are affine in each of their tensors, as long as the others stay."""


def let_be_affine() -> None:
    """Mark the forms of these functions."""
    for function in _AFFINE:
        forms[function].is_affine = True


def parts(record: Record, given: Tensor) -> list[Callable[[], Tensor]]:
    """For each array among a record's arguments, a function that computes its gradient."""
    arrays = list(_arrays((*record.args, *record.kwargs.values())))
    return [functools.partial(_part, record, given, place) for place in range(len(arrays))]


def _part(record: Record, given: Tensor, place: int) -> Tensor:
    own, args, kwargs = _gradient_form(record.form, place), record.args, record.kwargs
    out = own.compute(given.value, *args, **kwargs)
    sources = [*record.sources]
    sources[place] = None  # the gradient does not depend on it
    arguments = (given.value, *args)
    return give(out, Record(own, arguments, kwargs, out, (given.record, *sources)))


@functools.cache
def _gradient_form(own: Form, place: int) -> Form:
    """The form of the gradient for the array at `place`, a function of the result's gradient and
    the arguments."""

    def gradient(given: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        tensor = Tensor(numpy.zeros(_at(args, kwargs, place).shape, given.dtype.numpy))
        tensor.requires_grad_()
        called, named = _replaced(args, kwargs, place, tensor)
        (found,) = grad(own.function(*called, **named), tensor, given, create_graph=True)
        assert found is not None
        return found

    made = Form(gradient, functools.partial(_pull, own, place), False, False)
    made.gradient = functools.partial(_gradients, own, place)
    made.is_affine = True
    return made


def _pull(own: Form, place: int, given: Any, *args: Any, **kwargs: Any) -> Any:
    found = own.gradient(given, None, *args, **kwargs)[place]
    return found() if callable(found) else found


def _gradients(
    own: Form, place: int, above: Any, out: Any, given: Any, *args: Any, **kwargs: Any
) -> list[Any]:
    """The gradients of `_pull` for what it takes, from the gradient `above` of what it gives."""
    one = _replaced(args, kwargs, place, above)
    none = _replaced(args, kwargs, place, numpy.zeros_like(above))

    def to_given() -> Any:
        return own.compute(*one[0], **one[1]) - own.compute(*none[0], **none[1])

    def to_other(other: int) -> Callable[[], Any]:
        def difference() -> Any:
            first = _pull(own, other, given, *one[0], **one[1])
            return first - _pull(own, other, given, *none[0], **none[1])

        return difference

    count = len(list(_arrays((*args, *kwargs.values()))))
    return [to_given, *map(to_other, range(count))]


def _arrays(values: Any) -> Iterator[Any]:
    """The arrays and tensors among arguments, in order."""
    for value in values:
        if value.__class__ in (list, tuple):
            yield from _arrays(value)
        elif isinstance(value, numpy.ndarray | Tensor):
            yield value


def _at(args: Any, kwargs: Any, place: int) -> Any:
    return list(_arrays((*args, *kwargs.values())))[place]


def _replaced(args: Any, kwargs: Any, place: int, value: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with another array at `place`."""
    number = itertools.count(-place)

    def put(entry: Any) -> Any:
        if entry.__class__ in (list, tuple):
            return type(entry)([put(each) for each in entry])
        if isinstance(entry, numpy.ndarray | Tensor):
            return value if next(number) == 0 else entry
        return entry

    return [put(entry) for entry in args], {name: put(entry) for name, entry in kwargs.items()}
