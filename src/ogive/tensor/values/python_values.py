"""Conversions to and from arrays, files, nested lists and Python numbers, and printing."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.device_names import FILES, is_group
from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live.history import is_traced
from ogive.compiler.live.registry import graph_lock
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    OgiveError,
    ShapeError,
    TraceError,
    no_memory,
)
from ogive.tensor import build
from ogive.tensor.core import DEFAULT_DEVICE, hold
from ogive.tensor.creation import user_data
from ogive.tensor.values.direct_access import may_be_shown, read_directly, read_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor


def from_numpy(array: NDArray[Any]) -> Tensor:
    """A tensor on the memory of `array`, which is read when the tensor is computed with.

    Shapes: that of the array, which is never written: assignment takes a copy first. An array that
    is not row-major, aligned and in native byte order is copied.

    >>> array = numpy.zeros(2)
    >>> x = Tensor.from_numpy(array)
    >>> array[0] = 5
    >>> x.tolist()
    [5.0, 0.0]
    """
    if not isinstance(array, numpy.ndarray):
        raise ArgumentTypeError(f"from_numpy takes a NumPy array, not {type(array).__name__}")
    with graph_lock:
        return hold(user_data.borrowed_node(array, DEFAULT_DEVICE), DEFAULT_DEVICE)


def from_file(
    path: str | os.PathLike[str], shape: Sequence[int], dtype: Any, offset: int = 0
) -> Tensor:
    """A tensor on the bytes of a file, from `offset` on, row-major and in native byte order.

    Rows are read when a computation uses them, with the contents that the file has then. The
    tensor and its views are on the device `DISK`, which is read-only; `to("CPU")` copies them,
    and results computed from them are on the CPU. Shapes: `shape`.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile()
    >>> _ = file.write(numpy.arange(6, dtype="int32").tobytes()); file.flush()
    >>> rows = Tensor.from_file(file.name, (3, 2), "int32")
    >>> rows.device, (rows[1] * 10).tolist()
    ('DISK', [20, 30])

    Raises `FileError` when there is no such file or it is too short, now or when it is read,
    and `ArgumentError` for a negative offset.
    """
    with graph_lock:
        return hold(user_data.file_node(path, shape, dtype, offset), FILES)


def to_numpy(self: Tensor, *, force: bool = False) -> NDArray[Any]:
    """The values as a new NumPy array. `force` has no effect, since every tensor has values.

    Shapes: unchanged; symbolic lengths have their bound values. bfloat16 and the 8-bit floats have
    the dtypes of `ml_dtypes`.

    >>> Tensor([1, 2]).numpy()
    array([1, 2])
    """
    node = self.node
    if node.op is Op.CONST:
        return numpy.array(node.arg, dtype=node.dtype.numpy)
    if 0 in node.shape:
        return user_data.empty_array(node)
    if self.device == FILES:
        return self.to(DEFAULT_DEVICE).numpy()
    if is_group(self.device):
        self.realize()
        return self.to(DEFAULT_DEVICE).numpy()
    shown = read_directly(self)
    if shown is not None:
        return shown
    import ogive.compiler.engine as engine

    while True:
        self.realize()
        try:
            values = user_data.read_memory(self)
        except MemoryError as error:
            raise no_memory("numpy()", error) from None
        if values is not None:
            return values
        memory = user_data.memory_of(self.node)
        engine.wait_for_writers(() if memory is None else (memory,))


def to_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
    """`numpy.asarray(x)`: a copy. Raises `ArgumentError` for `copy=False`."""
    if copy is False:
        raise ArgumentError("a tensor's values can only be had as a copy")
    # While a function is captured, `numpy()` raises the error that there are no values.
    array = self.numpy(force=True) if is_traced() else to_numpy(self)
    return array if dtype is None else array.astype(dtype, copy=False)


def tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers; a number for a scalar.

    >>> Tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    array = self.numpy(force=True)
    try:
        # NumPy does not convert the floats of ml_dtypes to Python numbers.
        is_small = array.dtype.kind == "V"
        return array.astype(numpy.float32).tolist() if is_small else array.tolist()
    except MemoryError as error:
        raise no_memory("tolist()", error) from None


def item(self: Tensor) -> Scalar:
    """The value of a tensor with one element.

    >>> Tensor([[7]]).item()
    7

    Raises `ShapeError` for any other number of elements.
    """
    count = evaluate(self.numel())
    if count != 1:
        raise ShapeError(f"item() needs one element, and shape {self.shape} has {count}")
    values = read_number(self)
    if values is None and not may_be_shown(self.node) and self.device != FILES:
        self.realize()
        values = read_number(self)
    values = self.tolist() if values is None else values
    while isinstance(values, list):
        (values,) = values
    return values  # type: ignore[no-any-return]


def to_bool(self: Tensor) -> bool:
    """`bool(x)` of one element. Raises `ShapeError` for several."""
    count = evaluate(self.numel())
    if count != 1:
        raise ShapeError(
            f"bool() of {count} elements (shape {self.shape}) is ambiguous; use any() or all()"
        )
    return bool(self.item())


def contains(self: Tensor, value: Any) -> bool:
    """`value in x`: whether an element equals it."""
    return bool(self.eq(value).any())


def to_float(self: Tensor) -> float:
    """`float(x)` of one element."""
    return float(self.item())


def to_int(self: Tensor) -> int:
    """`int(x)` of one element."""
    return int(self.item())


SHOWN = 1000
"""The most elements of a tensor whose values are computed for printing."""


def represent(self: Tensor) -> str:
    """`repr(x)`: with values if they are computed, or few. Files are not read for it."""
    if self.node.op is Op.CONST or self.is_realized:
        return _with_values(self)
    is_known = self.device != FILES and all(isinstance(size, int) for size in self.shape)
    if is_known and math.prod(self.shape) <= SHOWN:
        try:
            return _with_values(self)
        except OgiveError:  # a function is being captured, or computing the tensor is an error
            return f"Tensor({_facts(self)}, lazy)"
    return f"Tensor({_facts(self)}, lazy; print() or realize() computes it)"


def represent_as_html(self: Tensor) -> str:
    """The HTML for a notebook: the facts of a tensor, and its values as in `repr`."""
    import html  # loaded late: it has a table of all HTML entities

    facts = html.escape(_facts(self))
    text = html.escape(represent(self))
    return f"<details open><summary><code>{facts}</code></summary><pre>{text}</pre></details>"


def show(self: Tensor) -> str:
    """`str(x)`: with values, which are computed if necessary."""
    try:
        return _with_values(self)
    except TraceError:
        return repr(self)  # there are no values while a function is captured


def formatted(self: Tensor, spec: str) -> str:
    """`format(x, spec)`: a number by `spec`, several without one."""
    if self.shape != () and spec:
        raise ArgumentTypeError(
            f"the format {spec!r} is for one number, and this tensor has the shape "
            f"{build.show(self.shape)}; use tolist() or numpy()"
        )
    if self.shape != ():
        return str(self)
    try:
        return format(self.item(), spec)
    except TraceError:
        if spec:
            raise
        return repr(self)


def _facts(self: Tensor) -> str:
    place = f"sharding={self.sharding}" if is_group(self.device) else f"device={self.device}"
    facts = f"shape={self.shape}, dtype={self.dtype.name}, {place}"
    if not self.requires_grad:
        return facts
    return f"{facts}, requires_grad=True" if self.is_leaf else f"{facts}, grad_fn={self.grad_fn}"


def _with_values(self: Tensor) -> str:
    values = self.numpy()
    if values.dtype.kind == "V":
        values = values.astype(numpy.float32)
    text = numpy.array2string(values, separator=", ", threshold=100, edgeitems=3, prefix="Tensor(")
    return f"Tensor({text}, {_facts(self)})"
