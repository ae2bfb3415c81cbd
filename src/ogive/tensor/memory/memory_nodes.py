"""Nodes for memory that holds the user's data."""

from __future__ import annotations

from typing import Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir.device_names import FILES
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.live.kept_graphs import KEPT_BYTES, kept_graphs
from ogive.compiler.live.registry import make
from ogive.tensor import build


def memory_node(
    buffer: Buffer, shape: tuple[int, ...], dtype: DType, source: Any = None
) -> UOp:
    """A BUFFER node for `buffer`, in `shape`: a kept one of the same role that is idle, or a new
    one.

    `source` is the origin of the data, if known, and determines the role.
    """
    is_kept = buffer.nbytes <= KEPT_BYTES and buffer.device != FILES
    role = (dtype, shape, buffer.device, source) if is_kept else None
    node = None if role is None else kept_graphs.take(role)
    if node is None:
        count = buffer.nbytes // dtype.itemsize
        node = make(Op.BUFFER, dtype, (UOp.unique(),), (buffer.device, count), (count,))
        node.live.role = role
    registry.set_buffer(node, buffer)
    return build.reshape(node, shape)
