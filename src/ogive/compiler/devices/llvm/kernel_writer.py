"""The text of one kernel, with loops, scopes and a frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from ogive.compiler.devices.llvm.definitions import Definition
from ogive.compiler.devices.llvm.ir_text import Text, Vectors
from ogive.compiler.devices.llvm.llvm_types import code_of, element_type, mangled, register_type
from ogive.compiler.ir.dtype import DType
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


def vector_attributes(target: Target) -> str:
    """The attributes of all functions of a module: the width of vectors, the stack's alignment.

    Without the alignment, spilled vectors would straddle two cache lines in some threads and not in
    others, depending on where their stacks begin.
    """
    bits = 8 * target.vector_bytes
    return (
        f'attributes #0 = {{ nounwind alignstack={target.vector_bytes} '
        f'"min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}" }}'
    )


MOST_INLINED_LINES = 256
"""The most lines of IR that inlining all calls of one function may add to a kernel."""


class Rarity(IntEnum):
    """How often the present code runs: in most iterations of its loops, only in the last ones of a
    loop, or only in the last ones of the parallel axis."""

    OFTEN = 0
    LAST = 1
    ONCE = 2


class Offset(NamedTuple):
    """An index as a register plus a constant: places of a tile differ only in the constant."""

    register: str
    constant: int = 0

    def plus(self, constant: int) -> Offset:
        return Offset(self.register, self.constant + constant)


class Writer(Text):
    """Collects the text of one kernel function, and the definitions that it needs."""

    def __init__(self) -> None:
        # Names and labels share their numbers, and 0 is the entry.
        super().__init__(first_name=1)
        self.entry: list[str] = []  # the allocations, which must be in the first block
        self.functions: dict[str, Definition] = {}
        self.calls: dict[tuple[str, Rarity], int] = {}
        self.rarity = Rarity.OFTEN  # of the present code
        self._known: dict[str, str] = {}

    def of(self, dtype: DType, lanes: int) -> Vectors:
        """The writer of instructions on `lanes` elements of a dtype in registers."""
        return self.vectors(code_of(dtype), lanes)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """The scope of a loop, after which its registers are not available any more."""
        known, self._known = self._known, dict(self._known)
        yield
        self._known = known

    def once(self, text: str) -> str:
        """The name of an instruction, which is appended unless it was already in this scope."""
        name = self._known.get(text)
        if name is None:
            name = self._known[text] = self.instruction(text)
        return name

    def index(self, offset: Offset) -> str:
        """An index in one register."""
        if offset.constant == 0:
            return offset.register
        return self.once(f"add i64 {offset.register}, {offset.constant}")

    def allocate(self, kind: str) -> str:
        """Memory for one value of the type, in the function's frame."""
        name = f"%a{self.number()}"
        self.entry.append(f"  {name} = alloca {kind}, align 64")
        return name

    def new_label(self) -> str:
        return f"b{self.number()}"

    @contextmanager
    def counting(self, begin: str, end: str) -> Iterator[str]:
        """A loop whose register counts from `begin` up to `end`.

        Unless both are numbers, it may run zero times.
        """
        head, exit_label = self.new_label(), self.new_label()
        if begin.isdigit() and end.isdigit():
            self.branch(head)
        else:
            any_left = self.instruction(f"icmp slt i64 {begin}, {end}")
            self.branch_if(any_left, head, exit_label)
        entered_from = self.block
        counter, following = self.name(), self.name()
        self.label(head)
        slot = len(self.lines)  # for the phi, which needs the label of the body's last block
        self.lines.append("")
        with self.scope():
            yield counter
        self.lines.append(f"  {following} = add nuw nsw i64 {counter}, 1")
        self.lines[slot] = (
            f"  {counter} = phi i64 [ {begin}, %{entered_from} ], [ {following}, %{self.block} ]"
        )
        again = self.instruction(f"icmp slt i64 {following}, {end}")
        self.branch_if(again, head, exit_label)
        self.label(exit_label)

    def call(self, definition: Definition, kind: str, operands: list[str]) -> str:
        """A call of a function that is defined beside the kernel. All its types are `kind`."""
        symbol = definition.symbol
        self.functions[symbol] = definition
        called = (symbol, self.rarity)
        self.calls[called] = self.calls.get(called, 0) + 1
        group = 1 + list(self.calls).index(called)
        arguments = ", ".join(f"{kind} {operand}" for operand in operands)
        return self.instruction(f"call {kind} {symbol}({arguments}) #{group}")

    def call_attributes(self) -> list[str]:
        """The attribute groups of the calls, which say whether to inline each.

        LLVM's time grows with every inlined line, so calls that run most often are inlined first,
        and the others stay calls.
        """
        groups = []
        for group, ((symbol, rarity), count) in enumerate(self.calls.items(), 1):
            total = sum([self.calls.get((symbol, other), 0) for other in Rarity if other <= rarity])
            lines = total * self.functions[symbol].text.count("\n")
            inlined = lines <= MOST_INLINED_LINES and not (rarity is Rarity.ONCE and count > 1)
            groups.append(f"attributes #{group} = {{ {'always' if inlined else 'no'}inline }}")
        return groups

    def pick(self, operand: str, dtype: DType, lanes: int, picked: range) -> str:
        """The lanes `picked` of a vector or scalar as a vector. Lanes beyond it are undefined."""
        element = element_type(dtype)
        if lanes == 1:
            vector = f"<{len(picked)} x {element}>"
            return self.instruction(f"insertelement {vector} poison, {element} {operand}, i64 0")
        kind = register_type(dtype, lanes)
        numbers = ", ".join([f"i32 {lane}" if lane < lanes else "i32 poison" for lane in picked])
        return self.instruction(
            f"shufflevector {kind} {operand}, {kind} poison, <{len(picked)} x i32> <{numbers}>"
        )

    def join(self, vectors: list[str], dtype: DType, width: int, lanes: int) -> str:
        """The first `lanes` of the concatenation of vectors of `width` lanes."""
        while len(vectors) > 1:
            kind = register_type(dtype, width)
            width *= 2
            numbers = ", ".join([f"i32 {lane}" for lane in range(width)])
            vectors = [
                self.instruction(
                    f"shufflevector {kind} {low}, {kind} {high}, <{width} x i32> <{numbers}>"
                )
                for low, high in zip(vectors[::2], vectors[1::2], strict=True)
            ]
        if lanes == 1:
            kind = register_type(dtype, width)
            return self.instruction(f"extractelement {kind} {vectors[0]}, i64 0")
        if lanes < width:
            return self.pick(vectors[0], dtype, width, range(lanes))
        return vectors[0]

    def shuffle(self, left: str, right: str, picks: list[int], kind: str) -> str:
        """A vector of elements of two others, by their numbers in `picks`."""
        numbers = ", ".join([f"i32 {pick}" for pick in picks])
        return self.instruction(
            f"shufflevector {kind} {left}, {kind} {right}, <{len(picks)} x i32> <{numbers}>"
        )

    def fence(self, operand: str, dtype: DType, lanes: int) -> str:
        """The same value behind an optimization barrier, except values of less than 16 bytes."""
        words, rest = divmod(lanes * dtype.itemsize, 4)
        if operand == "poison" or words < 4 or rest:
            return operand
        before, fenced = register_type(dtype, lanes), f"<{words} x float>"
        if before != fenced:
            operand = self.instruction(f"bitcast {before} {operand} to {fenced}")
        name = f"arithmetic.fence.{mangled('f32', words)}"
        result = self.intrinsic(fenced, name, [fenced], [operand])
        if before != fenced:
            result = self.instruction(f"bitcast {fenced} {result} to {before}")
        return result

    def hidden_index(self, operand: str) -> str:
        """The same index, hidden from LLVM's search for loop increments.

        For that search a remainder is a difference that grows with its loop, and it makes many
        futile attempts at each address that contains one.
        """
        return self.intrinsic("i64", "expect.i64", ["i64", "i64"], [operand, "0"])

    def splat(self, operand: str, dtype: DType, lanes: int) -> str:
        """A scalar in every lane."""
        kind = register_type(dtype, lanes)
        first = self.once(f"insertelement {kind} poison, {element_type(dtype)} {operand}, i64 0")
        return self.once(
            f"shufflevector {kind} {first}, {kind} poison, <{lanes} x i32> zeroinitializer"
        )
