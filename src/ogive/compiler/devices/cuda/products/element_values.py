"""The values of elementwise nodes at one place of a kernel for tensor cores.

Floats of 16 bits are held as f32 and rounded after each operation. Known values, such as the sum,
are given; other nodes are computed, each once. A place is a value for each loop counter. A node
that depends on only some of the counters is computed at an enclosing place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ogive.compiler.devices.cuda.products.region_product import find_access
from ogive.compiler.devices.cuda.tensor_cores.epilogue import MEMORY_TYPES
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from ogive.compiler.devices.llvm.llvm_types import constant, memory_type
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, Op
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from ogive.compiler.targets.target import Target

NARROW = (dtypes.float16, dtypes.bfloat16)
_EXACT = (Op.WHERE, Op.MAXIMUM, Op.MINIMUM, Op.NEG, Op.ABS)


class ElementValues:
    """The values at one place.

    Args:
        text: the kernel to write to.
        target: the processor.
        counters: the loop counters at the place.
        known: the values given; a condition may be known to be "true".
        around: the enclosing places, which compute the nodes that depend on them alone.
        unrounded: a value that is not rounded here because the store rounds it.
    """

    def __init__(
        self, text: KernelText, target: Target, counters: Mapping[UOp, Index],
        known: Mapping[UOp, str], around: Sequence[ElementValues] = (),
        unrounded: UOp | None = None,
    ) -> None:  # fmt: skip
        self.text = text
        self.counters = dict(counters)
        self.values = dict(known)
        self.around = tuple(around)
        self.unrounded = unrounded
        self.target = target
        self._instructions = Instructions(text, target)
        for place in around:
            self.counters = {**place.counters, **self.counters}

    def find(self, node: UOp) -> str | None:
        """The value of a node if it is known already."""
        value = self.values.get(node)
        if value is not None:
            return value
        for place in self.around:
            value = place.find(node)
            if value is not None:
                return value
        return None

    def evaluate(self, node: UOp) -> str:
        """The value of a node at this place."""
        waiting = [node]
        while waiting:
            here = waiting[-1]
            missing = [each for each in self._needed(here) if self.find(each) is None]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if self.find(here) is None:
                self.values[here] = self._compute(here)
        value = self.find(node)
        assert value is not None
        return value

    def _needed(self, node: UOp) -> Collection[UOp]:
        if self.find(node) is not None or node.op in (Op.CONST, Op.LOAD):
            return ()
        if node.dtype is dtypes.index:
            return ()
        if node.op is Op.WHERE and self.find(node.condition) == "true":
            return (node.if_true,)
        return node.src

    def _compute(self, node: UOp) -> str:
        if node.dtype is dtypes.index:
            return self._position(node)
        if node.op is Op.CONST:
            return constant(_held(node.dtype), node.literal, 1)
        if node.op is Op.LOAD:
            return self._load(node)
        operands = [self._operand(source) for source in self._needed(node)]
        if node.op is Op.WHERE and len(operands) == 1:
            return operands[0]
        source = (node.if_true if node.op is Op.WHERE else node.src[0]).dtype
        value = self.apply(node, _held(source), operands)
        is_exact = node.op in COMPARISON or node.dtype not in NARROW or node.op in _EXACT
        if is_exact or node is self.unrounded:
            return value
        kind = MEMORY_TYPES[node.dtype]
        narrow = self.text.instruction(f"fptrunc float {value} to {kind}")
        return self.text.instruction(f"fpext {kind} {narrow} to float")

    def apply(self, node: UOp, source: DType, operands: list[str]) -> str:
        """The result of a node's operation on its operands."""
        return self._instructions.elementwise(node.op, _held(node.dtype), source, operands, 1)

    def _operand(self, node: UOp) -> str:
        value = self.find(node)
        assert value is not None
        return value

    def _load(self, node: UOp) -> str:
        text = self.text
        access, size = find_access(node.place), node.dtype.itemsize
        assert access is not None
        offset = text.wide_sum(*self._terms(access.strides), str(access.first))
        address = text.at(f"%slot{access.slot}", offset, size)
        if node.dtype in NARROW:
            kind = MEMORY_TYPES[node.dtype]
            value = text.load(kind, address, size)
            return text.instruction(f"fpext {kind} {value} to float")
        value = text.load(memory_type(node.dtype, 1), address, size)
        return text.instruction(f"trunc i8 {value} to i1") if node.dtype.is_bool else value

    def _position(self, node: UOp) -> str:
        """The value of a sum of positions."""
        factors, constant_term = linear_form(node)
        return self.text.wide_sum(*self._terms(factors), str(constant_term))

    def _terms(self, factors: Mapping[UOp, int]) -> list[str]:
        text = self.text
        return [
            text.wide_product(text.wide(self.counters[counter]), str(factor))
            for counter, factor in factors.items()
        ]


def _held(dtype: DType) -> DType:
    """The type in which a value is held."""
    if dtype is dtypes.index:
        return dtypes.int64
    return dtypes.float32 if dtype in NARROW else dtype
