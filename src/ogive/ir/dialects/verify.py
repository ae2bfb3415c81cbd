"""What each stage's graphs may contain: the dialects as one table, and the verifier that reads it.

A `Form` says how a node of an op must look: how many sources, which dtypes, what argument, and
what else must hold. A dialect is a mapping from the ops it allows to their forms. What is checked
is in `tensor_forms.py` and `loop_forms.py`; and in `coverage.py` that a lowered kernel reads no
scratch memory but what it has written.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.errors import VerifyError
from ogive.ir.dialects import loop_forms as loops
from ogive.ir.dialects import tensor_forms as tensors
from ogive.ir.dialects.coverage import find_uncovered
from ogive.ir.dialects.tensor_forms import Problem
from ogive.ir.node import UOp, walk
from ogive.ir.ops import BINARY, ELEMENTWISE, MOVEMENT, Op
from ogive.named import NamedTuple


class Form(NamedTuple):
    """How a node of one op must look. `check` says what was expected where a node is not so."""

    least: int
    most: int | None
    check: Callable[[UOp], Problem]

    def expect(self, node: UOp) -> Problem:
        """What was expected, if a node is not so."""
        count = len(node.src)
        if self.least <= count and (self.most is None or count <= self.most):
            return self.check(node)
        if self.most is None:
            wanted = f"{self.least} or more"
        else:
            wanted = " or ".join(map(str, dict.fromkeys((self.least, self.most))))
        return f"{wanted} sources, not {count}"


def verify(root: UOp | tuple[UOp, ...], dialect: str) -> None:
    """Raise `VerifyError` at the first node under `root` that `dialect` does not allow.

    The error names the node, its op and what was expected.
    """
    forms = DIALECTS[dialect]
    with_complex = dialect in _WITH_COMPLEX
    for node in walk(root if isinstance(root, tuple) else (root,)):
        form = forms.get(node.op)
        problem = "another op, this one is not allowed here" if form is None else form.expect(node)
        if node.dtype.is_complex and not with_complex:
            problem = "a real dtype: complex numbers are pairs of floats from here on"
        if problem is not None:
            raise VerifyError(
                f"{node.op.name} in the {dialect} dialect: expected {problem}; found {node!r}",
                node.origin,
            )
    if dialect == "lowered" and isinstance(root, UOp) and (found := find_uncovered(root)):
        node, problem = found
        raise VerifyError(
            f"{node.op.name} in the {dialect} dialect: expected {problem}; found {node!r}",
            node.origin,
        )


_ELEMENTWISE = {
    op: Form(arity, arity, tensors.expect_elementwise)
    for op in ELEMENTWISE
    for arity in [3 if op is Op.WHERE else 2 if op in BINARY else 1]
} | {Op.DOT: Form(2, 2, tensors.expect_dot)}
_VALUES: dict[Op, Form] = {
    Op.CONST: Form(0, 0, tensors.expect_const),
    Op.VARIABLE: Form(0, 0, tensors.expect_variable),
    Op.PARAM: Form(0, 0, tensors.expect_param),
    Op.IOTA: Form(0, 1, tensors.expect_iota),
    **{op: Form(1, None, tensors.expect_movement) for op in MOVEMENT},
    **_ELEMENTWISE,
    Op.REDUCE_AXES: Form(1, 1, tensors.expect_reduce_axes),
    Op.GATHER: Form(2, None, tensors.expect_gather),
    Op.SCAN: Form(1, 2, tensors.expect_scan),
    Op.SORT: Form(1, 1, tensors.expect_sort),
    Op.ARRANGE: Form(3, 3, tensors.expect_arrange),
    Op.STAGE: Form(1, 1, tensors.expect_stage),
    Op.STORE: Form(2, None, tensors.expect_store),
    Op.SINK: Form(0, None, tensors.expect_sink),
}
_REGION: dict[Op, Form] = _VALUES | {Op.SINK: Form(1, None, tensors.expect_region_sink)}
_PARAMETRIC: dict[Op, Form] = _VALUES | {
    Op.PARAM: Form(0, 0, tensors.expect_memory),
    Op.SINK: Form(0, None, tensors.expect_placed_sink),
    Op.CONTIGUOUS: Form(1, 1, tensors.expect_same_dtype),
    Op.DETACH: Form(1, 1, tensors.expect_same_dtype),
    Op.GRADIENT: Form(1, None, tensors.expect_same_dtype),
    Op.SCATTER: Form(3, None, tensors.expect_scatter),
    Op.COPY: Form(1, 1, tensors.expect_copy),
    Op.CUSTOM: Form(1, None, tensors.expect_custom),
    Op.AFTER: Form(1, None, tensors.expect_same_dtype),
}
del _PARAMETRIC[Op.STAGE], _PARAMETRIC[Op.DOT]
_TENSOR: dict[Op, Form] = _PARAMETRIC | {
    Op.UNIQUE: Form(0, 0, tensors.expect_unique),
    Op.BUFFER: Form(1, 1, tensors.expect_buffer),
    Op.BIND: Form(2, 2, tensors.expect_bind),
}
del _TENSOR[Op.PARAM]
_LOOPS: dict[Op, Form] = {
    Op.PARAM: Form(0, 0, tensors.expect_param),
    Op.CONST: Form(0, 0, tensors.expect_const),
    Op.VARIABLE: Form(0, 0, tensors.expect_variable),
    Op.RANGE: Form(1, 1, loops.expect_unplaced_range),
    **_ELEMENTWISE,
    Op.REDUCE: Form(1, None, loops.expect_reduce),
    Op.SCAN: Form(3, 3, loops.expect_scan),
    Op.INDEX: Form(2, 3, loops.expect_index),
    Op.LOAD: Form(1, 1, loops.expect_load),
    Op.TALLY: Form(2, 2, loops.expect_tally),
    Op.CHECK: Form(2, 3, loops.expect_check),
    Op.STORE: Form(2, None, loops.expect_store),
    Op.STAGE: Form(2, None, loops.expect_stage),
    Op.SINK: Form(0, None, tensors.expect_sink),
}
_PLACED: dict[Op, Form] = _LOOPS | {
    Op.RANGE: Form(1, 1, loops.expect_placed_range),
    Op.SCAN: Form(3, 4, loops.expect_scan),
}
_LOWERED: dict[Op, Form] = _PLACED | {
    Op.LOAD: Form(1, 2, loops.expect_lowered_load),
    Op.STORE: Form(2, None, loops.expect_lowered_store),
    Op.STAGE: Form(2, None, loops.expect_lowered_stage),
}

_WITH_COMPLEX = frozenset({"tensor", "parametric"})
DIALECTS: dict[str, dict[Op, Form]] = {
    "tensor": _TENSOR,
    "parametric": _PARAMETRIC,
    "region": _REGION,
    "loops": _LOOPS,
    "placed": _PLACED,
    "lowered": _LOWERED,
}
