"""Eager tensors: tensors whose operations NumPy computes at once.

A compiler pays if there is much to compute, or if the same is computed often. Most everyday
programs do neither: they add a few numbers, look at the result and go on. So under `ogive.torch`
small tensors are *eager*: they hold an array instead of a node of a graph.

    torch.tensor([1., 2.])        Eager: value = array([1., 2.])
    _ + 1                         Eager: value = array([2., 3.]), already computed

An eager tensor can *settle*: it becomes a plain tensor, usually for good. It does so when it meets
an operation without a form (`forms.py`), a large or lazy tensor, or a function being captured:

    before   Eager, value = array([2., 3.])
    after    Tensor, node = BUFFER over these numbers

Reading `tensor.node` settles a tensor, so the whole library works on eager tensors unchanged. If a
tensor has a record (`gradients/records.py`), its node is the recorded expression of plain tensors.

Tensors that share memory are a `Family`, and settle together: views of arrays become views of a
storage. Only `write` (`writing.py`) changes an array that a tensor holds.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.at_once import at_once
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.compiler.live.registry import graph_lock, make, next_id
from ogive.config import current_config
from ogive.eager.gradients.records import Overtaken, Record
from ogive.errors import PACKAGE_FOLDER, user_origin
from ogive.jit.tracing.watch import stepping_out
from ogive.journal import log
from ogive.nn.parameter import Parameter
from ogive.tensor.core import DEFAULT_DEVICE, TensorClass
from ogive.tensor.creation import user_data
from ogive.tensor.gradients.gradient_hooks import hooked
from ogive.tensor.memory.movement_chains import UNNOTICED
from ogive.tensor.memory.shared_arrays import share_array
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLAIN_DTYPES = (
    "float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128", "float16", "bfloat16",
)  # fmt: skip
DTYPES: dict[Any, DType] = {to_dtype(name).numpy: to_dtype(name) for name in _PLAIN_DTYPES}
"""The dtypes that eager tensors have, by NumPy's."""

FLOATS = "fV"
"""The kinds of NumPy's dtypes that are floats: that of bfloat16 is V."""

RECORDED = FLOATS + "c"
"""The kinds of dtypes to which gradients flow."""


class Family:
    """Tensors that share memory. The first one shows all of it.

    Memory that is `saved` for a gradient must not be written to. Before a write, the family moves
    to a copy, and the record keeps the old memory. Memory that is `lent` is also an array of the
    program (`x.numpy()`). Then the family stays in it, and records get copies.
    """

    __slots__ = ("lent", "limit", "members", "saved")

    def __init__(self, first: Tensor) -> None:
        self.members = [weakref.ref(first)]
        self.limit = 64
        # The result of an operation may be part of its gradient, as for `exp`.
        self.saved = first.record is not None and not first.record.is_leaf
        self.lent = False

    def admit(self, tensor: Tensor) -> None:
        """Add a tensor to the family. Dead members are removed now and then."""
        self.members.append(weakref.ref(tensor))
        if len(self.members) > self.limit:
            self.limit = 2 * len(self.living()) + 64

    def living(self) -> list[Tensor]:
        """The members that are alive and eager, in the order in which they were made."""
        found = [tensor for reference in self.members if (tensor := reference()) is not None]
        if len(found) < len(self.members):
            self.members = [weakref.ref(tensor) for tensor in found]
        return [tensor for tensor in found if tensor.is_eager]

    def move_to_copy(self) -> None:
        """Move all members to a copy of their memory, with the same layout."""
        members = self.living()
        owner = members[0].value
        while owner.base is not None:
            owner = owner.base
        start = owner.__array_interface__["data"][0]
        # One line of memory: NumPy takes no other order than rows or columns for a buffer.
        copy = owner.copy(order="K").ravel(order="K")
        if copy.dtype.kind == "V":
            copy = copy.view(numpy.uint16)  # NumPy knows no other buffers of bfloat16
        for member in [each for each in members if each.value.size]:
            value = member.value
            offset = value.__array_interface__["data"][0] - start
            member.value = numpy.ndarray(
                value.shape, value.dtype, buffer=copy, offset=offset, strides=value.strides
            )
        self.saved = False


