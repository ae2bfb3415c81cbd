"""Names and arguments that published programs use, in both libraries alike."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch as pytorch
import torch.utils.checkpoint

import ogive.torch
from tests.raising import raises
from tests.torch.test_meanings import same

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])
X = [[1.0, -2.0, 3.0], [0.0, 1.0, 2.0]]
POSITIVE = [[4.0, 2.0], [2.0, 3.0]]


def leaf(torch: Any) -> Any:
    return torch.tensor(X, requires_grad=True)


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.nn.functional.cross_entropy(t.tensor(X), t.tensor([0, 2]), None, False),
        lambda t: t.nn.functional.nll_loss(t.tensor(X), t.tensor([0, 2]), None, True, 2),
        lambda t: t.nn.functional.mse_loss(t.tensor(X), t.ones(2, 3), True, False),
        lambda t: t.nn.CrossEntropyLoss(None, False)(t.tensor(X), t.tensor([0, 2])),
        lambda t: t.nn.NLLLoss(None, True, 0)(t.tensor(X), t.tensor([0, 2])),
        lambda t: t.nn.MSELoss(False)(t.tensor(X), t.ones(2, 3)),
        lambda t: t.nn.MarginRankingLoss(0.5, False)(t.ones(2), t.zeros(2), t.ones(2)),
    ],
)
@pytest.mark.filterwarnings("ignore:size_average")
def test_losses_take_old_words_by_place(program: Any) -> None:
    same(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.func.vmap(lambda x: x.sum(), randomness="different")(t.tensor(X)),
        lambda t: t.vmap(lambda x: x.sum(), chunk_size=1)(t.tensor(X)),
        lambda t: t.func.jacrev(lambda x: (x * x, x.sum()), has_aux=True)(t.tensor([1.0, 2.0])),
        lambda t: t.func.jvp(lambda x: (x * x, x), (t.ones(2),), (t.ones(2),), has_aux=True),
        lambda t: t.func.linearize(t.sin, t.ones(2))[1](t.ones(2)),
        lambda t: t.autograd.grad(
            (y := leaf(t)).square(), y, t.eye(6).reshape(6, 2, 3), is_grads_batched=True
        ),
        lambda t: t.nn.functional.embedding(t.tensor([1]), t.ones(3, 2), None, 1.0, 2.0, True),
        lambda t: t.nn.functional.softmax(t.tensor(X), 1, _stacklevel=5),
        lambda t: t.cumprod(t.tensor(X), axis=0),
        lambda t: t.tensor(X).logsumexp(axis=1, keepdims=True),
        lambda t: t.softmax(t.tensor(X), axis=0),
        lambda t: t.tensor(X).squeeze(axis=0).unsqueeze(axis=1),
        lambda t: t.sort(t.tensor(X), axis=0),
        lambda t: t.outer(t.arange(3), t.ones(2)),
    ],
)
def test_arguments_by_pytorchs_names_are_taken(program: Any) -> None:
    same(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.tensor(X).apply_(lambda value: value * 2),
        lambda t: t.tensor(X).map_(t.ones(2, 3), lambda value, other: value + other),
        lambda t: t.linalg.cholesky(t.tensor(POSITIVE)).cholesky_inverse(),
        lambda t: t.tensor(X[:1]).T[:2].cholesky_solve(t.linalg.cholesky(t.tensor(POSITIVE))),
        lambda t: t.tensor([12, 18]).gcd_(t.tensor([8, 27])),
        lambda t: t.tensor([12, 18]).lcm(t.tensor([8, 27])),
        lambda t: (t.tensor(POSITIVE) / 4).matrix_exp(),
        lambda t: t.tensor(POSITIVE).igamma(t.tensor(POSITIVE)),
        lambda t: t.arange(4).resize_(2, 2),
        lambda t: t.zeros(2).set_(t.tensor(X)),
        lambda t: t.tensor(POSITIVE).to_dense(),
        lambda t: t.view_as_real(
            t.arange(32.0).stft(8, 4, window=t.ones(8), return_complex=True)
        ).abs() > 1e-3,
        lambda t: t.batch_norm(t.tensor(X), None, None, None, None, True, 0.1, 1e-5, False),
        lambda t: t.binary_cross_entropy_with_logits(t.tensor(X), t.ones(2, 3)),
        lambda t: t.kl_div(t.tensor(X), t.ones(2, 3), 1),
        lambda t: t.dropout_(t.tensor(X), 0.0, True),
        lambda t: numpy.array([t.is_conj(t.ones(1)), t.tensor([1]).is_nonzero()]),
    ],
)
def test_further_functions_and_methods_are_pytorchs(program: Any) -> None:
    same(program)


@BOTH
def test_storages_say_which_tensors_share_memory(torch: Any) -> None:
    x = torch.arange(6).reshape(2, 3)
    assert x[1].storage_offset() == 3
    assert (x.untyped_storage().nbytes(), x.storage()[4]) == (48, 4)
    assert x[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert x.clone().untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


@BOTH
def test_old_names_of_initial_values_are_there(torch: Any) -> None:
    weight = torch.nn.Parameter(torch.zeros(3, 2))
    with warnings.catch_warnings(action="ignore"):
        torch.nn.init.xavier_uniform(weight)
    assert weight.abs().sum().item() > 0


@BOTH
def test_initial_values_are_drawn_by_a_generator(torch: Any) -> None:
    init = torch.nn.init
    for fill in (
        init.uniform_, init.normal_, init.trunc_normal_, init.xavier_normal_, init.orthogonal_,
        init.kaiming_uniform_,
    ):  # fmt: skip
        first, second = [
            fill(torch.zeros(3, 3), generator=torch.Generator().manual_seed(4)).tolist()
            for _ in range(2)
        ]
        assert first == second


def test_initial_values_of_small_layers_are_drawn_at_once() -> None:
    init, nn = ogive.torch.nn.init, ogive.torch.nn
    for fill in (init.orthogonal_, init.trunc_normal_, init.xavier_uniform_, init.eye_):
        assert fill(nn.Linear(3, 4).weight).is_eager
    assert init.sparse_(nn.Linear(3, 4).weight, 0.5).is_eager
    assert init.dirac_(nn.Conv1d(2, 2, 3).weight).is_eager


def test_all_names_come_with_a_star(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from torch import *\nfrom torch.nn import *\nfrom torch.utils.data import *\n"
        "from torch.optim.lr_scheduler import *\nfrom torch.distributions import *\n"
        "print(Linear.__name__, DataLoader.__name__, StepLR.__name__, zeros(2).tolist())\n"
    )
    command = [sys.executable, "-m", "ogive.torch", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "Linear DataLoader StepLR [0.0, 0.0]\n"


@pytest.mark.parametrize(
    "call",
    [
        lambda x: numpy.stack([x, x]), lambda x: numpy.concatenate([x, x]),
        lambda x: numpy.histogram(x, bins=3)[0], lambda x: numpy.percentile(x, 50),
        lambda x: numpy.argmax(x), lambda x: numpy.sin(x),
        lambda x: numpy.cbrt(x), lambda x: numpy.linalg.norm(x), lambda x: numpy.where(x > 1, x, 0),
        lambda x: numpy.vstack([x, x]), lambda x: numpy.unique(x), lambda x: numpy.cov(x),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:__array_wrap__")
def test_functions_of_numpy_give_arrays_where_they_do_for_pytorchs_tensors(call: Any) -> None:
    wanted, found = [call(torch.tensor(X)) for torch in (pytorch, ogive.torch)]
    assert isinstance(found, numpy.ndarray) == isinstance(wanted, numpy.ndarray)
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), rtol=1e-5)


@BOTH
def test_a_variable_leaves_the_tensor_as_it_was(torch: Any) -> None:
    x = torch.ones(2)
    assert torch.autograd.Variable(x, requires_grad=True).requires_grad
    assert not x.requires_grad


@BOTH
def test_gradients_go_to_the_named_inputs_alone(torch: Any) -> None:
    x, w = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    (x * w).sum().backward(inputs=[w])
    assert [x.grad, w.grad.tolist()] == [None, [1.0, 1.0]]
    torch.autograd.backward([(x * w).sum(), w.sum()], inputs=[x])
    assert x.grad.tolist() == [3.0, 3.0]


@BOTH
def test_gradients_flow_through_a_result_that_a_function_has_saved(torch: Any) -> None:
    class Exponential(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(True)
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, given: Any) -> Any:
            (y,) = ctx.saved_tensors
            return given * y

    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(Exponential.apply(x).sum(), x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), x)
    numpy.testing.assert_allclose(curvature.numpy(), numpy.exp([0.5, 1.0]))
    assert torch.autograd.gradgradcheck(Exponential.apply, (x,))
    assert torch.autograd.gradcheck(Exponential.apply, (x,), fast_mode=True)


@BOTH
def test_a_way_back_that_is_gone_once_gives_gradients_without_a_graph(torch: Any) -> None:
    class Cubed(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, given: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * given * x**2

    x = torch.tensor([2.0], requires_grad=True)
    Cubed.apply(x).sum().backward()
    assert x.grad.tolist() == [12.0]


@BOTH
def test_gradient_functions_lead_to_those_before_them(torch: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    loss = nn.MSELoss()(model(torch.ones(2, 3)), torch.zeros(2, 1))
    product = loss.grad_fn.next_functions[0][0]
    names = [loss.grad_fn.name(), product.name()]
    names += [function.name() for function, _ in product.next_functions]
    assert names == [
        "MseLossBackward0", "AddmmBackward0", "torch::autograd::AccumulateGrad", "ReluBackward0",
        "TBackward0",
    ]  # fmt: skip
    assert product.next_functions[0][0].variable is model[2].bias


@BOTH
def test_optimizers_print_and_save_pytorchs_settings(torch: Any) -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    state = optimizer.state_dict()
    assert state["state"] == {}
    assert state["param_groups"] == [
        {
            "lr": 0.1, "momentum": 0.9, "dampening": 0, "weight_decay": 0, "nesterov": False,
            "maximize": False, "foreach": None, "differentiable": False, "fused": None,
            "params": [0],
        }
    ]  # fmt: skip
    assert "    weight_decay: 0\n" in str(optimizer)
    assert torch.optim.SGD(torch.nn.Linear(1, 1).named_parameters(), lr=0.1) is not None


@BOTH
def test_a_loaded_state_brings_the_further_settings_of_its_groups(torch: Any) -> None:
    def make(**more: Any) -> Any:
        return torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(2))], **more}], lr=0.1)

    optimizer = make()
    optimizer.load_state_dict(make(name="head", lr=0.5).state_dict())
    assert (optimizer.param_groups[0]["name"], optimizer.param_groups[0]["lr"]) == ("head", 0.5)


@BOTH
def test_a_schedule_of_the_old_base_goes_on_from_a_file(torch: Any, tmp_path: Path) -> None:
    class Warmup(torch.optim.lr_scheduler._LRScheduler):  # type: ignore[misc]
        def __init__(self, optimizer: Any, steps: int, last_epoch: int = -1) -> None:
            self.steps, self.seen = steps, 0
            super().__init__(optimizer, last_epoch)

        def get_lr(self) -> list[float]:
            self.seen += 1
            return [base * min(1, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]

    def make() -> Any:
        parameter = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([parameter], lr=0.4)
        return optimizer, Warmup(optimizer, 4)

    optimizer, schedule = make()
    optimizer.step()
    schedule.step()
    torch.save({"opt": optimizer.state_dict(), "lr": schedule.state_dict()}, tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt")
    optimizer, schedule = make()
    optimizer.load_state_dict(state["opt"])
    schedule.load_state_dict(state["lr"])
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == pytest.approx([0.3])
    assert (schedule.seen, schedule.last_epoch, schedule._step_count) == (3, 2, 3)


@BOTH
@pytest.mark.filterwarnings("ignore:The epoch parameter")
def test_schedules_go_to_the_step_that_is_named(torch: Any) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step(3)
    assert schedule.get_last_lr() == [0.125]


@BOTH
def test_batches_of_tuples_are_lists(torch: Any) -> None:
    data = torch.utils.data
    items = data.TensorDataset(torch.arange(4), torch.arange(4.0))
    batch = next(iter(data.DataLoader(items, batch_size=2)))
    assert isinstance(batch, list)
    batch[0] = batch[0] + 1
    assert batch[0].tolist() == [1, 2]


@BOTH
def test_a_data_set_of_tensors_may_give_other_items_or_want_gradients(torch: Any) -> None:
    class Negative(torch.utils.data.TensorDataset):  # type: ignore[misc]
        def __getitem__(self, at: int) -> Any:
            return [-part for part in super().__getitem__(at)]

    x = torch.arange(3.0)
    (batch,) = next(iter(torch.utils.data.DataLoader(Negative(x), batch_size=2)))
    assert batch.tolist() == [0.0, -1.0]
    tracked = torch.utils.data.TensorDataset(x.requires_grad_())
    (batch,) = next(iter(torch.utils.data.DataLoader(tracked, batch_size=2)))
    batch.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


@BOTH
def test_arrays_that_are_read_backwards_are_refused(torch: Any) -> None:
    with raises(ValueError, match=r"stride|backwards"):
        torch.from_numpy(numpy.arange(3)[::-1])


def test_small_tensors_stay_eager_where_programs_need_it() -> None:
    torch = ogive.torch
    data = numpy.random.default_rng(0).random((3, 5))
    columns = torch.from_numpy(data[:, :-1])
    assert (columns * 2).is_eager
    assert columns.add_(1).is_eager
    numpy.testing.assert_array_equal(columns.numpy(), data[:, :-1])
    rows = torch.zeros(2, 4)
    rows[0] = torch.ones(1, 4)
    assert rows.is_eager
    pairs = torch.ones(3, 2)
    assert torch.view_as_complex(pairs).is_eager
    assert torch.outer(torch.arange(3), torch.ones(2)).is_eager
    index = torch.tensor([0, 0, 1])
    assert torch.zeros(2, 2).index_reduce_(0, index, pairs, "mean").is_eager
    assert rows.sum(axis=0).is_eager


@BOTH
def test_gradients_flow_through_what_is_added_under_a_mask(torch: Any) -> None:
    mask = torch.tensor([True, False, True])
    x = torch.ones(2, 2, requires_grad=True)
    made = torch.zeros(3, 2)
    made[mask] += 2 * x
    made[mask] += x.square()
    (made * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert made.tolist() == [[3.0, 3.0], [0.0, 0.0], [3.0, 3.0]]
    assert x.grad.tolist() == [[0.0, 4.0], [16.0, 20.0]]
    assert getattr(made, "is_eager", True)


@BOTH
def test_small_layers_are_not_computed_again_and_give_the_same(torch: Any) -> None:
    layer = torch.nn.Linear(2, 2)
    x = torch.ones(1, 2, requires_grad=True)
    made = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    made.sum().backward()
    numpy.testing.assert_allclose(x.grad.numpy(), layer.weight.detach().numpy().sum(0)[None])
    assert getattr(layer.weight, "is_eager", True)


@BOTH
def test_parts_are_combined_at_positions_with_gradients(torch: Any) -> None:
    source = torch.arange(6.0).reshape(3, 2).requires_grad_()
    index = torch.tensor([1, 0, 1])
    for way, slope in (("mean", 0.5), ("amax", 1.0)):
        source.grad = None
        made = torch.zeros(2, 2).index_reduce(0, index, source, way, include_self=False)
        made.sum().backward()
        assert source.grad[2].tolist() == [slope, slope]


def test_gradients_of_gradients_stay_eager_where_numpy_has_the_parameters() -> None:
    torch = ogive.torch
    weight = torch.nn.Parameter(torch.tensor([2.0]))
    array = weight.detach().numpy()
    x = torch.tensor([3.0], requires_grad=True)
    (slope,) = torch.autograd.grad((weight * x**2).sum(), x, create_graph=True)
    slope.sum().backward()
    assert weight.is_eager
    assert weight.grad.tolist() == [6.0]
    assert math.isclose(array[0], 2.0)
