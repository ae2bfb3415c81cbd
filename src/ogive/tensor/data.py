"""`x.data`: the values of a tensor apart from its gradients, to be read and to be changed.

    x.data          DETACH(x), whatever x is at that moment
    x.data.add_(1)  x.add_(1), which gradients take no notice of
    x.data = y      other values for x, of another shape or dtype perhaps
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.config import Config
from ogive.errors import GradientError
from ogive.ir import history, registry
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock, make
from ogive.tensor.core import to_tensor
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Data(Tensor):
    """What `data` gives: it stands for whatever its `owner` does, and is changed by changing that.

    It holds no node of its own, so that nothing has to be kept alike, and nobody has to know it.
    """

    __slots__ = ("owner",)

    owner: Tensor

    def __init__(self, owner: Tensor) -> None:
        self.owner = owner
        self.device = owner.device
        self.origin = None

    @property
    def node(self) -> UOp:
        with graph_lock:
            node = self.owner.node
            return make(Op.DETACH, node.dtype, (node,), None, node.shape)

    @node.setter
    def node(self, node: UOp) -> None:
        registry.move_tensor(self.owner, node)

    def assign(self, value: Any) -> Tensor:
        _unseen(lambda: self.owner.assign(value))
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        _unseen(lambda: self.owner.__setitem__(index, value))

    def realize(self, config: Config | None = None) -> Tensor:
        self.owner.realize(config)
        return self

    @property
    def is_realized(self) -> bool:
        return self.owner.is_realized

    def numpy(self) -> NDArray[Any]:
        return self.owner.numpy()

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        if requires_grad:
            raise GradientError(
                "`data` is what a tensor has besides gradients; detach() gives another tensor, "
                "which can require them"
            )
        return self

    def detach_(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.detach().__deepcopy__(memo)

    def __reduce__(self) -> Any:
        return self.detach().__reduce__()


def set_data(tensor: Tensor, value: Any) -> None:
    """`tensor.data = value`: in place where shape and dtype stay."""
    given = value if isinstance(value, Tensor) else to_tensor(numpy.asarray(value))
    if given.shape == tensor.shape and given.dtype is tensor.dtype:
        _unseen(lambda: tensor.assign(given.detach()))
    else:
        replace_value(tensor, given)


def replace_value(tensor: Tensor, value: Tensor) -> None:
    """Let a tensor stand for other values, maybe of another dtype or device, in its own memory."""
    made = value.detach().contiguous()
    made.realize()
    with graph_lock:
        tensor.device = made.device
        registry.move_tensor(tensor, made.node)


def _unseen(change: Callable[[], Any]) -> None:
    """Make a change that gradients take no notice of."""
    before = history.set_recording(False)
    try:
        change()
    finally:
        history.set_recording(before)
