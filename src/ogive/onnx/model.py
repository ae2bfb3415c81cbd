"""`ogive.onnx.load`: a model that is read once, captured once per kind of inputs, and replayed."""

from __future__ import annotations

import math
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ogive.config import Config, current_config
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    CompileError,
    OgiveError,
    TraceError,
    nearest,
)
from ogive.io.checked_files import Path
from ogive.jit import Jitted
from ogive.jit.kept_traces import is_known
from ogive.journal import log
from ogive.named import NamedTuple
from ogive.onnx.call import to_tensor
from ogive.onnx.dynamic_lengths import is_fixed
from ogive.onnx.graph import Graph, Info, Node
from ogive.onnx.model_file import ModelFile
from ogive.onnx.narrow import Narrow, element_named, from_array
from ogive.onnx.ready_model import ReadyModel
from ogive.onnx.table import Value
from ogive.onnx.variable_axes import VariableAxes
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.profile import StepTime
    from ogive.deployment import Exported

__all__ = ["Info", "Model", "load"]

Constant = tuple[int, str, tuple[int, ...], bytes]
"""An input that a capture is for one value of: which one, its dtype, its shape, its elements."""

MOST_DECISIVE = 8
"""Inputs of more elements do not decide what is computed."""


class NotVariable(OgiveError):
    """A graph that cannot be walked with variables for its sizes."""


_UNSUITED = (TypeError, ValueError, IndexError, AttributeError, ArithmeticError, OgiveError)
"""Errors of operators that are not made for lengths that may change."""


ROUNDING = "rounding"
"""The rounding of floats in a model may change, unless asked otherwise. Exporters and other
runtimes fold scales and reorder sums, too."""


class _Settings:
    """The settings of the process, with the exactness that a model is loaded with."""

    def __init__(self, exactness: str) -> None:
        self._changes = {"exactness": exactness}
        self._last = self._derive(current_config())

    def _derive(self, given: Config) -> tuple[Config, Config]:
        return given, given.with_changes(self._changes)

    def current(self) -> Config:
        """The settings for a call that is made now."""
        given, own = self._last
        if given is not current_config():
            self._last = _, own = self._derive(current_config())
        return own


class Contents(NamedTuple):
    """What a model is made of: nodes by operator, the most frequent first, and weights: how many
    there are, of how many elements and bytes."""

    operators: dict[str, int]
    weights: int
    elements: int
    nbytes: int