def _settled(name: str) -> Any:
    """An attribute that only plain tensors have. Reading it settles an eager tensor."""

    def get(self: Tensor) -> Any:
        settle(self)
        return getattr(self, name)

    def put(self: Tensor, value: Any) -> None:
        settle(self)
        setattr(self, name, value)

    return property(get, put)


class EagerClass(TensorClass):
    """The metaclass of eager tensors. Each class compares as the class that it settles to:
    `type(p) == nn.Parameter`, `{torch.Tensor: show}[type(x)]`."""

    plain: type[Tensor]

    def __eq__(cls, other: object) -> bool:
        return cls is other or cls.plain is other or NotImplemented  # as torch.Tensor says

    def __hash__(cls) -> int:
        return type.__hash__(cls.plain)


class Eager(Tensor, metaclass=EagerClass):
    """A tensor that holds an array.

    `record` is the operation that computed it, if gradients flow through it. `shown` says which
    view of which tensor it is, if it is a view.
    """

    __slots__ = ()

    plain: type[Tensor] = Tensor
    is_eager = True
    device = DEFAULT_DEVICE
    node = _settled("node")
    origin = _settled("origin")
    shared = _settled("shared")
    memory_strides = _settled("memory_strides")
    shows = _settled("shows")


class EagerParameter(Eager, Parameter):
    """A parameter that holds an array."""

    __slots__ = ()

    plain = Parameter


class EagerComplex(Eager):
    """A tensor that holds complex numbers.

    Only forms that declare it take complex numbers, because NumPy would compare and sort them.
    Gradients flow through such a tensor, but it is no leaf.
    """

    __slots__ = ()


class EagerHalf(Eager):
    """A tensor of float16 or bfloat16. Forms are given it in float32 (`half_precision.py`)."""

    __slots__ = ()


class EagerHalfParameter(EagerParameter):
    """A parameter of float16 or bfloat16."""

    __slots__ = ()


for _kind in (Eager, EagerParameter, EagerComplex, EagerHalf, EagerHalfParameter):
    _kind.__name__ = _kind.__qualname__ = _kind.plain.__name__  # as programs print it


PLAIN_CLASS: dict[type, type] = {
    Eager: Tensor, EagerComplex: Tensor, EagerHalf: Tensor,
    EagerParameter: Parameter, EagerHalfParameter: Parameter,
}  # fmt: skip
EAGER_CLASS: dict[type, type] = {Tensor: Eager, Parameter: EagerParameter}

_FLOAT32 = numpy.dtype("float32")
_OTHERS: dict[Any, dict[type, type]] = {
    to_dtype("complex64").numpy: {Tensor: EagerComplex},
    to_dtype("complex128").numpy: {Tensor: EagerComplex},
    to_dtype("float16").numpy: {Tensor: EagerHalf, Parameter: EagerHalfParameter},
    to_dtype("bfloat16").numpy: {Tensor: EagerHalf, Parameter: EagerHalfParameter},
}
"""The classes of other dtypes than most tensors have, by those of plain tensors."""


def eager_class(plain: type, dtype: Any) -> type:
    """The class of an eager tensor of a dtype, by that of a plain one."""
    return _OTHERS.get(dtype, EAGER_CLASS)[plain]


_new: Any = Eager.__new__


def give(array: Any, record: Record | None = None) -> Tensor:
    """An eager tensor that holds a computed array, which must have no other owner."""
    if array.__class__ is not numpy.ndarray:
        array = numpy.asarray(array)
    dtype = array.dtype
    made: Tensor = _new(
        _OTHERS[dtype][Tensor] if dtype is not _FLOAT32 and dtype in _OTHERS else Eager
    )
    made.id = next_id()
    made.value = array
    made.record = record
    made.family = None
    return made


def show(
    source: Tensor, array: NDArray[Any], record: Record | None, call: tuple[Any, ...]
) -> Tensor:
    """An eager tensor that is a view of `source`. `call` is the function and its other arguments.

    If NumPy had to copy, `array` is not a view, and the tensor owns it.
    """
    made = give(array, record)
    own = source.value
    base = array.base
    if base is not None and (base is own or base is own.base):
        family = source.family
        if family is None:
            family = source.family = Family(source)
        made.family = family
        made.shown = (source, *call)
        family.admit(made)
    return made


