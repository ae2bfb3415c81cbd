"""The work of a region on the sums of its product, written as a step of the epilogue."""

from __future__ import annotations

from ogive.compiler.devices.cuda.products.element_values import ElementValues
from ogive.compiler.devices.cuda.products.region_product import RegionProduct
from ogive.compiler.devices.cuda.tensor_cores.epilogue import Place
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import (
    POINTER,
    Index,
    KernelText,
    Parameter,
)
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.targets.target import Target


class RegionStep:
    """The step that does all the work of a region after the sum."""

    def __init__(self, found: RegionProduct, target: Target) -> None:
        self.found = found
        self.target = target
        computed = [node for node in found.value.walk() if _is_computed(node, found)]
        self.slots = sorted({n.place.base.slot for n in computed if n.op is Op.LOAD})

    def parameters(self, number: int) -> tuple[Parameter, ...]:
        return tuple([Parameter(f"slot{slot}", POINTER) for slot in self.slots])

    def write(self, text: KernelText, number: int, place: Place, pair: list[str]) -> list[str]:
        return [
            self._evaluate(text, place, column, value)
            for column, value in zip(place.columns, pair, strict=True)
        ]

    def _evaluate(self, text: KernelText, place: Place, column: Index, total: str) -> str:
        found = self.found
        counters = {found.row: place.row, found.column: column}
        for counter, index in zip(found.batch, place.batch, strict=True):
            if counter is not None:
                counters[counter] = index
        values = ElementValues(
            text, self.target, counters, {found.total: total}, unrounded=found.value
        )
        return values.evaluate(found.value)


def _is_computed(node: UOp, product: RegionProduct) -> bool:
    """Whether the step computes a node: not one below the sum, and no address."""
    if node is product.total or node.dtype is dtypes.index or node.op in (Op.INDEX, Op.PARAM):
        return False
    return node not in set(product.total.operand.walk())
