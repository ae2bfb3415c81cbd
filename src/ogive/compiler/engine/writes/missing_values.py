"""Tensors whose values are not there: reading one is an error that says why."""

from __future__ import annotations

from typing import Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live import registry
from ogive.compiler.live.substitution import substitute_everywhere
from ogive.errors import ExecuteError, OgiveError

TORN = (
    "the process was forked in the middle of an assignment to this tensor, which was left half "
    "done here; compute or load its values again, or fork at another time"
)
OVERTAKEN = (
    "this was to be computed from a tensor that has been assigned to since, and the run that "
    "should have computed it ended before it did; build it again"
)


class NoMemory(Buffer):
    """A buffer that is never allocated: whoever asks where it is gets an error."""

    __slots__ = ("error", "message")

    def __init__(
        self,
        nbytes: int,
        device: str,
        error: type[OgiveError],
        message: str,
        borrowed: bool = False,
    ) -> None:
        super().__init__(nbytes, device)
        self.borrowed = borrowed
        self.error = error
        self.message = message

    @property
    def address(self) -> int:
        raise self.error(self.message)

    @property
    def allocated(self) -> bool:
        return False

    @property
    def is_absent(self) -> bool:
        return True

    def as_numpy(self, *_: Any, **__: Any) -> Any:
        raise self.error(self.message)


def flat_node(buffer: Buffer, dtype: DType, count: int) -> UOp:
    """A new BUFFER node over `buffer`, for values of `count` elements."""
    node = UOp(Op.BUFFER, dtype, (UOp.unique(),), (buffer.device, count))
    registry.connect(node)
    registry.set_buffer(node, buffer)
    return node


def flat_without_memory(
    shape: Shape,
    dtype: DType,
    device: str,
    error: type[OgiveError],
    message: str,
    borrowed: bool = False,
) -> UOp:
    """A new BUFFER node, large enough for `shape`, that cannot be read."""
    count = upper_count(shape)
    buffer = NoMemory(count * dtype.itemsize, device, error, message, borrowed)
    return flat_node(buffer, dtype, count)


def lose(buffer: Buffer) -> None:
    """Let every tensor on `buffer`, of which a store was left half done, be without values."""
    with registry.graph_lock:
        lost = {
            node: flat_without_memory(node.shape, node.dtype, buffer.device, ExecuteError, TORN)
            for node in registry.nodes_on(buffer)
        }
        substitute_everywhere(lost, walk=True)
