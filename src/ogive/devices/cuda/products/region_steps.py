"""What a region does with the sums of its product, as a step of the epilogue.

Floats of 16 bits are held as f32 here, rounded after each operation as everywhere; only the last
rounding is left to the store.
"""

from __future__ import annotations

from ogive.devices.cuda.products.epilogue import MEMORY_TYPES, Place
from ogive.devices.cuda.products.kernel_text import POINTER, Index, KernelText, Parameter
from ogive.devices.cuda.products.region_product import RegionProduct, find_access
from ogive.devices.llvm.instructions import Instructions
from ogive.devices.llvm.llvm_types import constant, memory_type
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import COMPARISON, Op
from ogive.ir.symbolic.index_arithmetic import linear_form
from ogive.targets.target import Target

NARROW = (dtypes.float16, dtypes.bfloat16)


class RegionStep:
    """All that follows a sum in its region."""

    def __init__(self, found: RegionProduct, target: Target) -> None:
        self.found = found
        self.target = target
        self.order = [node for node in found.value.walk() if _is_computed(node, found)]
        self.slots = sorted({n.place.base.slot for n in self.order if n.op is Op.LOAD})

    def parameters(self, number: int) -> tuple[Parameter, ...]:
        return tuple([Parameter(f"slot{slot}", POINTER) for slot in self.slots])

    def write(self, text: KernelText, number: int, place: Place, pair: list[str]) -> list[str]:
        return [
            self._evaluate(text, place, column, value)
            for column, value in zip(place.columns, pair, strict=True)
        ]

    def _evaluate(self, text: KernelText, place: Place, column: Index, total: str) -> str:
        found = self.found
        counters: dict[UOp | None, Index] = {
            found.row: place.row, found.column: column,
            found.batch[0]: place.batch[0], found.batch[1]: place.batch[1],
        }  # fmt: skip
        values = {found.total: total}
        instructions = Instructions(text, self.target)
        for node in self.order:
            if node.op is Op.CONST:
                values[node] = constant(_held(node.dtype), node.literal, 1)
            elif node.op is Op.LOAD:
                values[node] = self._load(text, node, counters)
            else:
                for source in node.src:
                    if source.dtype is dtypes.index:
                        values[source] = _position(text, source, counters)
                values[node] = self._compute(text, instructions, node, values)
        return values[found.value]

    def _load(self, text: KernelText, node: UOp, counters: dict[UOp | None, Index]) -> str:
        access, size = find_access(node.place), node.dtype.itemsize
        assert access is not None
        terms = [
            text.wide_product(text.wide(counters[counter]), str(stride))
            for counter, stride in access.strides.items()
        ]
        offset = text.wide_sum(*terms, str(access.first))
        address = text.at(f"%slot{access.slot}", offset, size)
        if node.dtype in NARROW:
            kind = MEMORY_TYPES[node.dtype]
            value = text.load(kind, address, size)
            return text.instruction(f"fpext {kind} {value} to float")
        value = text.load(memory_type(node.dtype, 1), address, size)
        return text.instruction(f"trunc i8 {value} to i1") if node.dtype.is_bool else value

    def _compute(
        self, text: KernelText, instructions: Instructions, node: UOp, values: dict[UOp, str]
    ) -> str:
        operands = [values[source] for source in node.src]
        source = (node.if_true if node.op is Op.WHERE else node.src[0]).dtype
        value = instructions.elementwise(
            node.op, _held(node.dtype), _held(source), operands, 1
        )
        is_exact = node.op in (Op.WHERE, Op.MAXIMUM, Op.MINIMUM, Op.NEG, Op.ABS)
        if node.op in COMPARISON or node.dtype not in NARROW or is_exact:
            return value
        if node is self.found.value:
            return value  # the store rounds it
        kind = MEMORY_TYPES[node.dtype]
        narrow = text.instruction(f"fptrunc float {value} to {kind}")
        return text.instruction(f"fpext {kind} {narrow} to float")


def _position(text: KernelText, node: UOp, counters: dict[UOp | None, Index]) -> str:
    """A sum of positions."""
    factors, constant_term = linear_form(node)
    terms = [
        text.wide_product(text.wide(counters[counter]), str(factor))
        for counter, factor in factors.items()
    ]
    return text.wide_sum(*terms, str(constant_term))


def _held(dtype: DType) -> DType:
    """The type in which a value is held."""
    if dtype is dtypes.index:
        return dtypes.int64
    return dtypes.float32 if dtype in NARROW else dtype


def _is_computed(node: UOp, found: RegionProduct) -> bool:
    """Whether a node of the graph is one of the step's: nothing before the sum, no address."""
    if node is found.total or node.dtype is dtypes.index or node.op in (Op.INDEX, Op.PARAM):
        return False
    return node not in set(found.total.operand.walk())
