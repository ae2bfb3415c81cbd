"""Errors inside modules: the path to the module, and arguments that are not tensors."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.errors import ArgumentTypeError, OgiveError
from ogive.nn.module_parts.module_tree import ModuleTree
from ogive.tensor.core import kind_of
from ogive.tensor.tensor import Tensor


def refused_argument(
    module: ModuleTree, args: tuple[Any, ...], error: AttributeError
) -> ArgumentTypeError | None:
    """The error for an argument that `forward` used as a tensor but that is not one."""
    for position, value in enumerate(args):
        if value is not error.obj or isinstance(value, Tensor):
            continue
        if hasattr(value, "__dlpack__") and not isinstance(value, numpy.ndarray):
            return ArgumentTypeError(
                f"{type(module).__name__} takes a tensor of ogive's as argument {position}, "
                f"not {kind_of(value)}"
            )
        if isinstance(value, numpy.ndarray | list | tuple | int | float):
            return ArgumentTypeError(
                f"{type(module).__name__} was given {type(value).__name__} as argument {position}, "
                "and takes a tensor; ogive.asarray makes one"
            )
    return None


def add_path(error: OgiveError, module: ModuleTree) -> None:
    """Prefix an error's message with the path to the module in which it was raised."""
    inner, error.module = error.module, module
    if inner is None:
        return
    for path, child in module._all_modules(""):
        if child is inner and path:
            separator = "." if error.has_path else ": "
            error.args = (f"{path}{separator}{error.args[0]}", *error.args[1:])
            error.has_path = True
            return
