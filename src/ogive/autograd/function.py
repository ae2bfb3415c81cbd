"""`Function`: an operation with a gradient of its own, as a class with two static methods.

`custom_gradient` does the same for a single function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.autograd.custom import custom_gradient
from ogive.autograd.mode import no_grad
from ogive.errors import GradientError
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


class Context:
    """What `forward` stores for `backward`: saved tensors, and any attributes.

    `needs_input_grad` says for each argument whether its gradient may be needed.
    """

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.needs_input_grad = tuple(
            [isinstance(value, Tensor) and value.requires_grad for value in args]
        )
        self.saved_tensors: tuple[Tensor | None, ...] = ()
        self.plain: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors. `backward` finds them in `saved_tensors`."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark results through which no gradient flows."""
        self.plain = tensors


class Function:
    """The base of operations with a gradient of their own: define `forward` and `backward`.

    `forward(ctx, *args)` returns a tensor or a tuple of tensors. `backward(ctx, *gradients)` gets
    the upstream gradient of each result, and returns a gradient for each argument, None for those
    without. If `setup_context(ctx, inputs, output)` is defined, `forward` gets no `ctx`.

    >>> class Clipped(ogive.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, bound):
    ...         ctx.save_for_backward(x)
    ...         ctx.bound = bound
    ...         return x.clamp(-bound, bound)
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return gradient.masked_fill(x.abs() > 2 * ctx.bound, 0), None
    >>> x = Tensor([0.5, 1.5, 2.5], requires_grad=True)
    >>> Clipped.apply(x, 1.0).sum().backward()
    >>> x.grad.tolist()
    [1.0, 1.0, 0.0]
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Return the results of the operation. Its own steps are not recorded."""
        raise NotImplementedError("a Function must define forward()")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Return the gradients of the arguments, given those of the results."""
        raise NotImplementedError("a Function must define backward()")

    setup_context: Any = None

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Perform the operation, and record its gradient.

        Raises `GradientError` in a backward pass, if the gradients do not fit the arguments.
        """
        if eager_calls and any(isinstance(value, Tensor) and value.is_eager for value in args):
            return eager_calls[perform](cls, args)
        return perform(cls, args)

    @classmethod
    def _run(cls, context: Context, args: tuple[Any, ...]) -> Any:
        if cls.setup_context is None:
            output = cls.forward(context, *args)
        else:
            output = cls.forward(*args)
            cls.setup_context(context, args, output)
        return output

    @classmethod
    def _back(
        cls, context: Context, upstream: tuple[Any, ...], places: list[int], count: int
    ) -> tuple[Any, ...]:
        """Call `backward`, and return the gradients of the arguments that are tensors."""
        returned = cls.backward(context, *upstream)
        gradients = returned if isinstance(returned, tuple) else (returned,)
        if len(gradients) < count or any(part is not None for part in gradients[count:]):
            raise GradientError(
                f"{cls.__name__}.backward returned {len(gradients)} gradients for {count} "
                "arguments; return one for each, None where there is none"
            )
        return tuple([gradients[place] for place in places])


def perform(own: type[Function], args: tuple[Any, ...]) -> Any:
    """Return `own.apply(*args)`."""
    return differentiable(own, args, Context(args))


def differentiable(
    own: type[Function], args: tuple[Any, ...], context: Context, known: Any = None
) -> Any:
    """Return the results of an operation with its gradient. They may be `known` already."""
    places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
    outputs: list[Any] = []

    def compute(*tensors: Tensor) -> Any:
        with no_grad():
            outputs.append(own._run(context, args) if known is None else known)
        return outputs[0], lambda *upstream: own._back(context, upstream, places, len(args))

    results = custom_gradient(compute)(*[args[place] for place in places])
    if not isinstance(results, tuple):
        return results
    pairs = zip(results, outputs[0], strict=True)
    return tuple([new.detach() if is_in(old, context.plain) else new for new, old in pairs])


def is_in(tensor: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether a tensor is one of `tensors`, by identity."""
    return any(tensor is other for other in tensors)
