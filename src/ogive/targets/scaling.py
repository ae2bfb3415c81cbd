"""The time and memory of a training step on many devices, predicted from those on one."""

from __future__ import annotations

from ogive.named import NamedTuple
from ogive.targets.links import Network, Way, all_reduce, gather

BACKWARD = 2 / 3
"""The part of a step in which gradients become known: two products for each one of the forward
pass."""

SHARDED = ("none", "state", "full")
"""What is divided along the data axis besides batches: nothing, the optimizer's state, or
parameters and gradients too."""


class Step(NamedTuple):
    """A training step on one device.

    `seconds` for `batch` samples; bytes of all `parameters`, of the optimizer's `state`, and of
    `activations` that are kept for the backward pass of that batch. `layers` exchange activations
    of `layer_bytes` where they are divided.
    """

    seconds: float
    batch: int
    parameters: float
    state: float
    activations: float = 0.0
    layers: int = 0
    layer_bytes: float = 0.0


class Plan(NamedTuple):
    """How devices divide a step: `data` · `model` · `stages` devices; `micro_batches` for stages.

    `shard` is one of `SHARDED`. With `weak`, each share of the data has the whole batch of a
    `Step`, so that batches grow with it; otherwise they divide it.
    """

    data: int = 1
    model: int = 1
    stages: int = 1
    micro_batches: int = 8
    shard: str = "none"
    weak: bool = True

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return self.data * self.model * self.stages


class Prediction(NamedTuple):
    """Seconds of a step, and where they go; bytes a device; samples a second over one device's."""

    devices: int
    seconds: float
    compute: float
    bubble: float
    layer_exchanges: float
    gradients: Way
    exposed: float
    memory: float
    speedup: float

    @property
    def efficiency(self) -> float:
        """The part of the devices' time that is worth what it is worth on one."""
        return self.speedup / self.devices


def predict_step(step: Step, plan: Plan, network: Network) -> Prediction:
    """Predict the time and memory of a step over the devices of a plan.

    Gradients are exchanged while the backward pass goes on: what is left over is exposed.
    """
    share = 1.0 if plan.weak else 1.0 / plan.data
    compute = step.seconds * share / (plan.model * plan.stages)
    bubble = compute * (plan.stages - 1) / plan.micro_batches if plan.stages > 1 else 0.0
    layer = _layer_exchanges(step, plan, share, network)
    gradients = _gradient_exchanges(step, plan, network)
    exposed = max(0.0, gradients.seconds - BACKWARD * compute)
    seconds = compute + bubble + layer + exposed
    samples = plan.data if plan.weak else 1
    return Prediction(
        plan.devices, seconds, compute, bubble, layer, gradients, exposed,
        _memory(step, plan, share), samples * step.seconds / seconds,
    )  # fmt: skip


def _layer_exchanges(step: Step, plan: Plan, share: float, network: Network) -> float:
    """Two totals of activations in each pass through a divided layer, which all wait for."""
    each = all_reduce(step.layer_bytes * share, plan.model, network).seconds
    return 4 * step.layers / plan.stages * each if plan.model > 1 else 0.0


def _gradient_exchanges(step: Step, plan: Plan, network: Network) -> Way:
    """Neighbours divide layers, so those who divide the data are that far apart."""
    own = step.parameters / (plan.model * plan.stages)
    apart = _apart(network, plan.model * plan.stages)
    if plan.data > 1 and plan.shard == "full":
        # Parameters are gathered in both passes, gradients scattered.
        return Way("ring", 3 * gather(own, plan.data, apart))
    return all_reduce(own, plan.data, apart)


def _apart(network: Network, distance: int) -> Network:
    """The network as devices see it of which there is one in so many: the others between them use
    the connections of their machine at the same time."""
    sharing = min(distance, network.size)
    across = network.across._replace(bandwidth=network.across.bandwidth / sharing)
    return Network(network.inside, across, max(1, network.size // distance))


def _memory(step: Step, plan: Plan, share: float) -> float:
    """Bytes on each device: parameters, gradients, state, activations."""
    layers = plan.model * plan.stages
    kept = plan.data if plan.shard == "full" else 1
    state = plan.data if plan.shard != "none" else 1
    under_way = min(plan.stages, plan.micro_batches) / plan.micro_batches
    activations = step.activations * share / layers * (under_way if plan.stages > 1 else 1.0)
    return 2 * step.parameters / layers / kept + step.state / layers / state + activations
