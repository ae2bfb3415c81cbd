"""Switch between the texts of `ogive` and those of PyTorch, for the objects of both namespaces.

    ogive         Tensor([1. 2.], shape=(2,), ...)   (2,)              ogive.float32   'CPU'
    ogive.torch   tensor([1., 2.])                   torch.Size([2])   torch.float32   device(...)

The objects are the same in both, so the switch is for the whole process. It is set to PyTorch when
`ogive.torch` is imported.
"""

from __future__ import annotations

from typing import Any

from ogive.compat.methods.tensor_types import NAMES
from ogive.compiler.ir.device_names import GPUS
from ogive.compiler.ir.dtype import DType
from ogive.distributions.distribution import Distribution
from ogive.eager import turn_off, turn_on
from ogive.eager.equal_dtypes import METHODS, checked
from ogive.eager.tensors import Eager
from ogive.tensor.core import Core, TensorClass
from ogive.tensor.device_name import Device
from ogive.tensor.elementwise.unary_compositions import Parts
from ogive.tensor.gradients.differentiation import GradientFunction
from ogive.tensor.indexing.advanced_indexing import get_item, listed_entries, set_item
from ogive.tensor.indexing.selection import Histogram
from ogive.tensor.linear_algebra.decompositions import QR, SVD, Eigen
from ogive.tensor.linear_algebra.inverses import SignedLogarithm
from ogive.tensor.reduction.basic_reductions import Extremes
from ogive.tensor.reduction.statistics import Bounds
from ogive.tensor.tensor import Tensor
from ogive.torch.networks.modules import Module, compile_in_place
from ogive.torch.tensors.classes import new, strided
from ogive.torch.tensors.further_methods import METHODS as FURTHER_METHODS
from ogive.torch.tensors.numpy_arrays import (
    address_of,
    call_numpy,
    call_ufunc,
    from_result,
    to_own_array,
    to_shared_numpy,
)
from ogive.torch.tensors.sparse import dense_at, dense_to_sparse
from ogive.torch.texts.gradient_graphs import next_functions
from ogive.torch.texts.gradient_names import called_name, name_of
from ogive.torch.texts.sizes import Size
from ogive.torch.texts.tensor_text import format_tensor, write_tensor

_OTHER_NAMES = {"float8_e4m3": "float8_e4m3fn"}
"""Dtypes that have another name in PyTorch."""


def shape_of(self: Core) -> Any:
    """`x.shape`, as a `torch.Size`."""
    return Size(self.node.shape)


def shape_of_array(self: Core) -> Any:
    """`x.shape` of an eager tensor, as a `torch.Size`."""
    return Size(self.value.shape)


def batch_shape_of(self: Distribution) -> Any:
    """`distribution.batch_shape`, as a `torch.Size`."""
    return Size(self._batch_shape)


def event_shape_of(self: Distribution) -> Any:
    """`distribution.event_shape`, as a `torch.Size`."""
    return Size(self._event_shape)


def write_dtype(self: DType) -> str:
    """`torch.float32`."""
    return f"torch.{_OTHER_NAMES.get(self.name, self.name)}"


def name_device(self: Device) -> str:
    """`cpu`, `cuda:0`."""
    return f"{self.lower()}:0" if self == GPUS else self.lower()


def write_device(self: Device) -> str:
    """`device(type='cpu')`."""
    kind, _, index = name_device(self).partition(":")
    return f"device(type='{kind}', index={index})" if index else f"device(type='{kind}')"


def format_device(self: Device, spec: str) -> str:
    """`f"{x.device}"`."""
    return format(name_device(self), spec)


def write_function(self: GradientFunction) -> str:
    """`<AddBackward0 object at 0x…>`."""
    return f"<{name_of(self)} object at {id(self):#x}>"


def write_class(self: TensorClass) -> str:
    """`<class 'torch.Tensor'>`."""
    name = CLASSES.get(f"{self.__module__}.{self.__qualname__}")
    return type.__repr__(self) if name is None else f"<class '{name}'>"


