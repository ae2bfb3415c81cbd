"""Programs that once gave wrong numbers, or were refused: what PyTorch gives, in both tiers.

docs/correctness.md says which line of the first hunt each of them stands for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import ogive
import ogive.torch as ours
from ogive.errors import DivisionByZeroError
from tests.raising import raises

Program = Callable[[Any], list[Any]]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """A program over the library that it is given; what it returns is compared."""
    PROGRAMS[function.__name__] = function
    return function


def draw(lib: Any, *shape: int, seed: int = 0) -> Any:
    return lib.tensor(np.random.default_rng(seed).normal(size=shape))


def set_weights(lib: Any, model: Any) -> Any:
    with lib.no_grad():
        for seed, weight in enumerate(model.parameters()):
            weight.copy_(draw(lib, *weight.shape, seed=seed))
    return model


@pytest.fixture(params=[True, False], ids=["eager", "compiled"])
def tier(request: Any) -> Iterator[None]:
    """Small tensors computed with at once, or all by the compiler."""
    before = ogive.config.current_config().eager
    ogive.configure(eager=request.param)
    yield
    ogive.configure(eager=before)


# Aliases


@program
def a_transposed_row_is_written(lib: Any) -> list[Any]:
    x = lib.arange(12.0).reshape(3, 4)
    before = x * 2
    x.T[0] = 5
    return [x, before]


@program
def every_second_element_is_added_to(lib: Any) -> list[Any]:
    b = lib.arange(6.0)
    b[::2].add_(1)
    return [b]


@program
def entries_of_a_state_are_copied_to(lib: Any) -> list[Any]:
    model = lib.nn.Linear(3, 4, bias=False)
    state = model.state_dict()
    with lib.no_grad():
        state["weight"].copy_(lib.arange(12.0).reshape(3, 4).t())
    return [model.weight, model(lib.ones(1, 3))]


@program
def part_of_a_recurrent_bias_is_filled(lib: Any) -> list[Any]:
    layer = lib.nn.LSTM(3, 4)
    for weight in layer.state_dict().values():
        weight.fill_(0.1)
    layer.bias_hh_l0.data[4:8].fill_(1)
    return [layer.bias_hh_l0, layer(lib.ones(2, 1, 3))[0]]


@program
def part_of_a_bias_is_initialized(lib: Any) -> list[Any]:
    layer = lib.nn.Linear(3, 6)
    lib.nn.init.zeros_(layer.bias)
    lib.nn.init.ones_(layer.bias[3:])
    return [layer.bias]


@program
def a_row_of_a_table_is_zeroed(lib: Any) -> list[Any]:
    x, table = lib.zeros(3, 4), lib.nn.Embedding(4, 3)
    x[1].copy_(lib.arange(4.0))
    table.weight.data.fill_(2)
    with lib.no_grad():
        table.weight[0].zero_()
    return [x, table.weight, table(lib.tensor([0, 1]))]


@program
def a_detached_tensor_is_changed_in_place(lib: Any) -> list[Any]:
    x, y = lib.arange(4.0), lib.tensor([-1.0, 2.0])
    x.detach().mul_(2)
    return [x, lib.nn.ReLU(inplace=True)(y), y]


@program
def weights_are_averaged_through_states(lib: Any) -> list[Any]:
    model = set_weights(lib, lib.nn.Linear(2, 2))
    average = copy.deepcopy(model)
    set_weights(lib, model.float())
    with lib.no_grad():
        model.weight.mul_(3)
        states = average.state_dict(), model.state_dict()
        for kept, new in zip(*map(dict.values, states), strict=True):
            kept.mul_(0.9).add_(new * 0.1)
    return [average.weight, average.bias]


@program
def a_grid_is_filled_by_columns(lib: Any) -> list[Any]:
    grid = lib.empty(1, 3, 3, 3)
    across = lib.linspace(-1, 1, 3)
    grid[..., 0].copy_(across)
    grid[..., 1].copy_(across.unsqueeze(-1))
    grid[..., 2].fill_(1)
    turned = lib.tensor([[[1.0, 0.2, 0.0], [0.0, 1.0, 0.3]]])
    return [grid.view(1, 9, 3).bmm(turned.transpose(1, 2))]


@program
def gradients_are_clipped_through_detach(lib: Any) -> list[Any]:
    w = lib.nn.Parameter(lib.arange(6.0).reshape(2, 3))
    (w**2).sum().backward()
    gradient = w.grad.detach()
    gradient.copy_(gradient / gradient.norm() * w.detach().norm())
    return [w.grad]


@program
def gradients_flow_through_a_view_that_is_written(lib: Any) -> list[Any]:
    w = lib.ones(3, requires_grad=True)
    y = w * 2
    y[1:].mul_(3)
    y.sum().backward()
    return [w.grad, y]


# Indices, narrow dtypes, images


@program
def coordinates_of_narrow_positions(lib: Any) -> list[Any]:
    return [
        part
        for dtype in (lib.int8, lib.int16, lib.uint8)
        for part in lib.unravel_index(lib.tensor([5, 100, 120]).to(dtype), (2, 3, 40))
    ]


@program
def means_of_narrow_integers(lib: Any) -> list[Any]:
    index, given = lib.tensor([0, 0, 1, 1, 2, 2]), lib.tensor([5, 7, 9, 11, 3, 2])
    found = []
    for dtype in (lib.int8, lib.int16, lib.int32):
        x, source = lib.arange(6).to(dtype), given.to(dtype)
        found.append(x.scatter_reduce(0, index, source, "mean"))
        found.append(x.index_reduce(0, index, source, "mean"))
    return found


@program
def images_that_keep_their_length(lib: Any) -> list[Any]:
    resize = lib.nn.functional.interpolate
    modes = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
    return [
        resize(draw(lib, 1, 2, *[3] * axes), scale_factor=factor, mode=mode)
        for mode, axes in modes.items()
        for factor in (1.3, 1.05, 0.7)
    ]


@program
def lgamma_at_its_zeros(lib: Any) -> list[Any]:
    return [lib.lgamma(lib.tensor([1.0, 2.0], dtype=lib.float64)).eq(0)]


@program
def tensors_without_axes_in_lists(lib: Any) -> list[Any]:
    return [lib.tensor([[lib.tensor(1.0), lib.tensor(2.0)]])]


# Products whose operand is computed on the way


def _convolved(name: str, activate: Callable[[Any, Any], Any]) -> None:
    def convolved(lib: Any) -> list[Any]:
        x = draw(lib, 2, 3, 4, 4).requires_grad_()
        w = draw(lib, 5, 3, 3, 3, seed=1).requires_grad_()
        y = lib.nn.functional.conv2d(activate(lib, x), w, stride=2, padding=1)
        (y * draw(lib, *y.shape, seed=2)).sum().backward()
        return [y, x.grad, w.grad]

    PROGRAMS[f"convolution_of_{name}"] = convolved


def _by_name(name: str) -> Callable[[Any, Any], Any]:
    return lambda lib, x: getattr(lib.nn.functional, name)(x)


for _name in ("elu", "selu", "mish", "softplus", "relu", "gelu"):
    _convolved(_name, _by_name(_name))
_convolved("softmax", lambda lib, x: x.softmax(1))
_convolved("roll", lambda lib, x: x.roll(1, -1))
_convolved("halves", lambda lib, x: lib.cat((x[:, :1], x[:, 1:] * 2), 1))
_convolved("pooled", lambda lib, x: lib.nn.functional.max_pool2d(x, 3, 1, 1))


# Training


def _plain_steps(name: str, update: Callable[[Any, Any], None]) -> None:
    def steps(lib: Any) -> list[Any]:
        x, y = draw(lib, 8, 3), draw(lib, 8, 1, seed=1)
        w = lib.ones(3, 1, dtype=lib.float64, requires_grad=True)
        losses = []
        for _ in range(5):
            loss = ((x @ w - y) ** 2).mean()
            losses.append(loss.item())
            loss.backward()
            update(lib, w)
        return [lib.tensor(losses), w]

    PROGRAMS[f"steps_by_{name}"] = steps


def _under_no_grad(lib: Any, w: Any) -> None:
    with lib.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()


def _of_data(lib: Any, w: Any) -> None:
    w.data.add_(-0.1 * w.grad)
    w.grad = None


_plain_steps("no_grad", _under_no_grad)
_plain_steps("data", _of_data)


@program
def two_optimizers(lib: Any) -> list[Any]:
    nn = lib.nn
    maker, judge = [set_weights(lib, nn.Linear(*sizes).double()) for sizes in ((2, 3), (3, 1))]
    optimizers = [lib.optim.Adam(each.parameters(), lr=0.01) for each in (maker, judge)]
    score, losses = nn.BCEWithLogitsLoss(), []
    yes, no = lib.ones(4, 1, dtype=lib.float64), lib.zeros(4, 1, dtype=lib.float64)
    for step in range(4):
        fake = maker(draw(lib, 4, 2, seed=step))
        loss = score(judge(draw(lib, 4, 3, seed=step)), yes) + score(judge(fake.detach()), no)
        losses.append(loss.item())
        optimizers[1].zero_grad()
        loss.backward()
        optimizers[1].step()
        loss = score(judge(fake), yes)
        losses.append(loss.item())
        optimizers[0].zero_grad()
        loss.backward()
        optimizers[0].step()
    return [lib.tensor(losses), *maker.parameters()]


def _captured_steps(name: str, change: Callable[[Any, Any], None]) -> None:
    def steps(lib: Any) -> list[Any]:
        nn = lib.nn
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        set_weights(lib, model.double())
        optimizer = lib.optim.SGD(model.parameters(), lr=0.01, momentum=0.8)
        x = draw(lib, 5, 3)

        def step() -> Any:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = step if lib is pytorch else lib.compile(step)
        losses = [float(run()) for _ in range(3)]
        change(model, optimizer)
        losses += [float(run()) for _ in range(3)]
        return [lib.tensor(losses), *model.parameters()]

    PROGRAMS[f"captured_steps_after_{name}"] = steps


def _setting(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda model, optimizer: optimizer.param_groups[0].update({name: value})


for _name, _value in {
    "lr": 0.001, "weight_decay": 0.5, "momentum": 0.1, "maximize": True, "nesterov": True,
}.items():  # fmt: skip
    _captured_steps(f"another_{_name}", _setting(_name, _value))
_captured_steps("freezing", lambda model, optimizer: model[0].requires_grad_(False))


# Containers


@program
def lists_of_parameters_in_lists(lib: Any) -> list[Any]:
    nn = lib.nn
    inner = nn.ParameterList([nn.Parameter(lib.ones(2))])
    found = nn.ParameterList([inner, nn.Parameter(lib.ones(3))])
    layers = nn.ModuleList([nn.Linear(2, 2)])
    layers += [nn.Linear(2, 2)]
    names = [name for name, _ in [*found.named_parameters(), *layers.named_parameters()]]
    return [lib.tensor([len(name) for name in names]), lib.tensor([ord(n[0]) for n in names])]


@program
def sizes_of_numpys(lib: Any) -> list[Any]:
    layer = lib.nn.Linear(np.prod((2, 3)), 8)
    made = lib.zeros(np.int64(3), np.int32(2)) + lib.ones(3, 3)[np.int64(1), np.int8(2)]
    return [layer.weight * 0, made, made.view(np.int64(2), -1)]


@pytest.mark.usefixtures("tier")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_pytorch_gives(name: str) -> None:
    expected = PROGRAMS[name](pytorch)
    found = PROGRAMS[name](ours)
    for one, other in zip(found, expected, strict=True):
        assert str(one.dtype).rpartition(".")[2] == str(other.dtype).rpartition(".")[2]
        np.testing.assert_allclose(
            one.detach().numpy(), other.detach().numpy(), rtol=2e-6, atol=1e-7
        )


# Numbers that captured functions read, and the lines of faults


class _Held:
    def __init__(self) -> None:
        self.numbers: list[Any] = [1.0, {"deep": 2.0}]


HELD, X = _Held(), ogive.ones(3)


def _scaled(x: Any, factor: float = 2.0) -> Any:
    return x * factor


CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "in a list": (lambda x: x * HELD.numbers[0], lambda: HELD.numbers.__setitem__(0, 10.0)),
    "in a dictionary": (
        lambda x: x * HELD.numbers[1]["deep"],
        lambda: HELD.numbers[1].__setitem__("deep", 10.0),
    ),
    "by default": (lambda x: _scaled(x), lambda: setattr(_scaled, "__defaults__", (10.0,))),
}


@pytest.mark.parametrize("where", CHANGES)
def test_a_captured_function_notices_a_number(where: str) -> None:
    function, change = CHANGES[where]
    captured: Any = ogive.jit(function)
    assert captured(X).tolist() == captured(X).tolist() != [10.0] * 3
    change()
    assert captured(X).tolist() == [10.0] * 3


@pytest.mark.parametrize("asked", ["first", "second"])
def test_a_fault_names_the_line_of_the_tensor_that_was_asked_for(asked: str) -> None:
    p, q = ogive.Tensor([1, 2, 3]), ogive.Tensor([1, 0, 3])
    first = p // q
    second = p // q
    with raises(DivisionByZeroError, match="by a zero element", quoting=f"{asked} = p // q"):
        {"first": first, "second": second}[asked].tolist()
