"""Arguments as trees: their leaves, and a key that is equal for calls of one kind.

A leaf is a tensor, a NumPy array, a bound variable, or a constant. Tuples, lists, dictionaries,
named tuples and dataclasses are branches. Tensors and arrays enter the key by shape, dtype and
device, variables by name and bounds, constants by type and value, any other object by identity.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.ir.device_names import FILES, is_group
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.layouts import without_mark
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.live import history
from ogive.compiler.live.history import is_recording, record_of
from ogive.compiler.live.registry import buffer_of
from ogive.errors import DeviceError, VariableError
from ogive.jit.memories import are_there, layout_of_memory, leaves_of, numbers_of
from ogive.tensor.tensor import Tensor

Key = Any
DISTURBED: Any = object()
"""A run gives this in place of a result if another thread wrote to what it read."""

_EMPTY = Buffer(0)


class Call:
    """The arguments of one call, taken apart.

    `inputs` are its tensors and arrays in order, `memories` the buffer or array that each lies in.
    `pending` are tensors that have to be computed before the call can be told apart from others.
    `flows` says whether gradients flow through one of the others, to what it was computed from.
    All of this was so at `moment`.
    """

    __slots__ = (
        "flows", "identities", "inputs", "key", "memories", "moment", "pending", "variables",
    )  # fmt: skip

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], prefix: Key = None) -> None:
        self.moment = clock.quiet
        self.inputs: list[Any] = []
        self.memories: list[Any] = []
        self.pending: list[Tensor] = []
        self.identities: list[Any] = []
        self.variables: dict[str, int] = {}
        self.flows = False
        # The steady path: every line here is paid at every call.
        key: list[Key] = [prefix]
        for value in args:
            read = _READERS.get(value.__class__) or _reader_for(value)
            key.append(read(value, self))
        if kwargs:
            for name in sorted(kwargs):
                key.append(name)
                key.append(_read(kwargs[name], self))
        memories = self.memories
        if len(memories) > 1 and len(set(map(id, memories))) < len(memories):
            key.append((_first_of(memories), _first_of(self.inputs)))
        self.key: Key = tuple(key)


def _first_of(values: list[Any]) -> tuple[int, ...]:
    """For each value, where the same object stood first."""
    places: dict[int, int] = {}
    return tuple([places.setdefault(id(value), place) for place, value in enumerate(values)])


def _read(value: Any, call: Call) -> Key:
    return (_READERS.get(value.__class__) or _reader_for(value))(value, call)


# Leaves


def _read_tensor(tensor: Tensor, call: Call) -> Key:
    node = tensor.node
    flat = node
    while flat.op is Op.RESHAPE:
        flat = flat.operand
    if flat.op is not Op.BUFFER:
        return _read_other_tensor(tensor, node, call)
    if record_of(flat) is not None and is_recording():
        call.flows = True
    buffer = buffer_of(flat)
    call.inputs.append(tensor)
    call.memories.append(buffer)
    if history.leaves and tensor.id in history.leaves:
        return node.shape, node.dtype, buffer.borrowed, tensor.device, _read_leaf(tensor)
    return node.shape, node.dtype, buffer.borrowed, tensor.device


def _read_leaf(tensor: Tensor) -> Key:
    """The hooks and histories that gradients of a leaf go through."""
    hooks = getattr(tensor, "hooks", None)
    functions = () if hooks is None else (*hooks.functions, hooks.keep)
    return "leaf", tensor.grad is None, functions


def _read_other_tensor(tensor: Tensor, node: UOp, call: Call) -> Key:
    """A tensor that is empty, has a symbolic length, or is still to be computed."""
    if is_group(tensor.device):
        return _read_spread_tensor(tensor, node, call)
    flat = memory_leaf(node)
    if 0 in node.shape:
        buffer: Any = _EMPTY
    elif flat.op is Op.BUFFER:
        buffer = buffer_of(flat)
    else:
        refuse_file_view(tensor)
        call.pending.append(tensor)
        return None
    call.inputs.append(tensor)
    call.memories.append(buffer)
    shape = tuple([_read_length(size, call) for size in node.shape])
    leaf = _read_leaf(tensor) if history.is_flagged(tensor) else None
    return shape, node.dtype, buffer.borrowed, tensor.device, leaf


def _read_spread_tensor(tensor: Tensor, node: UOp, call: Call) -> Key:
    """A tensor over several devices: an input for each of its parts."""
    refuse_empty(tensor)
    layout = layout_of_memory(node)
    if layout is None or not are_there(node):
        call.pending.append(tensor)
        return None
    if record_of(without_mark(node)) is not None and is_recording():
        call.flows = True
    memories = list(map(buffer_of, leaves_of(node)))
    call.inputs += [tensor] * len(memories)
    call.memories += memories
    leaf = _read_leaf(tensor) if history.is_flagged(tensor) else None
    return node.shape, node.dtype, layout, tuple([each.borrowed for each in memories]), leaf


def refuse_file_view(tensor: Tensor) -> None:
    """Raise `DeviceError` for a part of a file, which is no memory that a call could fill in."""
    if tensor.device == FILES:
        raise DeviceError(
            f"a jitted function takes whole files, not views such as this one of shape "
            f"{tensor.shape}; open the part with from_file, slice inside, or copy with to('CPU')"
        )


def is_pending(tensor: Tensor, node: UOp) -> bool:
    """Whether a tensor on this node is not memory yet and has to become it."""
    if are_there(node) or 0 in node.shape:
        return False
    refuse_file_view(tensor)
    return True


def _read_array(array: Any, call: Call) -> Key:
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and array.dtype.isnative):
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    call.inputs.append(array)
    call.memories.append(array)
    return array.shape, array.dtype, "array"


def _read_length(size: Any, call: Call) -> Key:
    return _read_bound(size, call) if isinstance(size, UOp) else size


def _read_bound(node: UOp, call: Call) -> Key:
    """An expression of bound variables: its structure is the key, the values are set aside."""
    bound = [entry for entry in node.walk() if entry.op is Op.BIND]
    for entry in bound:
        name, value = entry.variable.name, entry.bound.literal
        if call.variables.setdefault(name, value) != value:
            raise VariableError(
                f"variable {name!r} is bound to {call.variables[name]} and to {value} in one call"
            )
    return substitute((node,), {entry: entry.variable for entry in bound}, revisit=False)[0]


def _read_constant(value: Any, call: Call) -> Key:
    return value.__class__, value


def _read_float(value: float, call: Call) -> Key:
    # 0.0 and -0.0 are equal and NaN is not: those go by their text.
    return (float, value) if value and value == value else (float, str(value))


def _read_complex(value: complex, call: Call) -> Key:
    return complex, repr(value)


def _read_scalar(value: Any, call: Call) -> Key:
    return value.__class__, value.tobytes()


def _read_slice(value: slice, call: Call) -> Key:
    return slice, *[_read(part, call) for part in (value.start, value.stop, value.step)]


def _read_identity(value: Any, call: Call) -> Key:
    call.identities.append(value)
    return "object", id(value)


# Branches


def _read_sequence(values: Any, call: Call) -> Key:
    return values.__class__, *[_read(value, call) for value in values]


def _read_mapping(values: Any, call: Call) -> Key:
    names = tuple([(name.__class__, name) for name in values])
    return values.__class__, names, *[_read(value, call) for value in values.values()]


def _read_dataclass(value: Any, call: Call) -> Key:
    names = _field_names(value)
    return value.__class__, *[_read(getattr(value, name), call) for name in names]


def _field_names(value: Any) -> list[str]:
    return [entry.name for entry in dataclasses.fields(value) if hasattr(value, entry.name)]


_READERS: dict[type, Callable[[Any, Call], Key]] = {
    Tensor: _read_tensor,
    numpy.ndarray: _read_array,
    UOp: _read_bound,
    float: _read_float,
    complex: _read_complex,
    slice: _read_slice,
    tuple: _read_sequence,
    list: _read_sequence,
    dict: _read_mapping,
    **dict.fromkeys([bool, int, str, bytes, type(None), type(Ellipsis)], _read_constant),
    DType: _read_constant,
}


def _reader_for(value: Any) -> Callable[[Any, Call], Key]:
    kinds: list[tuple[type, Callable[[Any, Call], Key]]] = [
        (Tensor, _read_tensor), (numpy.ndarray, _read_array), (numpy.generic, _read_scalar),
        (tuple, _read_sequence), (list, _read_sequence), (dict, _read_mapping),
    ]  # fmt: skip
    for kind, reader in kinds:
        if isinstance(value, kind):
            return reader
    return _read_dataclass if _is_dataclass(value) else _read_identity


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


# Walking and rebuilding


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of a tree, each with the Python expression that leads to it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        for name, entry in zip(value._fields, value, strict=True):
            yield from leaves(entry, f"{path}.{name}")
    elif isinstance(value, tuple | list):
        for position, entry in enumerate(value):
            yield from leaves(entry, f"{path}[{position}]")
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from leaves(entry, f"{path}[{name!r}]")
    elif _is_dataclass(value):
        for name in _field_names(value):
            yield from leaves(getattr(value, name), f"{path}.{name}")
    else:
        yield path, value


def argument_leaves(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]
) -> Iterator[tuple[str, Any]]:
    """The leaves of a call's arguments, in the order of `Call.inputs`."""
    for position, value in enumerate(args):
        name = names[position] if position < len(names) else f"argument {position}"
        yield from leaves(value, name)
    for name in sorted(kwargs):
        yield from leaves(kwargs[name], name)


