"""Rules of second derivatives for functions that move, choose or pick elements.

    y = x.narrow(0, 1, 2)      its gradient: zeros like x, with y's gradient at 1 and 2
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.forms import Refused
from ogive.eager.gradients.second_derivatives import fit, rule, sides
from ogive.eager.tensors import give
from ogive.tensor.core import Core
from ogive.tensor.elementwise import arithmetic, pairwise
from ogive.tensor.indexing import scattering
from ogive.tensor.movement import basic_movements, derived_movements, diagonals, joining
from ogive.tensor.reduction import log_sum_exp
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import conversion


def _zeros(x: Any) -> Tensor:
    return give(numpy.zeros(x.value.shape, x.value.dtype))


@rule(derived_movements.narrow)
def _narrow(given: Any, out: Any, x: Any, dim: Any, start: Any, length: Any) -> Any:
    def spread() -> Any:
        made = _zeros(x)
        made[(*[slice(None)] * (dim % x.value.ndim), slice(start, start + length))] = given
        return made

    if start < 0:
        raise Refused
    return [spread]


@rule(derived_movements.select)
def _select(given: Any, out: Any, x: Any, dim: Any, index: Any) -> Any:
    def spread() -> Any:
        made = _zeros(x)
        made[(*[slice(None)] * (dim % x.value.ndim), index)] = given
        return made

    return [spread]


@rule(basic_movements.permute)
def _permute(given: Any, out: Any, x: Any, *dims: Any) -> Any:
    order = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    rank = x.value.ndim
    back = numpy.argsort([axis % rank for axis in order]).tolist()
    return [lambda: given.permute(*back)]


@rule(basic_movements.flip)
def _flip(given: Any, out: Any, x: Any, *axes: Any, dims: Any = ()) -> Any:
    return [lambda: given.flip(*axes) if axes else given.flip(dims)]


@rule(diagonals.tril)
def _tril(given: Any, out: Any, x: Any, diagonal: Any = 0) -> Any:
    return [lambda: given.tril(diagonal)]


@rule(diagonals.triu)
def _triu(given: Any, out: Any, x: Any, diagonal: Any = 0) -> Any:
    return [lambda: given.triu(diagonal)]


@rule(conversion.cast)
def _cast(given: Any, out: Any, x: Any, dtype: Any) -> Any:
    return [lambda: given.to(x.dtype)]


@rule(joining.where)
def _where(given: Any, out: Any, condition: Any, if_true: Any, if_false: Any) -> Any:
    chosen = sides(
        if_true, if_false,
        lambda: given.masked_fill(~condition, 0), lambda: given.masked_fill(condition, 0),
    )  # fmt: skip
    return [None, *chosen]


@rule(pairwise.where)
def _where_method(given: Any, out: Any, x: Any, condition: Any, other: Any) -> Any:
    _, first, *rest = _where(given, out, condition, x, other)
    return [first, None, *rest]


def _held(given: Any, x: Any, low: Any, high: Any) -> Any:
    if isinstance(low, Core) or isinstance(high, Core):
        raise Refused
    values = x.value
    is_free = values == values
    if low is not None:
        is_free &= values >= low
    if high is not None:
        is_free &= values <= high
    return [lambda: given * give(is_free.astype(values.dtype))]


@rule(arithmetic.clamp)
def _clamp(given: Any, out: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    return _held(given, x, min, max)


@rule(arithmetic.clamp_min)
def _clamp_min(given: Any, out: Any, x: Any, min: Any) -> Any:
    return _held(given, x, min, None)


@rule(arithmetic.clamp_max)
def _clamp_max(given: Any, out: Any, x: Any, max: Any) -> Any:
    return _held(given, x, None, max)


@rule(scattering.gather)
def _gather(given: Any, out: Any, x: Any, dim: Any, index: Any, *, sparse_grad: Any = False) -> Any:
    return [lambda: _zeros(x).scatter_add(dim, index, given), None]


@rule(scattering.index_select)
def _index_select(given: Any, out: Any, x: Any, dim: Any, index: Any) -> Any:
    return [lambda: _zeros(x).index_add(dim, index, given), None]


@rule(log_sum_exp.logsumexp)
def _logsumexp(given: Any, out: Any, x: Any, dim: Any, keepdim: Any = False) -> Any:
    if not isinstance(dim, int):
        raise Refused
    kept, above = (out, given) if keepdim else (out.unsqueeze(dim), given.unsqueeze(dim))
    return [lambda: fit(above * (x - kept).exp(), x)]
