"""`torch.nn.Module` and `torch.optim.Optimizer` are the bases that published programs take."""

from __future__ import annotations

import abc
import collections
import pickle
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])


def make_net(torch: Any) -> Any:
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.unseen = [nn.Linear(2, 2)]
            self.fc = nn.Linear(2, 3)
            self.register_buffer("scale", torch.ones(3))
            self.rest = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.some = nn.ModuleList([None, nn.Linear(1, 1)])

        def forward(self, x: Any) -> Any:
            return self.rest(self.fc(x)) * self.scale

    return Net()


@BOTH
def test_lists_are_not_registered_and_names_are_in_pytorchs_order(torch: Any) -> None:
    net = make_net(torch)
    assert sorted(net.state_dict()) == [
        "fc.bias", "fc.weight", "rest.0.bias", "rest.0.weight", "scale", "some.1.bias",
        "some.1.weight",
    ]  # fmt: skip
    assert [path for path, _ in net.named_modules()] == [
        "", "fc", "rest", "rest.0", "rest.1", "some", "some.1",
    ]  # fmt: skip


def test_our_own_modules_see_their_lists() -> None:
    class Net(ogive.nn.Module):
        def __init__(self) -> None:
            self.seen = [ogive.nn.Linear(2, 2)]

    assert list(Net().state_dict()) == ["seen.0.weight", "seen.0.bias"]


@BOTH
def test_registered_dictionaries_show_and_change_attributes(torch: Any) -> None:
    net = make_net(torch)
    assert list(net._modules) == ["fc", "rest", "some"]
    assert list(net.fc._parameters) == ["weight", "bias"]
    assert list(net._buffers) == ["scale"]
    net._modules["fc"] = torch.nn.Linear(2, 3, bias=False)
    assert net.fc.bias is None
    net.rest._modules["1"] = torch.nn.Tanh()
    assert isinstance(net.rest[1], torch.nn.Tanh)
    del net._modules["fc"]
    assert not hasattr(net, "fc")


@BOTH
def test_registered_dictionaries_are_replaced_as_a_whole(torch: Any) -> None:
    nn, ordered = torch.nn, collections.OrderedDict
    chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 3), nn.Tanh())
    chain._modules = ordered(list(chain._modules.items())[:3])
    assert [name for name, _ in chain.named_children()] == ["0", "1", "2"]
    assert chain(torch.ones(1, 2)).shape == (1, 3)
    layer = nn.Linear(2, 3)
    weight = nn.Parameter(torch.full((3, 2), 2.0))
    layer._parameters = ordered(bias=nn.Parameter(torch.zeros(3)), weight=weight)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    assert layer(torch.ones(2)).tolist() == [4.0, 4.0, 4.0]
    layer._parameters = {"weight": weight}
    assert list(layer.state_dict()) == ["weight"] and not hasattr(layer, "bias")
    norm = nn.BatchNorm1d(2)
    norm._buffers = {"running_mean": torch.ones(2), "running_var": torch.ones(2)}
    assert [name for name, _ in norm.named_buffers()] == ["running_mean", "running_var"]
    assert norm.running_mean.tolist() == [1.0, 1.0]


@BOTH
def test_all_layers_count_as_modules(torch: Any) -> None:
    class Base(torch.nn.Module, abc.ABC):  # type: ignore[misc]
        pass

    assert isinstance(torch.nn.Linear(1, 1), torch.nn.Module)
    assert issubclass(torch.nn.Linear, torch.nn.Module)
    assert isinstance(Base(), torch.nn.Module)
    assert not isinstance(torch.nn.Linear(1, 1), Base)


@BOTH
def test_a_programs_metaclass_goes_with_modules(torch: Any) -> None:
    class Meta(type):
        def __call__(cls, *args: Any) -> Any:
            made = super().__call__(*args)
            made.is_finished = True
            return made

    class Net(torch.nn.Module, metaclass=Meta):  # type: ignore[misc]
        def __init__(self, size: int) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(size, size)

    class Wide(torch.nn.Linear, metaclass=Meta):  # type: ignore[misc]
        pass

    assert type(torch.nn.Module) is type and torch.nn.Module.__name__ == "Module"
    assert pickle.loads(pickle.dumps(torch.nn.Module)) is torch.nn.Module
    assert Net(3).is_finished and isinstance(Net(2), torch.nn.Module)
    assert len(list(Net(3).parameters())) == 2
    assert isinstance(Wide(1, 2), torch.nn.Linear)


