"""The table, second part: from a parametric graph to steps over the slots of a run.

A graph that spans devices is divided first, and the schedules of its parts are joined last.

Before it is cut, the graph is rewritten, by passes that each say what they do: complex numbers
become pairs, sums that are too long for one thread become sums of sums, operands become panels.
What is kept is chosen, and the graph is cut there. After that, regions forget their shapes, become
one, or share one graph.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

from ogive.config import Config
from ogive.ir.memory import is_kept_once, upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.fuse.choose_kept import choose_kept
from ogive.passes.graph.convolutions.lay_channels_last import lay_channels_last
from ogive.passes.graph.divide_by_device import Part, divide_by_device
from ogive.passes.graph.orders.lower_orders import lower_orders
from ogive.passes.graph.place_scatters import place_scatters
from ogive.passes.graph.products.merge_product_axes import merge_product_axes
from ogive.passes.graph.products.narrow_weights import narrow_weights
from ogive.passes.graph.products.pack_operands import pack_operands
from ogive.passes.graph.reductions.keep_computed_shapes import keep_computed_shapes
from ogive.passes.graph.reductions.pick_terms import pick_terms
from ogive.passes.graph.reductions.reduce_once import reduce_once
from ogive.passes.graph.reductions.split_reductions import split_reductions
from ogive.passes.graph.reductions.split_scans import split_scans
from ogive.passes.graph.simplify_values import simplify_values
from ogive.passes.graph.split_complex import split_complex
from ogive.passes.pipeline.graph_dialects import PARAMETRIC, REAL, STORED
from ogive.passes.pipeline.pass_runner import Compilation, Condition, Pass, Watcher
from ogive.passes.pipeline.schedule_dialects import CUT, KEPT, ORDERED, PARTS, SCHEDULE, SCHEDULES
from ogive.passes.regions.cut_regions import Region, cut_regions
from ogive.passes.regions.divide_lengths import divide_lengths
from ogive.passes.regions.fix_lengths import fix_lengths
from ogive.passes.regions.flatten_regions import flatten_regions
from ogive.passes.regions.join_schedules import join_schedules
from ogive.passes.regions.merge_regions import merge_regions
from ogive.passes.regions.number_slots import Schedule, number_slots
from ogive.passes.regions.order_assignments import order_assignments
from ogive.passes.regions.reroll_regions import reroll_regions
from ogive.passes.regions.strip_steps import strip_steps
from ogive.passes.versions.keep_old_versions import keep_old_versions
from ogive.passes.versions.separate_targets import separate_targets
from ogive.passes.versions.separate_versions import separate_versions
from ogive.passes.versions.stage_assignments import stage_assignments
from ogive.passes.versions.stage_overlaps import stage_overlaps
from ogive.search.graph.search_graph import Finding, search_graph
from ogive.targets.target import Target

PACKED = Condition("config.pack_operands", lambda values: bool(values.config.pack_operands))
# What is searched for is one shape's kernel: it is timed over memory of that size.
SEARCHED = Condition("config.beam", lambda values: values.config.beam is not None)
NOT_SEARCHED = Condition("not config.beam", lambda values: values.config.beam is None)
UNORDERED = Condition("no order was found", lambda values: values.ordered is None)

_CUTTING = (
    Pass("choose_kept", STORED, KEPT, choose_kept,
         "softmax(x @ w) → x @ w is kept, the rest computed where it is used",
         reads=("target", "config.kernel_node_limit")),
    Pass("cut_regions", KEPT, CUT, cut_regions,
         "EXP(CONTIGUOUS(ADD(x, 1))) → PARAM 0 ← ADD(PARAM 1, 1);  PARAM 0 ← EXP(PARAM 1)"),
    Pass("order_assignments", CUT, ORDERED, order_assignments,
         "p ← k(p, m); m ← f(p) → m ← f(p); p ← k(p, m)",
         reads=("stored",)),
)  # fmt: skip

_LAYING_OUT = (
    Pass("narrow_weights", STORED, STORED, narrow_weights,
         "CAST bf16(sum of exp(s) * CAST(v)) → CAST bf16(sum of CAST(CAST bf16(exp(s))) * CAST(v))",
         reads=("target",)),
    Pass("merge_product_axes", STORED, STORED, merge_product_axes,
         "sum over c, h, w of x * f → sum over k of CONTIGUOUS(windows of x) * f, for tensor cores",
         reads=("target",)),
    Pass("reduce_once", STORED, STORED, reduce_once,
         "m = max of x; s = sum of exp(x - m) → the same of each block, then of the blocks",
         reads=("target",)),
    Pass("split_reductions", STORED, STORED, split_reductions,
         "sum of 16777216 terms → sum of 1024 sums of 16384",
         reads=("target",)),
    Pass("split_scans", STORED, STORED, split_scans,
         "scan of 16777216 → scans of 2048 chunks, each starting from the total before it",
         reads=("target",)),
    Pass("lay_channels_last", STORED, STORED, lay_channels_last,
         "an image y[c, i, j] that is convolved → kept as y[i, j, c]",
         reads=("target", "config.exactness", "findings"), when=PACKED),
    Pass("pack_operands", STORED, STORED, pack_operands,
         "y[n, k] read at n*K + k → kept as panels y[n/16, k, 16]",
         reads=("target",), when=PACKED),
)  # fmt: skip

GRAPH_PASSES = (
    Pass("split_complex", PARAMETRIC, REAL, split_complex,
         "MUL(a, b) of complex64 → its real part, its imaginary part"),
    Pass("lower_orders", REAL, REAL, lower_orders,
         "ORDER(x: 8×100) → SORT(keys of x << 32 | positions) & 2³² - 1",
         reads=("target",)),
    Pass("simplify_values", REAL, REAL, simplify_values,
         "MUL(ADD(x, 0), 1) → x"),
    Pass("place_scatters", REAL, STORED, place_scatters,
         "SCATTER(x, v, i) → AFTER(CONTIGUOUS(x), ASSIGN(CONTIGUOUS(x), v, i))"),
    Pass("keep_computed_shapes", STORED, STORED, keep_computed_shapes,
         "SINK(RESHAPE(SUM(x))) → SINK(SUM(x))"),
    Pass("pick_terms", STORED, STORED, pick_terms,
         "sum over k of where(k == t[i], x[i, k], 0) → x[i, t[i]]"),
    Pass("search_graph", STORED, STORED, search_graph,
         "(A @ B) @ v → A @ (B @ v), where rounding may change",
         reads=("target", "config", "cut_kernels", "findings")),
    *_LAYING_OUT,
    Pass("separate_targets", STORED, STORED, separate_targets,
         "SINK(part of x, AFTER(x, ASSIGN(part of x, 1))) → SINK(CONTIGUOUS(part of x), …)"),
    Pass("separate_versions", STORED, STORED, separate_versions,
         "ASSIGN(x, 1), ASSIGN(x, 2) → ASSIGN(x, 1), ASSIGN(CONTIGUOUS(x), 2)"),
    Pass("keep_old_versions", STORED, STORED, keep_old_versions,
         "ADD(MUL(x, 2), AFTER(x, ASSIGN)) → ADD(CONTIGUOUS(MUL(x, 2)), AFTER(x, ASSIGN))"),
    Pass("stage_overlaps", STORED, STORED, stage_overlaps,
         "ASSIGN(x[1:], x[:-1]) → ASSIGN(x[1:], CONTIGUOUS(x[:-1]))"),
    *_CUTTING,
    # Assignments that need each other's old values, as those of a swap: a second try.
    Pass("stage_assignments", STORED, STORED, stage_assignments,
         "ASSIGN(x, y), ASSIGN(y, x) → ASSIGN(x, CONTIGUOUS(y)), ASSIGN(y, CONTIGUOUS(x))",
         when=UNORDERED),
    *[each.under(UNORDERED) for each in _CUTTING],
    Pass("flatten_regions", ORDERED, ORDERED, flatten_regions,
         "EXP(x of 3 × 4) → EXP(x of #n), #n = 12 at the launch",
         reads=("target",)),
    Pass("merge_regions", ORDERED, ORDERED, merge_regions,
         "m ← f(m, g); v ← h(v, g) → m, v ← f(m, g), h(v, g)",
         reads=("stored", "config.kernel_node_limit")),
    Pass("fix_lengths", ORDERED, ORDERED, fix_lengths,
         "EXP(x of #n), #n = 12 at the launch → EXP(x of 12)",
         when=SEARCHED),
    Pass("reroll_regions", ORDERED, ORDERED, reroll_regions,
         "f(x[3]), f(x[4]), f(x[5]) → f(x[#0]), launched with #0 = 3, 4, 5",
         when=NOT_SEARCHED),
    Pass("number_slots", ORDERED, SCHEDULE, number_slots,
         "x ← f(PARAM 0); y ← g(x) → f: slots (1, 0); g: slots (2, 1)",
         reads=("stored", "target")),
    Pass("strip_steps", SCHEDULE, SCHEDULE, strip_steps,
         "p ← f(x); q ← g(p); y ← h(q) → p ← f(x)[0]; q ← g(p); y[0] ← h(q); p ← f(x)[1]; …",
         when=NOT_SEARCHED),
    Pass("divide_lengths", SCHEDULE, SCHEDULE, divide_lengths,
         "y ← f of 2 to 512 rows → y ← f of 16 to 512 rows; y ← f of 2 to 15 rows",
         reads=("target",), when=NOT_SEARCHED),
)  # fmt: skip


DIVIDE_PASSES = (
    Pass("divide_by_device", PARAMETRIC, PARTS, divide_by_device,
         "ADD(COPY(EXP(x on CPU), CPU:1), y) → on CPU: EXP(x); on CPU:1: ADD(COPY(PARAM 2), y)"),
)  # fmt: skip
JOIN_PASSES = (
    Pass("join_schedules", SCHEDULES, SCHEDULE, join_schedules,
         "CPU: f, slots (1, 0); CPU:1: g, slots (1, 0) → f, slots (1, 0); g, slots (2, 1)",
         reads=("parts", "parametric")),
)  # fmt: skip


def cut_kernels(stored: UOp, target: Target, config: Config) -> list[UOp]:
    """The graphs of the kernels that a piece of a graph would become, but panels of inputs: these
    are kept, and made once for many runs."""
    quick = dataclasses.replace(config, verify=False) if config.verify else config
    compilation = Compilation(quick, stored=stored, target=target, findings=[])
    regions = compilation.run((*_LAYING_OUT, *_CUTTING[:2]))
    return [
        region.graph
        for region in regions
        if isinstance(region, Region) and not is_kept_panel(region, target)
    ]


def is_kept_panel(region: Region, target: Target) -> bool:
    """Whether a region lays out what follows from inputs alone, once for many runs."""
    (root, *inputs) = region.values
    is_large = upper_count(root.shape) * root.dtype.itemsize >= target.costs.packing.kept_bytes
    is_fixed = all(each.op is Op.PARAM and each.device for each in inputs)
    return is_kept_once(root) and is_large and is_fixed


def schedule_devices(
    sink: UOp,
    config: Config,
    schedule: Callable[[UOp, str], Schedule],
    watch: Watcher | None = None,
) -> Schedule:
    """The steps of a graph that may span devices; `schedule` makes those of each device's part."""
    compilation = Compilation(config, watch, parametric=sink)
    parts: list[Part] = compilation.run(DIVIDE_PASSES)
    compilation.values.schedules = [schedule(part.sink, part.device) for part in parts]
    joined: Schedule = compilation.run(JOIN_PASSES)
    return joined


def schedule_graph(
    sink: UOp,
    target: Target,
    config: Config,
    watch: Watcher | None = None,
    findings: list[Finding] | None = None,
) -> Schedule:
    """The steps that compute the roots of a parametric graph of one device, in order.

    What is computed in another way than it was is added to `findings`. Raises `ScheduleError` if
    the graph's assignments cannot be put into an order.
    """
    compilation = Compilation(
        config,
        watch,
        parametric=sink,
        target=target,
        cut_kernels=functools.partial(cut_kernels, target=target, config=config),
        findings=[] if findings is None else findings,
    )
    schedule: Schedule = compilation.run(GRAPH_PASSES)
    return schedule
