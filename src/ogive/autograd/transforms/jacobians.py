"""Matrices of derivatives: `jacrev`, `jacfwd`, `hessian`.

A loop over directions would build one graph for each. `vmap` makes one graph with an axis of
directions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ogive.autograd.transforms.function_gradients import jvp, to_outputs, vjp
from ogive.autograd.transforms.vectorize import vmap
from ogive.errors import ArgumentError
from ogive.jit.argument_trees import leaves, rebuild
from ogive.tensor.creation.constructors import eye
from ogive.tensor.tensor import Tensor

Function = Callable[..., Any]


def jacrev(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The Jacobian of `function` by reverse mode, row by row, as a function of the same arguments.

    Shapes: for a result of shape r and an argument of shape a, r + a. For trees, a tree like the
    result of trees like the argument; a tuple of these for several `argnums`. It costs a backward
    pass for each element of the result.

    >>> ogive.jacrev(lambda x: x ** 2)(Tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]

    Raises `GradientError` for arguments that are no floats.
    """

    @functools.wraps(function)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen, of_chosen = _select(function, args, kwargs, argnums)
        value, pull = vjp(of_chosen, *chosen)
        outputs = to_outputs(value, "jacrev")

        def rows(position: int) -> Any:
            """The derivatives of one result."""
            output = outputs[position]

            def pulled(direction: Tensor) -> Any:
                upstream = [out * 0 for out in outputs]
                upstream[position] = direction.reshape(output.shape)
                given = iter(upstream)
                return pull(rebuild(value, lambda _: next(given)))

            by_row = vmap(pulled)(_directions(output))
            trees = rebuild(by_row, lambda part: part.reshape(*output.shape, *part.shape[1:]))
            return trees[0] if isinstance(argnums, int) else trees

        positions = iter(range(len(outputs)))
        return rebuild(value, lambda _: rows(next(positions)))

    return jacobian


def jacfwd(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The Jacobian of `function` by forward mode, column by column, as a function of the arguments.

    Shapes: as `jacrev`; arguments are tensors, not trees. It costs a pass for each element of the
    argument.

    >>> ogive.jacfwd(lambda x: x.sum() * x[:1])(Tensor([1.0, 2.0])).tolist()
    [[4.0, 1.0]]

    Raises `GradientError` for arguments that are no floats.
    """

    @functools.wraps(function)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen, of_chosen = _select(function, args, kwargs, argnums)

        def columns(position: int) -> Any:
            """The derivatives with respect to one argument."""
            argument = chosen[position]

            def pushed(direction: Tensor) -> Any:
                tangents = [other * 0 for other in chosen]
                tangents[position] = direction.reshape(argument.shape)
                return jvp(of_chosen, chosen, tangents)[1]

            by_column = vmap(pushed, out_axes=-1)(_directions(argument))
            return rebuild(by_column, lambda part: part.reshape(*part.shape[:-1], *argument.shape))

        if isinstance(argnums, int):
            return columns(0)
        each = [columns(position) for position in range(len(chosen))]
        parts = [iter([leaf for _, leaf in leaves(tree, "")]) for tree in each]
        return rebuild(each[0], lambda _: tuple([next(part) for part in parts]))

    return jacobian


def hessian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The second derivatives of `function`, as a function of the same arguments.

    Shapes: for a scalar and an argument of shape a, a + a; tuples of tuples for several `argnums`.

    >>> ogive.hessian(lambda x: x[0] ** 2 * x[1])(Tensor([1.0, 2.0])).tolist()
    [[4.0, 2.0], [2.0, 0.0]]

    Raises `GradientError` for arguments that are no floats.
    """
    return jacrev(jacrev(function, argnums), argnums)


def _select(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: int | Sequence[int]
) -> tuple[list[Any], Function]:
    """The arguments that `argnums` names, and `function` as a function of these."""
    positions = [argnums] if isinstance(argnums, int) else list(argnums)
    for position in positions:
        if not -len(args) <= position < len(args):
            raise ArgumentError(
                f"argnums is {argnums}, and the function was called with {len(args)} positional "
                "arguments"
            )

    def of_chosen(*values: Any) -> Any:
        whole = list(args)
        for position, value in zip(positions, values, strict=True):
            whole[position] = value
        return function(*whole, **kwargs)

    return [args[position] for position in positions], of_chosen


def _directions(tensor: Tensor) -> Tensor:
    """The unit vectors for the elements of a tensor, one per row."""
    return eye(math.prod(tensor.shape), dtype=tensor.dtype)
