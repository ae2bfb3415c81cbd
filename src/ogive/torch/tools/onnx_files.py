"""`torch.onnx`: models written as ONNX files, by our own exporter."""

from __future__ import annotations

import enum
import functools
import os
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO

from ogive import onnx
from ogive.errors import ArgumentTypeError
from ogive.nn.module import AnyModule
from ogive.tensor.tensor import Tensor

__all__ = [
    "TensorProtoDataType", "export", "is_in_onnx_export", "parse_args",
    "register_custom_op_symbolic", "shape_as_tensor",
]  # fmt: skip


class TensorProtoDataType(enum.IntEnum):
    """The dtypes of ONNX."""

    UNDEFINED, FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64 = range(8)
    STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64, COMPLEX64, COMPLEX128, BFLOAT16 = range(8, 17)


def is_in_onnx_export() -> bool:
    """Return False: PyTorch's own exporter never runs."""
    return False


def export(
    model: AnyModule | Callable[..., Any],
    args: Any = (),
    f: str | os.PathLike[str] | BinaryIO | None = None,
    *,
    kwargs: dict[str, Any] | None = None,
    input_names: Any = None,
    output_names: Any = None,
    dynamic_axes: Any = None,
    **options: Any,
) -> None:
    """Write a model as an ONNX file. It is called once, with `args`.

    `dynamic_axes` are `{"x": {0: "batch"}}` or `{"x": [0]}`. Opset and optimizations are ours.
    Raises `ArgumentTypeError` without a path, and `ArgumentError` for an operation that ONNX has no
    operator for.
    """
    if f is None:
        raise ArgumentTypeError("onnx.export: give the path or file to write to as f")
    names = None if input_names is None else list(input_names)
    dynamic = {
        name: axes if isinstance(axes, dict) else {axis: f"{name}_{axis}" for axis in axes}
        for name, axes in (dynamic_axes or {}).items()
        if names is None or name in names
    }
    called = functools.partial(model, **kwargs) if kwargs else model
    example = args if isinstance(args, tuple) else (args,)
    settings = {"inputs": names, "outputs": output_names, "dynamic": dynamic}
    if isinstance(f, str | os.PathLike):
        onnx.save(called, f, example, **settings)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(called, path, example, **settings)
        with open(path, "rb") as written:
            f.write(written.read())


def shape_as_tensor(x: Tensor) -> Tensor:
    """The shape as a tensor of integers."""
    return Tensor(x.shape, dtype="int64")


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int, **options: Any
) -> None:
    """Do nothing: operators are exported by the operations that they compute."""


def parse_args(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of symbolic functions. Returns them unchanged."""
    return lambda function: function
