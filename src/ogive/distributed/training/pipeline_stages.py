"""Pipeline parallelism: a model in stages, one on each rank, for a stream of micro-batches.

Each rank runs a few micro-batches forward until the first comes back, and then alternates between
backward and forward ("1F1B"). So it keeps the activations of no more micro-batches than there are
stages from it to the last:

    rank 0    F0 F1 F2    B0 F3 B1    B2    B3
    rank 1       F0 F1 B0 F2 B1 F3 B2    B3
    rank 2          F0 B0 F1 B1 F2 B2 F3 B3
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ogive.distributed.groups import Group, new_group
from ogive.distributed.pairs import Sending, recv
from ogive.errors import ArgumentError
from ogive.tensor.tensor import Tensor

Stage = Callable[[Tensor], Tensor]
Loss = Callable[[Tensor, int], Tensor]


class Pipeline:
    """The stage of this rank. `stage` is a module, or a function of one tensor.

    >>> layer = nn.Linear(2, 1)
    >>> pipeline = ogive.distributed.Pipeline(layer)
    >>> batches = [ogive.ones(4, 2), ogive.ones(4, 2)]
    >>> loss = pipeline.step(batches, lambda y, number: y.square().mean())
    >>> layer.weight.grad.shape
    (1, 2)
    """

    def __init__(self, stage: Stage, group: Group | None = None) -> None:
        self._stage = stage
        self._group = new_group() if group is None else group
        place = self._group.rank
        if place is None:
            raise ArgumentError(f"Pipeline: this rank is not in the group {self._group!r}")
        self._place = place

    @property
    def is_first(self) -> bool:
        """Whether this rank takes the inputs."""
        return self._place == 0

    @property
    def is_last(self) -> bool:
        """Whether this rank computes the loss."""
        return self._place == self._group.size - 1

    def step(self, inputs: Sequence[Tensor] | int, loss: Loss | None = None) -> Tensor | None:
        """Send micro-batches through all stages, and gradients back. Returns the mean loss.

        `inputs` has a tensor for each micro-batch on the first rank; other ranks may give their
        number instead. `loss(y, number)` returns a scalar on the last rank; other ranks return
        None. The gradients of the mean loss are added to those of this stage's parameters.

        Raises `ArgumentError` if `inputs` or `loss` are missing where they are needed, and
        `DistributedError` if a rank does not answer.
        """
        if self.is_first and isinstance(inputs, int):
            raise ArgumentError("Pipeline.step: the first stage needs the inputs themselves")
        if self.is_last and loss is None:
            raise ArgumentError("Pipeline.step: the last stage needs a loss")
        run = _Run(self, inputs, loss)
        for is_forward, number in self._turns(run.count):
            (run.forward if is_forward else run.backward)(number)
        run.sending.finish()
        return sum(run.losses[1:], run.losses[0]) / run.count if run.losses else None

    def _turns(self, count: int) -> Iterator[tuple[bool, int]]:
        """Yield the schedule: whether to run forward, and the number of the micro-batch."""
        ahead = min(self._group.size - 1 - self._place, count)
        for number in range(ahead):
            yield True, number
        for number in range(count - ahead):
            yield True, number + ahead
            yield False, number
        for number in range(count - ahead, count):
            yield False, number

    def apply(self, x: Tensor) -> Tensor:
        """Return the stage's result for a micro-batch."""
        return self._stage(x)

    def neighbour(self, distance: int) -> int:
        """Return the rank of the stage `distance` stages further."""
        return self._group.ranks[self._place + distance]


class _Run:
    """One step: the activations of the micro-batches in flight, and the losses."""

    def __init__(self, pipeline: Pipeline, inputs: Sequence[Tensor] | int, loss: Any) -> None:
        self._pipeline = pipeline
        self._inputs = inputs
        self._loss = loss
        self.count = inputs if isinstance(inputs, int) else len(inputs)
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}
        self.losses: list[Tensor] = []
        self.sending = Sending()

    def forward(self, number: int) -> None:
        """Run a micro-batch forward through the stage."""
        pipeline = self._pipeline
        if pipeline.is_first:
            assert not isinstance(self._inputs, int), "checked before"
            x = self._inputs[number]
        else:
            x = recv(pipeline.neighbour(-1), 2 * number).requires_grad_()
        y = pipeline.apply(x)
        if pipeline.is_last:
            y = self._loss(y, number) / self.count
            self.losses.append(y.detach() * self.count)
        else:
            self.sending.start(y.detach(), pipeline.neighbour(1), 2 * number)
        self._kept[number] = x, y

    def backward(self, number: int) -> None:
        """Run the backward pass of a micro-batch through the stage."""
        pipeline = self._pipeline
        x, y = self._kept.pop(number)
        if pipeline.is_last:
            y.backward()
        else:
            y.backward(recv(pipeline.neighbour(1), 2 * number + 1))
        if not pipeline.is_first:
            assert x.grad is not None, "a stage is computed from its input"
            self.sending.start(x.grad, pipeline.neighbour(-1), 2 * number + 1)
