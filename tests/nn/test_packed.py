"""Packed sequences and the recurrent layers on them, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentError, ShapeError
from ogive.nn.utils import rnn
from tests.raising import raises

LENGTHS = [2, 5, 1, 4]
X = numpy.random.default_rng(3).normal(size=(4, 6, 3))  # one step longer than any of them
THEIRS: Any = torch.nn.utils.rnn


def both(**settings: Any) -> tuple[Any, Any]:
    settings = {"batch_first": True, "enforce_sorted": False, **settings}
    ours = rnn.pack_padded_sequence(Tensor(X), LENGTHS, **settings)
    return ours, THEIRS.pack_padded_sequence(torch.tensor(X), torch.tensor(LENGTHS), **settings)


def test_packed_data_is_pytorchs() -> None:
    ours, theirs = both()
    for mine, other in zip(ours, theirs, strict=True):
        numpy.testing.assert_array_equal(mine.numpy(), other.numpy())
    again = rnn.PackedSequence(ours.data * 2, ours.batch_sizes, ours.sorted_indices)
    other = theirs._replace(data=theirs.data * 2)
    for packed in (again, ours._replace(data=ours.data * 2)):
        mine, lengths = rnn.pad_packed_sequence(packed, padding_value=-1.0, total_length=7)
        expected, _ = THEIRS.pad_packed_sequence(other, padding_value=-1.0, total_length=7)
        numpy.testing.assert_array_equal(mine.numpy(), expected.numpy())
        assert lengths.tolist() == LENGTHS


def test_sequences_are_packed_and_unpacked() -> None:
    parts = [X[0, :4], X[1, :2], X[2, :2]]
    ours = rnn.pack_sequence([Tensor(part) for part in parts])
    theirs = THEIRS.pack_sequence([torch.tensor(part) for part in parts])
    numpy.testing.assert_array_equal(ours.data.numpy(), theirs.data.numpy())
    assert ours.sorted_indices is None is ours.unsorted_indices
    for mine, part in zip(rnn.unpack_sequence(ours), parts, strict=True):
        numpy.testing.assert_array_equal(mine.numpy(), part)


@pytest.mark.parametrize(("name", "settings"), [
    ("RNN", {"nonlinearity": "relu"}), ("GRU", {"bidirectional": True}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "proj_size": 2}),
])  # fmt: skip
@pytest.mark.parametrize("with_state", [False, True])
def test_layers_give_what_pytorchs_give(
    name: str, settings: dict[str, Any], with_state: bool
) -> None:
    theirs = getattr(torch.nn, name)(3, 4, **settings).double()
    ours = getattr(nn, name)(3, 4, **settings).double()
    ours.load_state_dict(theirs.state_dict())
    found = []
    for layer, packed, library in zip((ours, theirs), both(), (ogive, torch), strict=True):
        count = settings.get("num_layers", 1) * (2 if settings.get("bidirectional") else 1)
        shapes = [(count, 4, settings.get("proj_size", 4)), (count, 4, 4)]
        values = [numpy.linspace(-1, 1, num=count * 4 * s[2]).reshape(s) for s in shapes]
        given: Any = [library.tensor(value) for value in values]
        state = (tuple(given) if name == "LSTM" else given[0]) if with_state else None
        output, last = layer(packed, state)
        states = last if isinstance(last, tuple) else (last,)
        loss = (output.data**2).sum() + sum([(part**3).sum() for part in states])
        loss.backward()
        if library is ogive:  # in one go, as an optimizer would: each alone is a graph to compile
            Tensor.realize_batch([p.grad for p in layer.parameters()])
        gradients = {key: p.grad.numpy() for key, p in layer.named_parameters()}
        made = [output.data, *states]
        found.append(([part.detach().numpy() for part in made], gradients))
    for mine, other in zip(found[0][0], found[1][0], strict=True):
        numpy.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)
    for key, other in found[1][1].items():
        numpy.testing.assert_allclose(found[0][1][key], other, rtol=1e-9, atol=1e-12)


def test_other_lengths_trace_and_compile_nothing() -> None:
    layer = nn.GRU(3, 4, batch_first=True).double()

    @ogive.jit
    def last_state(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, state = layer(packed)
        return rnn.pad_packed_sequence(output, batch_first=True)[0], state

    last_state(Tensor(X), Tensor([6, 6, 6, 6]))
    before = ogive.counters()["kernels_compiled"]
    output, state = last_state(Tensor(X), Tensor(LENGTHS))
    assert ogive.counters()["kernels_compiled"] == before
    assert last_state.cache_info().traces == 1
    for row, length in enumerate(LENGTHS):
        expected, _ = layer(Tensor(X[row, :length]))
        numpy.testing.assert_allclose(output[row, :length].numpy(), expected.numpy(), rtol=1e-9)
        numpy.testing.assert_allclose(state[0, row].numpy(), expected[-1].numpy(), rtol=1e-9)
        assert not output[row, length:].any()


def test_what_does_not_fit_is_refused() -> None:
    x = Tensor(X)
    with raises(ArgumentError, match=r"\[2, 5, 1, 4\] are not sorted.*enforce_sorted=False"):
        rnn.pack_padded_sequence(x, LENGTHS, batch_first=True)
    with raises(ArgumentError, match=r"between 1 and 6, got \[7, 5, 1, 0\]"):
        rnn.pack_padded_sequence(x, [7, 5, 1, 0], batch_first=True)
    with raises(ShapeError, match=r"lengths of shape \(2,\) were given for a batch of"):
        rnn.pack_padded_sequence(x, [3, 2], batch_first=True)
    packed = both()[0]
    with raises(ArgumentError, match="total_length is 3, but the longest sequence has 5"):
        rnn.pad_packed_sequence(packed, total_length=3)
    with raises(ShapeError, match="the last of length 2"):
        nn.GRU(2, 4)(packed)
    with raises(ArgumentError, match=r"must not increase, got \[1, 2\]"):
        rnn.PackedSequence(Tensor(X[0, :3]), Tensor([1, 2]))


def test_a_sequence_without_steps_is_refused() -> None:
    with raises(ShapeError, match=r"must have at least one step, got \(0, 2, 2\)"):
        nn.LSTM(2, 3)(ogive.zeros(0, 2, 2))
