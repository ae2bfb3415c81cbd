"""Sequences of different lengths as one tensor, and back."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.joining import stack
from ogive.tensor.tensor import Tensor


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences side by side, each filled up to the length of the longest.

    Shapes: (lengthᵢ, ...) each → (longest, count, ...); (count, longest, ...) with `batch_first`.

    >>> from ogive.nn.utils.rnn import pad_sequence
    >>> pad_sequence([Tensor([1, 2, 3]), Tensor([4])], batch_first=True).tolist()
    [[1, 2, 3], [4, 0, 0]]

    Raises `ShapeError` when the sequences differ in more than their lengths.
    """
    if padding_side not in ("left", "right"):
        raise ArgumentError(f"padding_side is 'left' or 'right', not {padding_side!r}")
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
    """What `pad_sequence` was given, with the lengths that it had. Computes the lengths at once.

    Shapes: (longest, count, ...) and (count,) → (lengthᵢ, ...) each.

    >>> from ogive.nn.utils.rnn import unpad_sequence
    >>> rows = unpad_sequence(Tensor([[1, 2, 3], [4, 0, 0]]), Tensor([3, 1]), batch_first=True)
    >>> [row.tolist() for row in rows]
    [[1, 2, 3], [4]]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [rows[number][:length] for number, length in enumerate(lengths.tolist())]
