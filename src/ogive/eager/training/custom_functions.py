"""Operations with gradients of their own (`autograd.Function`) over eager tensors.

`forward` runs on eager tensors, and so does `backward` when the tape comes to it.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.autograd import function
from ogive.autograd.mode import no_grad
from ogive.eager.forms import Form, is_captured, is_recording, save
from ogive.eager.gradients.records import Record
from ogive.eager.tensors import give, take_up
from ogive.errors import GradientError
from ogive.tensor.tensor import Tensor


def perform(own: type[function.Function], args: tuple[Any, ...]) -> Any:
    """`own.apply(*args)`, at once where all tensors are eager, and so is the one result."""
    places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
    tensors = [args[place] for place in places]
    if is_captured() or not all(tensor.is_eager or take_up(tensor) for tensor in tensors):
        return function.perform(own, args)
    context = function.Context(args)
    with no_grad():
        output = own._run(context, args)
    if not isinstance(output, Tensor) or not output.is_eager or function.is_in(output, tensors):
        return function.differentiable(own, args, context, output)
    if function.is_in(output, context.plain) or not is_recording():
        return give(output.value.copy())
    sources = tuple([tensor.record for tensor in tensors])
    if not any(sources) or output.value.dtype.kind != "f":
        return give(output.value.copy())
    arrays = [tensor.value for tensor in tensors]
    save(tensors, arrays)

    def repeat(*others: Tensor) -> Tensor:
        given = list(args)
        for place, tensor in zip(places, others, strict=True):
            given[place] = tensor
        made: Tensor = function.perform(own, tuple(given))
        return made

    def gradients(upstream: Any, out: Any, *operands: Any) -> list[Any]:
        with no_grad():
            found = own._back(context, (give(upstream),), places, len(args))
        pairs = zip(found, operands, strict=True)
        return [None if part is None else _fitting(own, part, array) for part, array in pairs]

    form = Form(repeat, perform, False, False)
    form.gradient = gradients
    out = output.value.copy()
    return give(out, Record(form, tuple(arrays), {}, out, sources))


def _fitting(own: type[function.Function], part: Tensor, operand: Any) -> Any:
    """A gradient that `backward` gave, as an array. Raises `GradientError`."""
    array = part.value if part.is_eager else part.detach().numpy()
    if array.shape != operand.shape:
        raise GradientError(
            f"{own.__name__}.backward gave a gradient of shape {tuple(array.shape)} for an "
            f"argument of shape {tuple(operand.shape)}; they must be equal"
        )
    return numpy.asarray(array, operand.dtype)


CALLS = {function.perform: perform}
