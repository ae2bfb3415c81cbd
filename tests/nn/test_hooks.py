"""Hooks around `forward`, modules as functions of their tensors, copies and pickles."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import GradientError, ShapeError, StateError
from tests.raising import raises


def test_hooks_change_arguments_and_results_until_they_are_removed() -> None:
    layer = nn.Linear(2, 2)
    x = Tensor([[1.0, 2.0]])
    plain, doubled = layer(x).tolist(), layer(x * 2).tolist()
    before = layer.register_forward_pre_hook(lambda module, args: args[0] * 2)
    assert layer(x).tolist() == doubled
    after = layer.register_forward_hook(lambda module, args, result: result * 0)
    assert layer(x).abs().tolist() == [[0.0, 0.0]]
    before.remove()
    after.remove()
    assert layer(x).tolist() == plain


def test_hooks_with_keyword_arguments() -> None:
    class Shift(nn.Module):
        def forward(self, x: Tensor, by: float) -> Tensor:
            return x + by

    shift, seen = Shift(), []
    shift.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    shift.register_forward_hook(
        lambda module, args, kwargs, result: seen.append(kwargs), with_kwargs=True
    )
    assert shift(Tensor([1.0]), by=2.0).tolist() == [4.0] and seen == [{"by": 3.0}]


def test_captured_functions_notice_hooks() -> None:
    layer = nn.Linear(2, 2)
    captured = ogive.jit(lambda x: layer(x))
    x = ogive.ones(1, 2)
    plain = captured(x).tolist()
    with layer.register_forward_hook(lambda module, args, result: result * 0):
        assert captured(x).abs().tolist() == [[0.0, 0.0]]
    assert captured(x).tolist() == plain


class Holder(nn.Module):
    def __init__(self) -> None:
        self.scales = [nn.Parameter(ogive.ones(2)) for _ in range(2)]
        self.named = nn.ParameterDict({"a": ogive.ones(1)})
        self.listed = nn.ParameterList([ogive.zeros(1)])
        self.act = nn.GELU()

    def forward(self, x: Tensor) -> Any:
        return self.act(x * self.scales[0] + self.scales[1] * self.named["a"])


def test_parameters_in_lists_and_dictionaries_are_found() -> None:
    names = ["scales.0", "scales.1", "named.a", "listed.0"]
    holder = Holder()
    assert [name for name, _ in holder.named_parameters()] == names
    assert holder.get_parameter("scales.1") is holder.scales[1]


def test_a_call_with_other_tensors_leaves_the_module_as_it_was() -> None:
    theirs, ours = torch.nn.Linear(3, 2), nn.Linear(3, 2)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(4, 3)
    other = {"weight": torch.randn(2, 3)}
    expected = torch.func.functional_call(theirs, other, (x,))
    own = ours.weight
    found = nn.functional_call(ours, {"weight": Tensor(other["weight"].numpy())}, Tensor(x.numpy()))
    assert numpy.allclose(found.numpy(), expected.detach().numpy(), atol=1e-6)
    assert ours.weight is own
    with raises(StateError, match=r"no tensor 'weigth' \(did you mean 'weight'\?\)"):
        nn.functional_call(ours, {"weigth": own}, Tensor(x.numpy()))


def test_modules_are_copied_and_pickled_with_what_they_share() -> None:
    holder = Holder()
    holder.scales[1] = holder.scales[0]
    x = Tensor([1.0, -1.0])
    expected = holder(x).tolist()
    for made in (copy.deepcopy(holder), pickle.loads(pickle.dumps(holder))):
        assert made.scales[0] is made.scales[1] is not holder.scales[0]
        assert made(x).tolist() == expected and made.scales[0].is_leaf
        with ogive.no_grad():
            made.scales[0].zero_()
    assert holder(x).tolist() == expected
    with raises(GradientError, match=r"copy its detach\(\)"):
        copy.deepcopy(holder.scales[0] * 2)


def test_other_dtypes_by_name_and_keys_that_did_not_fit() -> None:
    layer = nn.Linear(2, 1)
    assert layer.half().weight.dtype is ogive.float16
    assert layer.double().weight.dtype is ogive.float64
    assert layer.to("cpu", "bfloat16").weight.dtype is ogive.bfloat16
    assert layer.float().weight.dtype is ogive.float32
    missing, unexpected = layer.load_state_dict({"bias": ogive.ones(1), "b": 1}, strict=False)
    assert (missing, unexpected) == (["weight"], ["b"])


def test_parameters_as_one_vector() -> None:
    layer = nn.Linear(2, 1)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (3,)
    nn.utils.vector_to_parameters(ogive.arange(3), layer.parameters())
    assert [p.tolist() for p in layer.parameters()] == [[[0.0, 1.0]], [2.0]]
    with raises(ShapeError, match="the parameters have 3 values"):
        nn.utils.vector_to_parameters(ogive.zeros(4), layer.parameters())


def test_what_is_no_tensor_is_refused_with_the_path_to_the_layer() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 1)))
    with raises(TypeError, match=r"0.0: Linear was given ndarray as argument 0, and takes"):
        model(numpy.ones((3, 2)))
    with raises(TypeError, match="Conv2d was given list"):
        nn.Conv2d(1, 1, 1)([1.0])
    with raises(ShapeError, match="negative length"):
        nn.Linear(-1, 2)


def test_a_parameter_is_not_replaced_by_what_is_not_trained() -> None:
    layer: Any = nn.Linear(2, 1)
    with raises(TypeError, match=r"Linear\.weight is a parameter, and a tensor in"):
        layer.weight = ogive.ones(1, 2)
    layer.weight = nn.Parameter(ogive.ones(1, 2))
    layer.bias = None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]


def test_no_grad_decorates_with_and_without_a_call() -> None:
    w = Tensor([1.0], requires_grad=True)

    mode: Any = ogive.no_grad
    bare, called = mode(lambda: w * 2), mode()(lambda: w * 2)
    assert not bare().requires_grad and not called().requires_grad and (w * 2).requires_grad
