"""A described function becomes a program: steps over arguments, results, constants and scratch.

    before   slot 0 = product(slot 1, slot 2)
    after    launch product(result 0, argument 0, constant at byte 0)
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.exported_program import (
    ExportedCopy,
    ExportedLaunch,
    ExportedProgram,
    Place,
    Word,
)
from ogive.compiler.devices.memory_planner import place
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, Launch, Step
from ogive.compiler.engine.steps.execution_levels import left_out_of, lives_of
from ogive.compiler.passes.regions.slots import CopyStep, aligned
from ogive.deployment.constant_steps import compute_constants, constant_slots
from ogive.deployment.described_function import DescribedFunction
from ogive.errors import ArgumentError
from ogive.named import NamedTuple

MOST_CONSTANT_BYTES = (1 << 31) - (1 << 26)
"""Code reaches constants by distances of 32 bits."""


class Written(NamedTuple):
    """A program, and the bytes of scratch memory that it takes."""

    program: ExportedProgram
    memory_bytes: int


def write_steps(function: DescribedFunction, name: str, constants_path: str) -> Written:
    """The program of a function. Its constants are written to a file.

    Raises `ArgumentError` for more constants than an object file can have.
    """
    graph = function.graph
    known = constant_slots(graph, function.constants)
    values = compute_constants(graph, function.constants, known, function.config)
    steps = [
        (level, step)
        for level, step in zip(graph.levels, graph.steps, strict=True)
        if not known.issuperset(step.written)
    ]
    words, copies = _parameters(function)
    read = {slot for _, step in steps for slot in step.slots} | {slot for _, slot in copies}
    offsets, constant_bytes = _write_constants(
        {slot: values[slot] for slot in sorted(known & read)}, constants_path
    )
    words |= {slot: Word(Place.CONSTANT, offset) for slot, offset in offsets.items()}
    scratch, memory_bytes = _plan_scratch(graph, steps, words)
    words |= {slot: Word(Place.MEMORY, offset) for slot, offset in scratch.items()}
    exported = [_exported(step, graph, words) for _, step in steps]
    exported += [ExportedCopy(to, words[slot], graph.slots[slot].nbytes) for to, slot in copies]
    program = ExportedProgram(
        name, len(function.call.inputs), len(function.results), graph.variables, tuple(exported),
        constants_path, constant_bytes,
    )  # fmt: skip
    return Written(program, memory_bytes)


def _parameters(
    function: DescribedFunction,
) -> tuple[dict[int, Word], list[tuple[Word, int]]]:
    """The slots that are parameters, and the results to copy: those returned a second time."""
    words = {slot: Word(Place.ARGUMENT, at) for slot, at in function.inputs.items()}
    copies = []
    for number, result in enumerate(function.results):
        word = Word(Place.RESULT, number)
        if result.slot is not None and words.setdefault(result.slot, word) is not word:
            copies.append((word, result.slot))
    return words, copies


def _write_constants(values: Mapping[int, Buffer], path: str) -> tuple[dict[int, int], int]:
    """Write constants to a file: the offset of each, and the bytes of all."""
    offsets = {}
    size = 0
    with open(path, "wb") as file:
        for slot, buffer in values.items():
            offsets[slot] = size
            padded = aligned(buffer.nbytes)
            file.write(buffer.contents("uint8", (buffer.nbytes,)).tobytes().ljust(padded, b"\0"))
            size += padded
            if size > MOST_CONSTANT_BYTES:
                raise ArgumentError(
                    f"export: the function has more than {MOST_CONSTANT_BYTES:,} bytes of "
                    "constants, which is as many as an object file can have; take some of its "
                    "weights as arguments"
                )
    return offsets, size


def _plan_scratch(
    graph: CompiledGraph, steps: list[tuple[int, Step]], words: Mapping[int, Word]
) -> tuple[dict[int, int], int]:
    """Offsets in the scratch memory for the slots that have no word yet, and its size."""
    used = {slot for _, step in steps for slot in step.slots}
    left_out = {
        slot: "no scratch"
        for slot in range(len(graph.slots))
        if slot in words or slot not in used
    }
    left_out = left_out_of(graph.slots, graph.outputs) | left_out
    levels, ordered = [level for level, _ in steps], [step for _, step in steps]
    lives = lives_of(ordered, levels, graph.slots, left_out)
    places = place(lives, "arena", [slot.device for slot in graph.slots])
    return {slot: at for slot, (_, at) in places.places.items()}, max(sum(places.blocks), 1)


def _exported(
    step: Step, graph: CompiledGraph, words: Mapping[int, Word]
) -> ExportedLaunch | ExportedCopy:
    if isinstance(step, CopyStep):
        to, source = step.slots
        return ExportedCopy(words[to], words[source], graph.slots[to].nbytes)
    assert isinstance(step, Launch), "calls were refused"
    fixed = dict(step.fixed)
    numbers = [
        Word(Place.NUMBER, fixed[name]) if name in fixed else Word(Place.VARIABLE, name)
        for name in step.variables
    ]
    memory = [words[slot] for slot in step.slots]
    return ExportedLaunch(step.kernel.name, step.kernel.ir, (*memory, *numbers), step.tiles)
