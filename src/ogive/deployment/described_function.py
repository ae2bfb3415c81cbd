"""A function traced and compiled: where the memory of each slot of its graph comes from.

    lambda x: x @ w      slot 0: result 0    slot 1: argument x    slot 2: a constant, w
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import host
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph
from ogive.compiler.ir.device_names import FILES
from ogive.compiler.live import history, registry
from ogive.compiler.passes.regions.slots import CallStep
from ogive.config import Config
from ogive.deployment.c_header import Parameter, parameter_names
from ogive.errors import ArgumentError, DeviceError, TraceError
from ogive.jit.argument_trees import Call, leaves
from ogive.jit.donation import parameter_names as argument_names
from ogive.jit.memories import leaf_at
from ogive.jit.tracing.prepare import Prepared, ResultSlot, prepare
from ogive.jit.tracing.trace import trace
from ogive.jit.tracing.traced_function import Result, Trace
from ogive.jit.tracing.watch import trace_lock
from ogive.tensor.tensor import Tensor


class DescribedFunction:
    """A function for one kind of call.

    `graph` computes it. `results` are the tensors that it returns, in order. `inputs` says which
    slots are arguments, by position; `constants` which are memory that the function captured.
    """

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
        self.results = [self._result_slot(leaf) for _, leaf in self.returned]
        owners = self.prepared.owners
        self.inputs = {
            slot: owner.position for slot, owner in owners.items() if owner.kind == "input"
        }
        self.constants: dict[int, Buffer] = dict(self.prepared.constants)
        for slot, owner in owners.items():
            if owner.kind == "captured":
                captured = self.trace.captured[owner.position]
                self.constants[slot] = registry.buffer_of(leaf_at(captured.whole, captured.number))

    def parameters(
        self, arguments: Sequence[str], results: Sequence[str]
    ) -> tuple[list[Parameter], list[Parameter]]:
        """The function's arguments and results for C. Raises `ArgumentError` if there are more or
        fewer names than arguments or results."""
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
        written = [
            Parameter(parameter, each.dtype, each.shape)
            for parameter, each in zip(outputs, self.results, strict=True)
        ]
        return taken, written

    def _result_slot(self, leaf: Result) -> ResultSlot:
        """A result in memory of its own. Raises `TraceError` for a tensor returned as it is."""
        if leaf.kind == "fresh":
            return self.prepared.results[leaf.position]
        if leaf.kind == "spread":
            raise DeviceError(
                "export: the function gives a tensor over several devices; gather it with to('CPU')"
            )
        raise TraceError(
            "export: the function gives back a tensor as it is, an argument or a captured one; "
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
    import ogive.compiler.engine as engine

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
            else f"a tensor of shape {traced.captured[owner.position].tensor.shape}"
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
