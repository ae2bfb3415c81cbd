"""Methods of tensors that only PyTorch's programs call: most are functions of ours."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import ogive
from ogive.autograd import no_grad
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors import operators
from ogive.torch.tensors.numpy_arrays import to_shared_numpy
from ogive.torch.tensors.process_memory import is_shared, share_memory_


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that writes what a function gives to the tensor itself."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.copy_(function(self, *args, **kwargs))

    method.__name__ = f"{function.__name__}_"
    method.__doc__ = f"`{function.__name__}`, in place."
    return method


def is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not zero."""
    return bool(self)


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Put what a function of numbers makes of each element in its place.

    >>> ogive.torch.tensor([1.0, 4.0]).apply_(math.sqrt)
    tensor([1., 2.])
    """
    return _put(self, [callable(value) for value in self.flatten().tolist()])


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """The same for a function of this element and that of another tensor."""
    pairs = zip(self.flatten().tolist(), tensor.expand_as(self).flatten().tolist(), strict=True)
    return _put(self, [callable(*pair) for pair in pairs])


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[..., Any]) -> Tensor:
    """The same for a function of three elements."""
    lists = [each.expand_as(self).flatten().tolist() for each in (self, x, y)]
    return _put(self, [callable(*entries) for entries in zip(*lists, strict=True)])


def _put(tensor: Tensor, values: list[Any]) -> Tensor:
    with no_grad():
        values_as_tensor = tensor.new_tensor(values).reshape(tensor.shape)
        return tensor.copy_(values_as_tensor)


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Have another shape, with the elements that there are in order; what is new is zeros.

    >>> ogive.torch.arange(4).resize_(2, 3)
    tensor([[0, 1, 2],
            [3, 0, 0]])
    """
    shape = tuple(sizes[0]) if sizes and not isinstance(sizes[0], int) else sizes
    flat, count = self.detach().reshape(-1), math.prod(shape)
    missing = count - flat.numel()
    kept = flat[:count] if missing <= 0 else ogive.cat([flat, flat.new_zeros(missing)])
    replace_value(self, kept.reshape(shape).clone())
    return self


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""
    return resize_(self, *the_template.shape)


def set_(self: Tensor, source: Tensor | None = None) -> Tensor:
    """Have the values of another tensor, in its memory; none without one."""
    self.data = self.new_zeros(0) if source is None else source
    return self


class Storage:
    """The memory that a tensor lies in, with all its elements in a row.

    >>> x = ogive.torch.arange(6).reshape(2, 3)
    >>> len(x.storage()), x.storage()[4], x[1].storage_offset()
    (6, 4, 3)
    """

    def __init__(self, tensor: Tensor) -> None:
        array = to_shared_numpy(tensor.detach())
        self._start = int(array.__array_interface__["data"][0]) if array.size else 0
        whole = array
        while isinstance(whole.base, numpy.ndarray):
            whole = whole.base
        self._array = whole.ravel("K").view(array.dtype)
        self.device, self.dtype = tensor.device, tensor.dtype

    def data_ptr(self) -> int:
        """Where the memory begins."""
        return int(self._array.__array_interface__["data"][0]) if self._array.size else 0

    def offset(self) -> int:
        """How many elements lie before the tensor's first."""
        return (self._start - self.data_ptr()) // self._array.itemsize

    def nbytes(self) -> int:
        """Its size in bytes."""
        return int(self._array.nbytes)

    def size(self) -> int:
        """How many elements it has."""
        return int(self._array.size)

    def tolist(self) -> list[Any]:
        """The elements."""
        values: list[Any] = self._array.reshape(-1).tolist()
        return values

    def __len__(self) -> int:
        return self.size()

    def __getitem__(self, place: int) -> Any:
        return self._array.reshape(-1)[place].item()

    def __setitem__(self, place: int, value: Any) -> None:
        self._array.reshape(-1)[place] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())


class UntypedStorage(Storage):
    """The same, counted in bytes."""

    def size(self) -> int:
        """How many bytes it has."""
        return self.nbytes()


def storage_offset(self: Tensor) -> int:
    """How many elements of the storage lie before the first."""
    return Storage(self).offset()


def conj_physical_(self: Tensor) -> Tensor:
    """Change x + iy to x - iy."""
    return self.copy_(self.conj().resolve_conj())


METHODS: dict[str, Any] = {
    **{
        name: getattr(ogive, name)
        for name in (
            "cholesky_inverse", "cholesky_solve", "gcd", "geqrf", "istft", "lcm", "matrix_exp",
            "nonzero_static", "ormqr", "stft", "triangular_solve",
        )
    },
    "gcd_": _in_place(ogive.gcd), "lcm_": _in_place(ogive.lcm), "igamma": operators.igamma,
    "igamma_": _in_place(operators.igamma), "igammac": operators.igammac,
    "igammac_": _in_place(operators.igammac), "orgqr": ogive.linalg.householder_product,
    "conj_physical_": conj_physical_, "is_nonzero": is_nonzero, "apply_": apply_, "map_": map_,
    "map2_": map2_, "resize_": resize_, "resize_as_": resize_as_, "set_": set_,
    "share_memory_": share_memory_, "is_shared": is_shared, "storage": lambda self: Storage(self),
    "untyped_storage": lambda self: UntypedStorage(self), "storage_offset": storage_offset,
    "as_strided": operators.as_strided, "as_strided_scatter": operators.as_strided_scatter,
    "narrow_copy": getattr(operators, "narrow_copy"),  # noqa: B009  (it is made of a table)
    "to_dense": lambda self, *args, **kwargs: self,
    "unsafe_split_with_sizes": Tensor.split_with_sizes,
}  # fmt: skip
"""The methods, by name."""
