"""The pass table, third part: from a region to ordered instructions, which a device writes as code.

Movement becomes index arithmetic over loops. Axes are merged, split and cut into blocks, and each
gets its placement. Accesses get the stride of their lanes.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.pipeline.graph_dialects import LOOPS, LOWERED, PLACED, REGION
from ogive.compiler.passes.pipeline.kernel_dialects import INSTRUCTIONS, PLACEMENT
from ogive.compiler.passes.pipeline.pass_runner import Compilation, Condition, Pass, where_any
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.targets.target import Target
from ogive.config import Config

COMBINED = where_any(LOOPS, "narrow elements are joined into words", Op.OR)
STAGED = where_any(LOOPS, "rows are staged", Op.STAGE)
REDUCING = where_any(LOOPS, "there are reductions", Op.REDUCE)
LOOPING = where_any(PLACED, "loops reduce or stage", Op.REDUCE, Op.STAGE)
WITH_BLOCKS = Condition(
    "the target has blocks of threads", lambda values: bool(values.target.has_grid)
)
NOT_GIVEN = Condition("no placement is given", lambda values: values.placement is None)

LOOP_PASSES = (
    Pass("rangeify", REGION, LOOPS, "passes/loops",
         "EXP(PERMUTE(x)) → for r0, r1: EXP(x[r1*2 + r0])"),
    Pass("join_words", LOOPS, LOOPS, "passes/loops",
         "a[r0*2] | a[r0*2 + 1] << 16, a of uint16 → a[r0], a of uint32",
         when=COMBINED),
    Pass("join_stages", LOOPS, LOOPS, "passes/loops/staging",
         "loop { e[r] = … }; loop { sum of e[r] } → loop { e[r] = …; sum of it }",
         when=STAGED),
    Pass("merge_axes", LOOPS, LOOPS, "passes/loops",
         "r0 < 64, r1 < 64: b[r0*64 + r1] → r0 < 4096: b[r0]"),
    Pass("split_axes", LOOPS, LOOPS, "passes/loops",
         "r1 < 128: b[r1//32*1024 + r1%32] → r1 < 4, r2 < 32: b[r1*1024 + r2]",
         reads=("target",)),
    Pass("join_axes", LOOPS, LOOPS, "passes/loops",
         "s < 13, b < 2: x[p*26 + s*2 + b] → t < 26: x[p*26 + t]",
         reads=("target",)),
    Pass("add_up_rows", LOOPS, LOOPS, "passes/loops/sums",
         "out[r0] = sum over r1 of a[r1, r0] → for each r1: row[r0] += a[r1, r0]",
         reads=("target",), when=REDUCING),
    Pass("stage_products", LOOPS, LOOPS, "passes/loops/staging",
         "sum of a[i, k]*b[k, j] → for k0: s = part of a; w = part of b; sum of s[u, k1]*w[k1, v]",
         reads=("target",), when=WITH_BLOCKS),
    Pass("block_axes", LOOPS, LOOPS, "passes/loops/sums",
         "k < 1024: sum of a[k]*b[k] → k0 < 4: sum of (k1 < 256: sum of …)",
         reads=("target",)),
    Pass("tighten_loops", LOOPS, LOOPS, "passes/loops",
         "sum over r1 < 64 of where(r1 <= r0, x[r1], 0) → sum over r1 < r0 + 1 of x[r1]",
         reads=("target",), when=REDUCING),
    Pass("stage_transposes", LOOPS, LOOPS, "passes/loops/staging",
         "out[r0*64 + r1] = a[r1*64 + r0] → s[k] = a[k]; out[j] = s[j%64*65 + j//64]",
         reads=("target",), when=WITH_BLOCKS),
)  # fmt: skip
CHOOSE_PLACEMENT = Pass(
    "choose_placement", LOOPS, PLACEMENT, "passes/place",
    "a product over r0, r1, r2 → lanes r1: 16; register tile r0: 8, r1: 2",
    reads=("target", "config.vectorize"), when=NOT_GIVEN,
)  # fmt: skip
LOWERING_PASSES = (
    Pass("place_axes", LOOPS, PLACED, "passes/place",
         "x[r0], r0 < 1000 → x[r0*16 + l1], r0 < 63 parallel, l1 < 16 lanes",
         reads=("placement",)),
    Pass("separate_loops", PLACED, PLACED, "passes/lower",
         "loop r0 { loop r1 { a[r1]; b[r0, r1] } } → loop r2 { a[r2] }; loop r0 { … }",
         when=LOOPING),
    Pass("lower_accesses", PLACED, LOWERED, "passes/lower",
         "LOAD(x, r0*16 + lane) → LOAD(x, r0*16), lanes of stride 1"),
    Pass("linearize", LOWERED, INSTRUCTIONS, "passes/lower",
         "the graph of a softmax → parallel r0 { loop r1 { max }; loop r2 { sum }; … }"),
)  # fmt: skip
REGION_PASSES = (*LOOP_PASSES, CHOOSE_PLACEMENT, *LOWERING_PASSES)


def loops_of(region: UOp, target: Target, config: Config) -> UOp:
    """The loop graph of a region after all passes on loops: placements refer to its axes."""
    loops: UOp = Compilation(config, region=region, target=target).run(LOOP_PASSES)
    return loops


def placement_for(loops: UOp, target: Target, config: Config) -> Placement:
    """The heuristics' placement of a loop graph."""
    compilation = Compilation(config, loops=loops, target=target, placement=None)
    placement: Placement = compilation.run((CHOOSE_PLACEMENT,))
    return placement
