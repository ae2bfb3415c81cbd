"""The pass table, second part: from a parametric graph to steps over the slots of a run.

A graph that spans devices is divided first, and the schedules of its parts are joined last.

The graph of one device is rewritten as a whole: complex numbers become pairs, sums that are too
long for one thread become sums of sums, operands are packed into panels. Then `choose_kept` decides
which values are kept in memory, and the graph is cut there into regions, one for each kernel. Later
passes flatten regions, merge them, and let equal ones share a graph.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from ogive.compiler.ir.memory import is_kept_once, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.convolutions import WINDOW_RANKS
from ogive.compiler.passes.pipeline.graph_dialects import PARAMETRIC, REAL, STORED
from ogive.compiler.passes.pipeline.pass_runner import (
    Compilation,
    Condition,
    Pass,
    Watcher,
    where_any,
)
from ogive.compiler.passes.pipeline.schedule_dialects import (
    CUT,
    KEPT,
    ORDERED,
    PARTS,
    SCHEDULE,
    SCHEDULES,
)
from ogive.compiler.targets.target import Target
from ogive.config import Config

if TYPE_CHECKING:
    from ogive.compiler.passes.graph.divide_by_device import Part
    from ogive.compiler.passes.regions.cut_regions import Region
    from ogive.compiler.passes.regions.number_slots import Schedule
    from ogive.compiler.search.graph.schedule_times import CutGraph
    from ogive.compiler.targets.findings import Finding

COMPLEX = Condition(
    "there are complex numbers",
    lambda values: any(node.dtype.is_complex for node in values.parametric.walk()),
)
ORDERED_VALUES = where_any(REAL, "there are sorts", Op.ORDER, Op.ORDERED)
SCATTERED = where_any(REAL, "there are scatters", Op.SCATTER)
REDUCED = where_any(STORED, "there are reductions", Op.REDUCE_AXES)
SCANNED = where_any(STORED, "there are scans", Op.SCAN_AXIS)
ASSIGNED = where_any(STORED, "there are assignments", Op.ASSIGN, Op.AFTER)
PACKED = Condition(
    f"config.pack_operands, and {REDUCED.words}",
    lambda values: bool(values.config.pack_operands) and REDUCED.holds(values),
)
WINDOWED = Condition(
    "config.pack_operands, and there are sums of products of 6, 8 or 10 axes",
    lambda values: bool(values.config.pack_operands) and _sums_windows(values.stored),
)
WITH_TENSOR_CORES = Condition(
    "the target has tensor cores", lambda values: bool(values.target.grid.tensor_cores)
)
# Beam search times kernels of one shape, over memory of that size.
SEARCHED = Condition("config.beam", lambda values: values.config.beam is not None)
NOT_SEARCHED = Condition("not config.beam", lambda values: values.config.beam is None)
UNORDERED = Condition("no order was found", lambda values: values.ordered is None)

_CUTTING = (
    Pass("choose_kept", STORED, KEPT, "passes/fuse",
         "softmax(x @ w) → x @ w is kept, the rest is fused into its readers",
         reads=("target", "config.kernel_node_limit")),
    Pass("cut_regions", KEPT, CUT, "passes/regions",
         "EXP(CONTIGUOUS(ADD(x, 1))) → PARAM 0 ← ADD(PARAM 1, 1);  PARAM 0 ← EXP(PARAM 1)"),
    Pass("order_assignments", CUT, ORDERED, "passes/regions",
         "p ← k(p, m); m ← f(p) → m ← f(p); p ← k(p, m)",
         reads=("stored",)),
)  # fmt: skip

_LAYING_OUT = (
    Pass("narrow_weights", STORED, STORED, "passes/graph/products",
         "CAST bf16(sum of exp(s) * CAST(v)) → CAST bf16(sum of CAST(CAST bf16(exp(s))) * CAST(v))",
         reads=("target",), when=WITH_TENSOR_CORES),
    Pass("merge_product_axes", STORED, STORED, "passes/graph/products",
         "sum over c, h, w of x * f → sum over k of CONTIGUOUS(windows of x) * f, for tensor cores",
         reads=("target",), when=WITH_TENSOR_CORES),
    Pass("reduce_once", STORED, STORED, "passes/graph/reductions",
         "m = max of x; s = sum of exp(x - m) → the same per block, then over the blocks",
         reads=("target",), when=REDUCED),
    Pass("split_reductions", STORED, STORED, "passes/graph/reductions",
         "sum of 16777216 terms → sum of 1024 sums of 16384",
         reads=("target",), when=REDUCED),
    Pass("split_scans", STORED, STORED, "passes/graph/reductions",
         "scan of 16777216 → scans of 2048 chunks, each starting from the total before it",
         reads=("target",), when=SCANNED),
    Pass("lay_channels_last", STORED, STORED, "passes/graph/convolutions",
         "an image y[c, i, j] between convolutions → kept as y[i, j, c]",
         reads=("target", "config.exactness", "findings"), when=WINDOWED),
    Pass("pack_operands", STORED, STORED, "passes/graph/products",
         "y[n, k] read at n*K + k → kept as panels y[n/16, k, 16]",
         reads=("target",), when=PACKED),
)  # fmt: skip

GRAPH_PASSES = (
    Pass("split_complex", PARAMETRIC, REAL, "passes/graph",
         "MUL(a, b) of complex64 → real part, imaginary part",
         when=COMPLEX),
    Pass("lower_orders", REAL, REAL, "passes/graph/orders",
         "ORDER(x: 8×100) → SORT(keys of x << 32 | positions) & 2³² - 1",
         reads=("target",), when=ORDERED_VALUES),
    Pass("simplify_values", REAL, REAL, "passes/graph",
         "MUL(ADD(x, 0), 1) → x"),
    Pass("place_scatters", REAL, STORED, "passes/graph",
         "SCATTER(x, v, i) → AFTER(CONTIGUOUS(x), ASSIGN(CONTIGUOUS(x), v, i))",
         when=SCATTERED),
    Pass("keep_computed_shapes", STORED, STORED, "passes/graph/reductions",
         "SINK(RESHAPE(SUM(x))) → SINK(SUM(x))",
         when=REDUCED),
    Pass("pick_terms", STORED, STORED, "passes/graph/reductions",
         "sum over k of where(k == t[i], x[i, k], 0) → x[i, t[i]]",
         when=REDUCED),
    Pass("search_graph", STORED, STORED, "search/graph",
         "(A @ B) @ v → A @ (B @ v), where rounding may change",
         reads=("target", "config", "cut_kernels", "findings")),
    *_LAYING_OUT,
    Pass("separate_targets", STORED, STORED, "passes/versions",
         "SINK(part of x, AFTER(x, ASSIGN(part of x, 1))) → SINK(CONTIGUOUS(part of x), …)",
         when=ASSIGNED),
    Pass("separate_versions", STORED, STORED, "passes/versions",
         "ASSIGN(x, 1), ASSIGN(x, 2) → ASSIGN(x, 1), ASSIGN(CONTIGUOUS(x), 2)",
         when=ASSIGNED),
    Pass("keep_old_versions", STORED, STORED, "passes/versions",
         "ADD(MUL(x, 2), AFTER(x, ASSIGN)) → ADD(CONTIGUOUS(MUL(x, 2)), AFTER(x, ASSIGN))",
         when=ASSIGNED),
    Pass("stage_overlaps", STORED, STORED, "passes/versions",
         "ASSIGN(x[1:], x[:-1]) → ASSIGN(x[1:], CONTIGUOUS(x[:-1]))",
         when=ASSIGNED),
    *_CUTTING,
    # A second try for assignments that need each other's old values, such as a swap.
    Pass("stage_assignments", STORED, STORED, "passes/versions",
         "ASSIGN(x, y), ASSIGN(y, x) → ASSIGN(x, CONTIGUOUS(y)), ASSIGN(y, CONTIGUOUS(x))",
         when=UNORDERED),
    *[each.under(UNORDERED) for each in _CUTTING],
    Pass("flatten_regions", ORDERED, ORDERED, "passes/regions",
         "EXP(x of 3 × 4) → EXP(x of #n), #n = 12 at the launch",
         reads=("target",)),
    Pass("merge_regions", ORDERED, ORDERED, "passes/regions",
         "m ← f(m, g); v ← h(v, g) → m, v ← f(m, g), h(v, g)",
         reads=("stored", "config.kernel_node_limit")),
    Pass("fix_lengths", ORDERED, ORDERED, "passes/regions",
         "EXP(x of #n), #n = 12 at the launch → EXP(x of 12)",
         when=SEARCHED),
    Pass("reroll_regions", ORDERED, ORDERED, "passes/regions",
         "f(x[3]), f(x[4]), f(x[5]) → f(x[#0]), launched with #0 = 3, 4, 5",
         when=NOT_SEARCHED),
    Pass("share_transposes", ORDERED, ORDERED, "passes/regions",
         "p of (2, 16, 48) ← w of (2, 48, 16) → p of (#b, 16·#c, 16·#r) ← w of (#b, 16·#r, 16·#c)",
         reads=("target",), when=NOT_SEARCHED),
    Pass("number_slots", ORDERED, SCHEDULE, "passes/regions",
         "x ← f(PARAM 0); y ← g(x) → f: slots (1, 0); g: slots (2, 1)",
         reads=("stored", "target")),
    Pass("strip_steps", SCHEDULE, SCHEDULE, "passes/regions",
         "p ← f(x); q ← g(p); y ← h(q) → p ← f(x)[0]; q ← g(p); y[0] ← h(q); p ← f(x)[1]; …",
         reads=("target",), when=NOT_SEARCHED),
    Pass("divide_lengths", SCHEDULE, SCHEDULE, "passes/regions",
         "y ← f of 2 to 512 rows → y ← f of 16 to 512 rows; y ← f of 2 to 15 rows",
         reads=("target",), when=NOT_SEARCHED),
)  # fmt: skip


DIVIDE_PASSES = (
    Pass("divide_by_device", PARAMETRIC, PARTS, "passes/graph",
         "ADD(COPY(EXP(x on CPU), CPU:1), y) → on CPU: EXP(x); on CPU:1: ADD(COPY(PARAM 2), y)"),
)  # fmt: skip
JOIN_PASSES = (
    Pass("join_schedules", SCHEDULES, SCHEDULE, "passes/regions",
         "CPU: f, slots (1, 0); CPU:1: g, slots (1, 0) → f, slots (1, 0); g, slots (2, 1)",
         reads=("parts", "parametric")),
)  # fmt: skip


def _sums_windows(graph: UOp) -> bool:
    """Whether a sum could be one over windows and filters."""
    return any(
        node.op is Op.REDUCE_AXES
        and node.operand.op is Op.MUL
        and len(node.operand.shape) in WINDOW_RANKS
        for node in graph.walk()
    )


def cut_kernels(stored: UOp, target: Target, config: Config) -> CutGraph:
    """The kernels into which a piece of a graph would be cut.

    Panels of inputs are counted apart, because they are computed once for many runs, unless the
    configuration keeps none.
    """
    from ogive.compiler.passes.regions.cut_regions import Region
    from ogive.compiler.search.graph.schedule_times import CutGraph

    quick = dataclasses.replace(config, verify=False) if config.verify else config
    compilation = Compilation(quick, stored=stored, target=target, findings=[])
    regions = [
        region
        for region in compilation.run((*_LAYING_OUT, *_CUTTING[:2]))
        if isinstance(region, Region)
    ]
    each_run = [
        region.graph
        for region in regions
        if not (config.pack_constants and is_kept_panel(region, target))
    ]
    return CutGraph(tuple(each_run), len(regions) - len(each_run))


def is_kept_panel(region: Region, target: Target) -> bool:
    """Whether a region packs a panel from inputs alone, which is kept for many runs."""
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
    """The steps of a graph that may span devices; `schedule` gives the steps of each part."""
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

    Each place where graph search chose another way to compute something is added to `findings`.
    Raises `ScheduleError` if the graph's assignments cannot be ordered.
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
