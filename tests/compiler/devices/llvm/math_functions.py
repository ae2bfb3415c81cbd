"""Compiles the functions of `devices.llvm.math` in this process and measures their errors."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import mpmath  # type: ignore[import-untyped]
import numpy
import numpy.typing
import torch

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.definitions import Definition, definitions
from ogive.compiler.devices.llvm.ir_text import Text
from ogive.compiler.devices.llvm.kernel_writer import vector_attributes
from ogive.compiler.devices.llvm.math import BINARY, define

Array = numpy.typing.NDArray[Any]
Compiled = Callable[..., Array]

SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 2.0**53, numpy.inf, 1e-320, 1e-40, 1e30, 1e300]
SPECIAL = [*SPECIAL, *(-value for value in SPECIAL), numpy.nan]

PAGE = Path(__file__).parents[4] / "docs" / "numerics.md"
_ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)
BOUNDS = {name: (float(f32), float(f64)) for name, f32, f64 in _ROW.findall(PAGE.read_text())}
"""The largest errors of each function that the documentation states, in f32 and in f64."""

_NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
}


def compile_definition(definition: Definition, dtype: str, lanes: int, arity: int) -> Compiled:
    """A Python function of flat arrays that maps them through the definition in a loop."""
    vectors = Text().vectors(dtype, lanes)
    needed = definitions([definition])
    declarations = sorted({line for each in needed for line in each.declarations})
    names = ["x", "y"][:arity]
    parameters = ", ".join(f"ptr %{name}" for name in ["out", *names])
    lines = [vector_attributes(host_target()), *declarations, *(each.text for each in needed)]
    lines += [
        f"define void @run({parameters}, i64 %n) #0 {{",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
    ]
    for name in names:
        lines += [
            f"  %{name}.at = getelementptr {vectors.element}, ptr %{name}, i64 %i",
            f"  %{name}.value = load {vectors.type}, ptr %{name}.at, align 1",
        ]
    arguments = ", ".join(f"{vectors.type} %{name}.value" for name in names)
    lines += [
        f"  %result = call {vectors.type} {definition.symbol}({arguments}) alwaysinline",
        f"  %out.at = getelementptr {vectors.element}, ptr %out, i64 %i",
        f"  store {vectors.type} %result, ptr %out.at, align 1",
        f"  %next = add i64 %i, {lanes}",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %end",
        "end:",
        "  ret void",
        "}",
    ]
    engine = _link("\n".join(lines))
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64)
    native = kind(engine.get_function_address("run"))

    def call(*arrays: Array) -> Array:
        assert engine is not None  # holds the code
        size = arrays[0].size
        padded = [numpy.resize(array, size + -size % lanes) for array in arrays]
        out = numpy.empty_like(padded[0])
        native(out.ctypes.data, *(array.ctypes.data for array in padded), out.size)
        return out[:size]

    return call


def _link(text: str) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=1,
        jit=True,
    )
    module = llvm.parse_assembly(text)
    module.verify()
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


@cache
def compiled(function: str, dtype: str, lanes: int) -> Compiled:
    arity = 2 if function in BINARY else 1
    definition = define(function, dtype, lanes, host_target().scalings)
    return compile_definition(definition, dtype, lanes, arity)


def reference(function: str, *arrays: Array) -> Array:
    """The function in f64 for f32 arrays and in extended precision for f64 ones."""
    wide = numpy.float64 if arrays[0].dtype == numpy.float32 else numpy.longdouble
    with numpy.errstate(all="ignore"):
        if function == "rsqrt":
            return numpy.asarray(1 / numpy.sqrt(arrays[0].astype(wide)))
        if function in ("erf", "erfc"):
            if wide is numpy.float64:
                exact = getattr(torch, function)(torch.from_numpy(arrays[0].astype(wide)))
                return numpy.asarray(exact.numpy())
            return numpy.array([_error_function(function, float(x)) for x in arrays[0]])
        operation = getattr(numpy, _NUMPY_NAMES.get(function, function))
        return numpy.asarray(operation(*(array.astype(wide) for array in arrays)))


def _error_function(function: str, x: float) -> numpy.longdouble:
    if not abs(x) < 30 or x == 0:  # out here, and for NaN and zeros, f64 is exact
        return numpy.longdouble(getattr(torch, function)(torch.tensor(x, dtype=torch.float64)))
    with mpmath.workprec(120):
        return numpy.longdouble(mpmath.nstr(getattr(mpmath, function)(x), 25))


def ulps(got: Array, want: Array) -> tuple[Array, Array]:
    """Errors in units of the last place of the result, and where the kind of value is wrong.

    A wrong kind is a NaN, an infinity or a sign that only one of both has.
    """
    digits, lowest, highest = (52, -1022, 1023) if got.dtype == numpy.float64 else (23, -126, 127)
    with numpy.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        finite = numpy.isfinite(rounded) & numpy.isfinite(got)
        exponent = numpy.clip(numpy.frexp(want)[1] - 1, lowest, highest)
        exponent = numpy.where(finite & (want != 0), exponent, lowest)
        scale = numpy.ldexp(want.dtype.type(1), digits - exponent)
        errors = numpy.where(finite, numpy.abs(got.astype(want.dtype) - want) * scale, 0)
    nan = numpy.isnan(got)
    wrong = nan != numpy.isnan(want)
    wrong |= ~finite & ~nan & (got != rounded)
    wrong |= ~nan & (numpy.signbit(got) != numpy.signbit(rounded))
    return errors.astype(numpy.float64), wrong


def check(function: str, bound: float, lanes: int, *arrays: Array) -> None:
    """Assert that all errors are within the bound and all special values right."""
    got = compiled(function, "f32" if arrays[0].dtype == numpy.float32 else "f64", lanes)(*arrays)
    errors, wrong = ulps(got, reference(function, *arrays))
    worst = int(errors.argmax())
    place = int(wrong.argmax())
    given = [array[place] for array in arrays]
    assert not wrong.any(), f"{function}{given} gave {got[place]}"
    given = [array[worst] for array in arrays]
    assert errors[worst] <= bound, f"{function}{given} is off by {errors[worst]:.3f} ulp"
