"""The loop graphs of the kernels that compute a tensor, as stage 6 finds them."""

from __future__ import annotations

from ogive import Config, Tensor
from ogive.devices.cpu.host import host_target
from ogive.devices.llvm.compile_region import loops_of
from ogive.ir.node import UOp
from ogive.passes.graph.normalize import normalize
from ogive.passes.regions.split_graph import split
from ogive.targets.target import Target

CONFIG = Config(verify=True)


def kernels_of(tensor: Tensor, target: Target | None = None) -> list[UOp]:
    """One for each kernel, in the order in which they run."""
    target = target or host_target()
    steps = split(normalize((tensor.node,)).sink, target, CONFIG).kernels
    return [loops_of(step.region.graph, target, CONFIG) for step in steps]