def count_inputs(leaf: Any) -> int:
    """How many inputs of a call a leaf of its arguments is: one for each memory it has."""
    return len(numbers_of(leaf.node)) if isinstance(leaf, Tensor) else 1


def rebuild(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same tree with every leaf changed; all branches are new objects."""
    if isinstance(value, tuple):
        entries = [rebuild(entry, change) for entry in value]
        if hasattr(value, "_make"):
            return value._make(entries)
        return tuple(entries) if value.__class__ is tuple else value.__class__(entries)
    if isinstance(value, list):
        rebuilt: Any = copy.copy(value)
        rebuilt[:] = [rebuild(entry, change) for entry in value]
        return rebuilt
    if isinstance(value, dict):
        rebuilt = copy.copy(value)
        for name, entry in value.items():
            rebuilt[name] = rebuild(entry, change)
        return rebuilt
    if _is_dataclass(value):
        rebuilt = copy.copy(value)
        for name in _field_names(value):
            object.__setattr__(rebuilt, name, rebuild(getattr(value, name), change))
        return rebuilt
    return change(value)


def refuse_empty(tensor: Tensor) -> None:
    """Raise `DeviceError` for a tensor over several devices that has no elements."""
    if 0 in tensor.shape:
        raise DeviceError(
            f"a jitted function takes and gives no empty tensors over several devices, such as one "
            f"of shape {tensor.shape} over {tensor.device}; gather it with to('CPU')"
        )
