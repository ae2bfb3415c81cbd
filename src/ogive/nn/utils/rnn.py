"""Sequences of different lengths as one tensor, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.nn.packed import PackedSequence, pack_padded, unpack
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor

__all__ = [
    "PackedSequence",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences, each padded to the length of the longest.

    Shapes: (lengthᵢ, ...) each → (longest, count, ...); (count, longest, ...) with `batch_first`.

    >>> from ogive.nn.utils.rnn import pad_sequence
    >>> pad_sequence([Tensor([1, 2, 3]), Tensor([4])], batch_first=True).tolist()
    [[1, 2, 3], [4, 0, 0]]

    Raises `ShapeError` when the sequences differ in more than their lengths.
    """
    if padding_side not in ("left", "right"):
        raise ArgumentError(f"padding_side must be 'left' or 'right', not {padding_side!r}")
    if not sequences:
        raise ArgumentError("pad_sequence takes at least one sequence")
    rest = sequences[0].shape[1:]
    for number, sequence in enumerate(sequences):
        if not sequence.ndim or sequence.shape[1:] != rest:
            raise ShapeError(
                f"pad_sequence: sequence {number} has the shape {sequence.shape}, and the first "
                f"{sequences[0].shape}; only the first axis may differ"
            )
    longest = max([int(sequence.shape[0]) for sequence in sequences])
    padded = []
    for sequence in sequences:
        missing = longest - int(sequence.shape[0])
        ends = (missing, 0) if padding_side == "left" else (0, missing)
        padded.append(sequence.pad([0, 0] * len(rest) + [*ends], value=padding_value))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The inverse of `pad_sequence`: the sequences at their lengths. Computes the lengths at once.

    Shapes: (longest, count, ...) and (count,) → (lengthᵢ, ...) each.

    >>> from ogive.nn.utils.rnn import unpad_sequence
    >>> rows = unpad_sequence(Tensor([[1, 2, 3], [4, 0, 0]]), Tensor([3, 1]), batch_first=True)
    >>> [row.tolist() for row in rows]
    [[1, 2, 3], [4]]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [rows[number][:length] for number, length in enumerate(lengths.tolist())]


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences and their lengths for a recurrent layer.

    Shapes: (longest, count, ...), or (count, longest, ...) with `batch_first`, and (count,). The
    longest sequence is the first, unless `enforce_sorted` is False. In a captured function the
    lengths may be an argument: other lengths trace and compile nothing.

    >>> from ogive.nn.utils.rnn import pack_padded_sequence
    >>> packed = pack_padded_sequence(Tensor([[1, 2, 3], [4, 5, 0]]), [3, 2], batch_first=True)
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1, 4, 2, 5, 3], [2, 2, 1])

    Raises `ShapeError` and `ArgumentError` for lengths that do not fit or are not sorted.
    """
    return pack_padded(input, lengths, batch_first, enforce_sorted)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The inverse of `pack_padded_sequence`: padded sequences, and their lengths.

    Shapes: (longest, count, ...), or (count, longest, ...) with `batch_first`, and (count,). With
    `total_length` they are padded to that.

    >>> from ogive.nn.utils.rnn import pack_sequence, pad_packed_sequence
    >>> packed = pack_sequence([Tensor([1.0, 2.0]), Tensor([3.0])])
    >>> padded, lengths = pad_packed_sequence(packed, batch_first=True, padding_value=-1)
    >>> padded.tolist(), lengths.tolist()
    ([[1.0, 2.0], [3.0, -1.0]], [2, 1])
    """
    return unpack(sequence, batch_first, padding_value, total_length), sequence.lengths


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences for a recurrent layer. Shapes: (lengthᵢ, ...) each.

    >>> from ogive.nn.utils.rnn import pack_sequence
    >>> pack_sequence([Tensor([1, 2, 3]), Tensor([4])]).data.tolist()
    [1, 4, 2, 3]
    """
    lengths = [int(sequence.shape[0]) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The inverse of `pack_sequence`. Computes the lengths at once.

    >>> from ogive.nn.utils.rnn import pack_sequence, unpack_sequence
    >>> [row.tolist() for row in unpack_sequence(pack_sequence([Tensor([1, 2]), Tensor([3])]))]
    [[1, 2], [3]]
    """
    return unpad_sequence(packed_sequences.padded, packed_sequences.lengths)
