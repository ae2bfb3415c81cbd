"""The products from which an operand is computed element by element.

    before   sum of EXPAND(exp(RESHAPE(q @ k))) * v
    below    q @ k

Such an operand, as the weights of attention, is read where it is computed, not packed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set

from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op


def products_below(
    operand: UOp, seen: set[UOp], without: Set[UOp] = frozenset()
) -> Iterator[UOp]:
    """The products below an expanded operand, but for those below nodes that were `seen`.

    All that is walked is added to `seen`. It is known that nodes `without` any have none.
    """
    count = upper_count(operand.operand.shape)
    pending = [operand.operand]
    while pending:
        node = pending.pop()
        if node in seen or node in without or upper_count(node.shape) < count:
            continue
        seen.add(node)
        if node.op is Op.REDUCE_AXES and node.combine is Op.ADD and node.operand.op is Op.MUL:
            yield node
        elif node.op in ELEMENTWISE or node.op in (Op.RESHAPE, Op.PERMUTE):
            pending.extend(node.src)


class ProductsBelow:
    """Whether operands have products below them. Where none were found is not walked again: the
    steps of a recurrent layer all stand on those before."""

    def __init__(self) -> None:
        self._without: defaultdict[int, set[UOp]] = defaultdict(set)

    def has_any(self, operand: UOp) -> bool:
        """Whether an expanded operand has a product below it."""
        without = self._without[upper_count(operand.operand.shape)]
        walked = set[UOp]()
        if any(True for _ in products_below(operand, walked, without)):
            return True
        without |= walked
        return False
