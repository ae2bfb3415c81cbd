"""A kernel for NVIDIA GPUs, as LLVM IR text.

`KernelText` adds to `Writer` the parts of kernels of cooperating threads: 32-bit index arithmetic
with constant folding, loops that carry registers, shared memory with 32-bit addresses, and inline
PTX. Tests call the same functions for index arithmetic with Python integers.

    text = KernelText("scale", [Parameter("x", POINTER)], threads=128)
    text.multiply(text.thread, 4)        #   %v1 = mul i32 %v0, 4
    text.multiply(3, 4)                  # 12
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ogive.compiler.devices.llvm.definitions import definitions
from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.named import NamedTuple

Index = int | str
"""A constant i32, or the name of a register that holds one."""

POINTER = "ptr addrspace(1)"
TENSOR_MAP = 'ptr byval([128 x i8]) align 64 "nvvm.grid_constant"'

_COMMON = "attributes #0 = { convergent nounwind }"
_HEAD = "@shared = external addrspace(3) global [0 x i8], align 1024\n"
_CONSTRAINTS = {"float": "f", "i64": "l", "i16": "h", "i1": "b", "ptr": "l", POINTER: "l"}


class Parameter(NamedTuple):
    """A parameter of a kernel, with its LLVM type."""

    name: str
    type: str

    @property
    def value(self) -> str:
        return f"%{self.name}"


class KernelText(Writer):
    """The text of one kernel.

    Args:
        name: the symbol of the kernel.
        parameters: the parameters of the kernel.
        threads: the threads of a block.
        blocks: the number of blocks that should fit on a multiprocessor.
        cluster: the number of blocks along x that share their memory.
    """

    def __init__(
        self, name: str, parameters: Sequence[Parameter], threads: int, blocks: int = 1,
        cluster: int = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel = name
        self.parameters = tuple(parameters)
        self.threads = threads
        self.blocks = blocks
        self.cluster = cluster
        self._registers: dict[str, str] = {}

    def module(self) -> str:
        """The finished module."""
        parameters = ", ".join([f"{each.type} {each.value}" for each in self.parameters])
        attributes = f'"nvvm.reqntid"="{self.threads}" "nvvm.minctasm"="{self.blocks}"'
        if self.cluster > 1:
            attributes += f' "nvvm.cluster_dim"="{self.cluster}"'
        called = definitions(self.functions.values())
        declared = self.declarations.union(*[each.declarations for each in called])
        lines = [
            _HEAD, *sorted(declared), "",
            f"define ptx_kernel void @{self.kernel}({parameters}) {attributes} {{", "entry:",
            *self.lines, "  ret void", "}", "", *[each.text for each in called],
            _COMMON, *self.call_attributes(), "",
        ]  # fmt: skip
        return "\n".join(lines)

    def call_attributes(self) -> list[str]:
        """The attributes of calls: all are inlined, since calls cost a GPU more than code size."""
        return [f"attributes #{1 + each} = {{ alwaysinline }}" for each in range(len(self.calls))]

    # The place of a thread

    def special(self, name: str) -> str:
        """A special register such as `tid.x`, which is read once, in the entry block."""
        value = self._registers.get(name)
        if value is None:
            assert self.block == "entry", "special registers are read before any branch"
            symbol = f"nvvm.read.ptx.sreg.{name}"
            value = self._registers[name] = self.intrinsic("i32", symbol, [], [])
        return value

    @property
    def thread(self) -> str:
        return self.special("tid.x")

    # Index arithmetic, all unsigned

    def add(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return left + right
        if left == 0 or right == 0:
            return right if left == 0 else left
        return self.instruction(f"add i32 {left}, {right}")

    def subtract(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return left - right
        return left if right == 0 else self.instruction(f"sub i32 {left}, {right}")

    def multiply(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return left * right
        if left == 0 or right == 0:
            return 0
        if left == 1 or right == 1:
            return right if left == 1 else left
        return self.instruction(f"mul i32 {left}, {right}")

    def divide(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return left // right
        return left if right == 1 else self.instruction(f"udiv i32 {left}, {right}")

    def remainder(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return left % right
        return 0 if right == 1 else self.instruction(f"urem i32 {left}, {right}")

    def high_product(self, left: Index, right: Index) -> Index:
        """The upper 32 of the 64 bits of a product."""
        if isinstance(left, int) and isinstance(right, int):
            return left * right >> 32
        both = self.instruction(f"mul i64 {self.wide(left)}, {self.wide(right)}")
        high = self.instruction(f"lshr i64 {both}, 32")
        return self.instruction(f"trunc i64 {high} to i32")

    def shift_right(self, value: Index, count: Index) -> Index:
        if isinstance(value, int) and isinstance(count, int):
            return value >> count
        return self.instruction(f"lshr i32 {value}, {count}")

    def xor(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return left ^ right
        if left == 0 or right == 0:
            return right if left == 0 else left
        return self.instruction(f"xor i32 {left}, {right}")

    def minimum(self, left: Index, right: Index) -> Index:
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right)
        types, values = ["i32", "i32"], [str(left), str(right)]
        return self.intrinsic("i32", "umin.i32", types, values)

    def monus(self, left: Index, right: Index) -> Index:
        """`left - right`, or 0 if that is negative."""
        if isinstance(left, int) and isinstance(right, int):
            return max(left - right, 0)
        types, values = ["i32", "i32"], [str(left), str(right)]
        return self.intrinsic("i32", "usub.sat.i32", types, values)

    def sum(self, *terms: Index) -> Index:
        total: Index = 0
        for term in terms:
            total = self.add(total, term)
        return total

    def less(self, left: Index, right: Index) -> str:
        """`left < right` as an i1."""
        if isinstance(left, int) and isinstance(right, int):
            return "true" if left < right else "false"
        return self.instruction(f"icmp ult i32 {left}, {right}")

    def equal(self, left: Index, right: Index) -> str:
        return self.instruction(f"icmp eq i32 {left}, {right}")

    def both(self, left: str, right: str) -> str:
        return self.instruction(f"and i1 {left}, {right}")

    def choose(self, condition: str, then: Index, otherwise: Index) -> Index:
        if condition in ("true", "false"):
            return then if condition == "true" else otherwise
        return self.instruction(f"select i1 {condition}, i32 {then}, i32 {otherwise}")

    # Addresses in global memory, of 64 bits

    def wide(self, value: Index) -> str:
        """An index as an i64."""
        if isinstance(value, int):
            return str(value)
        return self.instruction(f"zext i32 {value} to i64")

    def wide_sum(self, *terms: str) -> str:
        terms = tuple([term for term in terms if term != "0"])
        total = terms[0] if terms else "0"
        for term in terms[1:]:
            total = self.instruction(f"add i64 {total}, {term}")
        return total

    def wide_product(self, left: str, right: str) -> str:
        if left == "0" or right == "0":
            return "0"
        if left == "1" or right == "1":
            return right if left == "1" else left
        return self.instruction(f"mul i64 {left}, {right}")

    def at(self, pointer: str, offset: str, size: int = 1) -> str:
        """The address of element `offset`, an i64, of memory in elements of `size` bytes."""
        if offset == "0":
            return pointer
        return self.instruction(f"getelementptr [{size} x i8], {POINTER} {pointer}, i64 {offset}")

    def load(self, kind: str, pointer: str, alignment: int) -> str:
        return self.instruction(f"load {kind}, {POINTER} {pointer}, align {alignment}")

    def store(self, kind: str, value: str, pointer: str, alignment: int) -> None:
        self.effect(f"store {kind} {value}, {POINTER} {pointer}, align {alignment}")

    def store_if(
        self, condition: str, kind: str, value: str, pointer: str, nbytes: int, behind: int = 0
    ) -> None:
        """Store `nbytes` bytes at a pointer if the condition holds, in inline PTX.

        A kernel has hundreds of these stores: with branches and addresses that it can analyse,
        LLVM would take seconds.
        """
        if kind != f"i{8 * nbytes}":
            value = self.instruction(f"bitcast {kind} {value} to i{8 * nbytes}")
        operands = [(POINTER, pointer), (f"i{8 * nbytes}", value), ("i1", condition)]
        if nbytes == 1:  # PTX has no registers of eight bits
            wide = self.instruction(f"zext i8 {value} to i16")
            operands[1] = ("i16", wide)
        self.assembly(f"@$2 st.global.b{8 * nbytes} [$0+{behind}], $1;", [], operands)

    # Shared memory, by addresses of 32 bits

    def shared_base(self) -> str:
        """The address of the block's shared memory."""
        return self.instruction("ptrtoint ptr addrspace(3) @shared to i32")

    def shared_pointer(self, address: Index) -> str:
        return self.instruction(f"inttoptr i32 {address} to ptr addrspace(3)")

    def load_shared(self, kind: str, address: Index, alignment: int) -> str:
        pointer = self.shared_pointer(address)
        return self.instruction(f"load {kind}, ptr addrspace(3) {pointer}, align {alignment}")

    def store_shared(self, kind: str, value: str, address: Index, alignment: int) -> None:
        pointer = self.shared_pointer(address)
        self.effect(f"store {kind} {value}, ptr addrspace(3) {pointer}, align {alignment}")

    # Control

    def barrier(self) -> None:
        """Make all threads of the block wait for each other and see each other's writes."""
        self.assembly("bar.sync 0;", [], [])

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """Write a branch: the instructions written by `body` run if the condition holds."""
        number = self.number()
        self.branch_if(condition, f"then{number}", f"after{number}")
        self.label(f"then{number}")
        body()
        self.branch(f"after{number}")
        self.label(f"after{number}")

    def loop(
        self, first: Index, count: Index, step: Index, carried: Sequence[tuple[str, str]],
        body: Callable[[str, list[str]], list[str]],
    ) -> list[str]:  # fmt: skip
        """Write a loop from `first` to `count - 1`; `body` maps carried registers to their next
        values.

        `carried` lists types and initial values. Returns the final values.
        """
        number, before = self.number(), self.block
        head, inside, end = f"head{number}", f"body{number}", f"end{number}"
        self.branch(head)
        self.label(head)
        place = len(self.lines)
        names = [self.name() for _ in range(len(carried) + 1)]
        self.lines.extend([""] * len(names))
        self.branch_if(self.less(names[0], count), inside, end)
        self.label(inside)
        following = [str(self.add(names[0], step)), *body(names[0], names[1:])]
        last = self.block
        self.branch(head)
        for offset, ((kind, initial), name, value) in enumerate(
            zip([("i32", str(first)), *carried], names, following, strict=True)
        ):
            choices = f"[ {initial}, %{before} ], [ {value}, %{last} ]"
            self.lines[place + offset] = f"  {name} = phi {kind} {choices}"
        self.label(end)
        return names[1:]

    # PTX

    def assembly(
        self, template: str, results: Sequence[str], operands: Sequence[tuple[str, str]],
        tied: int = 0,
    ) -> list[str]:  # fmt: skip
        """Write inline PTX. `results` are types, `operands` types and values; the last `tied`
        operands share the registers of the first results."""
        outputs = [f"={_CONSTRAINTS.get(kind, 'r')}" for kind in results]
        free = len(operands) - tied
        inputs = [_CONSTRAINTS.get(kind, "r") for kind, _ in operands[:free]]
        constraints = ",".join([*outputs, *inputs, *map(str, range(tied)), "~{memory}"])
        arguments = ", ".join([f"{kind} {value}" for kind, value in operands])
        kind = "void" if not results else results[0]
        if len(results) > 1:
            kind = "{ " + ", ".join(results) + " }"
        call = f'call {kind} asm sideeffect "{template}", "{constraints}"({arguments}) #0'
        if not results:
            self.effect(call)
            return []
        packed = self.instruction(call)
        if len(results) == 1:
            return [packed]
        return [
            self.instruction(f"extractvalue {kind} {packed}, {i}") for i in range(len(results))
        ]
