"""`torch.jit` and `torch.compiler`. Scripts run as Python, so most functions do nothing."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar

from ogive.nn.module import AnyModule
from ogive.torch.compilation.capture import Compiled
from ogive.torch.compilation.capture import compile as compile

__all__ = [
    "Final", "ScriptFunction", "ScriptModule", "_overload_method", "_script_if_tracing",
    "allow_in_graph", "annotate", "assume_constant_result", "compile", "cudagraph_mark_step_begin",
    "disable", "export", "fork", "freeze", "ignore", "interface", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "is_scripting", "is_tracing", "isinstance", "load",
    "optimize_for_inference", "reset", "save", "script", "script_if_tracing", "script_method",
    "set_fusion_strategy", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

Given = TypeVar("Given")

ScriptModule = AnyModule
ScriptFunction = Compiled


def script(obj: Given, *args: Any, **kwargs: Any) -> Given:
    """Return the function or module itself. It runs as Python; `torch.compile` captures it."""
    return obj


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Return the function itself. A decorator, with or without arguments."""
    return drop if callable(drop) else (lambda function: function)


def unused(function: Given) -> Given:
    """Return the function itself."""
    return function


def script_method(function: Given) -> Given:
    """Return the function itself."""
    return function


def export(function: Given) -> Given:
    """Return the function itself."""
    return function


def interface(given: Given) -> Given:
    """Return the class itself."""
    return given


def disable(function: Any = None, recursive: bool = True) -> Any:
    """Return the function itself. A decorator, with or without arguments."""
    return function if function is not None else (lambda given: given)


def trace(func: Callable[..., Any], example_inputs: Any = None, **kwargs: Any) -> Any:
    """Capture the function or module, as `torch.compile` does."""
    return compile(func)


def freeze(mod: Given, *args: Any, **kwargs: Any) -> Given:
    """Return the module itself."""
    return mod


optimize_for_inference = freeze


def trace_module(mod: AnyModule, inputs: Any, **kwargs: Any) -> Any:
    """Capture the module, as `torch.compile` does."""
    return compile(mod)


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Write a module or a function, as `torch.save` does."""
    from ogive.torch.tools.files import save as write

    write(m._orig_mod if type(m) is Compiled else m, f)


def load(f: Any, map_location: Any = None, **options: Any) -> Any:
    """Read a file that `save` wrote. Its classes must be importable, and its code is run."""
    from ogive.torch.tools.files import load as read

    return read(f, map_location, weights_only=False)


def fork(func: Callable[..., Given], *args: Any, **kwargs: Any) -> Given:
    """Call a function. `wait` returns the result."""
    return func(*args, **kwargs)


def wait(future: Given) -> Given:
    """Return the result of `fork`."""
    return future


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's `isinstance`."""
    return builtins.isinstance(obj, target_type)


script_if_tracing = _script_if_tracing = _overload_method = unused
allow_in_graph = assume_constant_result = unused


def set_fusion_strategy(strategy: Any) -> None:
    """Do nothing: there is one compiler."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs."""


def is_scripting() -> bool:
    """Return False: there is no TorchScript."""
    return False


def is_tracing() -> bool:
    """Return False: there is no TorchScript."""
    return False


def is_compiling() -> bool:
    """Return False: PyTorch's compiler never runs this."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def annotate(the_type: Any, the_value: Given) -> Given:
    """Return the value itself."""
    return the_value


class Final:
    """A marker in annotations: `Final[int]` is `int`."""

    def __class_getitem__(cls, kind: Given) -> Given:
        return kind


def reset() -> None:
    """Do nothing: captured functions own their traces."""