@BOTH
def test_what_torch_nn_module_is_given_all_layers_have(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_wide = property(lambda layer: layer.in_features > 2)
    monkeypatch.setattr(torch.nn.Module, "is_wide", is_wide, raising=False)
    assert torch.nn.Linear(3, 1).is_wide and not torch.nn.Linear(2, 1).is_wide


def test_a_layer_is_captured_in_place() -> None:
    torch = ogive.torch
    layer = torch.nn.Linear(2, 3)
    x = torch.ones(4, 2)
    wanted = layer(x).tolist()
    layer.compile()
    with torch.no_grad():
        assert [layer(x).tolist() for _ in range(3)] == [wanted] * 3


@BOTH
def test_states_take_prefixes_and_hooks_see_them(torch: Any) -> None:
    net, seen = make_net(torch), []
    assert all(name.startswith("model.") for name in net.state_dict(prefix="model."))
    net.fc._register_load_state_dict_pre_hook(
        lambda state, prefix, *rest: state.setdefault(prefix + "bias", torch.zeros(3))
    )
    net.register_load_state_dict_post_hook(lambda module, keys: seen.append(keys))
    state = net.state_dict()
    del state["fc.bias"]
    net.load_state_dict(state)
    assert net.fc.bias.tolist() == [0.0, 0.0, 0.0]
    assert seen[0].missing_keys == []
    with pytest.raises(AttributeError):
        net.get_submodule("absent")


@BOTH
def test_a_state_is_assigned_with_its_dtype(torch: Any) -> None:
    layer = torch.nn.Linear(2, 2)
    state = {name: value.double() for name, value in layer.state_dict().items()}
    layer.load_state_dict(state, assign=True)
    assert layer.weight.dtype is torch.float64
    assert len(list(layer.parameters())) == 2


def train_by_own_optimizer(torch: Any) -> Any:
    class Lion(torch.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, params: Any, lr: float = 1e-4, beta: float = 0.9) -> None:
            super().__init__(params, {"lr": lr, "beta": beta})

        @torch.no_grad()  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if not state:
                        state["mean"] = torch.zeros_like(p)
                    mean = state["mean"]
                    p.add_((mean * group["beta"] + p.grad).sign(), alpha=-group["lr"])
                    mean.mul_(group["beta"]).add_(p.grad, alpha=1 - group["beta"])

    weights = torch.tensor([[0.1, -0.2], [0.3, 0.4]], requires_grad=True)
    optimizer = Lion([{"params": [weights], "name": "w", "lr": 0.05}])
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(4):
        optimizer.zero_grad()
        (weights @ torch.tensor([1.0, 2.0]) - 1).square().sum().backward()
        optimizer.step()
        schedule.step()
    other = Lion([weights])
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["name"] == "w"
    return weights.detach(), other.state[weights]["mean"], schedule.get_last_lr()


def test_an_optimizer_of_the_programs_own_trains() -> None:
    wanted, found = train_by_own_optimizer(pytorch), train_by_own_optimizer(ogive.torch)
    for one, other in zip(wanted, found, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(other), numpy.asarray(one), rtol=1e-5)


@BOTH
def test_momentum_can_be_turned_on_later(torch: Any) -> None:
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1, dampening=0.5, weight_decay=0.1)
    for number in range(4):
        optimizer.param_groups[0]["momentum"] = 0.9 if number > 1 else 0.0
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()
    numpy.testing.assert_allclose(weight.detach(), [0.323315, 0.64663], rtol=1e-5)


@BOTH
def test_an_optimizer_shows_its_state_by_parameter_and_calls_hooks(torch: Any) -> None:
    weight, calls = torch.ones(2, requires_grad=True), []
    optimizer = torch.optim.Adam([weight])
    weight.sum().backward()
    handle = optimizer.register_step_post_hook(lambda *given: calls.append(given))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert len(calls) == 1
    assert weight in optimizer.state
    assert optimizer.state[weight]["exp_avg"].shape == (2,)
    assert isinstance(optimizer, torch.optim.Optimizer)


def test_a_function_is_applied_to_modules_in_order() -> None:
    found = []
    for library in (ogive.torch, pytorch):
        nn = library.nn
        net = nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.Linear(2, 3), nn.ReLU()), nn.Tanh())
        names: list[str] = []
        net.apply(lambda module, names=names: names.append(type(module).__name__))
        found.append(names)
    assert found[0] == found[1]


def test_loading_says_that_all_keys_matched() -> None:
    found = []
    for library in (ogive.torch, pytorch):
        layer = library.nn.Linear(1, 1)
        state = layer.state_dict()
        message = str(layer.load_state_dict(state))
        found.append((message, layer.load_state_dict({"bias": state["bias"]}, strict=False)))
    assert found[0][0] == found[1][0]
    assert str(found[0][1]).lstrip("_") == str(found[1][1]).lstrip("_")
