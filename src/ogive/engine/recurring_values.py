"""Values that would be computed again and again are kept.

A run keeps what it was asked for; what lies between is computed where it is used, and gone. For a
loop that carries a state and asks for something else, each run would go through the whole past:

    before   h = (x + h @ w).tanh(); h.sum().item()          the n-th run computes h n times

So a run marks what it computes. One that comes upon a mark is the second to do this work, and also
keeps those of its values that live tensors go on reading:

    after    the second run asks for h.sum() and h; the third finds h in memory

Values are kept only where nobody can tell the difference but by time. Not what reads memory that
others may change, or a file, since that is read anew at each run; not what reads no memory, which
is cheaper to compute than to read; and no more bytes than the run reads, so that the large value
of which only reductions are asked for, all distances between many points, stays lazy.
"""

from __future__ import annotations

from collections.abc import Iterable

from ogive.ir.device_names import FILES
from ogive.ir.memory import upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import MOVEMENT, Op
from ogive.live import registry

_FREE = MOVEMENT | {Op.BUFFER, Op.CONST, Op.IOTA, Op.BIND, Op.VARIABLE, Op.UNIQUE}


def recurring(roots: tuple[UOp, ...], order: list[UOp]) -> tuple[UOp, ...]:
    """What a run of `roots` is to keep besides, because it is not the first to compute it.

    `order` is the walk of the roots. All of it is marked as computed.
    """
    seen: list[UOp] = []
    for node in order:
        if node.op not in _FREE:
            live = node.live
            if live.ran:
                seen.append(node)
            else:
                live.ran = True
    if not seen:
        return ()
    lasting = _lasting(order)
    # What reads no memory is in the graphs of many runs, and of compiled ones.
    return _worth_keeping(roots, order, lasting) if any(n in lasting for n in seen) else ()


def _worth_keeping(
    roots: tuple[UOp, ...], order: list[UOp], lasting: dict[UOp, bool]
) -> tuple[UOp, ...]:
    """The values of a run that live tensors read otherwise than through its results."""
    inside = set(order)
    room = sum(_bytes_of(node) for node in order if node.op is Op.BUFFER)
    kept: dict[UOp, None] = dict.fromkeys(roots)
    with registry.graph_lock:
        for node in reversed(order):
            if node in kept or not lasting.get(node) or not registry.is_read_outside(node, inside):
                continue
            while node.op in MOVEMENT:
                node = node.operand
            size = _bytes_of(node)
            if size <= room and node.op not in _FREE and node not in kept:
                kept[node] = None
                room -= size
    return tuple(kept)[len(roots) :]


def _lasting(order: Iterable[UOp]) -> dict[UOp, bool]:
    """The values that memory is read for, and whether it is memory that only we write to."""
    lasting: dict[UOp, bool] = {}
    for node in order:
        if node.op is Op.BUFFER:
            device, count = node.arg
            if count:  # a Python function that is a step has a buffer without elements
                lasting[node] = device != FILES and registry.buffer_of(node).version is not None
        elif read := [lasting[source] for source in node.src if source in lasting]:
            lasting[node] = all(read)
    return lasting


def _bytes_of(node: UOp) -> int:
    return upper_count(node.shape) * node.dtype.itemsize
