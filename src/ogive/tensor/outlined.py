"""Outlined functions: library functions whose calls stay one node until the graph is compiled.

    before   x.softmax(-1)     SUB, EXP, REDUCE_AXES, DIV … over x, made at each call
    after    x.softmax(-1)     CALL softmax(x), which is expanded to them later

A program that calls the same functions repeatedly should not pay for every node inside them, and a
graph that was compiled before is found without these nodes. So an `@outlined` function really runs
only once for given shapes and dtypes of operands and other arguments. That shows the shape and
dtype of the result, or raises its error. After that, a call is a table lookup and one node.

The compiler (`passes/capture/inline_calls.py`) and differentiation (`autograd/gradient.py`) expand
a call: they run the function on tensors for the operands of the node, which gives ordinary nodes.

A function may be outlined if its result depends only on its operands and arguments, and is neither
a view of them nor memory. Where more could matter (autocast, tracing, several devices, symbolic
lengths), the function is just called.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from threading import get_ident
from typing import Any, ParamSpec, TypeVar, cast

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.calls import expanders
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import FAULTING, MOVEMENT, Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import history
from ogive.compiler.live.history import traced
from ogive.compiler.live.registry import connect, graph_lock, make
from ogive.errors import Origin, at_origin
from ogive.named import NamedTuple
from ogive.tensor import autocast_dtypes
from ogive.tensor.core import DEFAULT_DEVICE, Core, hold, wrap
from ogive.tensor.method_functions import eager_calls

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_OPERAND = "operand"
"""The marker of an operand among the arguments of a call."""

_PLAIN = frozenset({int, bool, str, type(None), DType})
"""The types of arguments besides operands, floats and tuples of integers."""

_MEMORY = frozenset({Op.BUFFER, Op.AFTER, Op.ASSIGN, Op.COPY, Op.CUSTOM, Op.BIND, Op.VARIABLE})
"""Ops that a result must not contain besides its operands: memory and what belongs to it."""

_NO_RESULT = frozenset({Op.BUFFER, Op.CONST, Op.IOTA})
"""Ops of which a result must not be, under movements: operands and constants."""

MOST_SIGNATURES = 4096


class Signature(NamedTuple):
    """The result of a call for given shapes and dtypes of operands. `rest` are the argument of its
    node, and the shape."""

    dtype: DType
    rest: tuple[tuple[Any, ...], tuple[int, ...]]


_UNKNOWN = Signature(dtypes.void, ((), ()))

_signatures: dict[tuple[Any, ...], Signature | None] = {}
"""The signature of each call made so far; None if it cannot be one node."""

_in_earnest: set[int] = set()
"""The threads inside an outlined function, whose own calls are not outlined."""


def outlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make calls of a function, which takes tensors and gives one tensor, single nodes."""
    callee = f"{function.__module__.removeprefix('ogive.tensor.')}.{function.__name__}"
    expanders[callee] = functools.partial(_expand, function)

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if (
            (_in_earnest and get_ident() in _in_earnest)
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
                    node = make(Op.CALL, signature.dtype, tuple(nodes), *signature.rest)
                    return cast("Result", wrap(node, DEFAULT_DEVICE))
            # Without the lock, which a function that reads values must not hold.
            _signatures[key] = _find_signature(function, callee, args, kwargs, nodes)
            if len(_signatures) > MOST_SIGNATURES:
                _signatures.clear()
        return function(*args, **kwargs)

    return call


def _are_eager(values: Iterable[Any]) -> bool:
    """Whether the tensors among arguments are eager, so that operations inside run at once."""
    tensors = [value for value in values if isinstance(value, Core)]
    return bool(tensors) and all(tensor.is_eager for tensor in tensors)


def _key(
    callee: str, args: tuple[Any, ...], kwargs: dict[str, Any], nodes: list[UOp]
) -> tuple[Any, ...] | None:
    """The key of a call: all on which its result depends except the operands, added to `nodes`."""
    key: list[Any] = [callee]
    for value in args:
        if not _note(value, key, nodes):
            return None
    for name, value in kwargs.items():
        key.append(name)
        if not _note(value, key, nodes):
            return None
    return tuple(key) if nodes else None


def _note(value: Any, key: list[Any], nodes: list[UOp]) -> bool:
    """Add an argument to the key, and a tensor's node to `nodes`; False if it is not supported."""
    kind = value.__class__
    if isinstance(value, Core):
        if value.device is not DEFAULT_DEVICE:
            return False
        node = value.node
        nodes.append(node)
        key += (node.dtype, node.shape)
    elif kind in _PLAIN:
        key += (kind, value)
    elif kind is float:
        key.append(value.hex())
    elif (kind is tuple or kind is list) and all(each.__class__ is int for each in value):
        key += (kind, tuple(value))
    else:
        return False
    return True


def _find_signature(
    function: Callable[..., Any],
    callee: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    nodes: list[UOp],
) -> Signature | None:
    """The signature of a call, found by running the function; None if it cannot be one node."""
    if any(length.__class__ is not int for node in nodes for length in node.shape):
        return None
    with in_earnest():
        result = function(*args, **kwargs)
    if not isinstance(result, Core) or result.device is not DEFAULT_DEVICE:
        return None
    below = set(walk(tuple(nodes)))
    node = base = result.node
    while base not in below and (base.op in MOVEMENT or base.op in (Op.DETACH, Op.GRADIENT)):
        base = base.src[0]
    if base.op in _NO_RESULT or base in below or _is_view(result) or 0 in node.shape:
        return None
    encoded = tuple([_encode(value) for value in args])
    named = tuple([(name, _encode(value)) for name, value in kwargs.items()])
    own = {each.op for each in walk((node,)) if each not in below}
    if not own.isdisjoint(_MEMORY):
        return None
    may_fault = not own.isdisjoint(FAULTING)
    outputs = ((node.shape, node.dtype),)
    argument = (callee, (encoded, named), outputs, 0, int(may_fault))
    return Signature(node.dtype, (argument, node.shape))


def _is_view(result: Core) -> bool:
    """Whether a result is a view that shares a storage."""
    is_shown = result.shared is not None and result.shared.is_reader
    return is_shown or result.memory_strides is not None


def _encode(value: Any) -> Any:
    """The form of an argument in a node, in which different arguments are never equal."""
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
    """The expansion of a call, over its operands."""
    operands = iter(call.operands)

    def argument(entry: Any) -> Any:
        if entry != _OPERAND:
            return _decode(entry)
        node = next(operands)
        connect(node)
        return hold(node, DEFAULT_DEVICE)

    given, named = call.arguments
    with graph_lock, in_earnest(call.origin):
        args = [argument(entry) for entry in given]
        result = function(*args, **{name: argument(entry) for name, entry in named})
    return (result.node,)


@contextlib.contextmanager
def in_earnest(origin: Origin | None = None) -> Iterator[None]:
    """Within this context, functions are not outlined; their nodes get the line `origin`, if given.

    Gradients flow through them and autocast is off, whatever the mode where the call is expanded.
    Functions record their gradients even if no leaf is left: `backward` may have been called.
    """
    thread = get_ident()
    outermost = thread not in _in_earnest
    tracked = history.Argument()
    recording = history.set_recording(True)
    is_cast = autocast_dtypes.current() is not None
    if is_cast:
        autocast_dtypes.enter(None)
    _in_earnest.add(thread)
    try:
        if origin is None:
            yield
        else:
            with at_origin(origin):
                yield
    finally:
        if outermost:
            _in_earnest.discard(thread)
        if is_cast:
            autocast_dtypes.leave()
        history.set_recording(recording)
        tracked.close()
