"""Positions that are realized scalar tensors: their values are read, and used as integers.

    before   x[t, p] += 1     GATHER, ADD, SCATTER over all of x
    after                     one element is read, changed and written, if x is memory
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.ir import dtype as dtypes
from ogive.ir.ops import Op
from ogive.live import history
from ogive.live.history import is_traced
from ogive.tensor.core import Core
from ogive.tensor.values.direct_access import read_directly

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

_INTEGERS = frozenset({*dtypes.SIGNED, *dtypes.UNSIGNED})


def known_positions(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace the scalar tensors among the entries of an index by integers, if they are realized.

    As in PyTorch, such a tensor counts as an integer, and the result is a view.
    """
    return entries if is_traced() else tuple([_known_position(entry) for entry in entries])


def _known_position(entry: Any) -> Any:
    if isinstance(entry, Core) and not entry.node.shape and entry.dtype in _INTEGERS:
        if entry.node.op is Op.CONST:
            return entry.node.arg
        number = read_directly(entry)
        return entry if number is None else int(number)
    return entry


def may_be_computed(tensor: Tensor) -> bool:
    """Whether a tensor may be realized now: it is not being traced, and has no history."""
    if is_traced():
        return False
    return not history.is_tracking() or not history.leads_to_leaf(tensor.node)
