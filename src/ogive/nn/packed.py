"""`PackedSequence`: a batch of sequences of different lengths for a recurrent layer.

PyTorch stores them without padding, step by step, in `data`. Here the padded sequences are stored,
with their lengths as data. A layer runs all steps, and a sequence that has ended keeps its state.
So batches of other lengths are the same computation and compile nothing. `data` is computed when it
is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ogive.errors import ArgumentError, ShapeError, TraceError
from ogive.tensor.creation.constructors import arange
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

Array = numpy.ndarray[Any, Any]


class PackedSequence:
    """Sequences of different lengths. `pack_padded_sequence` and `pack_sequence` make them.

    `PackedSequence(data, batch_sizes)` has in `data` the first entries of all sequences, then all
    second ones, and so on, the longest sequence always first; `batch_sizes` says how many have an
    entry at each step. `sorted_indices` says which sequence of the batch comes first, and so on,
    and `unsorted_indices` where the sequences of the batch are then.
    """

    def __init__(
        self,
        data: Tensor,
        batch_sizes: Tensor,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> None:
        sizes = batch_sizes.numpy()
        if sizes.ndim != 1 or not sizes.size or (numpy.diff(sizes) > 0).any():
            raise ArgumentError(
                f"batch_sizes must not increase, got {sizes.tolist()}"
            )
        if data.shape[0] != sizes.sum():
            raise ShapeError(
                f"batch_sizes add up to {sizes.sum()} entries, but data has the shape "
                f"{data.shape}"
            )
        count = int(sizes[0])
        order = numpy.arange(count) if sorted_indices is None else sorted_indices.numpy()
        lengths = numpy.empty(count, numpy.int64)
        lengths[order] = (numpy.arange(count) < sizes[:, None]).sum(0)
        positions = numpy.zeros((len(sizes), count), numpy.int64)
        step, rank = numpy.nonzero(numpy.arange(count) < sizes[:, None])
        positions[step, order[rank]] = numpy.arange(len(step))
        self._fill(data[created(Tensor, positions)], created(Tensor, lengths), sorted_indices)
        self._data: Tensor | None = data

    def _fill(self, padded: Tensor, lengths: Tensor, sorted_indices: Tensor | None) -> None:
        self.padded = padded
        self.lengths = lengths
        self.sorted_indices = sorted_indices
        self._data = None

    @classmethod
    def from_padded(
        cls, padded: Tensor, lengths: Tensor, sorted_indices: Tensor | None
    ) -> PackedSequence:
        """Make it from padded sequences. Shapes: (longest, count, ...) and (count,)."""
        packed = cls.__new__(cls)
        packed._fill(padded, lengths, sorted_indices)
        return packed

    def with_padded(self, padded: Tensor) -> PackedSequence:
        """Sequences of the same lengths with the entries of `padded`."""
        return PackedSequence.from_padded(padded, self.lengths, self.sorted_indices)

    @property
    def valid(self) -> Tensor:
        """Whether each entry lies before the end of its sequence. Shapes: (longest, count)."""
        if self.lengths.is_eager:
            known = numpy.arange(self.padded.shape[0])[:, None] < self.lengths.numpy()
            valid: Tensor = created(Tensor, known)
            return valid
        steps = arange(self.padded.shape[0]).unsqueeze(1)
        return (steps < self.lengths).contiguous()  # in memory: each step reads its row

    @property
    def unsorted_indices(self) -> Tensor | None:
        """The inverse permutation of `sorted_indices`."""
        return None if self.sorted_indices is None else self.sorted_indices.argsort()

    @property
    def batch_sizes(self) -> Tensor:
        """The number of sequences with an entry at each step. Computed at once."""
        lengths = self.lengths.numpy()
        sizes: Tensor = created(Tensor, (numpy.arange(lengths.max())[:, None] < lengths).sum(1))
        return sizes

    @property
    def data(self) -> Tensor:
        """The entries without padding. Shapes: (Σ lengths, ...). Its order is computed at once."""
        if self._data is None:
            lengths = self.lengths.numpy()
            count = len(lengths)
            order = range(count) if self.sorted_indices is None else self.sorted_indices.tolist()
            chosen = numpy.array(order, numpy.int64)
            step, rank = numpy.nonzero(numpy.arange(lengths.max())[:, None] < lengths[chosen])
            self._data = self.padded.flatten(0, 1)[
                created(Tensor, step * count + chosen[rank])
            ]
        return self._data

    def _replace(self, data: Tensor) -> PackedSequence:
        """Sequences of the same lengths with other `data`, like a named tuple's `_replace`."""
        return PackedSequence(data, self.batch_sizes, self.sorted_indices)

    def __iter__(self) -> Iterator[Tensor | None]:
        yield from (self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def __repr__(self) -> str:
        names = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
        parts = [f"{name}={value!r}" for name, value in zip(names, self, strict=True)]
        return f"PackedSequence({', '.join(parts)})"


def pack_padded(
    padded: Tensor, lengths: Any, batch_first: bool, enforce_sorted: bool
) -> PackedSequence:
    """`pack_padded_sequence`."""
    rows = padded.transpose(0, 1) if batch_first else padded
    given = lengths
    if not isinstance(lengths, Tensor):
        given = created(Tensor, numpy.asarray(lengths, numpy.int64))
    if rows.ndim < 2 or given.shape != rows.shape[1:2]:
        raise ShapeError(
            f"pack_padded_sequence: lengths of shape {given.shape} were given for a batch of shape "
            f"{padded.shape}"
        )
    try:
        known: Array = given.numpy()
    except TraceError:
        # In a captured function the lengths are data, so their order is not checked.
        order = None if enforce_sorted else given.argsort(descending=True, stable=True)
        return PackedSequence.from_padded(rows, given, order)
    longest = int(known.max(initial=0))
    if known.min(initial=1) < 1 or longest > int(rows.shape[0]):
        raise ArgumentError(
            f"pack_padded_sequence: lengths must lie between 1 and {rows.shape[0]}, got "
            f"{known.tolist()}"
        )
    if enforce_sorted and (numpy.diff(known) > 0).any():
        raise ArgumentError(
            f"pack_padded_sequence: the lengths {known.tolist()} are not sorted, longest first; "
            "give enforce_sorted=False"
        )
    order = None if enforce_sorted else created(Tensor, numpy.argsort(-known, kind="stable"))
    return PackedSequence.from_padded(rows[:longest], given, order)


def unpack(
    packed: PackedSequence, batch_first: bool, padding_value: float, total_length: int | None
) -> Tensor:
    """The padded sequences of `pad_packed_sequence`."""
    rows = packed.padded
    valid = packed.valid.reshape(*packed.valid.shape, *[1] * (rows.ndim - 2))
    rows = where(valid, rows, rows.new_full((), padding_value))
    if total_length is not None:
        missing = total_length - int(rows.shape[0])
        if missing < 0:
            raise ArgumentError(
                f"pad_packed_sequence: total_length is {total_length}, but the longest sequence "
                f"has {rows.shape[0]} entries"
            )
        rows = rows.pad([0, 0] * (rows.ndim - 1) + [0, missing], value=padding_value)
    return rows.transpose(0, 1) if batch_first else rows
