"""Conversions to other dtypes and devices, and marks on the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.memory import is_memory
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import row_major_strides
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, DtypeError
from ogive.tensor import build
from ogive.tensor.core import DEFAULT_DEVICE, DEVICES, Core, to_axis, to_device, wrap
from ogive.tensor.creation import user_data
from ogive.tensor.device_name import is_device_name
from ogive.tensor.memory import shared_arrays, views
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.values import python_values

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def cast(self: Tensor, dtype: Any) -> Tensor:
    """The values converted to `dtype`. Shapes: unchanged.

    Floats become integers towards zero; integers that do not fit wrap.

    >>> Tensor([1.5, -1.5]).cast("int32").tolist()
    [1, -1]

    Raises `DtypeError` for an unknown dtype.
    """
    with graph_lock:
        return _converted(self, self.node, to_dtype(dtype), self.device)


def bitcast(self: Tensor, dtype: Any) -> Tensor:
    """The same bits read as another dtype of the same size: a view. Shapes: unchanged.

    >>> Tensor([1.0]).bitcast("int32").tolist()
    [1065353216]

    Raises `DtypeError` when the sizes differ.
    """
    wanted = to_dtype(dtype)
    with graph_lock:
        node = self.node
        if node.dtype is wanted:
            return views.show(self, View(node.shape))
        kinds = {node.dtype.kind, wanted.kind}
        if node.dtype.bits != wanted.bits or kinds & {"bool", "complex"}:
            raise DtypeError(
                f"bitcast: {node.dtype.name} ({node.dtype.bits} bits) cannot be read as "
                f"{wanted.name} ({wanted.bits} bits); the sizes must be equal, bool holds only "
                "0 and 1, and view_as_real takes complex numbers apart"
            )
        pair = (node.dtype, wanted)
        return views.show(self, View(node.shape).add(Op.BITCAST, pair, node.shape))


def to(
    self: Tensor,
    *targets: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """This tensor in another dtype and on another device, by name or those of `other`.

    Shapes: unchanged. If nothing changes, the result is this tensor itself, or a new one with
    `copy`. A tensor on `DISK` is read when the result is computed. `non_blocking` has no effect,
    since values are copied when they are computed, nor has `memory_format`, which the compiler
    chooses.

    >>> Tensor([1, 2]).to("float16").dtype
    ogive.float16
    >>> Tensor([1, 2]).to("cpu", ogive.int8).dtype
    ogive.int8

    Raises `DeviceError` for an unknown device and for `DISK`, which is read-only.
    """
    for target in targets:
        if isinstance(target, Core):
            dtype, device = target.dtype, target.device
        elif isinstance(target, str) and is_device_name(target):
            device = target
        elif not isinstance(target, bool):
            dtype = _dtype_or_device(target)
    with graph_lock:
        node = self.node
        place = self.device
        if device is not None and str(device).upper() != place:
            place = to_device(device)
        if place != self.device:
            node = make(Op.COPY, node.dtype, (node,), place)
        result_dtype = node.dtype if dtype is None else to_dtype(dtype)
        if copy:
            return wrap(build.cast(node, result_dtype), place)
        return _converted(self, node, result_dtype, place)


def cpu(self: Tensor) -> Tensor:
    """This tensor in the memory of the CPU. Shapes: unchanged.

    >>> Tensor([1, 2]).cpu().device
    'CPU'
    """
    return self.to(DEFAULT_DEVICE)


def type_as(self: Tensor, other: Core) -> Tensor:
    """`cast` to the dtype of `other`. Shapes: unchanged.

    >>> Tensor([1, 2]).type_as(Tensor([0.5])).dtype
    ogive.float32
    """
    return self.cast(other.dtype)


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A tensor with the same values, which does not change when this one is assigned to.

    Shapes: unchanged. Nothing is copied until one of the two changes, except memory that a NumPy
    array shares, which may change unnoticed.

    >>> x = Tensor([1, 2])
    >>> y = x.clone()
    >>> x[0] = 9
    >>> y.tolist()
    [1, 2]
    """
    if shared_arrays.is_in_array(self.node):
        values = python_values.to_numpy(self)
        with graph_lock:
            return wrap(user_data.node_of(values, None, self.device), self.device)
    with graph_lock:
        return wrap(self.node, self.device)


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The same values in memory in row-major order: this tensor if it is so already. Shapes:
    unchanged.

    >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
    [[1, 3], [2, 4]]
    """
    with graph_lock:
        if is_memory(self.node) and views.is_contiguous(self):
            return self
        shown = views.marked(self, Op.CONTIGUOUS)
        if not views.is_contiguous(self):
            shown.shared = None  # a copy
        return shown


def resolved(self: Tensor) -> Tensor:
    """The tensor itself: none is the conjugate or the negative of what its memory holds. Shapes:
    unchanged.

    >>> x = Tensor([1 + 2j])
    >>> x.resolve_conj() is x
    True
    """
    return self


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements are in the order of the memory that this tensor shares with others,
    which is always so for a tensor that is not a view. `memory_format` has no effect.

    >>> Tensor([[1, 2], [3, 4]]).T.is_contiguous()
    False
    """
    with graph_lock:
        return views.is_contiguous(self)


def stride(self: Tensor, dim: int | None = None) -> Any:
    """The stride of each axis, or of one axis, in elements of its memory.

    >>> Tensor([[1, 2, 3], [4, 5, 6]]).stride(), Tensor([[1, 2, 3], [4, 5, 6]]).T.stride()
    ((3, 1), (1, 3))

    Raises `AxisError` for an axis that is not there.
    """
    with graph_lock:
        strides = views.layout_of(self)
    strides_of_axes = tuple(row_major_strides(self.shape)) if strides is None else tuple(strides)
    if dim is None:
        return strides_of_axes
    return strides_of_axes[to_axis(dim, len(strides_of_axes), "stride")]


def detach(self: Tensor) -> Tensor:
    """A view of the same values through which no gradient flows. Shapes: unchanged.

    >>> Tensor([1.0, 2.0]).detach().tolist()
    [1.0, 2.0]
    """
    with graph_lock:
        return views.marked(self, Op.DETACH)


def _converted(source: Tensor, node: UOp, dtype: DType, device: str) -> Tensor:
    """`node`, which has the values of `source`, in another dtype; `source` if nothing changes."""
    if node is source.node and node.dtype is dtype:
        return source
    return wrap(build.cast(node, dtype), device)


def _dtype_or_device(given: Any) -> DType:
    """The dtype that `given` names. Raises an error that lists both if it is no dtype or device."""
    try:
        return to_dtype(given)
    except DtypeError as error:
        message = str(error).partition("\n")[0]
    if isinstance(given, str) and "did you mean" not in message:
        to_device(given)  # its error lists the devices
    raise ArgumentTypeError(f"{message}; the devices are {', '.join(DEVICES)}")
