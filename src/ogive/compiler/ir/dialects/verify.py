"""The verifier: checks that a graph is valid in the dialect of its stage.

The op table says in which dialects an op occurs, how many sources it has and what argument.
`tensor_forms.py`, `layout_forms.py` and `loop_forms.py` check what else must hold for each op, and
`coverage.py` that a lowered kernel writes the scratch memory that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSet

from ogive.compiler.ir.dialects import layout_forms as layouts
from ogive.compiler.ir.dialects import loop_forms as loops
from ogive.compiler.ir.dialects import tensor_forms as tensors
from ogive.compiler.ir.dialects.argument_forms import expect_argument
from ogive.compiler.ir.dialects.coverage import find_uncovered
from ogive.compiler.ir.dialects.tensor_forms import Problem
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, STAGES, Op
from ogive.compiler.ir.traversal import walk
from ogive.errors import VerifyError


def verify(
    root: UOp | tuple[UOp, ...], dialect: str, allowed: MutableSet[UOp] | None = None
) -> None:
    """Raise `VerifyError` at the first node under `root` that `dialect` does not allow.

    The error names the node, its op and what was expected. Nodes in `allowed` were checked before
    and are skipped, since nodes never change; those that pass now are added to it.
    """
    checks = DIALECTS[dialect]
    with_complex = dialect in _WITH_COMPLEX
    allowed = set() if allowed is None else allowed
    for node in walk(root if isinstance(root, tuple) else (root,)):
        if node in allowed:
            continue
        check = checks.get(node.op)
        if check is None:
            problem: Problem = "another op, this one is not allowed here"
        else:
            problem = _expect_sources(node) or expect_argument(node) or check(node)
        if node.dtype.is_complex and not with_complex:
            problem = "a real dtype: complex numbers are pairs of floats from here on"
        if problem is not None:
            raise VerifyError(
                f"{node.op.name} in the {dialect} dialect: expected {problem}; found {node!r}",
                node.origin,
            )
        allowed.add(node)
    if dialect == "lowered" and isinstance(root, UOp) and (uncovered := find_uncovered(root)):
        node, problem = uncovered
        raise VerifyError(
            f"{node.op.name} in the {dialect} dialect: expected {problem}; found {node!r}",
            node.origin,
        )


def _expect_sources(node: UOp) -> Problem:
    sources = node.op.sources
    count, most = len(node.src), len(sources)
    has_rest = bool(sources) and sources[-1].is_rest
    least = len([source for source in sources if not source.is_optional and not source.is_rest])
    if least <= count and (has_rest or count <= most):
        return None
    wanted = f"{least} or more" if has_rest else " or ".join(map(str, range(least, most + 1)))
    return f"{wanted} sources, not {count}"


Check = Callable[[UOp], Problem]


def _expect_nothing(node: UOp) -> Problem:
    return None


_TENSORS: dict[Op, Check] = {
    Op.CONST: tensors.expect_const,
    Op.UNIQUE: _expect_nothing,
    Op.BUFFER: tensors.expect_buffer,
    Op.VARIABLE: tensors.expect_variable,
    Op.BIND: tensors.expect_bind,
    Op.IOTA: tensors.expect_iota,
    **dict.fromkeys(MOVEMENT, tensors.expect_movement),
    **dict.fromkeys(ELEMENTWISE, tensors.expect_elementwise),
    Op.DOT: tensors.expect_dot,
    Op.REDUCE_AXES: tensors.expect_reduce_axes,
    Op.GATHER: tensors.expect_gather,
    Op.SCATTER: tensors.expect_scatter,
    Op.SCAN_AXIS: tensors.expect_scan_axis,
    Op.ORDERED: tensors.expect_ordered,
    Op.ORDER: tensors.expect_order,
    Op.SORT: tensors.expect_sort,
    Op.ARRANGE: tensors.expect_arrange,
    Op.STAGE_AXIS: tensors.expect_stage_axis,
    Op.ASSIGN: tensors.expect_assign,
    Op.CUSTOM: tensors.expect_custom,
    Op.CALL: tensors.expect_call,
    Op.SHARD: layouts.expect_layout,
    Op.MULTI: layouts.expect_parts,
    Op.MSELECT: layouts.expect_part,
    **dict.fromkeys(
        (Op.CONTIGUOUS, Op.DETACH, Op.GRADIENT, Op.COPY, Op.AFTER), tensors.expect_same_dtype
    ),
    Op.SINK: tensors.expect_placeless_sink,
}
_LOOPS: dict[Op, Check] = {
    Op.RANGE: loops.expect_unplaced_range,
    Op.REDUCE: loops.expect_reduce,
    Op.SCAN: loops.expect_unplaced_scan,
    Op.INDEX: loops.expect_index,
    Op.LOAD: loops.expect_load,
    Op.TALLY: loops.expect_tally,
    Op.CHECK: loops.expect_check,
    Op.STORE: loops.expect_store,
    Op.STAGE: loops.expect_stage,
}
_FROM: dict[str, dict[Op, Check]] = {
    "tensor": _TENSORS,
    "parametric": {Op.PARAM: tensors.expect_memory, Op.SINK: tensors.expect_placed_sink},
    "region": {Op.PARAM: tensors.expect_param, Op.SINK: tensors.expect_region_sink},
    "loops": {**_LOOPS, Op.SINK: tensors.expect_placeless_sink},
    "placed": {Op.RANGE: loops.expect_placed_range, Op.SCAN: loops.expect_scan},
    "lowered": {
        Op.LOAD: loops.expect_lowered_load,
        Op.STORE: loops.expect_lowered_store,
        Op.STAGE: loops.expect_lowered_stage,
    },
}
"""The checks of ops that hold from that stage on, until a later stage replaces them."""


def _checks() -> dict[str, dict[Op, Check]]:
    """For each dialect, the ops that it allows, each with its check."""
    by_dialect: dict[str, dict[Op, Check]] = {}
    checks: dict[Op, Check] = {}
    for dialect in STAGES:
        checks = checks | _FROM.get(dialect, {})
        by_dialect[dialect] = {op: checks[op] for op in Op if dialect in op.stages}
    return by_dialect


_WITH_COMPLEX = frozenset({"tensor", "parametric"})
DIALECTS = _checks()
