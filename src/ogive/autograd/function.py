"""`Function`: an operation with a gradient of its own, as a class with two static methods.

`custom_gradient` does the same for a single function.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ogive.autograd.custom import FromResult, custom_gradient
from ogive.autograd.mode import no_grad
from ogive.errors import GradientError
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


class Context:
    """The state that `forward` passes to `backward`: saved tensors, and any attributes.

    `needs_input_grad` says for each argument whether its gradient may be needed.
    """

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.needs_input_grad = tuple(
            [isinstance(value, Tensor) and value.requires_grad for value in args]
        )
        self._saved: tuple[Tensor | None, ...] = ()
        self._result: tuple[Tensor, Tensor] | None = None
        self.plain: tuple[Tensor, ...] = ()

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that `save_for_backward` was given. A result of the operation is given as
        gradients flow through it."""
        if self._result is None:
            return self._saved
        inside, outside = self._result
        return tuple([outside if each is inside else each for each in self._saved])

    @contextlib.contextmanager
    def knowing(self, inside: Tensor, outside: Tensor) -> Iterator[None]:
        """While gradients go back: what `forward` made, and the result that it has become."""
        self._result = (inside, outside)
        try:
            yield
        finally:
            self._result = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors, which are `saved_tensors` afterwards."""
        self._saved = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare results through which no gradient flows."""
        self.plain = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which arguments `forward` has written to. Results are known as what they are."""

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether `backward` is given zeros for results that nothing was computed from. It is
        given zeros in either case."""

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for gradients forwards, which are computed from `backward` here."""


class Function:
    """The base of operations with a gradient of their own: define `forward` and `backward`.

    `forward(ctx, *args)` returns a tensor or a tuple of tensors. `backward(ctx, *gradients)` takes
    a gradient for each and returns one for each argument, None for those that have none. If
    `setup_context(ctx, inputs, output)` is defined, `forward` takes only the arguments.

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
        """Compute the results. The operations in it have no gradients of their own."""
        raise NotImplementedError("a Function defines forward()")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Compute the gradients of the arguments from those of the results."""
        raise NotImplementedError("a Function defines backward()")

    setup_context: Any = None

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the operation on `args`.

        Raises `GradientError` in a backward pass whose gradients do not fit the arguments.
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
        """The gradients of the tensor arguments, out of all that `backward` returned."""
        returned = cls.backward(context, *upstream)
        gradients = returned if isinstance(returned, tuple) else (returned,)
        if len(gradients) < count or any(part is not None for part in gradients[count:]):
            raise GradientError(
                f"{cls.__name__}.backward returned {len(gradients)} gradients for {count} "
                "arguments; return one for each, None where there is none"
            )
        return tuple([gradients[place] for place in places])


def perform(own: type[Function], args: tuple[Any, ...]) -> Any:
    """`own.apply(*args)`."""
    return differentiable(own, args, Context(args))


def differentiable(
    own: type[Function], args: tuple[Any, ...], context: Context, known: Any = None
) -> Any:
    """The results of an operation, with gradients. `known` results are not computed again."""
    places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
    outputs: list[Any] = []

    def compute(*tensors: Tensor) -> Any:
        with no_grad():
            outputs.append(own._run(context, args) if known is None else known)
        nodes = outputs[0] if isinstance(outputs[0], tuple) else (outputs[0],)

        def back(position: int, result: Tensor, *upstream: Tensor) -> tuple[Any, ...]:
            with context.knowing(nodes[position], result):
                return own._back(context, upstream, places, len(args))

        return outputs[0], FromResult(back)

    results = custom_gradient(compute)(*[args[place] for place in places])
    if not isinstance(results, tuple):
        return results
    pairs = zip(results, outputs[0], strict=True)
    return tuple([new.detach() if is_in(old, context.plain) else new for new, old in pairs])


def is_in(tensor: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether a tensor object is among `tensors`."""
    return any(tensor is other for other in tensors)
