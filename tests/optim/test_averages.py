"""Averaged models and their schedule against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn, optim
from ogive.errors import ArgumentError
from tests.raising import raises

Array = numpy.ndarray[Any, Any]
KINDS = [
    None, ("avg_fn", "get_swa_avg_fn"), ("multi_avg_fn", "get_swa_multi_avg_fn"),
    ("avg_fn", "get_ema_avg_fn"), ("multi_avg_fn", "get_ema_multi_avg_fn"),
]  # fmt: skip


def model_of(layers: Any) -> Any:
    return layers.Sequential(layers.Linear(3, 4), layers.BatchNorm1d(4)).double()


def averaged(library: Any, kind: Any, state: Any, values: list[Array], **settings: Any) -> Any:
    swa = library.optim.swa_utils
    model = model_of(library.nn)
    model.load_state_dict(state)
    if kind is not None:
        settings[kind[0]] = getattr(swa, kind[1])(*([0.7] if "ema" in kind[1] else []))
    average = swa.AveragedModel(model, **settings)
    for value in values:
        with library.no_grad():
            for parameter in model.parameters():
                parameter.mul_(0.5)
            model(library.tensor(value))
        average.update_parameters(model)
    return average


@pytest.mark.parametrize(("kind", "use_buffers"), [
    *[(kind, False) for kind in KINDS], (None, True), (KINDS[3], True), (KINDS[4], True),
])  # fmt: skip
def test_averages_are_pytorchs(kind: Any, use_buffers: bool) -> None:
    values = list(numpy.random.default_rng(2).normal(size=(3, 5, 3)))
    state = model_of(torch.nn).state_dict()
    ours = averaged(ogive, kind, state, values, use_buffers=use_buffers).state_dict()
    theirs = averaged(torch, kind, state, values, use_buffers=use_buffers).state_dict()
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        # PyTorch divides by the count in single precision when it does all at once.
        numpy.testing.assert_allclose(ours[name].numpy(), value.numpy(), rtol=1e-7, err_msg=name)


def test_an_update_can_be_captured() -> None:
    model = nn.Linear(2, 1, bias=False)
    average: Any = optim.swa_utils.AveragedModel(model)

    @ogive.jit
    def step(value: ogive.Tensor) -> None:
        model.weight.data = model.weight.data * 0 + value
        average.update_parameters(model)

    for number in (1.0, 2.0, 6.0):
        step(Tensor(number))
    assert average.module.weight.tolist() == [[3.0, 3.0]] and average.n_averaged.item() == 3
    assert step.cache_info().traces == 1


@pytest.mark.parametrize("settings", [
    {"anneal_epochs": 4}, {"anneal_epochs": 3, "anneal_strategy": "linear"}, {"anneal_epochs": 0},
])  # fmt: skip
def test_rates_are_pytorchs(settings: dict[str, Any]) -> None:
    rates = []
    for library in (ogive, torch):
        parameter: Any = library.ones(2, requires_grad=True)
        optimizer = library.optim.SGD([parameter], lr=1.0)
        other: Any = library.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        schedule = library.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, **settings)
        found = []
        for step in range(8):
            optimizer.step()
            (other if step < 3 else schedule).step()
            found.append(optimizer.param_groups[0]["lr"])
        rates.append(found)
    numpy.testing.assert_allclose(rates[0], rates[1], rtol=1e-12)


def test_statistics_are_found_anew() -> None:
    batches = list(numpy.random.default_rng(5).normal(2.0, 3.0, size=(3, 6, 3)))
    state = model_of(torch.nn).state_dict()
    found = []
    for library in (ogive, torch):
        model = model_of(library.nn)
        model.load_state_dict(state)
        loader = [(library.tensor(batch), 0) for batch in batches]
        library.optim.swa_utils.update_bn(loader, model.eval())
        assert not model.training and model[1].momentum == 0.1
        found.append([model[1].running_mean.numpy(), model[1].running_var.numpy()])
    numpy.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    swa = optim.swa_utils
    with raises(ArgumentError, match="takes avg_fn or multi_avg_fn, not both"):
        swa.AveragedModel(nn.Linear(2, 1), None, swa.get_swa_avg_fn(), swa.get_swa_multi_avg_fn())
    with raises(ArgumentError, match="the shapes of parameters or buffers"):
        swa.AveragedModel(nn.Linear(2, 1)).update_parameters(nn.Linear(3, 1))
    with raises(ArgumentError, match=r"must lie in \[0, 1\], got 1.5"):
        swa.get_ema_avg_fn(1.5)
