"""Values with a gradient of their own, which is better than that of the formula that computes them.

y   →   GRADIENT(y, x)     the value of y; the gradient of x is `back(x, upstream)`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.errors import GradientError
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history
from ogive.live.registry import graph_lock, make
from ogive.tensor.core import Core, hold, wrap
from ogive.tensor.method_functions import open_to_eager

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Back = Callable[[Any, Any], Core]


def captured(*_: Any) -> Any:
    """Raise `GradientError`: the `back` of a value that a captured function has computed."""
    raise GradientError(
        "a gradient would flow through a value that a function captured by ogive.jit has computed; "
        "call backward() inside the function"
    )


class _Rule:
    __slots__ = ("_back", "_device")

    def __init__(self, back: Back, device: str) -> None:
        self._back = back
        self._device = device

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        x, upstream_tensor = hold(node.inputs[0], self._device), hold(upstream, self._device)
        return [self._back(x, upstream_tensor).node]


class _HoldingRule(_Rule):
    """The rule of a `back` that may hold tensors. It equals only itself."""

    __slots__ = ()

    def release(self) -> None:
        """Release the tensors that `back` holds. No gradient will flow any more."""
        self._back = captured


class _FixedRule(_Rule):
    """The rule of a `back` that holds no tensors. Equal rules make equal nodes."""

    __slots__ = ()
    is_fixed = True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _FixedRule):
            return NotImplemented
        return self._back == other._back and self._device == other._device

    def __hash__(self) -> int:
        return hash((self._back, self._device))


@open_to_eager
def with_gradient(value: Core, x: Core, back: Back, is_fixed: bool = False) -> Tensor:
    """Return `value`, which was computed from `x`, with the gradient `back(x, upstream)` for `x`.

    Shapes: that of `value`. `back` returns a tensor like `x`. `is_fixed` says that it holds no
    tensors, so that its result depends on its arguments alone; rules of equal `back` are equal.
    """
    with graph_lock:
        node = value.node
        if history.is_tracking():
            rule = (_FixedRule if is_fixed else _HoldingRule)(back, value.device)
            node = make(Op.GRADIENT, node.dtype, (node, x.node), rule)
        return wrap(node, value.device)
