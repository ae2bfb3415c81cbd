"""Functions of the library whose calls are one node of a graph until it is compiled.

    before   x.softmax(-1)     SUB, EXP, REDUCE_AXES, DIV … over x, made at each call
    after    x.softmax(-1)     CALL softmax(x), which stands for them

A program that calls the same functions over and over should not pay for each node that they are
made of, and a graph that was compiled before is found without them. So `@outlined` functions are
called in earnest only once for operands of some shapes and dtypes and some other arguments; that
tells what the result is like, or raises the error that it should. After that a call is a look into
a table, and a node.

What a call stands for is asked for by who compiles it (`passes/capture/inline_calls.py`) and by who
differentiates it (`autograd/gradient.py`): the function is called with tensors on the operands of
the node, as it was written, and gives nodes like any other.

A function may be outlined if its result follows from its operands and arguments alone, and is
neither a view of them nor memory. Where something else could matter (autocast, a function that is
being traced, several devices, lengths that are variables) it is just called.
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
"""What stands for an operand among the arguments of a call."""

_PLAIN = frozenset({int, bool, str, type(None), DType})
"""What arguments may be besides operands, floats and tuples of integers."""

_MEMORY = frozenset({Op.BUFFER, Op.AFTER, Op.ASSIGN, Op.COPY, Op.CUSTOM, Op.BIND, Op.VARIABLE})
"""What must not be in a result: memory that is no operand, and what else it is made of."""

_NO_RESULT = frozenset({Op.BUFFER, Op.CONST, Op.IOTA})
"""What a result must not be, under movements: an operand, or a constant."""

MOST_SIGNATURES = 4096


class Signature(NamedTuple):
    """The result of a call for operands of some shapes and dtypes; `rest` are the argument of its
    node and the shape."""

    dtype: DType
    rest: tuple[tuple[Any, ...], tuple[int, ...]]


_UNKNOWN = Signature(dtypes.void, ((), ()))

_signatures: dict[tuple[Any, ...], Signature | None] = {}
"""For each call that was made, its signature; None if it cannot be one node."""

_in_earnest: set[int] = set()
"""The threads that are inside of an outlined function: what it calls is not outlined again."""


def outlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function of tensors that gives one tensor, whose calls are nodes."""
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
            # Not under the lock, which a function that asks for values must not hold.
            _signatures[key] = _find_out(function, callee, args, kwargs, nodes)
            if len(_signatures) > MOST_SIGNATURES:
                _signatures.clear()
        return function(*args, **kwargs)

    return call


def _are_eager(values: Iterable[Any]) -> bool:
    """Whether the tensors among arguments are eager, so that what a function without a form is made
    of is done at once."""
    tensors = [value for value in values if isinstance(value, Core)]
    return bool(tensors) and all(tensor.is_eager for tensor in tensors)


def _key(
    callee: str, args: tuple[Any, ...], kwargs: dict[str, Any], nodes: list[UOp]
) -> tuple[Any, ...] | None:
    """The key of a call: all that its result depends on but the operands, which `nodes` get."""
    key: list[Any] = [callee]
    for value in args:
        if isinstance(value, Core):
            if value.device is not DEFAULT_DEVICE:
                return None
            node = value.node
            nodes.append(node)
            key += (node.dtype, node.shape)
        elif not _note(value, key):
            return None
    for name, value in kwargs.items():
        key.append(name)
        if isinstance(value, Core):
            if value.device is not DEFAULT_DEVICE:
                return None
            node = value.node
            nodes.append(node)
            key += (node.dtype, node.shape)
        elif not _note(value, key):
            return None
    return tuple(key) if nodes else None


def _note(value: Any, key: list[Any]) -> bool:
    """Note an argument that is no tensor, such that equal ones are the same; False if unknown."""
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


def _find_out(
    function: Callable[..., Any],
    callee: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    nodes: list[UOp],
) -> Signature | None:
    """The signature of a call, which is made in earnest. None if it is no node by itself."""
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
    given = tuple([_encode(value) for value in args])
    named = tuple([(name, _encode(value)) for name, value in kwargs.items()])
    own = {each.op for each in walk((node,)) if each not in below}
    if not own.isdisjoint(_MEMORY):
        return None
    may_fault = not own.isdisjoint(FAULTING)
    outputs = ((node.shape, node.dtype),)
    argument = (callee, (given, named), outputs, 0, int(may_fault))
    return Signature(node.dtype, (argument, node.shape))


def _is_view(result: Core) -> bool:
    """Whether a result shows what somebody else does, or its elements in another order."""
    is_shown = result.shared is not None and result.shared.is_reader
    return is_shown or result.memory_strides is not None


def _encode(value: Any) -> Any:
    """An argument as a node has it: no two different ones are equal."""
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
    """The nodes that a call stands for, over its operands."""
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
    """Inside, functions make the nodes that they are made of, for the line `origin` if given.

    Gradients flow through them and nothing is cast, whatever is said where the call is expanded.
    They say what their gradients are, also if no leaf is left: `backward` may have been called.
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
