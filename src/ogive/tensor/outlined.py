"""Functions of the library whose call is a single node, until the graph is compiled.

    before   x.softmax(-1)     SUB, EXP, REDUCE_AXES, DIV … over x, made at each call
    after    x.softmax(-1)     CALL softmax(x), which stands for them

A program that calls the same functions over and over should not pay for every node of their bodies.
A graph that was compiled before is found without these nodes. So the body of an `@outlined`
function runs once for each combination of shapes, dtypes and other arguments. That run gives the
shape and dtype of the result, or raises the error for wrong arguments. Every later call is a
look-up in a table and one CALL node.

The body runs again where its nodes are needed: when the graph is compiled
(`passes/capture/inline_calls.py`) or differentiated (`autograd/gradient.py`). It is called with
tensors on the operands of the CALL node.

A function may be outlined if its result depends on its operands and arguments alone, and is neither
a view of them nor memory. Its body always runs where something else could matter: under autocast,
while a function is traced, on several devices, for symbolic lengths.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from threading import get_ident
from typing import Any, ParamSpec, TypeVar, cast

from ogive.errors import Origin, at_origin
from ogive.ir import dtype as dtypes
from ogive.ir.calls import expanders
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import FAULTING, MOVEMENT, Op
from ogive.ir.traversal import walk
from ogive.live import history
from ogive.live.history import traced
from ogive.live.registry import connect, graph_lock, make
from ogive.named import NamedTuple
from ogive.tensor import autocast_dtypes
from ogive.tensor.core import DEFAULT_DEVICE, Core, hold, wrap
from ogive.tensor.method_functions import eager_calls

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_OPERAND = "operand"
"""The placeholder of an operand among the arguments of a call."""

_PLAIN = frozenset({int, bool, str, type(None), DType})
"""The other kinds of arguments, besides operands, floats, and tuples and lists of integers."""

_MEMORY = frozenset({Op.BUFFER, Op.AFTER, Op.ASSIGN, Op.COPY, Op.CUSTOM, Op.BIND, Op.VARIABLE})
"""Ops that the body must not add: they depend on more than the operands."""

_NO_RESULT = frozenset({Op.BUFFER, Op.CONST, Op.IOTA})
"""Ops that a result must not be a mere movement of: a call would save nothing."""

MOST_SIGNATURES = 4096


class Signature(NamedTuple):
    """The CALL node of a call, but for its operands."""

    dtype: DType
    argument_and_shape: tuple[tuple[Any, ...], tuple[int, ...]]


_UNKNOWN = Signature(dtypes.void, ((), ()))

_signatures: dict[tuple[Any, ...], Signature | None] = {}
"""The signature of each call that was made, by its key; None if it cannot be one node."""

_inside: set[int] = set()
"""The threads that run the body of an outlined function. Calls inside of it are not outlined."""


def outlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function, which returns one tensor, with calls that are CALL nodes."""
    callee = f"{function.__module__.removeprefix('ogive.tensor.')}.{function.__name__}"
    expanders[callee] = functools.partial(_expand, function)

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if (
            (_inside and get_ident() in _inside)
            or autocast_dtypes.chosen
            or (traced and get_ident() in traced)
        ):
            return function(*args, **kwargs)
        if eager_calls and call not in eager_calls and _are_eager((*args, *kwargs.values())):
            return function(*args, **kwargs)
        while True:
            with graph_lock:
                nodes: list[UOp] = []
                key = _key(callee, args, kwargs, nodes)
                if key is None:
                    break
                signature = _signatures.get(key, _UNKNOWN)
                if signature is None:
                    break
                if signature is not _UNKNOWN:
                    dtype, argument_and_shape = signature
                    node = make(Op.CALL, dtype, tuple(nodes), *argument_and_shape)
                    return cast("Result", wrap(node, DEFAULT_DEVICE))
            # Outside of the lock: a body that asks for values must not hold it.
            _signatures[key] = _infer_signature(function, callee, args, kwargs, nodes)
            if len(_signatures) > MOST_SIGNATURES:
                _signatures.clear()
        return function(*args, **kwargs)

    return call


def _are_eager(values: Iterable[Any]) -> bool:
    """Whether all tensors among the arguments are eager.

    The body is run for them even if the function has no form, for the operations in it have.
    """
    tensors = [value for value in values if isinstance(value, Core)]
    return bool(tensors) and all(tensor.is_eager for tensor in tensors)


