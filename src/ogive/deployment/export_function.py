"""`ogive.export`: a function becomes an object file and a header, for programs without Python.

    function, example     trace      a graph, whose slots are arguments, constants and results
                          compile    kernels, for the processor that was asked for
                          fold       what follows from constants alone is computed now
                          write      name.o, name.h
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ogive.config import Config, current_config
from ogive.deployment.c_header import Parameter, c_header, parameter_names, prototype
from ogive.deployment.constant_steps import compute_constants, constant_slots
from ogive.devices.buffer import Buffer
from ogive.devices.exported_program import (
    ExportedCopy,
    ExportedLaunch,
    ExportedProgram,
    Place,
    Word,
)
from ogive.devices.known_devices import host
from ogive.devices.memory_planner import place
from ogive.engine.steps.compiled_graph import CompiledGraph, Launch
from ogive.engine.steps.execution_levels import left_out_of, lives_of
from ogive.errors import ArgumentError, DeviceError, TraceError
from ogive.io.checked_files import replacing
from ogive.ir.device_names import FILES
from ogive.ir.node import UOp
from ogive.jit.argument_trees import Call, leaves
from ogive.jit.donation import parameter_names as argument_names
from ogive.jit.memories import leaf_at
from ogive.jit.tracing.prepare import Made, Owner, Prepared, prepare
from ogive.jit.tracing.trace import trace
from ogive.jit.tracing.traced_function import Result, Trace
from ogive.jit.tracing.watch import trace_lock
from ogive.live import history, registry
from ogive.named import NamedTuple
from ogive.passes.regions.slots import CallStep, CopyStep, aligned
from ogive.tensor.tensor import Tensor


class Exported(NamedTuple):
    """The files of an exported function, its declaration in C, and the bytes that it takes.

    `constant_bytes` are part of the object; the caller passes `memory_bytes` of scratch memory.
    """

    object_path: str
    header_path: str
    prototype: str
    constant_bytes: int
    memory_bytes: int

    def __repr__(self) -> str:
        return (
            f"<exported to {self.object_path} and {self.header_path}: {self.constant_bytes:,} "
            f"bytes of constants, {self.memory_bytes:,} of scratch memory>\n{self.prototype};"
        )


def export(
    function: Callable[..., Any],
    example: Sequence[Any],
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    cpu: str | None = None,
    arguments: Sequence[str] = (),
    results: Sequence[str] = (),
    config: Config | None = None,
) -> Exported:
    """Write a function as an object file that C programs call, with all weights in it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> layer = ogive.nn.Linear(3, 2)
    >>> print(ogive.export(layer, (ogive.zeros(4, 3),), f"{folder}/layer.o").prototype)
    int32_t layer(
        const float *x,  /* float32 [4, 3] */
        float *result,  /* float32 [4, 2] */
        void *memory  /* LAYER_MEMORY bytes */
    )

    The function is traced once with the tensors and arrays of `example`, as `ogive.jit` does it.
    They become parameters; numbers and all else that it reads become part of the code. A length
    that is a bound variable (`n.bind(4)`) becomes a parameter as well. `path` is the object's, and
    the header lies beside it. The object refers to nothing but `memcpy` and its kind; a C compiler
    links it, and whatever else links objects.

    `name` is the function's (the file's if not given); `arguments` and `results` name its
    parameters. `cpu` says which processors run the code: "x86-64-v3" or "x86-64-v4", if not given
    those like this one. Results have the same bits as those of `ogive.jit` under that setting.

    Raises `TraceError` for what has no meaning without Python (updates of tensors, random draws,
    custom functions), `ArgumentError` for a bad name or path, `FileError`.
    """
    place_of_object = os.fspath(path)
    stem, suffix = os.path.splitext(place_of_object)
    if suffix != ".o":
        raise ArgumentError(f"export: the path of an object file ends in .o, got {path!r}")
    name = os.path.basename(stem) if name is None else name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII):
        raise ArgumentError(
            f"export: {name!r} cannot be the name of a function of C; give another one by name="
        )
    config = current_config() if config is None else config
    if cpu is not None:
        config = config.with_changes({"cpu": cpu})
    if isinstance(example, Tensor) or not isinstance(example, Sequence):
        raise ArgumentError("export: example is a sequence of arguments, such as (x,)")
    description = _Description(function, tuple(example), config)
    with tempfile.TemporaryDirectory() as folder:
        program, memory_bytes = description.program(name, os.path.join(folder, "constants"))
        code = host().write_program(program, config)
    given, made = description.parameters(arguments, results)
    target = host().target(config)
    origin = f"written by Ogive for {target.cpu} ({target.triple})"
    header = c_header(name, origin, given, made, program.variables, memory_bytes)
    for where, content in ((place_of_object, code), (f"{stem}.h", header.encode())):
        with replacing(where, "an exported function") as file:
            file.write(content)
    declared = prototype(name, given, made, program.variables)
    return Exported(
        place_of_object, f"{stem}.h", declared, program.constant_bytes, memory_bytes
    )


class _Description:
    """A traced and compiled function, and where the memory of each of its slots comes from."""

    def __init__(
        self, function: Callable[..., Any], example: tuple[Any, ...], config: Config
    ) -> None:
        self.config = config
        self.trace, self.call = _traced(function, example, config)
        self.prepared = prepare(self.trace, (), config, exact=True)
        self.graph: CompiledGraph = self.prepared.graph
        _refuse_effects(self.trace, self.prepared)
        self.returned = [
            (path, leaf)
            for path, leaf in leaves(self.trace.results, "result")
            if isinstance(leaf, Result)
        ]
        self._refuse_devices()
        if not self.returned:
            raise TraceError("export: the function gives no tensor")
        self.results = [self._made(leaf) for _, leaf in self.returned]

    def parameters(
        self, arguments: Sequence[str], results: Sequence[str]
    ) -> tuple[list[Parameter], list[Parameter]]:
        """What the function takes and gives, as C sees it. Raises `ArgumentError` for other than
        as many names as there are."""
        paths = [path for path, _ in self.returned]
        for kind, given, known in [
            ("arguments", arguments, self.trace.inputs), ("results", results, paths)
        ]:  # fmt: skip
            if given and len(given) != len(known):
                raise ArgumentError(
                    f"export: {kind} has {len(given)} names, and the function has {len(known)} "
                    f"{kind}"
                )
        names = parameter_names(arguments or self.trace.inputs, self.graph.variables)
        taken = []
        for parameter, value in zip(names, self.call.inputs, strict=True):
            tensor = value if isinstance(value, Tensor) else Tensor.from_numpy(value)
            taken.append(Parameter(parameter, tensor.dtype, tensor.shape))
        outputs = parameter_names(results or paths, [*names, *self.graph.variables])
        made = [
            Parameter(parameter, each.dtype, each.shape)
            for parameter, each in zip(outputs, self.results, strict=True)
        ]
        return taken, made

    def program(self, name: str, constants_path: str) -> tuple[ExportedProgram, int]:
        """The program, whose constants are written to a file, and the scratch memory it takes."""
        graph = self.graph
        constants = self._constants()
        known = constant_slots(graph, constants)
        values = compute_constants(graph, constants, known, self.config)
        steps = [
            (level, step)
            for level, step in zip(graph.levels, graph.steps, strict=True)
            if not set(step.written) <= known
        ]
        words: dict[int, Word] = {
            slot: Word(Place.ARGUMENT, owner.position)
            for slot, owner in self.prepared.owners.items()
            if owner.kind == "input"
        }
        copies: list[tuple[Word, int]] = []
        for number, made in enumerate(self.results):
            word = Word(Place.RESULT, number)
            if made.slot is not None and words.setdefault(made.slot, word) is not word:
                copies.append((word, made.slot))
        read = {slot for _, step in steps for slot in step.slots} | {slot for _, slot in copies}
        size = 0
        with open(constants_path, "wb") as file:
            for slot in sorted(known & read):
                words[slot] = Word(Place.CONSTANT, size)
                content = values[slot].contents("uint8", (values[slot].nbytes,)).tobytes()
                file.write(content.ljust(aligned(len(content)), b"\0"))
                size += aligned(len(content))
        lives = lives_of(
            [step for _, step in steps], [level for level, _ in steps], graph.slots,
            {**left_out_of(graph.slots, graph.outputs), **dict.fromkeys(words, "not scratch")},
        )  # fmt: skip
        needed = {slot: life for slot, life in lives.items() if slot in read}
        places = place(needed, "arena", [slot.device for slot in graph.slots])
        words |= {slot: Word(Place.MEMORY, offset) for slot, (_, offset) in places.places.items()}
        done = [self._step(step, words) for _, step in steps]
        done += [ExportedCopy(to, words[slot], graph.slots[slot].nbytes) for to, slot in copies]
        program = ExportedProgram(
            name, len(self.call.inputs), len(self.results), graph.variables, tuple(done),
            constants_path, size,
        )  # fmt: skip
        return program, max(sum(places.blocks), 1)

    def _step(
        self, step: Launch | CopyStep | CallStep, words: Mapping[int, Word]
    ) -> ExportedLaunch | ExportedCopy:
        if isinstance(step, CopyStep):
            to, source = step.slots
            return ExportedCopy(words[to], words[source], self.graph.slots[to].nbytes)
        assert isinstance(step, Launch), "calls were refused"
        fixed = dict(step.fixed)
        numbers = [
            Word(Place.NUMBER, fixed[name]) if name in fixed else Word(Place.VARIABLE, name)
            for name in step.variables
        ]
        own = [words[slot] for slot in step.slots]
        return ExportedLaunch(step.kernel.name, step.kernel.ir, (*own, *numbers), step.tiles)

    def _constants(self) -> dict[int, Buffer]:
        """The memory that the function found, by slot."""
        constants = dict(self.prepared.constants)
        for slot, owner in self.prepared.owners.items():
            if owner.kind == "found":
                constants[slot] = registry.buffer_of(self._found_leaf(owner))
        return constants

    def _found_leaf(self, owner: Owner) -> UOp:
        found = self.trace.found[owner.position]
        return leaf_at(found.whole, found.number)

    def _made(self, leaf: Result) -> Made:
        """A result; one that is an argument, or a tensor that was found, is copied."""
        if leaf.kind == "fresh":
            return self.prepared.results[leaf.position]
        if leaf.kind == "spread":
            raise DeviceError(
                "export: the function gives a tensor over several devices; gather it with to('CPU')"
            )
        raise TraceError(
            "export: the function gives back a tensor as it is, of its arguments or that it found; "
            "give a copy of it (clone())"
        )

    def _refuse_devices(self) -> None:
        """Raise for memory that is not the host's, and for steps that Python does."""
        for step in self.graph.steps:
            if isinstance(step, CallStep):
                raise TraceError(
                    f"export: the function calls {step.name}, which is Python's; a program without "
                    "Python cannot call it"
                )
        for slot in self.graph.slots:
            if slot.device not in (host().name, FILES):
                raise DeviceError(
                    f"export: the function computes on {slot.device}; only code for "
                    f"{host().name} is written, so give it a model and an example there"
                )


def _traced(
    function: Callable[..., Any], example: tuple[Any, ...], config: Config
) -> tuple[Trace, Call]:
    """The trace of a function, as it is without gradients."""
    import ogive.engine as engine

    names = argument_names(getattr(function, "forward", function))
    with trace_lock:
        before = history.set_recording(False)
        try:
            call = Call(example, {})
            if call.pending:
                engine.realize(call.pending, config)
                call = Call(example, {})
            return trace(function, example, {}, names, config, call), call
        finally:
            history.set_recording(before)


def _refuse_effects(traced: Trace, prepared: Prepared) -> None:
    """Raise `TraceError` for what changes from call to call."""
    changed = [*prepared.written, *[owner for owner, _ in prepared.moved]]
    if changed:
        owner = changed[0]
        which = (
            f"its argument {traced.inputs[owner.position]}"
            if owner.kind == "input"
            else f"a tensor of shape {traced.found[owner.position].tensor.shape}"
        )
        raise TraceError(
            f"export: the function updates {which}, and an exported function has no state; take "
            "what changes as an argument and give it back (a model is exported after eval())"
        )
    if traced.supplies:
        raise TraceError(
            "export: the function draws random numbers, which are others at each call; take them "
            "as an argument (a model is exported after eval())"
        )
