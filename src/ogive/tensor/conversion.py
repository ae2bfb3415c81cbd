"""Other dtypes, other places, and marks on the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentTypeError, DtypeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, to_dtype
from ogive.ir.memory import is_memory
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live.registry import graph_lock, make
from ogive.tensor import build, views
from ogive.tensor.chains import View
from ogive.tensor.core import DEVICES, Core, itself, to_device, wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


KNOWN = (*DEVICES, "DISK")


class Conversion(Core):
    """Casts, bit casts, moves between devices, `contiguous` and `detach`."""

    __slots__ = ()

    def cast(self, dtype: Any) -> Tensor:
        """The values converted to `dtype`. Shapes: unchanged.

        Floats become integers towards zero; integers that do not fit wrap.

        >>> Tensor([1.5, -1.5]).cast("int32").tolist()
        [1, -1]

        Raises `DtypeError` for an unknown dtype.
        """
        with graph_lock:
            return _converted(self, self.node, to_dtype(dtype), self.device)

    def bitcast(self, dtype: Any) -> Tensor:
        """The same bits read as another dtype of the same size: a view. Shapes: unchanged.

        >>> Tensor([1.0]).bitcast("int32").tolist()
        [1065353216]

        Raises `DtypeError` when the sizes differ.
        """
        wanted = to_dtype(dtype)
        with graph_lock:
            node = self.node
            if node.dtype is wanted:
                return itself(self)
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
        self,
        *targets: Any,
        dtype: Any = None,
        device: Any = None,
        non_blocking: bool = False,
        copy: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        """This tensor as another dtype and on another device, by name or as `other` has them.

        Shapes: unchanged. A tensor that is so already is given itself, with `copy` another one; one
        on `DISK` is read when it is computed. `non_blocking` changes nothing: values are copied
        when they are computed; nor does `memory_format`, which the compiler decides.

        >>> Tensor([1, 2]).to("float16").dtype
        ogive.float16
        >>> Tensor([1, 2]).to("cpu", ogive.int8).dtype
        ogive.int8

        Raises `DeviceError` for an unknown device and for `DISK`, which is read-only.
        """
        for target in targets:
            if isinstance(target, Core):
                dtype, device = target.dtype, target.device
            elif isinstance(target, str) and target.upper().partition(":")[0] in KNOWN:
                device = target
            elif not isinstance(target, bool):
                dtype = _dtype_or_device(target)
        with graph_lock:
            node = self.node
            place = self.device
            if device is not None and device.upper() != place:
                place = to_device(device)
                node = make(Op.COPY, node.dtype, (node,), place)
            wanted = node.dtype if dtype is None else to_dtype(dtype)
            if copy:
                return wrap(build.cast(node, wanted), place)
            return _converted(self, node, wanted, place)

    def cpu(self) -> Tensor:
        """This tensor in the memory of the CPU. Shapes: unchanged.

        >>> Tensor([1, 2]).cpu().device
        'CPU'
        """
        return self.to("CPU")

    def type_as(self, other: Core) -> Tensor:
        """`cast` to the dtype of `other`. Shapes: unchanged.

        >>> Tensor([1, 2]).type_as(Tensor([0.5])).dtype
        ogive.float32
        """
        return self.cast(other.dtype)

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """The same values, of a tensor that stays as it is when this one is assigned to.

        Shapes: unchanged. Nothing is copied until one of the two changes.

        >>> x = Tensor([1, 2])
        >>> y = x.clone()
        >>> x[0] = 9
        >>> y.tolist()
        [1, 2]
        """
        with graph_lock:
            return wrap(self.node, self.device)

    def contiguous(self, memory_format: Any = None) -> Tensor:
        """The same values, held in memory in row-major order: this tensor, if it is. Shapes:
        unchanged.

        >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
        [[1, 3], [2, 4]]
        """
        with graph_lock:
            if is_memory(self.node) and views.is_contiguous(self):
                return itself(self)
            shown = views.marked(self, Op.CONTIGUOUS)
            if not views.is_contiguous(self):
                shown.shared = None  # a copy
            return shown

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements are in the order in which they lie in the memory that this tensor
        shares with others; always so for one that is no view. `memory_format` changes nothing.

        >>> Tensor([[1, 2], [3, 4]]).T.is_contiguous()
        False
        """
        with graph_lock:
            return views.is_contiguous(self)

    def detach(self) -> Tensor:
        """The same values, through which no gradient flows: a view. Shapes: unchanged.

        >>> Tensor([1.0, 2.0]).detach().tolist()
        [1.0, 2.0]
        """
        with graph_lock:
            return views.marked(self, Op.DETACH)