def _key(
    callee: str, args: tuple[Any, ...], kwargs: dict[str, Any], nodes: list[UOp]
) -> tuple[Any, ...] | None:
    """Return the key of a call: all that its result depends on, except the values of operands.

    The nodes of the operands are appended to `nodes`. None if the call cannot be a node.
    """
    key: list[Any] = [callee]
    for value in args:
        if isinstance(value, Core):
            if value.device is not DEFAULT_DEVICE:
                return None
            node = value.node
            nodes.append(node)
            key += (node.dtype, node.shape)
        elif not _add_argument(value, key):
            return None
    for name, value in kwargs.items():
        key.append(name)
        if isinstance(value, Core):
            if value.device is not DEFAULT_DEVICE:
                return None
            node = value.node
            nodes.append(node)
            key += (node.dtype, node.shape)
        elif not _add_argument(value, key):
            return None
    return tuple(key) if nodes else None


def _add_argument(value: Any, key: list[Any]) -> bool:
    """Append an argument that is not a tensor to the key. False for a kind that cannot be one.

    Entries are equal only if the arguments are the same: `0.0` is not `-0.0`, and `1` not `True`.
    """
    kind = value.__class__
    if kind in _PLAIN:
        key += (kind, value)
    elif kind is float:
        key.append(value.hex())
    elif (kind is tuple or kind is list) and all(each.__class__ is int for each in value):
        key += (kind, tuple(value))
    else:
        return False
    return True


def _infer_signature(
    function: Callable[..., Any],
    callee: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    nodes: list[UOp],
) -> Signature | None:
    """Run the body of a function, and return the signature of the call.

    None if the call cannot be one node.
    """
    if any(length.__class__ is not int for node in nodes for length in node.shape):
        return None
    with in_earnest():
        result = function(*args, **kwargs)
    if not isinstance(result, Core) or result.device is not DEFAULT_DEVICE:
        return None
    sources = set(walk(tuple(nodes)))
    node = base = result.node
    while base not in sources and (base.op in MOVEMENT or base.op in (Op.DETACH, Op.GRADIENT)):
        base = base.src[0]
    if base.op in _NO_RESULT or base in sources or _is_view(result) or 0 in node.shape:
        return None
    positional = tuple([_encode(value) for value in args])
    named = tuple([(name, _encode(value)) for name, value in kwargs.items()])
    body_ops = {each.op for each in walk((node,)) if each not in sources}
    if not body_ops.isdisjoint(_MEMORY):
        return None
    may_fault = not body_ops.isdisjoint(FAULTING)
    outputs = ((node.shape, node.dtype),)
    argument = (callee, (positional, named), outputs, 0, int(may_fault))
    return Signature(node.dtype, (argument, node.shape))


def _is_view(result: Core) -> bool:
    """Whether a result shares a storage with other tensors, or has strides of its own."""
    is_shown = result.shared is not None and result.shared.is_reader
    return is_shown or result.memory_strides is not None


def _encode(value: Any) -> Any:
    """Encode an argument for a node, so that no two different ones are equal."""
    if isinstance(value, Core):
        return _OPERAND
    kind = value.__class__
    return (kind.__name__, value.hex() if kind is float else _entries(value))


def _entries(value: Any) -> Any:
    return tuple(value) if value.__class__ is list else value


def _decode(value: Any) -> Any:
    kind, entry = value
    if kind == "float":
        return float.fromhex(entry)
    return list(entry) if kind == "list" else entry


def _expand(function: Callable[..., Any], call: UOp) -> tuple[UOp, ...]:
    """Run the body for a CALL node, over its operands, and return the nodes of the results."""
    operands = iter(call.operands)

    def argument(entry: Any) -> Any:
        if entry != _OPERAND:
            return _decode(entry)
        node = next(operands)
        connect(node)
        return hold(node, DEFAULT_DEVICE)

    positional, named = call.arguments
    with graph_lock, in_earnest(call.origin):
        args = [argument(entry) for entry in positional]
        result = function(*args, **{name: argument(entry) for name, entry in named})
    return (result.node,)


@contextlib.contextmanager
def in_earnest(origin: Origin | None = None) -> Iterator[None]:
    """Inside this context, outlined functions run their bodies. Errors name the line `origin`.

    The bodies record gradients and ignore autocast, whatever holds where the call is expanded. They
    record gradients even if no leaf is alive any more, since `backward` may have been called.
    """
    thread = get_ident()
    is_outermost = thread not in _inside
    tracked = history.Argument()
    recording = history.set_recording(True)
    is_cast = autocast_dtypes.current() is not None
    if is_cast:
        autocast_dtypes.enter(None)
    _inside.add(thread)
    try:
        if origin is None:
            yield
        else:
            with at_origin(origin):
                yield
    finally:
        if is_outermost:
            _inside.discard(thread)
        if is_cast:
            autocast_dtypes.leave()
        history.set_recording(recording)
        tracked.close()