class Model:
    """A model of an ONNX file. Made by `ogive.onnx.load`.

    `inputs` and `outputs` say what it takes and makes, `metadata` what its author wrote down,
    `opsets` which operators of which domain it uses. `name` is that of its graph.
    """

    def __init__(self, file: ModelFile, exactness: str = ROUNDING) -> None:
        self.name = file.name
        self.inputs = file.inputs
        self.outputs = file.outputs
        self.source = file.source
        self.metadata = file.metadata
        self.producer = file.producer
        self.opsets = file.opsets
        self._file = file
        self._ready = ReadyModel(file)
        self._settings = _Settings(exactness)
        self._captured = Jitted(self._walk, config=self._settings.current, known=self._ready)
        self._needs_values = False
        self._decisive: tuple[int, ...] = ()
        self._axes = VariableAxes(file.inputs)
        self._lock = threading.Lock()
        if is_known(self._ready, self._settings.current()):
            file.check_files_beside()
        else:
            _ = file.graph

    @property
    def graph(self) -> Graph:
        """Its nodes, in an order in which they can be computed, and its weights."""
        self._ready.is_shown = True
        return self._file.graph

    def state_dict(self) -> dict[str, Tensor]:
        """The weights by name, as tensors: on `DISK` where their bytes are still in the file."""
        return _weights_of(self.graph)

    @property
    def contents(self) -> Contents:
        """How many nodes there are of each operator, and how large the weights are."""
        graph = self._file.graph
        weights = _weights_of(graph).values()
        counts = Counter([node.op for node in graph.nodes]).most_common()
        elements = sum(math.prod(int(size) for size in weight.shape) for weight in weights)
        return Contents(dict(counts), len(weights), elements, sum(each.nbytes for each in weights))

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name: tensors, arrays of texts, lists for sequences, dictionaries for
        maps, None for no value.

        Raises `ArgumentError` for inputs that are missing, unknown, or of the wrong type or shape.
        """
        if not isinstance(inputs, Mapping):
            kind = type(inputs).__name__
            raise ArgumentTypeError(f"run takes a dictionary of inputs by name, not {kind}")
        values = self._run(self._check_inputs(inputs))
        return {info.name: value for info, value in zip(self.outputs, values, strict=True)}

    def profile(self, inputs: Mapping[str, Any]) -> list[StepTime]:
        """The least time of each kernel of a call, run by itself ten times.

        Raises `ArgumentError` for a model that needs values to go on, and what `run` raises.
        """
        values = self._check_inputs(inputs)
        self._run(values)
        if self._needs_values or not all(map(_is_captured, values)):
            raise ArgumentError("this model is walked at each call: it has no kernels of its own")
        known = tuple(_as_constant(place, values[place]) for place in self._decisive)
        rest = [None if place in self._decisive else each for place, each in enumerate(values)]
        return self._captured.profile(rest, known)

    def export(
        self,
        inputs: Mapping[str, Any],
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        cpu: str | None = None,
    ) -> Exported:
        """Write the model as an object file for C programs, for inputs of these shapes.

        See `ogive.export`. Raises what that raises, and `TraceError` for a model that needs values
        to go on.
        """
        from ogive.deployment import export

        values = self._check_inputs(inputs)
        self._ready.make_ready()
        return export(
            self._walk, (values, ()), path, name=name, cpu=cpu,
            arguments=[info.name for info in self.inputs],
            results=[info.name for info in self.outputs],
            config=self._settings.current(),
        )  # fmt: skip

    def step_through(self, inputs: Mapping[str, Any]) -> Iterator[tuple[Node, dict[str, Any]]]:
        """Run node by node: each node, with the values it makes by name, computed at once."""
        from ogive.onnx.walk import Walk

        walk = Walk()
        values = self._check_inputs(inputs)
        given = [to_tensor(value) if _is_captured(value) else value for value in values]
        for node in walk.steps(self.graph, given):
            results = {name: _to_result(walk.values[name]) for name in node.outputs if name}
            yield node, {name: _computed(value) for name, value in results.items()}

    def _check_inputs(self, inputs: Mapping[str, Any]) -> list[Value]:
        known = [info.name for info in self.inputs]
        for name in inputs:
            if name not in known:
                raise ArgumentError(
                    f"the model has no input {name!r}{nearest(name, known)}; it takes {known}"
                )
        missing = [info.name for info in self.inputs if info.name not in inputs]
        if missing:
            raise ArgumentError(f"the model also takes {missing}; given are {sorted(inputs)}")
        return [_check_input(info, inputs[info.name]) for info in self.inputs]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The output, or a tuple of the outputs, for inputs by position or name."""
        if len(args) > len(self.inputs):
            raise ArgumentError(f"the model takes {len(self.inputs)} inputs, not {len(args)}")
        names = [info.name for info in self.inputs]
        twice = [name for name in names[: len(args)] if name in kwargs]
        if twice:
            raise ArgumentError(f"the inputs {twice} are given by position and by name")
        outputs = self.run({**dict(zip(names, args, strict=False)), **kwargs})
        return next(iter(outputs.values())) if len(outputs) == 1 else tuple(outputs.values())

    def __repr__(self) -> str:
        takes = ", ".join(str(info) for info in self.inputs)
        makes = ", ".join(str(info) for info in self.outputs)
        return f"Model({takes} -> {makes}; {self._file.node_count} nodes)"

    def _run(self, values: list[Value]) -> list[Value]:
        if not self._needs_values and all(map(_is_captured, values)):
            try:
                return self._replay(values)
            except TraceError:
                # What comes next depends on values (a trip count, a shape that is an input).
                decisive = tuple(place for place, each in enumerate(values) if _may_decide(each))
                if decisive and not self._decisive:
                    self._decisive = decisive
                    return self._run(values)
                self._needs_values = True  # from now on the graph is walked at each call
        given = [to_tensor(value) if _is_captured(value) else value for value in values]
        return [_to_result(value) for value in self._walk_through(given)]

    def _walk_through(self, values: list[Value]) -> list[Value]:
        """Compute the nodes, or make a graph of them."""
        from ogive.onnx.walk import Walk  # which recalled models do without

        return Walk().run(self._ready.graph, values)

    def _replay(self, values: list[Value]) -> list[Value]:
        """Run what was captured; where sizes change, with variables if that is possible."""
        known = tuple(_as_constant(place, values[place]) for place in self._decisive)
        values = [None if place in self._decisive else each for place, each in enumerate(values)]
        with self._lock:
            sizes = self._axes.sizes(values)
            views = None
            if sizes and self._axes.wants_variables(sizes):
                views = self._axes.view(values, sizes)
        if views is None:
            return self._captured(values, known)
        try:
            return [_compact(result) for result in self._captured(views, known)]
        except (NotVariable, CompileError) as error:
            if current_config().logs("recompile"):
                log("recompile", f"{self.name}: sizes are captured one by one: {error}")
            with self._lock:
                self._axes.give_up()
        return self._captured(values, known)

    def _walk(self, values: list[Value], known: tuple[Constant, ...]) -> list[Value]:
        is_general = any(each is not None and not is_fixed(*each.shape) for each in values)
        values = list(values)
        for place, kind, shape, raw in known:
            values[place] = numpy.frombuffer(raw, kind).reshape(shape)
        try:
            results = self._walk_through(values)
        except _UNSUITED as error:
            if is_general:
                raise NotVariable(str(error)) from error
            raise
        if not all(isinstance(value, Tensor | numpy.ndarray) for value in results):
            raise TraceError("sequences are not captured")
        return [to_tensor(value, "an output") for value in results]


