"""BUFFER nodes over memory that holds the user's data."""

from __future__ import annotations

from typing import Any

from ogive.devices.buffer import Buffer
from ogive.ir.device_names import FILES
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import registry
from ogive.live.kept_graphs import KEPT_BYTES, kept_graphs
from ogive.live.registry import make
from ogive.tensor import build


def memory_node(
    buffer: Buffer, shape: tuple[int, ...], dtype: DType, source: Any = None
) -> UOp:
    """Return a BUFFER node over `buffer`, reshaped to `shape`.

    A node that was made for data of the same kind, and that no tensor reads any more, is used
    again; else the node is new. `source` says where the data come from, if that is known.
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
