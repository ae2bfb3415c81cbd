"""Eager parameters: made, given other values, copied, saved, and differentiated for."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.torch.tensors.numpy_arrays import to_shared_numpy

nn = torch.nn

LAYERS = [
    lambda: nn.Linear(3, 4), lambda: nn.Conv2d(2, 3, 3), lambda: nn.BatchNorm1d(4),
    lambda: nn.LayerNorm(5), lambda: nn.GroupNorm(2, 4), lambda: nn.Embedding(5, 3),
    lambda: nn.LSTM(3, 4), lambda: nn.PReLU(), lambda: nn.MultiheadAttention(8, 2),
    lambda: nn.RMSNorm(4),
]  # fmt: skip


def test_a_parameter_of_an_eager_tensor_is_eager_and_in_its_memory() -> None:
    values = torch.tensor([1.0, 2.0])
    parameter = nn.Parameter(values)
    assert parameter.is_eager
    assert isinstance(parameter, nn.Parameter)
    assert parameter.requires_grad
    assert parameter.is_leaf
    values[0] = 7
    assert parameter.tolist() == [7.0, 2.0]
    assert not nn.Parameter(torch.tensor([1, 2]), requires_grad=False).requires_grad


def test_a_parameter_of_integers_is_an_error() -> None:
    with pytest.raises(ogive.errors.GradientError):
        nn.Parameter(torch.tensor([1, 2]))


@pytest.mark.parametrize("make", LAYERS)
def test_layers_have_eager_parameters_and_buffers(make: Any) -> None:
    layer = make()
    assert all(tensor.is_eager for tensor in layer.state_dict().values())
    assert all(parameter.requires_grad for parameter in layer.parameters())


@pytest.mark.usefixtures("no_allowance")
def test_large_layers_have_lazy_parameters() -> None:
    layer = nn.Linear(300, 300)
    assert not layer.weight.is_eager
    assert layer.bias.is_eager


@pytest.mark.parametrize("is_eager", [True, False])
@pytest.mark.parametrize("way", ["copy_", "data.copy_", "data", "fill", "load", "init"])
def test_other_values_leave_a_parameter_eager_or_make_it_so(way: str, is_eager: bool) -> None:
    layer = nn.Linear(2, 2, bias=False)
    parameter = layer.weight
    if not is_eager:
        parameter.node  # noqa: B018  (it settles)
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    before = values.tolist()
    if way == "copy_":
        with torch.no_grad():
            parameter.copy_(values)
    elif way == "data.copy_":
        parameter.data.copy_(values)
    elif way == "data":
        parameter.data = values.clone()
    elif way == "fill":
        with torch.no_grad():
            parameter.fill_(5.0)
        before = [[5.0, 5.0], [5.0, 5.0]]
    elif way == "load":
        layer.load_state_dict({"weight": values})
    else:
        nn.init.constant_(parameter, 5.0)
        before = [[5.0, 5.0], [5.0, 5.0]]
    values[0] = 9
    assert parameter.tolist() == before
    assert parameter.requires_grad
    assert parameter.is_leaf
    assert layer.weight is parameter
    if is_eager or way in ("copy_", "load", "data.copy_"):
        assert parameter.is_eager
    (parameter + parameter).sum().backward()
    assert parameter.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_leaf_is_not_written_to_while_gradients_flow() -> None:
    parameter = nn.Parameter(torch.ones(2))
    parameter.node  # noqa: B018
    for each in (parameter, nn.Parameter(torch.ones(2))):
        with pytest.raises(ogive.errors.GradientError):
            each.copy_(torch.zeros(2))
        assert each.tolist() == [1.0, 1.0]


def test_gradients_flow_through_what_is_copied_to_a_plain_tensor() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    target = ogive.zeros(2).realize()
    target.copy_(x + x)
    target.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_array_that_shares_memory_sees_what_is_copied() -> None:
    array = numpy.zeros(2, "float32")
    shared = torch.from_numpy(array)
    shared.copy_(torch.tensor([1.0, 2.0]))
    assert shared.tolist() == [1.0, 2.0]
    assert array.tolist() == [1.0, 2.0]


def test_an_array_of_a_plain_tensor_sees_what_is_copied() -> None:
    plain = torch.from_numpy(numpy.zeros(2, "float32")).clone().realize()
    array = to_shared_numpy(plain)
    plain.copy_(torch.tensor([1.0, 2.0]))
    assert array.tolist() == plain.tolist() == [1.0, 2.0]


def test_a_view_of_a_plain_tensor_sees_what_is_copied() -> None:
    whole = ogive.zeros(2, 2).realize()
    part = whole[0]
    whole.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert part.tolist() == [1.0, 2.0]
    part.copy_(torch.tensor([7.0, 8.0]))
    assert whole.tolist() == [[7.0, 8.0], [3.0, 4.0]]


def test_data_of_another_shape_and_dtype_takes_the_place_of_the_old() -> None:
    parameter = nn.Parameter(torch.ones(2))
    parameter.data = torch.zeros(3, dtype=torch.float64)
    assert parameter.is_eager
    assert parameter.shape == (3,)
    assert parameter.dtype is ogive.float64


def test_data_that_was_changed_in_place_may_be_set_to_itself() -> None:
    parameter = nn.Parameter(torch.tensor([1.0, 2.0]))
    parameter.data += 1
    assert parameter.tolist() == [2.0, 3.0]


def test_states_that_are_loaded_crosswise_are_exchanged() -> None:
    first, second = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    values = [first.weight.tolist(), second.weight.tolist()]
    pair = nn.ModuleList([first, second])
    pair.load_state_dict({"0.weight": second.weight.detach(), "1.weight": first.weight.detach()})
    assert [second.weight.tolist(), first.weight.tolist()] == values


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy])
@pytest.mark.parametrize(
    "make",
    [lambda: torch.tensor([1.0, 2.0], requires_grad=True), lambda: nn.Parameter(torch.ones(2))],
)
def test_a_copy_of_a_leaf_is_a_leaf_with_memory_of_its_own(duplicate: Any, make: Any) -> None:
    own = make()
    before = own.tolist()
    made = duplicate(own)
    assert made.is_eager
    assert type(made) is type(own)
    assert made.requires_grad
    assert made.is_leaf
    with torch.no_grad():
        own.add_(1)
    assert made.tolist() == before


def test_tensors_that_share_memory_do_so_after_a_deep_copy() -> None:
    whole = torch.ones(2, 2)
    pair = copy.deepcopy([whole, whole[0]])
    pair[0][0, 0] = 5
    assert pair[1].tolist() == [5.0, 1.0]
    assert whole.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_what_was_computed_from_leaves_cannot_be_deep_copied() -> None:
    made = torch.ones(2, requires_grad=True) + 1
    with pytest.raises(ogive.errors.GradientError):
        copy.deepcopy(made)


@pytest.mark.parametrize(
    "make",
    [lambda: torch.tensor([1.0, 2.0]), lambda: torch.tensor([1.0], requires_grad=True),
     lambda: nn.Parameter(torch.ones(2)), lambda: torch.ones(2, 3)[:, 1:], lambda: torch.tensor(3)],
)  # fmt: skip
def test_a_pickled_tensor_comes_back_as_it_was(make: Any) -> None:
    own = make()
    made = pickle.loads(pickle.dumps(own))
    assert made.is_eager
    assert type(made) is type(own)
    assert made.requires_grad is own.requires_grad
    assert made.dtype is own.dtype
    assert made.tolist() == own.tolist()


def test_a_saved_state_is_that_of_the_model() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    other.load_state_dict(torch.load(file))
    for own, made in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        assert own.tolist() == made.tolist()


# Gradients for given tensors


def test_gradients_for_given_tensors_leave_those_of_leaves_alone() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    middle = x + x
    y = middle + x
    found = torch.autograd.grad(y, [x, middle], torch.tensor([1.0, 10.0]))
    assert all(each.is_eager for each in found)
    assert [each.tolist() for each in found] == [[3.0, 30.0], [1.0, 10.0]]
    assert x.grad is None
    assert x.is_eager


def test_a_tensor_that_was_not_used_has_no_gradient() -> None:
    x, z = [torch.ones(2, requires_grad=True) for _ in range(2)]
    y = x + x
    weights = torch.ones(2)
    assert torch.autograd.grad(y, [z], weights, allow_unused=True) == (None,)
    (zeros,) = torch.autograd.grad(y, [z], weights, materialize_grads=True)
    assert zeros is not None
    assert zeros.tolist() == [0.0, 0.0]
    with pytest.raises(ogive.errors.GradientError):
        torch.autograd.grad(y, [z], weights)


def test_gradients_of_gradients_are_left_to_the_graph() -> None:
    x = torch.tensor([3.0], requires_grad=True)
    (slope,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert slope is not None
    slope.sum().backward()
    assert x.grad.tolist() == [18.0]


def test_hooks_are_called_for_gradients_of_given_tensors() -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: gradient * 10)
    (found,) = torch.autograd.grad(x + x, x, torch.ones(2))
    plain = ogive.Tensor([1.0, 1.0], requires_grad=True)
    plain.register_hook(lambda gradient: gradient * 10)
    (expected,) = ogive.autograd.grad(plain + plain, plain, ogive.ones(2))
    assert found is not None
    assert expected is not None
    assert found.tolist() == expected.tolist()


# Gradients of all parameters


@pytest.mark.parametrize("bound", [0.5, 100.0])
def test_a_norm_of_gradients_is_clipped(bound: float) -> None:
    parameters = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(()))]
    parameters[0].grad = torch.tensor([3.0, 0.0])
    parameters[1].grad = torch.tensor(4.0)
    assert nn.utils.clip_grad_norm_(parameters, bound).item() == pytest.approx(5.0)
    factor = min(1.0, bound / 5)
    assert parameters[0].grad.tolist() == pytest.approx([3 * factor, 0.0], rel=1e-5)
    assert parameters[1].grad.item() == pytest.approx(4 * factor, rel=1e-5)


def test_gradients_are_made_zero_in_their_memory() -> None:
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = gradient = torch.tensor([3.0, 4.0])
    torch.optim.SGD([parameter], lr=0.1).zero_grad(set_to_none=False)
    assert gradient.tolist() == [0.0, 0.0]
    assert parameter.grad is gradient


def test_gradients_of_a_scalar_that_add_up_are_clipped_in_place() -> None:
    scale = torch.nn.Parameter(torch.tensor(2.0))
    for _ in range(2):
        (scale * 3).backward()
    torch.nn.utils.clip_grad_value_([scale], 0.5)
    assert scale.grad.item() == 0.5


@pytest.mark.parametrize("eager", [True, False])
def test_copies_of_a_frozen_parameter_are_parameters(eager: bool) -> None:
    def case(library: Any) -> list[Any]:
        layer = library.nn.Linear(2, 2, bias=False)
        with library.no_grad():
            layer.weight.fill_(1.0)
        layer.weight.requires_grad_(False)
        shown, inputs = layer.weight.detach(), library.ones(1, 2, requires_grad=True)
        layer(inputs).sum().backward()
        deep, shallow = copy.deepcopy(layer), copy.copy(layer.weight)
        _, beside = copy.deepcopy((shown, layer.weight))
        beside.add_(1)
        shallow.mul_(5)
        parameters = [*deep.parameters(), shallow, beside]
        found = [[each.requires_grad, each.tolist()] for each in parameters]
        return [*found, shown.tolist(), list(deep.state_dict())]

    ogive.configure(eager=eager)
    try:
        assert case(torch) == case(pytorch)
    finally:
        ogive.configure(eager=True)
