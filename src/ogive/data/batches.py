"""Batches of a data set, shuffled anew for each epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

from ogive.data.background import prefetch
from ogive.data.collation import collate
from ogive.data.samplers import permutation
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.random.cipher import FOLD, encipher_on_host
from ogive.random.generator import default_generator, to_seed
from ogive.tensor.core import to_integer
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor

Positions = NDArray[numpy.int64]


class Dataset(Protocol):
    """Anything with a length and items: a list, an open file of records, a class of your own."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int, /) -> Any: ...

    def __class_getitem__(cls, items: Any) -> type:
        """`Dataset[int]`, as a base or in annotations, is the class itself."""
        return cls


class Batches:
    """The items of a data set, `size` at a time; iterating once is an epoch.

    `source` is a tensor or array, or a tuple or dictionary of those, which are cut along their
    first axis; or any data set, whose items are put together by `collate`.

    With `shuffle`, epoch e comes in the order `randperm(n, key=fold_in(key(seed), e))`; without a
    seed, one is taken from the default generator. `drop_last` leaves out a last batch that is not
    full, so that all have one shape. `prefetch` batches are made ahead by a thread of its own.

    Shapes: (n, ...) → (size, ...), the last batch (n mod size, ...).

    >>> images, labels = ogive.zeros(10, 8), ogive.arange(10)
    >>> batches = Batches((images, labels), 4)
    >>> len(batches), [x.shape for x, y in batches]
    (3, [(4, 8), (4, 8), (2, 8)])

    Raises `ShapeError` for tensors of different lengths, `ArgumentError` for a size below 1.
    """

    def __init__(
        self,
        source: Any,
        size: int,
        *,
        shuffle: bool = False,
        seed: int | None = None,
        drop_last: bool = False,
        prefetch: int = 0,
        collate: Callable[[list[Any]], Any] = collate,
    ) -> None:
        self.size = to_integer(size, "Batches: the size")
        if self.size < 1:
            raise ArgumentError(f"Batches: the size is {size}, and must be at least 1")
        self.prefetch = to_integer(prefetch, "Batches: prefetch")
        if self.prefetch < 0:
            raise ArgumentError(f"Batches: prefetch is {prefetch}, and cannot be negative")
        self._fetch, self._length = reader(source, collate)
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.epoch = 0
        self._seed = 0 if seed is None else to_seed(seed)
        if shuffle and seed is None:
            self._seed = default_generator.take()

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        return self._length // self.size if self.drop_last else -(-self._length // self.size)

    def __iter__(self) -> Iterator[Any]:
        """One epoch; `epoch` is the number of the next."""
        batches = self._batches(self._order())
        self.epoch += 1
        return prefetch(batches, self.prefetch) if self.prefetch else batches

    def _order(self) -> Positions:
        if not self.shuffle:
            return numpy.arange(self._length)
        epoch = numpy.array([FOLD | self.epoch], dtype=numpy.uint64)
        (key,) = encipher_on_host(epoch, self._seed).tolist()
        return permutation(self._length, key)

    def _batches(self, order: Positions) -> Iterator[Any]:
        for begin in range(0, len(self) * self.size, self.size):
            yield self._fetch(order[begin : begin + self.size].tolist())


def reader(
    source: Any, collate: Callable[[list[Any]], Any]
) -> tuple[Callable[[Any], Any], int]:
    """How the items at some positions are read, and how many there are."""
    if isinstance(source, Tensor | numpy.ndarray):
        (column,) = _columns({"the tensor": source})
        return lambda positions: created(Tensor, column[positions]), len(column)
    if isinstance(source, Mapping) and source:
        columns = _columns(source)
        names = list(source)
        return (
            lambda positions: {
                name: created(Tensor, column[positions])
                for name, column in zip(names, columns, strict=True)
            },
            len(columns[0]),
        )
    if isinstance(source, tuple) and source and isinstance(source[0], Tensor | numpy.ndarray):
        columns = _columns(dict(enumerate(source)))
        return (
            lambda positions: [created(Tensor, column[positions]) for column in columns],
            len(columns[0]),
        )
    if not hasattr(source, "__len__") or not hasattr(source, "__getitem__"):
        raise ArgumentTypeError(
            "Batches takes tensors, or a data set with __len__ and __getitem__, not "
            f"{type(source).__name__}"
        )
    return lambda positions: collate([source[at] for at in positions]), len(source)


def _columns(named: Mapping[Any, Any]) -> list[NDArray[Any]]:
    columns = []
    for name, values in named.items():
        if not isinstance(values, Tensor | numpy.ndarray):
            raise ArgumentTypeError(
                f"Batches: {name!r} must be a tensor or an array, not {type(values).__name__}"
            )
        columns.append(numpy.asarray(values))
        if columns[-1].ndim == 0 or len(columns[-1]) != len(columns[0]):
            raise ShapeError(
                f"Batches: array {name!r} has the shape {columns[-1].shape}, where the first has "
                f"{columns[0].shape}; their first axes must have one length"
            )
    return columns
