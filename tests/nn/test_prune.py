"""Pruned layers are, train and are saved as PyTorch's are."""

from __future__ import annotations

import importlib
from typing import Any

import numpy

from ogive import nn
from ogive.errors import ArgumentError
from ogive.nn.utils import prune
from tests.raising import raises


def pruned_network(library: str) -> tuple[Any, list[Any]]:
    """A network of a library that was pruned in all ways and trained, and what it gave."""
    torch = importlib.import_module(library)
    pruning = importlib.import_module(f"{library}.nn.utils.prune")
    generator = numpy.random.default_rng(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    with torch.no_grad():
        for parameter in network.parameters():
            values = generator.normal(size=tuple(parameter.shape)).astype("float32")
            parameter.copy_(torch.tensor(values))
    first, last, found = network[0], network[2], []
    for amount in (0.25, 2):
        pruning.l1_unstructured(first, "weight", amount=amount)
        found.append(first.weight.detach().numpy().copy())
    pruning.ln_structured(last, "weight", amount=1, n=2, dim=0)
    both = [(first, "weight"), (last, "weight")]
    pruning.global_unstructured(both, pruning_method=pruning.L1Unstructured, amount=0.3)
    found += [layer.weight.detach().numpy().copy() for layer, _ in both]
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    x = torch.tensor(generator.normal(size=(6, 4)).astype("float32"))
    for _ in range(3):
        optimizer.zero_grad()
        network(x).pow(2).mean().backward()
        optimizer.step()
    found += [first.weight_orig.detach().numpy().copy(), network(x).detach().numpy()]
    return network, found


def test_pruning_and_training_give_what_they_give_in_pytorch() -> None:
    ours, mine = pruned_network("ogive.torch")
    theirs, expected = pruned_network("torch")
    for found, wanted in zip(mine, expected, strict=True):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_a_pruned_parameter_becomes_one_again_with_its_zeros() -> None:
    layer = nn.Linear(4, 2)
    prune.random_unstructured(layer, "weight", amount=3)
    assert prune.is_pruned(layer) and int((layer.weight == 0).sum()) == 3
    prune.remove(layer, "weight")
    assert not prune.is_pruned(layer) and isinstance(layer.weight, nn.Parameter)
    assert int((layer.weight == 0).sum()) == 3
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_channels_that_are_drawn_are_masked_whole() -> None:
    layer = nn.Conv2d(3, 4, 2)
    prune.random_structured(layer, "weight", amount=0.5, dim=1)
    assert sorted((layer.weight != 0).sum(dim=(0, 2, 3)).tolist())[:2] == [0, 0]


def test_more_than_is_there_cannot_be_pruned() -> None:
    with raises(ArgumentError, match="cannot prune 9 entries: only 8 are left"):
        prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=9)
    with raises(ArgumentError, match=r"Linear\.weight is not pruned"):
        prune.remove(nn.Linear(4, 2), "weight")
