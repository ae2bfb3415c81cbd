"""A program that runs without Python, as one LLVM module: its kernels, and a function that calls
them in order.

    launch k(result 0, argument 1, 7) over n / 4 tiles

    %w0 = ptrtoint ptr %result.0 to i64      store i64 %w0, ptr %words
    …
    %tiles = …                               call void @"k"(ptr %words, i64 0, i64 %tiles, …)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from ogive.compiler.devices.cpu.native.layout import NO_FAULT
from ogive.compiler.devices.exported_program import (
    ExportedCopy,
    ExportedLaunch,
    ExportedProgram,
    ExportStatus,
    Place,
    Word,
)
from ogive.compiler.devices.llvm.merge_modules import merge_modules
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

_PLAIN = {Op.ADD: "add", Op.SUB: "sub", Op.MUL: "mul", Op.AND: "and", Op.OR: "or"}
_CALLED = {Op.MAXIMUM: "llvm.smax.i64", Op.MINIMUM: "llvm.smin.i64"}
_COMPARED = {Op.CMPLT: "slt", Op.CMPLE: "sle", Op.CMPEQ: "eq", Op.CMPNE: "ne"}

_DECLARED = """
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def program_ir(program: ExportedProgram) -> str:
    """The module of a program."""
    launches = [step for step in program.steps if isinstance(step, ExportedLaunch)]
    kernels = {launch.ir: launch.name for launch in launches}
    names = {ir: f"{program.name}.kernel.{number}" for number, ir in enumerate(kernels)}
    merged = merge_modules([(kernels[ir], ir, names[ir]) for ir in kernels])
    internal = merged.replace('define void @"', 'define internal void @"')
    function = _Function(program, names)
    declared = [line for line in _DECLARED.splitlines() if line not in internal.splitlines()]
    return "\n".join([_constants(program), internal, *declared, function.text()])


def _constants(program: ExportedProgram) -> str:
    """The file of constants, as a symbol of the object that no other object sees."""
    name = f"{program.name}.constants"
    lines = [
        '.section .rodata,\\22a\\22,@progbits', f".p2align {ALIGNMENT.bit_length() - 1}",
        f".type {name},@object", f"{name}:",
        f".incbin \\22{program.constants}\\22", f".size {name}, {program.constant_bytes}",
    ]  # fmt: skip
    texts = [f'module asm "{line}"' for line in lines]
    return "\n".join([*texts, f"@{name} = external hidden constant i8"])


