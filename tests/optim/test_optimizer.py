"""What every optimizer has: gradients that are cleared, copies, state."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ogive
import ogive.torch
from ogive import Tensor, nn, optim


def trained(weight: Tensor, optimizer: optim.Optimizer) -> None:
    optimizer.zero_grad()
    (weight * weight * Tensor([1.0, 2.0, 3.0])).sum().backward()
    optimizer.step()


def test_gradients_that_are_made_zero_are_so_for_whoever_has_them_and_where_they_were_nan() -> None:
    weight = nn.Parameter(ogive.ones(3))
    optimizer = optim.SGD([weight], lr=0.1)
    weight.grad = Tensor([float("nan"), float("inf"), 1.0])
    gradient = weight.grad
    optimizer.zero_grad(set_to_none=False)
    assert weight.grad is gradient
    assert gradient.tolist() == [0.0, 0.0, 0.0]


def test_gradients_that_are_made_zero_have_no_history() -> None:
    weight = nn.Parameter(ogive.ones(3))
    (weight**3).sum().backward(create_graph=True)
    optim.SGD([weight], lr=0.1).zero_grad(set_to_none=False)
    assert weight.grad is not None
    assert not weight.grad.requires_grad


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))], ids=["copy", "pickle"]
)
def test_a_copy_goes_on_by_itself_as_pytorchs_does(
    copied: Callable[[tuple[Tensor, optim.Optimizer]], tuple[Tensor, optim.Optimizer]],
) -> None:
    weight = nn.Parameter(ogive.ones(3))
    optimizer = optim.Adam([weight], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    trained(weight, optimizer)
    scheduler.step()
    other, theirs = copied((weight, optimizer))
    for _ in range(3):
        trained(other, theirs)
    assert weight.tolist() != other.tolist()

    expected = torch.ones(3, requires_grad=True)
    reference = torch.optim.Adam([expected], lr=0.1)
    for turn in range(4):
        reference.param_groups[0]["lr"] = 0.1 if turn == 0 else 0.05
        reference.zero_grad()
        (expected * expected * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
        reference.step()
    np.testing.assert_allclose(other.detach().numpy(), expected.detach().numpy(), rtol=1e-6)


def test_an_optimizer_that_a_module_owns_is_copied_with_the_parameters_it_changes() -> None:
    class Trainer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 1)
            self.optimizer = optim.SGD(self.layer.parameters(), lr=0.1, momentum=0.9)

    trainer = Trainer()
    other = copy.deepcopy(trainer)
    before = trainer.layer.weight.tolist()
    other.layer(ogive.ones(1, 2)).sum().backward()
    other.optimizer.step()
    assert other.layer.weight.tolist()[0] == pytest.approx([v - 0.1 for v in before[0]])
    assert trainer.layer.weight.tolist() == before


@pytest.mark.parametrize("change", ["update", "update by name", "|="])
@pytest.mark.parametrize("is_captured", [False, True])
def test_a_rate_that_is_set_with_other_settings_is_used(change: str, is_captured: bool) -> None:
    w = Tensor([1.0], requires_grad=True)
    optimizer = ogive.optim.SGD([w], lr=0.5)

    def step() -> None:
        optimizer.zero_grad()
        (w * 2).sum().backward()
        optimizer.step()

    run = ogive.jit(step) if is_captured else step
    run()
    group = optimizer.param_groups[0]
    if change == "update":
        group.update({"lr": 0.25, "weight_decay": 0.0})
    elif change == "update by name":
        group.update(lr=0.25)
    else:
        group |= {"lr": 0.25}
    run()
    assert w.tolist() == [-0.5]
    assert group.setdefault("lr", 1.0) == 0.25 and group.setdefault("other", 3) == 3


def test_a_setting_that_an_optimizer_does_not_have_is_named_with_those_it_has() -> None:
    with pytest.raises(TypeError, match=r"no setting 'momentun' \(did you mean 'momentum'\?\)"):
        optim.SGD([nn.Parameter(ogive.ones(1))], momentun=0.9)  # type: ignore[call-arg]
    with pytest.raises(ogive.errors.ArgumentTypeError, match="its settings are lr, "):
        optim.AdamW([nn.Parameter(ogive.ones(1))], learning_rate=0.1)  # type: ignore[call-arg]


@pytest.mark.parametrize("is_eager", [True, False])
def test_a_state_of_before_the_first_step_begins_anew(is_eager: bool) -> None:
    def make() -> tuple[Any, Any]:
        values = [1.0, -2.0, 3.0]
        p = ogive.torch.tensor(values, requires_grad=True) if is_eager else Tensor(values)
        p.requires_grad_()
        return p, optim.SGD([p], lr=0.1, momentum=0.9, nesterov=True)

    p, optimizer = make()
    other, expected = make()
    before = optimizer.state_dict()
    p.grad = p.detach() * 2
    optimizer.step()
    optimizer.load_state_dict(before)
    with ogive.no_grad():
        p.copy_(other)
    for tensor, stepped in ((p, optimizer), (other, expected)):
        tensor.grad = tensor.detach() * 3
        stepped.step()
    assert p.tolist() == other.tolist()