CLASSES = {
    "ogive.tensor.tensor.Tensor": "torch.Tensor",
    "ogive.eager.tensors.Tensor": "torch.Tensor",
    "ogive.eager.tensors.Parameter": "torch.nn.parameter.Parameter",
    "ogive.torch.tensors.classes.Tensor": "torch.Tensor",
    "ogive.nn.parameter.Parameter": "torch.nn.parameter.Parameter",
    **{f"ogive.torch.tensors.classes.{name}": f"torch.{name}" for name in NAMES.values()},
}
"""PyTorch's names of the classes of tensors."""


def write_results(self: Any) -> str:
    """`torch.return_types.max(...)`: the several results of a function, by name."""
    given_by = getattr(self, "given_by", None)
    kind: Any = type(self) if given_by is None else type(self).__base__
    name = RESULTS[kind] or given_by or called_name(self[0].origin) or "max"
    parts = [f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)]
    return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"


RESULTS = {
    Extremes: "", Bounds: "aminmax", QR: "linalg_qr", SVD: "linalg_svd", Eigen: "linalg_eigh",
    SignedLogarithm: "linalg_slogdet", Histogram: "histogram", Parts: "frexp",
}  # fmt: skip
"""PyTorch's names for functions with several results; empty if the user's line gives the name."""


def get_listed(self: Tensor, index: Any) -> Tensor:
    """Implement `x[index]`, in which a list of lists has an entry for each axis."""
    return get_item(self, listed_entries(index))


def set_listed(self: Tensor, index: Any, value: Any) -> None:
    """Implement `x[index] = value`, in which a list of lists has an entry for each axis."""
    set_item(self, listed_entries(index), value)


TEXTS: tuple[tuple[type, str, Any], ...] = (
    (Core, "shape", property(shape_of, doc=Core.shape.__doc__)),
    (Eager, "shape", property(shape_of_array, doc=Core.shape.__doc__)),
    (Distribution, "batch_shape", property(batch_shape_of, doc=Distribution.batch_shape.__doc__)),
    (Distribution, "event_shape", property(event_shape_of, doc=Distribution.event_shape.__doc__)),
    (DType, "__repr__", write_dtype),
    (Device, "__repr__", write_device),
    (Device, "__str__", name_device),
    (Device, "__format__", format_device),
    (Tensor, "__repr__", write_tensor),
    (Tensor, "__str__", lambda tensor: repr(tensor)),
    (Tensor, "__format__", format_tensor),
    (Tensor, "numpy", to_shared_numpy),
    (Tensor, "__array__", to_own_array),
    (Tensor, "__array_function__", call_numpy),
    (Tensor, "__array_ufunc__", call_ufunc),
    (Tensor, "__array_wrap__", from_result),
    (Tensor, "data_ptr", address_of),
    (Tensor, "layout", property(lambda tensor: strided, doc="All elements are kept.")),
    (Module, "compile", compile_in_place),
    (Tensor, "new", new),
    (Tensor, "to_sparse", dense_to_sparse),
    (Tensor, "to_sparse_coo", dense_to_sparse),
    (Tensor, "sparse_mask", dense_at),
    (Tensor, "__getitem__", get_listed),
    (Tensor, "__setitem__", set_listed),
    (GradientFunction, "name", name_of),
    (GradientFunction, "next_functions", property(next_functions, doc=next_functions.__doc__)),
    (GradientFunction, "__repr__", write_function),
    (TensorClass, "__repr__", write_class),
    *[(results, "__repr__", write_results) for results in RESULTS],
    *[(Tensor, name, method) for name, method in FURTHER_METHODS.items()],
    *[(Tensor, name, checked(method)) for name, method in METHODS.items()],
)
"""The differences: a class, its attribute, and PyTorch's version of it. Most are texts. The others
are `numpy()`, which shares memory and refuses tensors that require gradients, `data_ptr()`,
`layout`, `compile()` of modules, lists as indices, and products of operands of one dtype."""

_own = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in TEXTS]


def speak_pytorch() -> None:
    """Switch the process to PyTorch's texts, and to eager computation with small tensors."""
    turn_on()
    for owner, name, text in TEXTS:
        setattr(owner, name, text)


def speak_ogive() -> None:
    """Switch the process back to the texts of `ogive`, and to lazy tensors."""
    turn_off()
    for owner, name, text in _own:
        if text is not None:
            setattr(owner, name, text)
        elif name in owner.__dict__:
            delattr(owner, name)