def _converted(source: Core, node: UOp, dtype: DType, device: str) -> Tensor:
    """`node`, which has the values of `source`, as another dtype; `source` if nothing changes."""
    if node is source.node and node.dtype is dtype:
        return itself(source)
    return wrap(build.cast(node, dtype), device)


def _dtype_or_device(given: Any) -> DType:
    """The dtype that `given` names; what is neither that nor a device is an error of its own."""
    try:
        return to_dtype(given)
    except DtypeError as error:
        if isinstance(given, str) and "did you mean" not in str(error):
            to_device(given)  # which says what devices there are
        message = str(error).partition("\n")[0]
        raise ArgumentTypeError(f"{message}; the devices are {', '.join(DEVICES)}") from None


class NamedCasts(Conversion):
    """`cast` by the names PyTorch has for it. Apart, since some of them are also Python's."""

    __slots__ = ()

    def bool(self) -> Tensor:
        """`cast(ogive.bool)`. Shapes: unchanged.

        >>> Tensor([0, 2]).bool().tolist()
        [False, True]
        """
        return self.cast(dtypes.bool_)

    def char(self) -> Tensor:
        """`cast(ogive.int8)`. Shapes: unchanged.

        >>> Tensor([1.5]).char().dtype
        ogive.int8
        """
        return self.cast(dtypes.int8)

    def short(self) -> Tensor:
        """`cast(ogive.int16)`. Shapes: unchanged.

        >>> Tensor([1.5]).short().dtype
        ogive.int16
        """
        return self.cast(dtypes.int16)

    def byte(self) -> Tensor:
        """`cast(ogive.uint8)`. Shapes: unchanged.

        >>> Tensor([1.5]).byte().dtype
        ogive.uint8
        """
        return self.cast(dtypes.uint8)

    def int(self) -> Tensor:
        """`cast(ogive.int32)`. Shapes: unchanged.

        >>> Tensor([1.5]).int().dtype
        ogive.int32
        """
        return self.cast(dtypes.int32)

    def long(self) -> Tensor:
        """`cast(ogive.int64)`. Shapes: unchanged.

        >>> Tensor([1.5]).long().dtype
        ogive.int64
        """
        return self.cast(dtypes.int64)

    def half(self) -> Tensor:
        """`cast(ogive.float16)`. Shapes: unchanged.

        >>> Tensor([1.5]).half().dtype
        ogive.float16
        """
        return self.cast(dtypes.float16)

    def bfloat16(self) -> Tensor:
        """`cast(ogive.bfloat16)`. Shapes: unchanged.

        >>> Tensor([1.5]).bfloat16().dtype
        ogive.bfloat16
        """
        return self.cast(dtypes.bfloat16)

    def float(self) -> Tensor:
        """`cast(ogive.float32)`. Shapes: unchanged.

        >>> Tensor([1]).float().dtype
        ogive.float32
        """
        return self.cast(dtypes.float32)

    def double(self) -> Tensor:
        """`cast(ogive.float64)`. Shapes: unchanged.

        >>> Tensor([1]).double().dtype
        ogive.float64
        """
        return self.cast(dtypes.float64)

    def cfloat(self) -> Tensor:
        """`cast(ogive.complex64)`. Shapes: unchanged.

        >>> Tensor([1]).cfloat().dtype
        ogive.complex64
        """
        return self.cast(dtypes.complex64)

    def cdouble(self) -> Tensor:
        """`cast(ogive.complex128)`. Shapes: unchanged.

        >>> Tensor([1]).cdouble().dtype
        ogive.complex128
        """
        return self.cast(dtypes.complex128)
