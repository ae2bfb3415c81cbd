"""Predicts the time and memory of a training step on many devices from those on one."""

from __future__ import annotations

from ogive.compiler.targets.links import Network, Way, all_reduce, gather
from ogive.named import NamedTuple

BACKWARD = 2 / 3
"""The share of the backward pass in a step: it has two products for each of the forward pass."""

SHARDED = ("none", "state", "full")
"""The state that is divided along the data axis besides batches: none, the optimizer's, or that and
the parameters and gradients."""


class Step(NamedTuple):
    """A training step on one device.

    It takes `seconds` for `batch` samples. `parameters`, `state` (the optimizer's) and
    `activations` (kept for the backward pass) are bytes. If layers are divided, each of the
    `layers` exchanges activations of `layer_bytes`.
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

    `shard` is one of `SHARDED`. With `weak` scaling, each share of the data has the whole batch of
    a `Step`; otherwise the shares divide it.
    """

    data: int = 1
    model: int = 1
    stages: int = 1
    micro_batches: int = 8
    shard: str = "none"
    weak: bool = True

    @property
    def devices(self) -> int:
        """The number of devices."""
        return self.data * self.model * self.stages


class Prediction(NamedTuple):
    """The seconds of a step and their parts, bytes per device, and speedup over one device."""

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
        """The speedup per device."""
        return self.speedup / self.devices


def predict_step(step: Step, plan: Plan, network: Network) -> Prediction:
    """Predict the time and memory of a step over the devices of a plan.

    Gradients are exchanged during the backward pass. The time beyond it is exposed.
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
    """The seconds of two all-reduces of activations per pass and divided layer, which block."""
    each = all_reduce(step.layer_bytes * share, plan.model, network).seconds
    return 4 * step.layers / plan.stages * each if plan.model > 1 else 0.0


def _gradient_exchanges(step: Step, plan: Plan, network: Network) -> Way:
    """The exchange of gradients. Neighbours divide layers, so data shares are further apart."""
    own = step.parameters / (plan.model * plan.stages)
    apart = _apart(network, plan.model * plan.stages)
    if plan.data > 1 and plan.shard == "full":
        # Parameters are gathered in both passes, gradients scattered.
        return Way("ring", 3 * gather(own, plan.data, apart))
    return all_reduce(own, plan.data, apart)


def _apart(network: Network, distance: int) -> Network:
    """The network between every `distance`-th device.

    The devices between use the connection of their machine at the same time.
    """
    sharing = min(distance, network.size)
    across = network.across._replace(bandwidth=network.across.bandwidth / sharing)
    return Network(network.inside, across, max(1, network.size // distance))


def _memory(step: Step, plan: Plan, share: float) -> float:
    """The bytes on each device of parameters, gradients, state and activations."""
    layers = plan.model * plan.stages
    kept = plan.data if plan.shard == "full" else 1
    state = plan.data if plan.shard != "none" else 1
    under_way = min(plan.stages, plan.micro_batches) / plan.micro_batches
    activations = step.activations * share / layers * (under_way if plan.stages > 1 else 1.0)
    return 2 * step.parameters / layers / kept + step.state / layers / state + activations
