"""The loop graphs of the kernels that compute a tensor, as stage 6 finds them."""

from __future__ import annotations

from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of
from ogive.compiler.targets.target import Target
from tests.compiler.passes.parametric import normalize

CONFIG = Config(verify=True)


def kernels_of(tensor: Tensor, target: Target | None = None) -> list[UOp]:
    """One for each kernel, in the order in which they run."""
    target = target or host_target()
    steps = schedule_graph(normalize((tensor.node,)).sink, target, CONFIG).kernels
    return [loops_of(step.region.graph, target, CONFIG) for step in steps]
