"""Custom gradients over eager tensors.

For an `autograd.Function`, `forward` and later `backward` run on eager tensors. So do the library's
functions with known gradients (`with_gradient`). Functions over arrays (`custom`) are called at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ogive.autograd import custom, function
from ogive.autograd.mode import no_grad
from ogive.compiler.devices.python_function import PythonFunction
from ogive.eager.casts import unbroadcast
from ogive.eager.forms import Form, is_captured
from ogive.eager.from_plain import take_up
from ogive.eager.gradients.records import Record
from ogive.eager.operands import is_recording, save
from ogive.eager.tensors import DTYPES, FLOATS, give
from ogive.errors import GradientError
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.gradients import known_gradients
from ogive.tensor.method_functions import plain_functions
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import custom_function


def perform(own: type[function.Function], args: tuple[Any, ...]) -> Any:
    """Call `own.apply(*args)`: at once, if all tensors are eager and there is one eager result."""
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
    if not any(sources) or output.value.dtype.kind not in FLOATS:
        return give(output.value.copy())
    arrays = [tensor.value for tensor in tensors]
    save(tensors, arrays)

    def repeat(*others: Tensor) -> Tensor:
        given = list(args)
        for place, tensor in zip(places, others, strict=True):
            given[place] = tensor
        result: Tensor = function.perform(own, tuple(given))
        return result

    def gradients(upstream: Any, out: Any, *operands: Any) -> list[Any]:
        with no_grad():
            parts = own._back(context, (give(upstream),), places, len(args))
        pairs = zip(parts, operands, strict=True)
        return [None if part is None else _fitting(own, part, array) for part, array in pairs]

    form = Form(repeat, perform, False, False)
    form.gradient = gradients
    out = output.value.copy()
    return give(out, Record(form, tuple(arrays), {}, out, sources))


def _fitting(own: type[function.Function], part: Tensor, operand: Any) -> Any:
    """A gradient that `backward` gave as an array, summed over the axes along which the argument
    was broadcast. Raises `GradientError`."""
    array = part.value if part.is_eager else part.detach().numpy()
    missing = array.ndim - operand.ndim
    own_lengths = zip(operand.shape, array.shape[max(missing, 0) :], strict=False)
    if missing < 0 or any(length not in (1, given) for length, given in own_lengths):
        raise GradientError(
            f"{own.__name__}.backward gave a gradient of shape {tuple(array.shape)} for an "
            f"argument of shape {tuple(operand.shape)}, which does not expand to that"
        )
    return unbroadcast(numpy.asarray(array), operand)


def with_gradient(
    value: Tensor, x: Tensor, back: known_gradients.Back, is_fixed: bool = False
) -> Tensor:
    """`value`, which was computed from `x`, with `back` as its gradient function."""
    if is_captured() or not x.is_eager or not value.is_eager:
        result: Tensor = _plainly(value, x, back, is_fixed)
        return result
    array = value.value.copy()
    if x.record is None or not is_recording():
        return give(array)
    operands = [x.value]
    save([x], operands)

    def repeat(other: Tensor) -> Tensor:
        result: Tensor = _plainly(Tensor(array), other, back, is_fixed)
        return result

    def gradients(upstream: Any, out: Any, operand: Any) -> list[Any]:
        with no_grad():
            gradient: Any = back(give(operand), give(upstream))
        return [gradient.value if gradient.is_eager else gradient.detach().numpy()]

    form = Form(repeat, with_gradient, False, False)
    form.gradient = gradients
    return give(array, Record(form, tuple(operands), {}, array, (x.record,)))


_plainly: Any = plain_functions[known_gradients.with_gradient]


def call_at_once(
    called: PythonFunction, inputs: Sequence[Tensor], outputs: Sequence[custom_function.Output]
) -> list[Tensor] | None:
    """The outputs of a function over arrays, called with eager tensors; None if the graph calls it.
    """
    if is_captured() or (any(tensor.record for tensor in inputs) and is_recording()):
        return None
    arrays = [numpy.zeros(shape, dtype.numpy) for shape, dtype in outputs]
    if any(array.dtype not in DTYPES or allowance.is_beyond(array.size) for array in arrays):
        return None
    given = [tensor.value.copy() for tensor in inputs]
    for array in given:
        array.setflags(write=False)
    called.call(given, arrays)
    return [give(array) for array in arrays]


def need_no_gradient(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> bool:
    """Whether the eager results of a function may be returned unchanged: no gradient flows through
    them, and none of them is an operand."""
    if is_captured() or any(function.is_in(output, list(inputs)) for output in outputs):
        return False
    return not any(tensor.record for tensor in inputs) or not is_recording()


CALLS = {
    custom.custom_gradient: need_no_gradient,
    function.perform: perform,
    known_gradients.with_gradient: with_gradient,
    custom_function.custom: call_at_once,
}
"""The eager versions of these functions."""
