"""`ogive.onnx.save`: a function, a module or a loaded model as an ONNX file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.io.checked_files import replacing, to_path
from ogive.nn.module import AnyModule
from ogive.onnx import writing
from ogive.onnx.export.lengths_of_axes import Axes
from ogive.onnx.export.model_emitter import Emitter, WriteTensor
from ogive.onnx.export.operations import Operations
from ogive.onnx.export.products import dependencies
from ogive.onnx.export.rewrite_file import replace_weights
from ogive.onnx.export.weights_file import WeightsFile
from ogive.onnx.model import Model
from ogive.onnx.trainable import TrainableModel
from ogive.onnx.writing import ELEMENTS
from ogive.tensor.core import wrap
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.outlined import in_earnest
from ogive.tensor.tensor import Tensor

ROOM = 4096
"""A dynamic axis stands for lengths up to this while a function is run for its graph."""

Dynamic = Mapping[str, Mapping[int, str]]


def save(
    model: Model | AnyModule | Callable[..., Any],
    path: str | os.PathLike[str],
    example: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    dynamic: Dynamic | None = None,
    external: bool = False,
) -> None:
    """Write a function or module as a model of standard operators (opset 18).

    `example` is what it is called with: a tensor or a tuple of tensors. It is run once, for its
    graph. `inputs` and `outputs` are names; `dynamic` says which axes may change, as
    `{"x": {0: "batch"}}`. A model that was loaded is written as it was, with the weights it has
    now, and needs no example. With `external`, weights are written to a file beside, named as the
    model with `.data` behind it: a model of more than 2 GiB has to be written so.

    Raises `ArgumentError` for what is no standard operator, `FileError` where nothing can be
    written.
    """
    place = to_path(path, "onnx.save")

    def make(write_tensor: WriteTensor) -> bytes:
        if isinstance(model, Model | TrainableModel):
            loaded = model.model if isinstance(model, TrainableModel) else model
            return replace_weights(loaded.source, model.state_dict(), write_tensor)
        if not callable(model):
            kind = type(model).__name__
            raise ArgumentTypeError(f"onnx.save takes a function or a model, not {kind}")
        if example is None:
            raise ArgumentError("onnx.save takes an example of what the function is called with")
        return _export(model, example, inputs, outputs, dynamic or {}, write_tensor)

    if external:
        beside = place + ".data"
        with replacing(beside, "onnx.save") as file:
            raw = make(WeightsFile(os.path.basename(beside), file).tensor)
    else:
        raw = make(writing.tensor)
    with replacing(place, "onnx.save") as file:
        file.write(raw)


def _export(
    function: Callable[..., Any], example: Any, inputs: Sequence[str] | None,
    outputs: Sequence[str] | None, dynamic: Dynamic, write_tensor: WriteTensor,
) -> bytes:  # fmt: skip
    given = list(example) if isinstance(example, tuple | list) else [example]
    given = [each if isinstance(each, Tensor) else Tensor(each) for each in given]
    names = list(inputs) if inputs is not None else _numbered("x", len(given))
    if len(names) != len(given):
        raise ArgumentError(f"onnx.save: {len(names)} names for {len(given)} inputs")
    unknown = sorted(set(dynamic) - set(names))
    if unknown:
        raise ArgumentError(f"onnx.save: dynamic axes of {unknown}; the inputs are {names}")
    places: dict[str, tuple[str, int]] = {}
    arguments = [
        _placeholder(tensor, name, dynamic.get(name, {}), places)
        for tensor, name in zip(given, names, strict=True)
    ]
    tracked = zeros(1, requires_grad=True)  # convolutions say what they are only then
    with in_earnest():
        results = function(*arguments)
    assert tracked is not None, "alive until the function has run"
    tensors = list(results) if isinstance(results, tuple | list) else [results]
    if not all(isinstance(each, Tensor) for each in tensors):
        raise ArgumentTypeError("onnx.save: the function gives something else than tensors")
    out_names = list(outputs) if outputs is not None else _numbered("y", len(tensors))
    emitter = Emitter(write_tensor)
    named = dict(zip(names, arguments, strict=True))
    return _write(emitter, function, named, tensors, out_names, places)


def _numbered(letter: str, count: int) -> list[str]:
    return [letter] if count == 1 else [f"{letter}{place}" for place in range(count)]


def _placeholder(
    tensor: Tensor, name: str, axes: Mapping[int, str], places: dict[str, tuple[str, int]]
) -> Tensor:
    """A tensor that stands for an input; a dynamic axis is a variable."""
    array = tensor.numpy()
    if not axes:
        return Tensor(array).realize()
    room = [max(ROOM, size) if axis in axes else size for axis, size in enumerate(array.shape)]
    cut = [slice(None)] * array.ndim
    for axis, title in axes.items():
        variable = "axis_" + "".join(each if each.isalnum() else "_" for each in title)
        places.setdefault(variable, (name, axis))
        cut[axis] = slice(Variable(variable, 1, room[axis]).bind(array.shape[axis]))
    # A mark that movement of the input does not go through.
    return Tensor.from_numpy(numpy.empty(room, array.dtype))[tuple(cut)].contiguous()


def _write(
    emitter: Emitter, function: Any, inputs: Mapping[str, Tensor], results: list[Tensor],
    out_names: list[str], places: dict[str, tuple[str, int]],
) -> bytes:  # fmt: skip
    names: dict[UOp, str] = {}
    for name, tensor in inputs.items():
        names[tensor.node] = emitter.name(name)
    given = {_memory(tensor.node): name for name, tensor in inputs.items()}
    for name in out_names:
        emitter.name(name)
    known = {_memory(tensor.node): name for name, tensor in _state(function)}
    operations = Operations(emitter, Axes(emitter, places), names)
    roots = tuple(result.node for result in results)
    for node in _needed(roots, set(names)):
        memory = _memory(node)
        if memory in given:  # an input, in a shape of its own
            shape = operations.axes.shape(node.shape)
            names[node] = emitter.node("Reshape", given[memory], shape)
        elif memory.op is Op.BUFFER:
            names[node] = _write_weight(emitter, node, known)
        else:
            names[node] = operations.write(node)
    for root, name in zip(roots, out_names, strict=True):
        emitter.rename(names[root], name)
    titles = {variable: variable.removeprefix("axis_") for variable in places}
    return emitter.model(
        getattr(function, "__name__", type(function).__name__),
        [_info(name, tensor, titles) for name, tensor in inputs.items()],
        [_info(name, result, titles) for name, result in zip(out_names, results, strict=True)],
    )


def _state(function: Any) -> list[tuple[str, Tensor]]:
    if not isinstance(function, AnyModule):
        return []
    return [*function.named_parameters(), *function.named_buffers()]


def _memory(node: UOp) -> UOp:
    """The buffer that a node is all of, if it is one."""
    while node.op is Op.RESHAPE:
        node = node.operand
    return node


def _write_weight(emitter: Emitter, node: UOp, known: Mapping[UOp, str]) -> str:
    with graph_lock:
        value = wrap(node, _memory(node).device)
    return emitter.weight(known.get(_memory(node), "weight"), value.numpy(), node.dtype)


def _needed(roots: tuple[UOp, ...], inputs: set[UOp]) -> list[UOp]:
    """The nodes to be written, sources first."""
    needed = set(roots)
    kept = []
    for node in reversed(walk(roots)):
        if node in needed and node not in inputs:
            kept.append(node)
            if _memory(node).op is not Op.BUFFER:
                needed.update(dependencies(node))
    return kept[::-1]


def _info(name: str, tensor: Tensor, titles: Mapping[str, str]) -> bytes:
    return writing.value_info(
        name, ELEMENTS[tensor.dtype], [_length(size, titles) for size in tensor.shape]
    )


def _length(size: Any, titles: Mapping[str, str]) -> int | str:
    if isinstance(size, int):
        return size
    if size.op is Op.BIND:
        return titles[size.variable.name]
    return "".join(letter if letter.isalnum() else "_" for letter in repr(size))