class _Function:
    """The function that C calls, instruction by instruction."""

    def __init__(self, program: ExportedProgram, names: dict[str, str]) -> None:
        self.program = program
        self.names = names
        self.lines: list[str] = []
        self._next = itertools.count()

    def text(self) -> str:
        program = self.program
        parameters = [f"ptr %argument.{at}" for at in range(program.arguments)]
        parameters += [f"ptr %result.{at}" for at in range(program.results)]
        parameters += [f"i64 %variable.{name}" for name in program.variables]
        counts = [len(step.words) for step in program.steps if isinstance(step, ExportedLaunch)]
        self.lines += [
            f"define i32 @{program.name}({', '.join([*parameters, 'ptr %memory'])}) nounwind {{",
            "entry:",
            f"  %words = alloca [{max(counts, default=1)} x i64], align 8",
            "  %fault = alloca i64, align 8",
            f"  store i64 {NO_FAULT}, ptr %fault",
        ]
        self._check_alignment()
        self._check_variables()
        for step in program.steps:
            if isinstance(step, ExportedCopy):
                self._copy(step)
            else:
                self._launch(step)
        self.lines.append(f"  ret i32 {int(ExportStatus.DONE)}")
        for status in (ExportStatus.FAULT, ExportStatus.UNALIGNED, ExportStatus.OUT_OF_BOUNDS):
            self.lines += [f"is.{status.name.lower()}:", f"  ret i32 {int(status)}"]
        return "\n".join([*self.lines, "}", ""])

    def _do(self, instruction: str) -> str:
        """Add an instruction that has a result; its name."""
        name = f"%t{next(self._next)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def _leave_if(self, condition: str, status: ExportStatus) -> None:
        going_on = f"l{next(self._next)}"
        end = f"is.{status.name.lower()}"
        self.lines.append(f"  br i1 {condition}, label %{end}, label %{going_on}")
        self.lines.append(f"{going_on}:")

    def _check_alignment(self) -> None:
        addresses = [f"%result.{at}" for at in range(self.program.results)]
        together = "0"
        for address in [*addresses, "%memory"]:
            number = self._do(f"ptrtoint ptr {address} to i64")
            together = self._do(f"or i64 {together}, {number}")
        beside = self._do(f"and i64 {together}, {ALIGNMENT - 1}")
        self._leave_if(self._do(f"icmp ne i64 {beside}, 0"), ExportStatus.UNALIGNED)

    def _check_variables(self) -> None:
        for name, (low, high) in self.program.variables.items():
            below = self._do(f"icmp slt i64 %variable.{name}, {low}")
            above = self._do(f"icmp sgt i64 %variable.{name}, {high}")
            self._leave_if(self._do(f"or i1 {below}, {above}"), ExportStatus.OUT_OF_BOUNDS)

    def _launch(self, step: ExportedLaunch) -> None:
        for at, word in enumerate(step.words):
            place = self._do(f"getelementptr i64, ptr %words, i64 {at}")
            self.lines.append(f"  store i64 {self._number(word)}, ptr {place}")
        tiles = self._index(step.tiles)
        kernel = self.names[step.ir]
        self.lines.append(
            f'  call void @"{kernel}"(ptr %words, i64 0, i64 {tiles}, ptr %fault)'
        )
        site = self._do("load i64, ptr %fault")
        self._leave_if(self._do(f"icmp ne i64 {site}, {NO_FAULT}"), ExportStatus.FAULT)

    def _copy(self, step: ExportedCopy) -> None:
        to, source = self._address(step.to), self._address(step.source)
        self.lines.append(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {step.nbytes}, "
            "i1 false)"
        )

    def _number(self, word: Word) -> str:
        """The 64 bits that a kernel is given for a word."""
        if word.place is Place.NUMBER:
            return str(word.value)
        if word.place is Place.VARIABLE:
            return f"%variable.{word.value}"
        return self._do(f"ptrtoint ptr {self._address(word)} to i64")

    def _address(self, word: Word) -> str:
        if word.place in (Place.ARGUMENT, Place.RESULT):
            return f"%{word.place.name.lower()}.{word.value}"
        name = "%memory" if word.place is Place.MEMORY else f"@{self.program.name}.constants"
        return self._do(f"getelementptr i8, ptr {name}, i64 {word.value}")

    def _index(self, value: int | UOp) -> str:
        """An index expression of variables."""
        if isinstance(value, int):
            return str(value)
        done: dict[UOp, str] = {}
        for node in value.walk():
            if node.op is Op.CONST:
                done[node] = str(int(node.arg))
            elif node.op is Op.VARIABLE:
                done[node] = f"%variable.{node.name}"
            else:
                done[node] = self._operation(node.op, [done[source] for source in node.src])
        return done[value]

    def _operation(self, op: Op, values: Sequence[str]) -> str:
        """One operation on numbers of 64 bits; conditions are 0 or 1."""
        if op in _PLAIN:
            return self._do(f"{_PLAIN[op]} i64 {values[0]}, {values[1]}")
        if op in _CALLED:
            return self._do(f"call i64 @{_CALLED[op]}(i64 {values[0]}, i64 {values[1]})")
        if op in _COMPARED:
            bit = self._do(f"icmp {_COMPARED[op]} i64 {values[0]}, {values[1]}")
            return self._do(f"zext i1 {bit} to i64")
        others: dict[Op, Callable[..., str]] = {
            Op.NEG: lambda x: self._do(f"sub i64 0, {x}"),
            Op.NOT: lambda x: self._do(f"xor i64 {x}, 1"),
            Op.WHERE: self._where,
            Op.FLOORDIV: self._floor_divide,
            Op.MOD: self._remainder,
        }
        return others[op](*values)

    def _where(self, condition: str, first: str, second: str) -> str:
        bit = self._do(f"icmp ne i64 {condition}, 0")
        return self._do(f"select i1 {bit}, i64 {first}, i64 {second}")

    def _floor_divide(self, number: str, divisor: str) -> str:
        rest = self._remainder(number, divisor)
        return self._do(f"sdiv i64 {self._do(f'sub i64 {number}, {rest}')}, {divisor}")

    def _remainder(self, number: str, divisor: str) -> str:
        """The remainder that has the sign of the divisor."""
        rest = self._do(f"srem i64 {number}, {divisor}")
        signs = self._do(f"xor i64 {rest}, {divisor}")
        differs = self._do(f"icmp slt i64 {signs}, 0")
        is_left = self._do(f"icmp ne i64 {rest}, 0")
        wanted = self._do(f"and i1 {differs}, {is_left}")
        added = self._do(f"add i64 {rest}, {divisor}")
        return self._do(f"select i1 {wanted}, i64 {added}, i64 {rest}")
