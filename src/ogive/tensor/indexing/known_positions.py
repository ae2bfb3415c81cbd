"""Known positions: a tensor without axes whose value is in memory is used as an integer.

    before   x[t, p] += 1     GATHER, ADD, SCATTER over all of x
    after                     x in memory: the element alone is read, added to and written
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.history import is_traced
from ogive.tensor.core import Core
from ogive.tensor.values.direct_access import read_directly

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

_INTEGERS = frozenset({*dtypes.SIGNED, *dtypes.UNSIGNED})


def known_positions(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries of an index, with each tensor without axes that is in memory as an integer.

    As in PyTorch, such a tensor is an integer, so its result is a view.
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
    """Whether a tensor may be computed now: it is not traced, and no gradients flow through it."""
    if is_traced():
        return False
    return not history.is_tracking() or not history.leads_to_leaf(tensor.node)
