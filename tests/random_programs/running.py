"""Programs run by Ogive and by NumPy side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive import Config, Tensor
from tests.random_programs.kinds import ASSIGNMENTS, KINDS, VIEWS
from tests.random_programs.values import Instruction, Program, Value

EFFECTS = (*ASSIGNMENTS, "realize", "prepare", "check", "drop")
"""Instructions that give nothing new."""


def apply(instruction: Instruction, inputs: Sequence[Value]) -> Value:
    """The value an instruction gives, or its first input has after it.

    Views share memory, as NumPy has it, and assignments write to that.
    """
    kind = (KINDS | ASSIGNMENTS)[instruction.kind]
    shares = instruction.kind in (*VIEWS, *ASSIGNMENTS) or instruction.arguments == ("detach",)
    if instruction.arguments == ("contiguous",):
        shares = inputs[0].data.flags.c_contiguous
    # NumPy makes numbers of arrays without axes.
    return kind.apply(list(inputs), *instruction.arguments).moved(
        np.asarray if shares else np.array
    )


def perform(instruction: Instruction, inputs: Sequence[Tensor]) -> Tensor:
    """The same instruction on tensors."""
    kind = (KINDS | ASSIGNMENTS)[instruction.kind]
    return kind.perform(list(inputs), *instruction.arguments)


def run(
    program: Program, config: Config | None = None, device: str = "CPU"
) -> dict[int, Tensor]:
    """Run a program both ways, on a device; raises `AssertionError` where they differ.

    The tensors that are left, by number.
    """
    tensors: dict[int, Tensor] = {}
    values: dict[int, Value] = {}
    for instruction in program:
        inputs = instruction.inputs
        if any(number not in tensors for number in inputs):
            continue
        kind = instruction.kind
        if kind == "realize":
            Tensor.realize_batch([tensors[number] for number in inputs], config)
        elif kind == "prepare":
            plan = Tensor.prepare_batch([tensors[number] for number in inputs], config)
            plan.execute()
        elif kind == "check":
            compare(tensors[inputs[0]], values[inputs[0]], config)
        elif kind == "drop":
            del tensors[inputs[0]], values[inputs[0]]
        else:
            out = inputs[0] if kind in ASSIGNMENTS else instruction.out
            values[out] = apply(instruction, [values[number] for number in inputs])
            made = perform(instruction, [tensors[number] for number in inputs]).to(device)
            tensors.setdefault(out, made)
    # The last first, so that they are computed from all that leads to them, not from memory.
    for number, tensor in reversed(tensors.items()):
        compare(tensor, values[number], config)
    return tensors


def compare(tensor: Tensor, value: Value, config: Config | None) -> None:
    """Raises `AssertionError` where a tensor does not hold what it must."""
    assert tensor.dtype.name == value.dtype, f"dtype {tensor.dtype.name}, not {value.dtype}"
    assert tensor.shape == value.shape, f"shape {tensor.shape}, not {value.shape}"
    tensor.realize(config)
    got = tensor.numpy()
    if value.is_float:
        difference = np.abs(got.astype(np.float64) - value.data)
        good = difference <= value.error
    else:
        good = got == value.data
    if not np.all(good):
        place = tuple(int(axis[0]) for axis in np.nonzero(~np.atleast_1d(good)))
        wrong = np.atleast_1d(got)[place], np.atleast_1d(value.data)[place]
        raise AssertionError(
            f"{int((~good).sum())} of {good.size} elements of {value.dtype}{value.shape} differ, "
            f"first at {place}: {wrong[0]}, not {wrong[1]}"
        )
