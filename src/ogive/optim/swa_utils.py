"""Average a model's parameters over its steps (SWA and EMA), with the schedule for it.

>>> from ogive.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
>>> model = nn.Linear(2, 1)
>>> average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
>>> average.update_parameters(model)  # after each step of an optimizer
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

from ogive.autograd import no_grad
from ogive.errors import ArgumentError
from ogive.jit.tracing.watch import is_tracing
from ogive.nn.layers.normalization import BatchNorm
from ogive.nn.module import AnyModule, Module
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.schedule import LRScheduler
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

Average = Callable[[Any, Any, Any], Any]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """average ← decay·average + (1 - decay)·parameter, for one tensor."""
    _check_decay(decay)
    return lambda average, current, count: decay * average + (1 - decay) * current


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """average ← decay·average + (1 - decay)·parameter, in place for lists of tensors."""
    _check_decay(decay)

    def update(averages: list[Tensor], current: list[Tensor], count: Tensor) -> None:
        for average, value in zip(averages, current, strict=True):
            average.copy_(average * decay + value * (1 - decay))  # truncates integers

    return update


def get_swa_avg_fn() -> Average:
    """average ← average + (parameter - average) / (count + 1), for one tensor."""
    return lambda average, current, count: average + (current - average) / (count + 1)


def get_swa_multi_avg_fn() -> Average:
    """average ← average + (parameter - average) / (count + 1), in place for lists of tensors."""

    def update(averages: list[Tensor], current: list[Tensor], count: Tensor) -> None:
        for average, value in zip(averages, current, strict=True):
            average.copy_(average + (value - average) / (count + 1))

    return update


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ArgumentError(f"the decay must lie in [0, 1], got {decay}")


class AveragedModel(Module):
    """A copy of a model whose parameters are averages over the model's steps.

    The first update copies the parameters. Later ones average them: with equal weights, or by
    `avg_fn(average, parameter, count)` for each, or by `multi_avg_fn` in place for all. Buffers are
    copied at each update; with `use_buffers` they are averaged, too. Updates may be captured.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: AnyModule,
        device: str | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:
        if avg_fn is not None and multi_avg_fn is not None:
            raise ArgumentError("AveragedModel takes avg_fn or multi_avg_fn, not both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device=device)
        self.register_buffer("n_averaged", created(Tensor, 0))
        self.avg_fn = avg_fn if avg_fn or multi_avg_fn else get_swa_avg_fn()
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: AnyModule) -> None:
        """Add the parameters of `model` to the averages.

        Raises `ArgumentError` if their shapes differ from those of the model that was copied.
        """
        averages, current = _tensors(self.module, True), _tensors(model, True)
        buffers, given = _tensors(self.module, False), _tensors(model, False)
        if [t.shape for t in averages + buffers] != [t.shape for t in current + given]:
            raise ArgumentError(
                f"update_parameters: the shapes of parameters or buffers of {type(model).__name__} "
                f"differ from those of the {type(self.module).__name__} that was copied"
            )
        if self.use_buffers:
            averages, current, buffers, given = averages + buffers, current + given, [], []
        with no_grad():
            for average, value in zip(averages, self._averaged(averages, current), strict=True):
                average.assign(value)
            for buffer, value in zip(buffers, given, strict=True):
                buffer.assign(value)
            self.n_averaged.assign(self.n_averaged + 1)
        if not is_tracing():
            Tensor.realize_batch([*averages, *buffers, self.n_averaged])

    def _averaged(self, averages: list[Tensor], current: list[Tensor]) -> list[Tensor]:
        """The new averages.

        `n_averaged` is data, so that a captured function sees which update is the first.
        """
        count = self.n_averaged
        if self.multi_avg_fn is None:
            assert self.avg_fn is not None
            averaged = [
                self.avg_fn(average.detach(), value.detach(), count)
                for average, value in zip(averages, current, strict=True)
            ]
        else:
            averaged = [average.clone().detach() for average in averages]
            self.multi_avg_fn(averaged, [value.detach() for value in current], count)
        return [
            where(count == 0, value.detach(), new.cast(value.dtype))
            for value, new in zip(current, averaged, strict=True)
        ]


def _tensors(model: AnyModule, parameters: bool) -> list[Tensor]:
    return list(model.parameters() if parameters else model.buffers())


class SWALR(LRScheduler):
    """Moves the learning rates to `swa_lr` in `anneal_epochs` steps, and leaves them there.

    The way starts from the rates at its first step, so another schedule may change them before.
    With `anneal_epochs=0`, the rates are `swa_lr` at once. `anneal_strategy` is "cos" or "linear".
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                f"anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}"
            )
        if anneal_epochs < 0:
            raise ArgumentError(f"anneal_epochs must not be negative, got {anneal_epochs}")
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, list | tuple) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ArgumentError(f"swa_lr has {len(rates)} rates for {len(groups)} groups")
        for group, rate in zip(groups, rates, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self.anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """The share of the way that is done after `step` steps."""
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * part)) / 2 if self.anneal_strategy == "cos" else part

    def get_lr(self) -> list[float]:
        """The next rates, from where they are: something else may have changed them."""
        step = self._step_count - 1 if self.anneal_epochs else max(1, self._step_count - 1)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            begin = end if before == 1 else (group["lr"] - end * before) / (1 - before)
            rates.append(end * now + begin * (1 - now))
        return rates


def update_bn(loader: Iterable[Any], model: AnyModule, device: str | None = None) -> None:
    """Compute the running statistics of a model's batch normalization anew, from all of the data.

    Averaged parameters need it: their statistics are not the averages of earlier statistics.
    `loader` gives inputs, or tuples that begin with them.
    """
    layers = [
        layer
        for layer in model.modules()
        if isinstance(layer, BatchNorm) and layer.running_mean is not None
    ]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    for layer in layers:
        assert layer.running_mean is not None and layer.running_var is not None
        assert layer.num_batches_tracked is not None
        layer.running_mean.zero_()
        layer.running_var.fill_(1)
        layer.num_batches_tracked.zero_()
        layer.momentum = None
    model.train()
    try:
        with no_grad():
            for batch in loader:
                x = batch[0] if isinstance(batch, list | tuple) else batch
                model(x if device is None else x.to(device))
                Tensor.realize_batch([buffer for layer in layers for buffer in layer.buffers()])
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        model.train(was_training)
