"""Lists and dictionaries of modules and parameters, against PyTorch's."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentTypeError, IndexRangeError
from tests.raising import raises


def nested(xp: Any) -> Any:
    inner = xp.nn.ParameterList([xp.ones(2), xp.nn.ParameterDict({"a": xp.ones(1)})])
    return xp.nn.ParameterList([inner, xp.zeros(3), xp.nn.Linear(2, 1)])


def test_nested_parameters_have_pytorchs_names() -> None:
    ours, theirs = nested(ogive), nested(torch)
    assert set(ours.state_dict()) == set(theirs.state_dict())
    assert {name for name, _ in ours.named_parameters()} == set(theirs.state_dict())
    holder = nn.Sequential(nn.Linear(2, 2))
    holder.extra = ours
    assert "extra.0.1.a" in dict(holder.named_parameters())


def test_nested_parameters_are_trained_saved_and_copied() -> None:
    model = nested(ogive)
    optimizer = ogive.optim.SGD(model.parameters(), 0.5)
    before = {name: value.tolist() for name, value in copy.deepcopy(model).state_dict().items()}
    (model[0][0].sum() + model[0][1].a.sum()).backward()
    optimizer.step()
    assert model[0][0].tolist() == [0.5, 0.5] and model[0][1]["a"].tolist() == [0.5]
    model.load_state_dict({name: Tensor(value) for name, value in before.items()})
    assert model[0][0].tolist() == [1, 1]


def test_whatever_way_a_tensor_gets_into_a_list_it_becomes_a_parameter() -> None:
    values = nn.ParameterList([ogive.ones(1)])
    values += [ogive.ones(2)]
    values.append(ogive.ones(3)).extend([ogive.ones(4)])
    values.insert(0, ogive.ones(5))
    values[1] = ogive.ones(6)
    assert [p.shape for p in values.parameters()] == [(5,), (6,), (2,), (3,), (4,)]
    assert all(isinstance(value, nn.Parameter) for value in values)
    assert len(values[1:3]) == 2 and values.pop().shape == (4,) and values[0] in values
    assert getattr(values, "2").shape == (2,)
    with raises(IndexRangeError, match="there is no parameter 9 among 4"):
        values[9]


def test_a_dictionary_of_parameters_is_a_mapping() -> None:
    values = nn.ParameterDict([("a", ogive.ones(1))])
    values.update({"b": ogive.ones(2)})
    values["c"] = 7
    assert [name for name, _ in values.named_parameters()] == ["a", "b"]
    assert list(values) == ["a", "b", "c"] and values.pop("c") == 7 and "c" not in values
    assert values.b is values["b"] and values.get("z") is None
    with raises(ArgumentTypeError, match="must be names, not 3"):
        values[3] = ogive.ones(1)  # type: ignore[index]


def test_lists_of_parameters_are_captured() -> None:
    values = nn.ParameterList([ogive.ones(2), nn.ParameterList([ogive.zeros(2)])])
    total = ogive.jit(lambda x: (x * values[0] + values[1][0]).sum())
    assert total(Tensor([1.0, 2.0])).item() == 3
    with ogive.no_grad():
        values[1][0].fill_(5)
    assert total(Tensor([1.0, 2.0])).item() == 13


def test_lists_of_modules_grow_by_addition() -> None:
    layers = nn.ModuleList([nn.Linear(2, 2)])
    layers += [nn.ReLU(), nn.Linear(2, 3)]
    assert [type(layer).__name__ for layer in layers] == ["Linear", "ReLU", "Linear"]
    longer = layers + [nn.Tanh()]  # noqa: RUF005
    assert isinstance(longer, nn.ModuleList) and len(longer) == 4 and len(layers) == 3
    assert isinstance(layers.pop(1), nn.ReLU) and len(list(layers.parameters())) == 4
    chain = nn.Sequential(nn.Linear(2, 2)).append(nn.ReLU()).extend([nn.Linear(2, 1)])
    chain += [nn.ReLU()]
    assert chain(ogive.ones(1, 2)).shape == (1, 1) and len(chain) == 4


def test_dictionaries_of_modules_take_pairs() -> None:
    layers = nn.ModuleDict([("a", nn.Linear(1, 1))])
    layers.update([("b", nn.ReLU())])
    assert list(layers) == ["a", "b"]
    layers.clear()
    assert len(layers) == 0


def test_initial_values_are_a_module_of_their_own() -> None:
    assert importlib.import_module("ogive.nn.init") is nn.init
