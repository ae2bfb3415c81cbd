"""Errors for what a captured function cannot do, once it has run on placeholders.

Each of these raises `TraceError`, which says what to do instead, at the function's first line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.errors import Origin, TraceError
from ogive.jit.argument_trees import leaves
from ogive.jit.guards.reads import Reads
from ogive.jit.retrace_reasons import function_name
from ogive.jit.tracing.watch import CapturedTensor
from ogive.tensor.tensor import Tensor


def refuse_replaced_arguments(
    function: Callable[..., Any], before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Inside the arguments stands the same as before the function ran."""
    for path in {**before, **after}:
        if path not in before or path not in after or before[path] is not after[path]:
            raise TraceError(
                f"{function_name(function)} replaces {path} inside its arguments, which a "
                "captured function cannot do; change the tensor in place (assign, "
                "x[...] = ...) or return the new one",
                _definition(function),
            )


def refuse_moved_views(function: Callable[..., Any], views: Sequence[CapturedTensor]) -> None:
    """A captured view still shows what it showed."""
    for view in views:
        if view.left:
            raise TraceError(
                f"{function_name(function)} changes which memory a tensor of shape "
                f"{view.tensor.shape} shows, of which there are views, and a captured "
                "function cannot do that; change it in place (copy_, data.copy_)",
                _definition(function),
            )


def refuse_replaced_tensors(
    function: Callable[..., Any], reads: Reads, captured: Sequence[CapturedTensor]
) -> None:
    """A captured tensor is where it was."""
    tensors = {id(each.tensor) for each in captured}
    replaced = [
        place
        for place in reads.places_of_tensors()
        if id(place.value) in tensors and place.now() is not place.value
    ]
    for place in replaced:
        place.restore()
    if replaced:
        raise TraceError(
            f"{function_name(function)} replaces {replaced[0].path}, which a captured "
            "function cannot do; change the tensor in place (assign, x[...] = ...) or return "
            "the new one",
            _definition(function),
        )


def refuse_other_results(function: Callable[..., Any], returned: Any) -> None:
    """The function returned tensors, None, and what holds them."""
    for path, leaf in leaves(returned, "result"):
        if leaf is not None and not isinstance(leaf, Tensor):
            shown = repr(leaf)
            kind = type(leaf).__name__
            raise TraceError(
                f"{function_name(function)} returned {kind} {shown[:60]} as {path}; a "
                "captured function returns tensors, None, or tuples, lists, dictionaries and "
                "dataclasses of them",
                _definition(function),
            )


def kept_outside_error(function: Callable[..., Any], tensor: Tensor) -> TraceError:
    """A tensor that the function computed is kept where later calls would not change it."""
    return TraceError(
        f"a tensor that {function_name(function)} computes is kept somewhere outside, "
        "where later calls would not change it; return it, or assign() it to a tensor that was "
        "there before",
        tensor.origin,
    )


def begun_twice_error(function: Callable[..., Any], tensor: Tensor) -> TraceError:
    """State that the first call makes and all others change."""
    return TraceError(
        f"{function_name(function)} makes a tensor of shape {tensor.shape} where it finds none, "
        "and changes it where it finds one: captured, the first call would do both; make it "
        "before, or call the function once without capturing it",
        tensor.origin,
    )


def _definition(function: Any) -> Origin | None:
    code = getattr(function, "__code__", None)
    return None if code is None else (code, -1)