def lend(tensor: Tensor) -> NDArray[Any]:
    """Give the program the array of an eager tensor, which both share from then on."""
    family = tensor.family
    if family is None:
        family = tensor.family = Family(tensor)
    if family.saved or not tensor.value.flags.writeable:
        family.move_to_copy()
    family.lent = True
    value: NDArray[Any] = tensor.value
    return value


def borrow(array: NDArray[Any]) -> Tensor:
    """An eager tensor that shares the memory of one of the program's arrays."""
    made = give(array)
    made.family = Family(made)
    made.family.lent = True
    return made


def is_alone(tensor: Tensor) -> bool:
    """Whether no other living tensor shares the memory of an eager tensor."""
    family = tensor.family
    if family is None:
        return True
    if family.lent:
        return False
    for reference in family.members:
        other = reference()
        if other is not None and other is not tensor and other.is_eager:
            return False
    if not family.saved and getattr(tensor, "shown", None) is None:
        tensor.family = None
    return True


# From eager to plain


def settle(tensor: Tensor) -> None:
    """Turn an eager tensor, and those that share its memory, into plain tensors.

    This is not part of a function that is being traced: the function sees plain tensors.
    """
    with graph_lock, stepping_out():
        if tensor.is_eager:
            if current_config().log:
                _tell(tensor)
            for member in [tensor] if tensor.family is None else tensor.family.living():
                if member.is_eager:
                    _settle(member)


def _tell(tensor: Tensor) -> None:
    """Log the library function for which a tensor settles, and the user's line."""
    if current_config().logs("eager"):
        frame, name = sys._getframe(1), ""
        while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
            frame, name = frame.f_back, frame.f_code.co_name
        shape = tuple(tensor.value.shape)
        line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        log("eager", f"a tensor of shape {shape} is left to the compiler by {name} at {line}")


def _settle(tensor: Tensor) -> None:
    shown, record = getattr(tensor, "shown", None), tensor.record
    if shown is not None and (record is None or not record.is_leaf):
        _settle_view(tensor, *shown)
        return
    if record is None or record.is_leaf:
        _become(tensor, _memory_of(tensor))
        if record is not None:
            history.mark_leaf(tensor)
        return
    try:
        node = record.plain().node
    except Overtaken as overtaken:
        node = overtaken.value_of(_memory_of(tensor))
    else:
        if not record.has_values(tensor.value):
            # The values were changed without the record: through `detach()`, for example.
            node = make(Op.GRADIENT, node.dtype, (_memory_of(tensor), node), UNNOTICED)
    _become(tensor, node)


def _memory_of(tensor: Tensor) -> UOp:
    """A node over the values of an eager tensor.

    The values are copied, unless the program shares the memory and it is row-major.
    """
    if tensor.family is not None and tensor.family.lent and tensor.value.flags.c_contiguous:
        return share_array(tensor.value).node
    return user_data.node_of(tensor.value, None, DEFAULT_DEVICE)


def _settle_view(
    tensor: Tensor, source: Tensor, function: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    if source.is_eager:
        _settle(source)
    # A view without a record, of a tensor with one, was made under `no_grad()`.
    is_recorded = tensor.record is not None or source.record is None
    recording = history.set_recording(is_recorded)
    try:
        made = function(source, *args, **kwargs)
    finally:
        history.set_recording(recording)
    hooks = None if tensor.record is None else tensor.record.hooks
    _become(tensor, made.node if hooks is None else hooked(made.node, hooks))
    del tensor.shown
    if made.shared is not None:
        made.shared.admit(tensor, made.shows)


def _become(tensor: Tensor, node: UOp) -> None:
    """Replace a tensor's array by a node, in one step that no exception can interrupt."""
    origin = user_origin(2)
    if node.origin is None:
        node.origin = origin
    registry.connect(node)
    registry.admit_tensor(tensor, node)
    old = (tensor.value, tensor.family)  # kept alive, so that no destructor runs in between
    at_once(
        [
            (tensor, "__class__", PLAIN_CLASS[tensor.__class__]),
            (tensor, "settlings", getattr(tensor, "settlings", 0) + 1),
            (tensor, "node", node),
            (tensor, "shared", None),
            (tensor, "device", DEFAULT_DEVICE),
            (tensor, "memory_strides", None),
            (tensor, "origin", origin),
            (tensor, "value", None),
            (tensor, "family", None),
        ]
    )
    del old
