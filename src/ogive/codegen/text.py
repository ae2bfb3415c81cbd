"""Straight-line LLVM IR, written as text.

A `Block` writes instructions over one element type and a fixed number of lanes, so the same code
writes the scalar form (one lane) and every vector form:

    floats = Block("f32", 16)
    doubled = floats.fadd("%x", "%x")      #   %v0 = fadd <16 x float> %x, %x
    floats.fmul(doubled, 0.5)              #   %v1 = fmul <16 x float> %v0, splat (float 0x3FE0...)

Values are SSA names or constants, both plain strings; Python numbers become constants of the
block's type. Blocks made by `of` share lines, names and declarations, which is how a function
mixes element types: conversions are called on the block of the *result* and take the source's.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ogive.device.target import Scaling

Operand = str | float

_FLOATS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
_INTEGERS = {f"{sign}{width}": f"i{width}" for sign in "iu" for width in (8, 16, 32, 64, 128)}
_INTEGERS |= {"i1": "i1", "bool": "i1"}
_BITS = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}


def float_constant(dtype: str, value: float) -> str:
    """The exact hexadecimal spelling of a float; an f32 is written as the double it widens to.

    >>> float_constant("f32", 0.1)
    '0x3FB99999A0000000'
    """
    if dtype == "f32":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class _Shared:
    """What the blocks of one function have in common."""

    __slots__ = ("blocks", "count", "declarations", "lines", "scalings")

    def __init__(self, scalings: tuple[Scaling, ...]) -> None:
        self.scalings = scalings
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.count = 0
        self.blocks: dict[tuple[str, int], Block] = {}


class Block:
    """A writer of instructions over `lanes` elements of one type.

    Args:
        dtype: "f16", "bf16", "f32", "f64", "i1", or "i8" to "i64" and "u8" to "u64".
        lanes: elements in a vector; 1 writes scalars.
        scalings: the target's instructions that multiply by powers of two.
    """

    __slots__ = ("_constants", "_shared", "dtype", "element", "lanes", "suffix", "type")

    def __init__(
        self,
        dtype: str,
        lanes: int,
        scalings: tuple[Scaling, ...] = (),
        shared: _Shared | None = None,
    ) -> None:
        self.dtype = dtype
        self.lanes = lanes
        self.element = _FLOATS.get(dtype) or _INTEGERS[dtype]
        self.type = self.element if lanes == 1 else f"<{lanes} x {self.element}>"
        suffix = dtype if dtype in _FLOATS else self.element
        self.suffix = suffix if lanes == 1 else f"v{lanes}{suffix}"
        self._constants: dict[float, str] = {}
        self._shared = _Shared(scalings) if shared is None else shared
        self._shared.blocks[dtype, lanes] = self

    def of(self, dtype: str, lanes: int = 0) -> Block:
        """The block of another element type (and lane count) that writes the same lines."""
        lanes = lanes or self.lanes
        return self._shared.blocks.get((dtype, lanes)) or Block(dtype, lanes, shared=self._shared)

    @property
    def bits(self) -> Block:
        """The block of integers as wide as this block's floats."""
        return self.of(_BITS[self.dtype])

    @property
    def masks(self) -> Block:
        """The block of comparison results."""
        return self.of("i1")

    @property
    def scaling(self) -> Scaling | None:
        """The target's instruction that multiplies whole registers of this block's type."""
        for scaling in self._shared.scalings:
            if scaling.dtype == self.dtype and self.lanes % scaling.lanes == 0:
                return scaling
        return None

    @property
    def lines(self) -> list[str]:
        return self._shared.lines

    @property
    def declarations(self) -> set[str]:
        """The `declare` lines of the intrinsics called so far."""
        return self._shared.declarations

    def constant(self, value: float) -> str:
        """A constant of this block's type, the same in every lane."""
        # 0.0 and -0.0 are equal, so zeros stay out of the cache.
        text = self._constants.get(value) if value else None
        if text is None:
            if self.dtype in _FLOATS:
                text = float_constant(self.dtype, value)
            else:
                text = str(int(value))
            if self.lanes > 1:
                text = f"splat ({self.element} {text})"
            if value:
                self._constants[value] = text
        return text

    def name(self) -> str:
        """A fresh SSA name."""
        shared = self._shared
        count = shared.count
        shared.count = count + 1
        return f"%v{count}"

    def write(self, text: str) -> str:
        """Append an instruction of any kind; returns the name of its result."""
        shared = self._shared
        count = shared.count
        shared.count = count + 1
        shared.lines.append(f"  %v{count} = {text}")
        return f"%v{count}"

    def line(self, text: str) -> None:
        """Append a line that has no result: a store, a branch, a label."""
        self._shared.lines.append(text)

    def binary(self, operation: str, left: Operand, right: Operand) -> str:
        """Any instruction of two operands of the block's type."""
        if not isinstance(left, str):
            left = self.constant(left)
        if not isinstance(right, str):
            right = self.constant(right)
        return self.write(f"{operation} {self.type} {left}, {right}")

    def intrinsic(self, operation: str, *operands: Operand) -> str:
        """A call of `llvm.<operation>`, all of whose operands have the block's type."""
        symbol = f"@llvm.{operation}.{self.suffix}"
        types = ", ".join([self.type] * len(operands))
        self._shared.declarations.add(f"declare {self.type} {symbol}({types})")
        values = ", ".join([f"{self.type} {self.text(operand)}" for operand in operands])
        return self.write(f"call {self.type} {symbol}({values})")

    def part(self, value: str, source: Block, first: int) -> str:
        """As many lanes of a longer vector as this block has."""
        if source is self:
            return value
        symbol = f"@llvm.vector.extract.{self.suffix}.{source.suffix}"
        self._shared.declarations.add(f"declare {self.type} {symbol}({source.type}, i64)")
        return self.write(f"call {self.type} {symbol}({source.type} {value}, i64 {first})")

    def with_part(self, value: str, part: str, source: Block, first: int) -> str:
        """A vector with a shorter one in the place of some of its lanes."""
        if source is self:
            return part
        symbol = f"@llvm.vector.insert.{self.suffix}.{source.suffix}"
        types = f"{self.type}, {source.type}, i64"
        self._shared.declarations.add(f"declare {self.type} {symbol}({types})")
        operands = f"{self.type} {value}, {source.type} {part}, i64 {first}"
        return self.write(f"call {self.type} {symbol}({operands})")

    def text(self, operand: Operand) -> str:
        """An operand as text: numbers become constants."""
        return operand if isinstance(operand, str) else self.constant(operand)

    # Floats.

    def fadd(self, left: Operand, right: Operand) -> str:
        return self.binary("fadd", left, right)

    def fsub(self, left: Operand, right: Operand) -> str:
        return self.binary("fsub", left, right)

    def fmul(self, left: Operand, right: Operand) -> str:
        return self.binary("fmul", left, right)

    def fdiv(self, left: Operand, right: Operand) -> str:
        return self.binary("fdiv", left, right)

    def fneg(self, value: str) -> str:
        return self.write(f"fneg {self.type} {value}")

    def fma(self, left: Operand, right: Operand, addend: Operand) -> str:
        """`left * right + addend`, rounded once."""
        return self.intrinsic("fma", left, right, addend)

    def fabs(self, value: str) -> str:
        return self.intrinsic("fabs", value)

    def copysign(self, magnitude: Operand, sign: Operand) -> str:
        return self.intrinsic("copysign", magnitude, sign)

    def sqrt(self, value: str) -> str:
        return self.intrinsic("sqrt", value)

    def round_even(self, value: str) -> str:
        return self.intrinsic("roundeven", value)

    def floor(self, value: str) -> str:
        return self.intrinsic("floor", value)

    def at_most(self, value: str, limit: Operand) -> str:
        """The smaller of both; a NaN in `value` stays. One `vminps` on x86."""
        return self.select(self.fcmp("ogt", value, limit), limit, value)

    def at_least(self, value: str, limit: Operand) -> str:
        """The larger of both; a NaN in `value` stays. One `vmaxps` on x86."""
        return self.select(self.fcmp("olt", value, limit), limit, value)

    def polynomial(self, variable: str, coefficients: tuple[float, ...]) -> str:
        """Horner's rule; coefficients start with the constant term, and there are at least two."""
        *lower, last, top = coefficients
        value = self.fma(variable, top, last)
        for coefficient in reversed(lower):
            value = self.fma(variable, value, coefficient)
        return value

    # Integers.

    def add(self, left: Operand, right: Operand) -> str:
        return self.binary("add", left, right)

    def sub(self, left: Operand, right: Operand) -> str:
        return self.binary("sub", left, right)

    def mul(self, left: Operand, right: Operand) -> str:
        return self.binary("mul", left, right)

    def and_(self, left: Operand, right: Operand) -> str:
        return self.binary("and", left, right)

    def or_(self, left: Operand, right: Operand) -> str:
        return self.binary("or", left, right)

    def xor(self, left: Operand, right: Operand) -> str:
        return self.binary("xor", left, right)

    def shl(self, left: Operand, right: Operand) -> str:
        return self.binary("shl", left, right)

    def lshr(self, left: Operand, right: Operand) -> str:
        return self.binary("lshr", left, right)

    def ashr(self, left: Operand, right: Operand) -> str:
        return self.binary("ashr", left, right)

    # Comparison and choice.

    def fcmp(self, predicate: str, left: Operand, right: Operand) -> str:
        """A mask; `predicate` as in LLVM: "olt", "uno", ..."""
        return self.binary(f"fcmp {predicate}", left, right)

    def icmp(self, predicate: str, left: Operand, right: Operand) -> str:
        """A mask; `predicate` as in LLVM: "eq", "slt", "ult", ..."""
        return self.binary(f"icmp {predicate}", left, right)

    def select(self, mask: str, taken: Operand, otherwise: Operand) -> str:
        choices = f"{self.type} {self.text(taken)}, {self.type} {self.text(otherwise)}"
        return self.write(f"select {self.masks.type} {mask}, {choices}")

    def any(self, mask: str) -> str:
        """A scalar `i1`: whether the mask holds in some lane."""
        if self.lanes == 1:
            return mask
        masks = self.masks
        symbol = f"@llvm.vector.reduce.or.{masks.suffix}"
        self._shared.declarations.add(f"declare i1 {symbol}({masks.type})")
        return self.write(f"call i1 {symbol}({masks.type} {mask})")

    # Conversion to this block's type, from the type of `source`.

    def convert(self, operation: str, value: str, source: Block) -> str:
        return self.write(f"{operation} {source.type} {value} to {self.type}")

    def bitcast(self, value: str, source: Block) -> str:
        return self.convert("bitcast", value, source)

    def sitofp(self, value: str, source: Block) -> str:
        return self.convert("sitofp", value, source)

    def uitofp(self, value: str, source: Block) -> str:
        return self.convert("uitofp", value, source)

    def fptosi(self, value: str, source: Block) -> str:
        return self.convert("fptosi", value, source)

    def fptoui(self, value: str, source: Block) -> str:
        return self.convert("fptoui", value, source)

    def fpext(self, value: str, source: Block) -> str:
        return self.convert("fpext", value, source)

    def fptrunc(self, value: str, source: Block) -> str:
        return self.convert("fptrunc", value, source)

    def zext(self, value: str, source: Block) -> str:
        return self.convert("zext", value, source)

    def sext(self, value: str, source: Block) -> str:
        return self.convert("sext", value, source)

    def trunc(self, value: str, source: Block) -> str:
        return self.convert("trunc", value, source)