def load(source: Path | bytes, exactness: str = ROUNDING) -> Model:
    """The model of an ONNX file, given by its path or as bytes.

    `exactness` says what may change for the sake of speed: `"rounding"`, or nothing (`"exact"`).

    Raises `FileError` when it is missing, damaged or out of bounds, and `OperatorError` when it
    uses an operator that is not there, naming the node.
    """
    with ModelFile.opened(source) as file:
        return Model(file, exactness)


def _weights_of(graph: Graph) -> dict[str, Tensor]:
    return {
        name: to_tensor(value)
        for name, value in graph.constants.items()
        if isinstance(value, Tensor | Narrow) or value.dtype != object
    }


def _check_input(info: Info, given: Any) -> Value:
    if info.kind != "tensor":
        return _to_values(given)
    if info.dtype == "string":
        return numpy.array(given, object)
    element = element_named(info.dtype)
    if element is not None and isinstance(given, numpy.ndarray):
        return from_array(element, given)
    if not isinstance(given, Tensor) and not _is_borrowed(given):
        given = _to_tensor(info, given)
    if info.dtype and given.dtype.name != info.dtype:
        raise ArgumentTypeError(
            f"the input {info.name!r} is {info.dtype}, and {given.dtype.name} is given; "
            f"convert it, by astype({info.dtype!r}) for an array"
        )
    if info.shape is not None and not _fits(info.shape, given.shape):
        raise ArgumentError(
            f"the input {info.name!r} is {info.describe()}, and one of shape "
            f"{tuple(given.shape)} is given; lengths that are names may be any"
        )
    return given


def _to_tensor(info: Info, given: Any) -> Tensor:
    """An input that is no array of plain numbers. Python's numbers become those of the model."""
    try:
        array = numpy.asarray(given)
    except ValueError as error:  # lines of several lengths
        raise ArgumentError(f"the input {info.name!r} is no array of numbers: {error}") from None
    if array.dtype.kind in "OUS":
        raise ArgumentTypeError(
            f"the input {info.name!r} is {info.describe()}, and {type(given).__name__} is given, "
            f"of {array.dtype}; give an array or a tensor of numbers"
        )
    is_plain = isinstance(given, list | tuple | bool | int | float)
    if is_plain and ("float" in info.dtype or (info.dtype and array.dtype.kind != "f")):
        return Tensor(given, dtype=info.dtype)
    return Tensor(array)


def _is_borrowed(given: Any) -> bool:
    """Whether an input is an array of numbers, which a captured function reads where it is."""
    return type(given) is numpy.ndarray and given.dtype.kind in "fiub"


def _is_captured(value: Value) -> bool:
    """Whether a captured function takes a value."""
    return isinstance(value, Tensor) or _is_borrowed(value)


def _is_float(value: Value) -> bool:
    is_array = isinstance(value, numpy.ndarray)
    return bool(value.dtype.kind == "f" if is_array else value.dtype.is_float)


def _fits(wanted: tuple[int | str | None, ...], given: tuple[Any, ...]) -> bool:
    return len(wanted) == len(given) and all(
        not isinstance(size, int) or size == length
        for size, length in zip(wanted, given, strict=True)
    )


def _may_decide(value: Value) -> bool:
    """Whether an input may be one that says what is computed: a number or two, and whole."""
    if _is_float(value) or value.ndim > 1:
        return False
    return 0 < math.prod(int(size) for size in value.shape) <= MOST_DECISIVE


def _as_constant(place: int, value: Value) -> Constant:
    """An input as a part of the kind of a call."""
    array = _computed(value)
    return place, array.dtype.str, array.shape, array.tobytes()


def _computed(value: Value) -> Value:
    """A result as an array."""
    if isinstance(value, list):
        return [_computed(each) for each in value]
    return value.numpy() if isinstance(value, Tensor) else value


def _compact(result: Tensor) -> Tensor:
    """A result whose lengths are numbers, in memory of just that size."""
    return result if is_fixed(*result.shape) else Tensor.from_numpy(result.numpy())


def _to_values(given: Any) -> Value:
    if isinstance(given, list | tuple):
        return [_to_values(each) for each in given]
    if given is None or isinstance(given, Tensor):
        return given
    array = numpy.asarray(given)
    return array if array.dtype.kind in "OUS" else Tensor(array)


def _to_result(value: Value) -> Value:
    if isinstance(value, list):
        return [_to_result(each) for each in value]
    if isinstance(value, Narrow):
        return value.array()
    is_text = isinstance(value, numpy.ndarray) and value.dtype.kind in "OUS"
    is_plain = value is None or isinstance(value, dict)
    return value if is_plain or is_text else to_tensor(value)
