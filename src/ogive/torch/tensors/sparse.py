"""Sparse tensors: lists of entries, each with a position and a value (`torch.sparse_coo`).

A sparse tensor is not a node of a graph, but a pair of tensors. A product with one gathers rows of
the other operand, scales them and adds them up. So gradients flow to the values and to the other
operand.

    indices [[0, 1, 1],     values [3, 4, 5]     [[0, 0, 3],
             [2, 0, 0]]                           [9, 0, 0]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ogive.errors import ArgumentTypeError, AxisError, DtypeError, ShapeError, StateError
from ogive.tensor.core import to_axis
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors import creation
from ogive.torch.texts.sizes import Size


class SparseTensor:
    """A tensor given by positions (axes, entries) and values (entries, ...).

    Entries of the same position are summed; `coalesce` does so in fact.

    >>> ogive.torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 9.0], (2, 3)).to_dense().tolist()
    [[0.0, 0.0, 3.0], [9.0, 0.0, 0.0]]
    """

    __slots__ = ("_is_coalesced", "_numbers", "_positions", "_shape")

    is_sparse = True
    is_sparse_csr = is_cuda = is_quantized = is_eager = False
    __array_priority__ = 1000  # so that NumPy's numbers leave `2 * x` to it

    def __init__(
        self, indices: Tensor, values: Tensor, shape: Sequence[int], is_coalesced: bool = False
    ) -> None:
        self._positions = indices
        self._numbers = values
        self._shape = Size(shape)
        self._is_coalesced = is_coalesced or values.shape[0] < 2

    # Facts

    @property
    def shape(self) -> Size:
        """The shape, zeros included."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._numbers.dtype

    @property
    def device(self) -> Any:
        """The device of the values."""
        return self._numbers.device

    @property
    def layout(self) -> Any:
        """`torch.sparse_coo`."""
        from ogive.torch.tensors.classes import sparse_coo

        return sparse_coo

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def requires_grad(self) -> bool:
        """Whether the values require gradients."""
        return self._numbers.requires_grad

    @property
    def is_leaf(self) -> bool:
        """Whether the values are a leaf."""
        return self._numbers.is_leaf

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient at the positions, each once, as a sparse tensor."""
        given = self._numbers.grad
        if given is None or self._is_coalesced:
            return None if given is None else self._with(given)
        first = creation.tensor(numpy.unique(self._places().numpy(), return_index=True)[1])
        return SparseTensor(self._positions[:, first], given[first], self._shape, True)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or its size along an axis."""
        return self._shape if dim is None else self._shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def numel(self) -> int:
        """The number of elements, zeros included."""
        return math.prod(self._shape)

    def sparse_dim(self) -> int:
        """The number of axes that have positions."""
        return int(self._positions.shape[0])

    def dense_dim(self) -> int:
        """The number of axes of each value."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Whether the positions are known to be sorted and distinct."""
        return self._is_coalesced

    def is_floating_point(self) -> bool:
        """Whether the values are floats."""
        return self._numbers.is_floating_point()

    def indices(self) -> Tensor:
        """The positions. Raises `StateError` unless coalesced."""
        return self._if_coalesced("indices", self._positions)

    def values(self) -> Tensor:
        """The values. Raises `StateError` unless coalesced."""
        return self._if_coalesced("values", self._numbers)

    def _if_coalesced(self, name: str, part: Tensor) -> Tensor:
        if not self._is_coalesced:
            raise StateError(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )
        return part

    def _indices(self) -> Tensor:
        return self._positions

    def _values(self) -> Tensor:
        return self._numbers

    def _nnz(self) -> int:
        return int(self._numbers.shape[0])

    def __len__(self) -> int:
        return int(self._shape[0])

    def __repr__(self) -> str:
        def inside(text: str, name: str) -> str:
            return text.replace("\n", "\n" + " " * (len("tensor(") + len(name) + 1))

        positions = inside(repr(self._positions), "indices")
        numbers = inside(repr(self._numbers.detach()), "values")
        size = ", ".join(map(str, self._shape)) + ("," if self.ndim == 1 else "")
        rest = f"size=({size}), nnz={self._nnz()}, layout=torch.sparse_coo"
        if not self.is_leaf:
            function: Any = self._numbers.grad_fn
            rest += f", grad_fn=<{function.name()}>"
        elif self.requires_grad:
            rest += ", requires_grad=True"
        return f"tensor(indices={positions},\n       values={numbers},\n       {rest})"

    # Conversions

    def _with(self, values: Tensor) -> SparseTensor:
        return SparseTensor(self._positions, values, self._shape, self._is_coalesced)

    def _places(self) -> Tensor:
        """The position of each entry in the axes with positions, flattened to one axis."""
        place = self._positions[0]
        for axis in range(1, self.sparse_dim()):
            place = place * self._shape[axis] + self._positions[axis]
        return place

    def to_dense(self, dtype: Any = None) -> Tensor:
        """All elements, zeros included."""
        count, rest = self.sparse_dim(), self._numbers.shape[1:]
        flat = creation.zeros(math.prod(self._shape[:count]), *rest, dtype=self.dtype)
        dense: Tensor = flat.index_add(0, self._places(), self._numbers).reshape(self._shape)
        return dense if dtype is None else dense.to(dtype)

    def coalesce(self) -> SparseTensor:
        """The same tensor with sorted and distinct positions."""
        if self._is_coalesced:
            return self
        places, which = self._places().unique(return_inverse=True)
        summed = creation.zeros(len(places), *self._numbers.shape[1:], dtype=self.dtype)
        axes = numpy.unravel_index(places.numpy(), self._shape[: self.sparse_dim()])
        return SparseTensor(
            creation.tensor(numpy.stack(axes)),
            summed.index_add(0, which, self._numbers), self._shape, True,
        )  # fmt: skip

    def clone(self) -> SparseTensor:
        """A copy."""
        return SparseTensor(
            self._positions.clone(), self._numbers.clone(), self._shape, self._is_coalesced
        )

    def detach(self) -> SparseTensor:
        """The same tensor without gradients."""
        return self._with(self._numbers.detach())

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Set whether the values require gradients. Returns the tensor."""
        self._numbers.requires_grad_(requires_grad)
        return self

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """The tensor with its values in another dtype or on another device."""
        return self._with(self._numbers.to(*args, **kwargs))

    def to_sparse(self) -> SparseTensor:
        """Return the tensor itself."""
        return self

    def cpu(self) -> SparseTensor:
        """The tensor on the CPU."""
        return self._with(self._numbers.cpu())

    def cuda(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """The tensor on a GPU."""
        return self._with(self._numbers.cuda(*args, **kwargs))

    def float(self) -> SparseTensor:
        """The tensor in float32."""
        return self._with(self._numbers.float())

    def double(self) -> SparseTensor:
        """The tensor in float64."""
        return self._with(self._numbers.double())

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """The same tensor with two axes exchanged, both of which must have positions."""
        order = list(range(self.ndim))
        first, second = [to_axis(dim, self.ndim, "transpose") for dim in (dim0, dim1)]
        if max(first, second) >= self.sparse_dim():
            raise AxisError("transpose: an axis of a sparse tensor's values cannot be moved")
        order[first], order[second] = second, first
        positions = self._positions[order[: self.sparse_dim()]]
        return SparseTensor(positions, self._numbers, [self._shape[axis] for axis in order])

    def sparse_mask(self, mask: SparseTensor) -> SparseTensor:
        """The elements at the positions of another sparse tensor."""
        return dense_at(self.to_dense(), mask)

    def t(self) -> SparseTensor:
        """The transposed matrix."""
        return self.transpose(0, 1)

    T = property(t, doc=t.__doc__)

    # Arithmetic

    def mm(self, other: Any) -> Any:
        """The product: dense with a dense matrix or vector, sparse with a sparse matrix."""
        if isinstance(other, SparseTensor):
            return dense_to_sparse(self.mm(other.to_dense()))
        if self.ndim != 2 or self.dense_dim() or self._shape[1] != other.shape[0]:
            raise ShapeError(
                f"mat1 and mat2 shapes cannot be multiplied ({self._shape} and {other.shape})"
            )
        if other.dtype is not self.dtype:
            raise DtypeError(
                f"expected m1 and m2 to have the same dtype, but got: {self.dtype} != {other.dtype}"
            )
        rows, columns = self._positions
        scale = self._numbers.reshape(-1, *[1] * (other.ndim - 1))
        zeros = creation.zeros(self._shape[0], *other.shape[1:], dtype=other.dtype)
        return zeros.index_add(0, rows, scale * other[columns])

    matmul = mv = mm

    def __matmul__(self, other: Any) -> Any:
        return self.mm(other)

    def __rmatmul__(self, other: Tensor) -> Tensor:
        product: Tensor = self.t().mm(other.T).T
        return product

    def mul(self, other: Any) -> SparseTensor:
        """The product with a number, or elementwise with a tensor of the same shape."""
        if isinstance(other, SparseTensor):
            return dense_to_sparse(self.to_dense() * other.to_dense())
        if isinstance(other, Tensor) and other.ndim:
            other = other.expand(self._shape)[tuple(self._positions)]
        return self._with(self._numbers * other)

    __mul__ = __rmul__ = mul

    def div(self, other: Any) -> SparseTensor:
        """The tensor divided by a number."""
        return self._with(self._numbers / other)

    __truediv__ = div

    def neg(self) -> SparseTensor:
        """The tensor with negated values."""
        return self._with(-self._numbers)

    __neg__ = neg

    def add(self, other: Any, alpha: Any = 1) -> Any:
        """The sum: sparse with a sparse tensor, dense with a dense one."""
        if not isinstance(other, SparseTensor):
            return other * alpha + self.to_dense()
        if other.shape != self._shape:
            raise ShapeError(f"add: sparse tensors of shapes {self._shape} and {other.shape}")
        from ogive.tensor.movement.joining import cat

        values = cat([self._numbers, other._numbers * alpha])
        return SparseTensor(cat([self._positions, other._positions], 1), values, self._shape)

    __add__ = __radd__ = add

    def sub(self, other: Any) -> Any:
        """The difference."""
        return self.add(other, -1) if isinstance(other, SparseTensor) else self.to_dense() - other

    __sub__ = sub

    def sum(self, dim: Any = None) -> Any:
        """The sum of all elements, or over axes. It is sparse while an axis with positions is left.
        """
        if dim is None:
            return self._numbers.sum()
        return dense_to_sparse(self.to_dense().sum(dim))

    def softmax(self, dim: int) -> SparseTensor:
        """The softmax along an axis of a matrix, over the listed entries only."""
        return self._exponential("softmax", dim)

    def log_softmax(self, dim: int) -> SparseTensor:
        """The logarithm of `softmax`."""
        return self._exponential("log_softmax", dim)

    def _exponential(self, name: str, dim: int) -> SparseTensor:
        own = self.coalesce()
        absent = creation.full(own._shape, -math.inf, dtype=own.dtype)
        filled = absent.index_put(tuple(own._positions), own._numbers)
        return own._with(getattr(filled, name)(dim)[tuple(own._positions)])

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call the method of the same name, for `torch.mm(sparse, x)` and others."""
        own: Callable[..., Any] | None = getattr(cls, function.__name__, None)
        if own is None:
            raise ArgumentTypeError(
                f"{function.__name__} takes no sparse tensor; make a dense one with to_dense()"
            )
        return own(*args, **(kwargs or {}))


def dense_to_sparse(self: Tensor, sparse_dim: int | None = None) -> SparseTensor:
    """Implement `x.to_sparse()`: list the nonzero elements, or rows over the first axes."""
    count = self.ndim if sparse_dim is None else sparse_dim
    marks = (self.detach() != 0).reshape(*self.shape[:count], -1).any(-1)
    positions = creation.tensor(numpy.stack(numpy.nonzero(marks.numpy())))
    return SparseTensor(positions, self[tuple(positions)], self.shape, True)


def dense_at(self: Tensor, mask: SparseTensor) -> SparseTensor:
    """Implement `x.sparse_mask(mask)`: the elements at the positions of a sparse tensor."""
    return mask.coalesce()._with(self[tuple(mask.coalesce().indices())])
