"""`Tensor`: the class that joins the families, and how values go in and come out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError, TraceError, no_memory
from ogive.ir.dtype import Scalar, to_dtype
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.evaluate import evaluate
from ogive.live.registry import graph_lock
from ogive.tensor import build, storage
from ogive.tensor.advanced import Indexing
from ogive.tensor.aliases import Aliases
from ogive.tensor.complex import Complex
from ogive.tensor.conversion import NamedCasts
from ogive.tensor.core import DEFAULT_DEVICE, Core, adopt, bind_class, to_device
from ogive.tensor.differentiable import Differentiable
from ogive.tensor.interchange import Interchange
from ogive.tensor.kinds import Kinds
from ogive.tensor.linalg import LinearAlgebra
from ogive.tensor.network import Network
from ogive.tensor.new import New
from ogive.tensor.sampling import Sampling
from ogive.tensor.unlike import Unlike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.config import Config
    from ogive.engine import Plan


class Tensor(
    Network, Aliases, LinearAlgebra, Indexing, NamedCasts, Sampling, Differentiable, New, Complex,
    Interchange, Kinds, Unlike,
):  # fmt: skip
    """An array whose values are computed when they are asked for.

    `Tensor(data, dtype=None, device=None)` copies a number, nested lists or an array. A Python
    float becomes float32, an integer int64; arrays keep their dtype. With `requires_grad` gradients
    are wanted for it: see `requires_grad_`.

    >>> x = Tensor([[1, 2], [3, 4]])
    >>> (x * 10).sum(0).tolist()
    [40, 60]

    Raises `ShapeError` for ragged lists, `DtypeError` for what is not numbers.
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any,
        dtype: Any = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> None:
        place = to_device(device)
        wanted = None if dtype is None else to_dtype(dtype)
        if requires_grad and isinstance(data, Tensor):
            data = data.detach()
        with graph_lock:
            adopt(self, storage.node_of(data, wanted, place), place)
        if requires_grad:
            self.requires_grad_()

    @staticmethod
    def from_numpy(array: NDArray[Any]) -> Tensor:
        """A tensor on the memory of `array`, which is read when the tensor is computed with.

        Shapes: that of the array. Nothing of ours writes to it: assignment takes a copy first.
        An array that is not row-major, aligned and in the machine's byte order is copied.

        >>> array = numpy.zeros(2)
        >>> x = Tensor.from_numpy(array)
        >>> array[0] = 5
        >>> x.tolist()
        [5.0, 0.0]
        """
        if not isinstance(array, numpy.ndarray):
            raise ArgumentTypeError(f"from_numpy takes a NumPy array, not {type(array).__name__}")
        with graph_lock:
            made = Tensor.__new__(Tensor)
            return adopt(made, storage.borrowed_node(array, DEFAULT_DEVICE), DEFAULT_DEVICE)

    @staticmethod
    def from_file(
        path: str | os.PathLike[str], shape: Sequence[int], dtype: Any, offset: int = 0
    ) -> Tensor:
        """A tensor on the bytes of a file, from `offset` on, row-major and in native byte order.

        Nothing is read until the tensor is computed with, and then only the rows that are used;
        what is read is what the file at `path` holds at that moment. The tensor and its views are
        on the device `DISK`, which is read-only; `to("CPU")` copies, and whatever is computed from
        them is on the CPU. Shapes: `shape`.

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
            made = Tensor.__new__(Tensor)
            return adopt(made, storage.file_node(path, shape, dtype, offset), "DISK")

    # Computing

    def realize(self, config: Config | None = None) -> Tensor:
        """Compute the values now, and keep them. Returns the tensor itself.

        >>> (Tensor([1, 2]) + 1).realize().is_realized
        True
        """
        from ogive import engine

        engine.realize([self], config)
        return self

    @staticmethod
    def realize_batch(tensors: Sequence[Tensor], config: Config | None = None) -> None:
        """Compute several tensors as one graph, so that what they share is done once.

        >>> a = Tensor([1.0]).exp(); b = a + 1
        >>> Tensor.realize_batch([a, b])
        """
        chosen = _to_list(tensors, "realize_batch")
        from ogive import engine

        engine.realize(chosen, config)

    def prepare(self, config: Config | None = None) -> Plan:
        """Compile the computation of this tensor into a plan, to be executed many times.

        >>> plan = (Tensor([1, 2]) + 1).prepare()
        >>> plan.execute()
        """
        return Tensor.prepare_batch([self], config)

    @staticmethod
    def prepare_batch(tensors: Sequence[Tensor], config: Config | None = None) -> Plan:
        """Compile the computation of several tensors into one plan.

        Raises `ArgumentError` when there is nothing to prepare.
        """
        chosen = _to_list(tensors, "prepare_batch")
        if not chosen:
            raise ArgumentError("prepare_batch needs at least one tensor")
        from ogive import engine

        return engine.prepare(chosen, config)

    @property
    def is_realized(self) -> bool:
        """Whether the values are in memory."""
        if self.device == "DISK":
            return False
        memory = storage.memory_of(self.node)
        return memory is not None and memory.allocated

    # Values out

    def numpy(self) -> NDArray[Any]:
        """The values as a NumPy array of its own.

        Shapes: unchanged; symbolic lengths have the value they are bound to. bfloat16 and the
        8-bit floats come in the dtypes of `ml_dtypes`.

        >>> Tensor([1, 2]).numpy()
        array([1, 2])
        """
        node = self.node
        if node.op is Op.CONST:
            return numpy.array(node.arg, dtype=node.dtype.numpy)
        if 0 in node.shape:
            return storage.empty_array(node)
        if self.device == "DISK":
            return self.to(DEFAULT_DEVICE).numpy()
        from ogive import engine

        while True:
            self.realize()
            try:
                values = storage.read_memory(self)
            except MemoryError as error:
                raise no_memory("numpy()", error) from None
            if values is not None:
                return values
            memory = storage.memory_of(self.node)
            engine.wait_for_writers(() if memory is None else (memory,))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ArgumentError("a tensor's values can only be had as a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers; a number for a scalar.

        >>> Tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        array = self.numpy()
        try:
            # NumPy does not make Python numbers of the floats of ml_dtypes.
            is_small = array.dtype.kind == "V"
            return array.astype(numpy.float32).tolist() if is_small else array.tolist()
        except MemoryError as error:
            raise no_memory("tolist()", error) from None

    def item(self) -> Scalar:
        """The value of a tensor with one element.

        >>> Tensor([[7]]).item()
        7

        Raises `ShapeError` for any other number of elements.
        """
        count = evaluate(self.numel())
        if count != 1:
            raise ShapeError(f"item() needs one element, and shape {self.shape} has {count}")
        values = self.tolist()
        while isinstance(values, list):
            (values,) = values
        return values  # type: ignore[no-any-return]

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return self.eq(other) if isinstance(other, _COMPARED) else NotImplemented

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return self.ne(other) if isinstance(other, _COMPARED) else NotImplemented

    __hash__ = Core.__hash__

    def __bool__(self) -> bool:
        count = evaluate(self.numel())
        if count != 1:
            raise ShapeError(
                f"bool() of {count} elements (shape {self.shape}) is ambiguous; use any() or all()"
            )
        return bool(self.item())

    def __contains__(self, value: Any) -> bool:
        return bool(self.eq(value).any())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __repr__(self) -> str:
        # What a debugger or an error message shows computes nothing.
        if self.node.op is not Op.CONST and not self.is_realized:
            return f"Tensor({self._facts()}, lazy)"
        return self._with_values()

    def __str__(self) -> str:
        try:
            return self._with_values()
        except TraceError:
            return repr(self)  # there are no values while a function is captured

    def __format__(self, spec: str) -> str:
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

    def _facts(self) -> str:
        return f"shape={self.shape}, dtype={self.dtype.name}, device={self.device}"

    def _with_values(self) -> str:
        values = self.numpy()
        if values.dtype.kind == "V":
            values = values.astype(numpy.float32)
        text = numpy.array2string(
            values, separator=", ", threshold=100, edgeitems=3, prefix="Tensor("
        )
        return f"Tensor({text}, {self._facts()})"


_COMPARED = (Core, int, float, complex, numpy.ndarray, numpy.generic, UOp, list, tuple)
"""What `==` compares elements with, or says why not. Anything else is another thing."""


def _to_list(tensors: Any, name: str) -> list[Tensor]:
    if not isinstance(tensors, tuple | list):
        raise ArgumentTypeError(f"{name} takes a list of tensors, not {type(tensors).__name__}")
    chosen: list[Tensor] = []
    for entry in tensors:
        if not isinstance(entry, Tensor):
            raise ArgumentTypeError(f"{name} takes tensors, got {entry!r}")
        chosen.append(getattr(entry, "owner", entry))  # `data` is computed with whose it is
    return chosen


bind_class(Tensor)
