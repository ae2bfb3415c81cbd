"""Every pass of a compilation with its input and output: for tools, and for work on a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.pass_runner import Step
from ogive.config import Config, current_config

if TYPE_CHECKING:
    from ogive.compiler.passes.regions.number_slots import Schedule
    from ogive.tensor.tensor import Tensor


def record_passes(*tensors: Tensor, config: Config | None = None) -> list[Step]:
    """Compile what tensors ask for, run nothing, and give every pass as it was run, in order.

    Those of kernels come region by region. A step has the pass (`ran`), what it was given
    (`before`), what it gave (`after`), its `seconds`, and `show()` for both as text.
    """
    from ogive.compiler.passes.pipeline.graph_passes import schedule_devices, schedule_graph

    config = current_config() if config is None else config
    steps: list[Step] = []
    regions: dict[tuple[str, UOp], None] = {}

    def schedule(part: UOp, device: str) -> Schedule:
        target = find_device(device).confirmed_target(config)
        compiled = schedule_graph(part, target, config, steps.append)
        regions.update(dict.fromkeys([(device, step.region.graph) for step in compiled.kernels]))
        return compiled

    asked = tuple([tensor.node for tensor in tensors])
    sink = to_parametric(asked, config, watch=steps.append).sink
    schedule_devices(sink, config, schedule, steps.append)
    for name, region in regions:
        device = find_device(name)
        device.compile_region(region, device.confirmed_target(config), config, None, steps.append)
    return steps
