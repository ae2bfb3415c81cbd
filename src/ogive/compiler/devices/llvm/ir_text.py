"""LLVM IR, written as text.

A `Text` collects the lines of one function. A `Vectors` object writes instructions into it for one
element type and a fixed number of lanes, so that the same code writes the scalar form (one lane)
and every vector form:

    floats = Text().vectors("f32", 16)
    doubled = floats.fadd("%x", "%x")      #   %v0 = fadd <16 x float> %x, %x
    floats.fmul(doubled, 0.5)              #   %v1 = fmul <16 x float> %v0, splat (float 0x3FE0...)

Values are SSA names or constants, both plain strings. Python numbers become constants of the
vectors' type. A function with several element types uses several `Vectors` of one text. Conversions
are methods of the *result's* and take the source's.

The functions of `devices/llvm/math` need nothing else. The text of a kernel is a `Writer`
(`devices/llvm/kernel_writer.py`), which adds loops, scopes and a frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.compiler.devices.llvm.llvm_types import (
    element_constant,
    mangled,
    spelled,
    splat,
    vector_type,
)

if TYPE_CHECKING:
    from ogive.compiler.targets.target import Scaling

Operand = str | float

_BITS = {"f16": "i16", "f32": "i32", "f64": "i64"}


class Text:
    """The lines of one function, its names, and the intrinsics that it calls.

    Args:
        scalings: the target's instructions that multiply by powers of two.
        first_name: the number of the first name.
    """

    def __init__(self, scalings: tuple[Scaling, ...] = (), first_name: int = 0) -> None:
        self.scalings = scalings
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.block = "entry"  # the label of the present block
        self._next = first_name
        self._vectors: dict[tuple[str, int], Vectors] = {}

    def vectors(self, code: str, lanes: int) -> Vectors:
        """The writer into this text for `lanes` elements of a type."""
        vectors = self._vectors.get((code, lanes))
        if vectors is None:
            vectors = self._vectors[code, lanes] = Vectors(self, code, lanes)
        return vectors

    def number(self) -> int:
        """A number for a fresh name."""
        number = self._next
        self._next = number + 1
        return number

    def name(self) -> str:
        """A fresh SSA name."""
        return f"%v{self.number()}"

    def instruction(self, text: str) -> str:
        """Append an instruction of any kind; returns the name of its result."""
        name = f"%v{self._next}"
        self._next += 1
        self.lines.append(f"  {name} = {text}")
        return name

    def effect(self, text: str) -> None:
        """Append an instruction that has no result, or names it itself."""
        self.lines.append(f"  {text}")

    def label(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{otherwise}")

    def intrinsic(self, kind: str, name: str, types: list[str], operands: list[str]) -> str:
        """Declare `llvm.<name>`, which returns a `kind`, and call it."""
        symbol = f"@llvm.{name}"
        self.declarations.add(f"declare {kind} {symbol}({', '.join(types)})")
        pairs = zip(types, operands, strict=True)
        arguments = ", ".join([f"{each} {operand}" for each, operand in pairs])
        return self.instruction(f"call {kind} {symbol}({arguments})")


class Vectors:
    """Writes instructions on `lanes` elements of one type.

    Args:
        text: the text into which they go.
        code: "f16", "f32", "f64", or "i" with a number of bits.
        lanes: elements in a vector; 1 writes scalars.
    """

    __slots__ = ("_constants", "code", "element", "instruction", "lanes", "suffix", "text", "type")

    def __init__(self, text: Text, code: str, lanes: int) -> None:
        self.text = text
        self.code = code
        self.lanes = lanes
        self.element = spelled(code)
        self.type = vector_type(self.element, lanes)
        self.suffix = mangled(code, lanes)
        self.instruction = text.instruction
        self._constants: dict[float, str] = {}

    def of(self, code: str, lanes: int = 0) -> Vectors:
        """The writer for another element type (and lane count) into the same text."""
        return self.text.vectors(code, lanes or self.lanes)

    @property
    def bits(self) -> Vectors:
        """The writer for integers as wide as these floats."""
        return self.of(_BITS[self.code])

    @property
    def masks(self) -> Vectors:
        """The writer for the results of comparisons."""
        return self.of("i1")

    @property
    def scaling(self) -> Scaling | None:
        """The target's instruction that scales whole registers of this type, or None."""
        for scaling in self.text.scalings:
            if scaling.dtype == self.code and self.lanes % scaling.lanes == 0:
                return scaling
        return None

    def constant(self, value: float) -> str:
        """A constant of this type, the same in every lane."""
        # Zeros are not cached, because 0.0 and -0.0 are equal keys.
        text = self._constants.get(value) if value else None
        if text is None:
            text = splat(element_constant(self.code, value), self.element, self.lanes)
            if value:
                self._constants[value] = text
        return text

    def operand(self, operand: Operand) -> str:
        """An operand as text: numbers become constants."""
        return operand if isinstance(operand, str) else self.constant(operand)

    def binary(self, operation: str, left: Operand, right: Operand) -> str:
        """Any instruction of two operands of this type."""
        if not isinstance(left, str):
            left = self.constant(left)
        if not isinstance(right, str):
            right = self.constant(right)
        return self.instruction(f"{operation} {self.type} {left}, {right}")

    def intrinsic(self, operation: str, *operands: Operand) -> str:
        """A call of `llvm.<operation>`, all of whose operands have this type."""
        values = [self.operand(operand) for operand in operands]
        name = f"{operation}.{self.suffix}"
        return self.text.intrinsic(self.type, name, [self.type] * len(values), values)

    def part(self, value: str, source: Vectors, first: int) -> str:
        """The lanes of a longer vector from `first` on, as many as this writer has."""
        if source is self:
            return value
        name = f"vector.extract.{self.suffix}.{source.suffix}"
        return self.text.intrinsic(self.type, name, [source.type, "i64"], [value, str(first)])

    def with_part(self, value: str, part: str, source: Vectors, first: int) -> str:
        """A vector with a shorter one in place of its lanes from `first` on."""
        if source is self:
            return part
        name = f"vector.insert.{self.suffix}.{source.suffix}"
        types = [self.type, source.type, "i64"]
        return self.text.intrinsic(self.type, name, types, [value, part, str(first)])

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
        return self.instruction(f"fneg {self.type} {value}")

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
        choices = f"{self.type} {self.operand(taken)}, {self.type} {self.operand(otherwise)}"
        kind = vector_type("i1", self.lanes)
        return self.instruction(f"select {kind} {mask}, {choices}")

    def any(self, mask: str) -> str:
        """A scalar `i1`: whether the mask holds in some lane."""
        if self.lanes == 1:
            return mask
        masks = self.masks
        return self.text.intrinsic("i1", f"vector.reduce.or.{masks.suffix}", [masks.type], [mask])

    # Conversion to this type, from the type of `source`.

    def convert(self, operation: str, value: str, source: Vectors) -> str:
        return self.instruction(f"{operation} {source.type} {value} to {self.type}")

    def bitcast(self, value: str, source: Vectors) -> str:
        return self.convert("bitcast", value, source)

    def sitofp(self, value: str, source: Vectors) -> str:
        return self.convert("sitofp", value, source)

    def uitofp(self, value: str, source: Vectors) -> str:
        return self.convert("uitofp", value, source)

    def fptosi(self, value: str, source: Vectors) -> str:
        return self.convert("fptosi", value, source)

    def fptoui(self, value: str, source: Vectors) -> str:
        return self.convert("fptoui", value, source)

    def fpext(self, value: str, source: Vectors) -> str:
        return self.convert("fpext", value, source)

    def fptrunc(self, value: str, source: Vectors) -> str:
        return self.convert("fptrunc", value, source)

    def zext(self, value: str, source: Vectors) -> str:
        return self.convert("zext", value, source)

    def sext(self, value: str, source: Vectors) -> str:
        return self.convert("sext", value, source)

    def trunc(self, value: str, source: Vectors) -> str:
        return self.convert("trunc", value, source)
