"""The loop graphs of the kernels that compute a tensor, as stage 6 finds them."""

from __future__ import annotations

from ogive import Config, Tensor
from ogive.codegen.compile import loops_of
from ogive.device.target import Target, host_target
from ogive.ir.node import UOp
from ogive.schedule.normalize import normalize
from ogive.schedule.split import split

CONFIG = Config(verify=True)


def kernels_of(tensor: Tensor, target: Target | None = None) -> list[UOp]:
    """One for each kernel, in the order in which they run."""
    target = target or host_target()
    steps = split(normalize((tensor.node,)).sink, target, CONFIG).kernels
    return [loops_of(step.region.graph, target, CONFIG) for step in steps]
