"""An exported function as C sees it: what it takes, in order, and what it returns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ogive.compiler.devices.exported_program import ExportStatus
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.printer import format_index
from ogive.compiler.ir.shape import Shape
from ogive.named import NamedTuple

_TYPES = {
    "float32": "float", "float64": "double", "bool": "bool",
    "complex64": "float _Complex", "complex128": "double _Complex",
    "float16": "uint16_t", "bfloat16": "uint16_t",
    "float8_e4m3": "uint8_t", "float8_e5m2": "uint8_t",
}  # fmt: skip
"""Types of C by dtype; those of narrow floats hold their bits. Integers have their own names."""

_RESERVED = frozenset(
    {
        "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double",
        "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long",
        "memory", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
        "switch", "true", "typedef", "union", "unsigned", "void", "volatile", "while",
    }
)  # fmt: skip
"""Words of C, and the name of the last parameter."""


class Parameter(NamedTuple):
    """A pointer that the function takes: its name in C, and the array behind it."""

    name: str
    dtype: DType
    shape: Shape

    @property
    def c_type(self) -> str:
        """The type of its elements."""
        return _TYPES.get(self.dtype.name, f"{self.dtype.name}_t")


def parameter_names(paths: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names of C for Python expressions, each once.

    >>> parameter_names(["x", "batch['image']", "x"])
    ['x', 'batch_image', 'x_2']
    """
    names: list[str] = []
    used = {*taken, *_RESERVED}
    for path in paths:
        stem = re.sub(r"\W+", "_", path, flags=re.ASCII).strip("_") or "value"
        stem = f"value_{stem}" if stem[0].isdigit() else stem
        name, count = stem, 1
        while name in used:
            count += 1
            name = f"{stem}_{count}"
        used.add(name)
        names.append(name)
    return names


def c_header(
    name: str,
    origin: str,
    arguments: Sequence[Parameter],
    results: Sequence[Parameter],
    variables: Mapping[str, tuple[int, int]],
    memory_bytes: int,
) -> str:
    """The text of a header that declares the function."""
    macro = name.upper()
    guard = f"{macro}_H"
    statuses = [
        f"#define {macro}_{status.name} {int(status)}  /* {_MEANINGS[status]} */"
        for status in ExportStatus
    ]
    lines = [
        f"/* {name}: {origin} */",
        f"#ifndef {guard}", f"#define {guard}", "",
        "#include <stdbool.h>", "#include <stdint.h>", "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        "/* Bytes of scratch memory, and how results and scratch memory are aligned. */",
        f"#define {macro}_MEMORY {memory_bytes}", f"#define {macro}_ALIGNMENT {ALIGNMENT}", "",
        "/* What the function returns. */", *statuses, "",
        "/* Arrays are dense, in row-major order, and do not overlap. Several threads may call the",
        "   function at once, each with scratch memory of its own. */",
        prototype(name, arguments, results, variables) + ";", "",
        "#ifdef __cplusplus", "}", "#endif", "", "#endif", "",
    ]  # fmt: skip
    return "\n".join(lines)


_MEANINGS = {
    ExportStatus.DONE: "all results are there",
    ExportStatus.FAULT: "an index out of range, or an integer division by zero",
    ExportStatus.UNALIGNED: "a result or the scratch memory is not aligned",
    ExportStatus.OUT_OF_BOUNDS: "a length is outside its bounds",
}


def prototype(
    name: str,
    arguments: Sequence[Parameter],
    results: Sequence[Parameter],
    variables: Mapping[str, tuple[int, int]],
) -> str:
    """The declaration of the function, a parameter a line."""
    parameters = [_pointer(each, "const ") for each in arguments]
    parameters += [_pointer(each, "") for each in results]
    parameters += [
        (f"int64_t {variable}", f"{low} to {high}") for variable, (low, high) in variables.items()
    ]
    parameters.append(("void *memory", f"{name.upper()}_MEMORY bytes"))
    lines = []
    for at, (text, comment) in enumerate(parameters):
        comma = "," if at < len(parameters) - 1 else ""
        lines.append(f"    {text}{comma}  /* {comment} */\n")
    return f"int32_t {name}(\n{''.join(lines)})"


def _pointer(parameter: Parameter, qualifier: str) -> tuple[str, str]:
    sizes = ", ".join(_length(size) for size in parameter.shape)
    kind = parameter.dtype.name
    return f"{qualifier}{parameter.c_type} *{parameter.name}", f"{kind} [{sizes}]"


def _length(size: object) -> str:
    """A length as it is written in Python: a number, or an expression of variables."""
    if isinstance(size, int):
        return str(size)
    assert isinstance(size, UOp), "a length is a number or an expression"
    return format_index(size)
