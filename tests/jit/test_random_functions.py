"""Random programs, captured, give what NumPy gives: at each call, with other tensors each time."""

from __future__ import annotations

from typing import Any

import pytest

import ogive
from ogive import Config, Tensor
from tests.random_programs import (
    ASSIGNMENTS,
    Program,
    Value,
    apply,
    compare,
    generate,
    make_input,
    perform,
)

GROUP = 10
CALLS = 3
SKIPPED = ("input", "prepare", "check", "drop", "realize")


def run_captured(program: Program, seed: int) -> None:
    """Half of the inputs are arguments, the others the function finds by itself."""
    inputs = {entry.out: entry for entry in program if entry.kind == "input"}
    given = [number for number in inputs if (number + seed) % 2]
    found = {number: perform(inputs[number], []) for number in inputs if number not in given}

    def function(arguments: dict[int, Tensor]) -> dict[int, Tensor]:
        tensors = {**arguments, **found}
        for instruction in program:
            sources = [tensors[number] for number in instruction.inputs if number in tensors]
            if instruction.kind in ASSIGNMENTS:
                perform(instruction, sources)
            elif instruction.kind not in SKIPPED:
                tensors[instruction.out] = perform(instruction, sources)
        return {number: tensor for number, tensor in tensors.items() if number not in inputs}

    donate = (0,) if seed % 5 == 0 else ()
    captured = ogive.jit(function, donate=donate, config=Config(verify=True))
    wanted = reference(program)
    for call in range(CALLS):
        arguments = {number: perform(inputs[number], []) for number in given}
        readers = {
            n: tensor.clone().reshape((*tensor.shape, 1))
            for n, tensor in (arguments | found).items()
        }
        results = captured(arguments)
        unchanged = {} if donate else arguments
        for number, tensor in (results | unchanged | found).items():
            compare(tensor, wanted[number], None)
        if call % 2 == 0:
            for number, tensor in readers.items():
                compare(tensor.reshape(tensor.shape[:-1]), apply(inputs[number], []), None)
        for number, tensor in found.items():
            tensor.assign(Tensor(make_input(*inputs[number].arguments[:3])))
    assert captured.cache_info().traces <= 2


def reference(program: Program) -> dict[int, Value]:
    values: dict[int, Any] = {}
    for instruction in program:
        if instruction.kind == "input" or instruction.kind not in SKIPPED:
            effect = instruction.kind in ASSIGNMENTS
            value = apply(instruction, [values[number] for number in instruction.inputs])
            values[instruction.inputs[0] if effect else instruction.out] = value
    return values


def run_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            run_captured(generate(seed, length), seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.parametrize("group", range(6))
def test_random_captured_functions_give_what_numpy_gives(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(1000, 1100))
def test_many_random_captured_functions_give_what_numpy_gives(group: int) -> None:
    run_group(group, 20)
