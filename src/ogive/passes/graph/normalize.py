"""Stage 2: a tensor graph becomes a parametric graph and the values taken out of it.

    before   ADD(RESHAPE(BUFFER#17), CONST 1)          after   ADD(RESHAPE(PARAM 0), CONST 1)
                                                               with buffers = [BUFFER#17]

Buffers become `PARAM` slots in first-visit order and bound variables lose their value, so two runs
over other data, or with another value, give the *same* interned graph, and whatever was compiled
for one is found by identity for the other. `DETACH` and `GRADIENT` have no meaning past capture
and go. A file is read by a copy: `BUFFER` on `DISK` becomes `COPY(PARAM)`, once for all its
readers. A window of a buffer (`passes/graph/contiguous_parts.py`) is a slot of its own.
"""

from __future__ import annotations

from ogive.errors import VariableError
from ogive.ir import dtype as dtypes
from ogive.ir.memory import host_value, shaped
from ogive.ir.node import UOp, walk
from ogive.ir.ops import Op
from ogive.ir.symbolic.index_arithmetic import symbolic_rules
from ogive.ir.symbolic.variable import note_binding, note_variable
from ogive.named import NamedTuple
from ogive.passes.graph.contiguous_parts import Window, Windows, find_windows

_NO_WINDOWS = Windows({}, set())
_TAKEN_OUT = frozenset({Op.BUFFER, Op.COPY, Op.BIND, Op.DETACH, Op.GRADIENT})
"""What does not stay as it is, over other sources."""


class Normalized(NamedTuple):
    """`sink` holds one source per root asked for; `windows[slot]` is what `PARAM slot` stands for.

    `variables` has the values that were bound; `made` has the parametric node of each node of the
    user's graph.
    """

    sink: UOp
    windows: tuple[Window, ...]
    variables: dict[str, int]
    made: dict[UOp, UOp]

    @property
    def buffers(self) -> tuple[UOp, ...]:
        """The buffers that the slots stand for, or for parts of."""
        return tuple([window.buffer for window in self.windows])

    @property
    def sources(self) -> dict[UOp, UOp]:
        """For each parametric node the first node of the user's graph that it came from."""
        return {made: node for node, made in reversed(self.made.items())}


def normalize(
    roots: tuple[UOp, ...], whole: bool = False, order: list[UOp] | None = None
) -> Normalized:
    """Take buffers and identities out of the graph under `roots`; `order` is their walk, if known.

    With `whole`, every buffer has one slot, whatever is read of it.
    """
    done: dict[UOp, UOp] = {}
    variables: dict[str, int] = {}
    seen: list[UOp] = []
    if order is None:
        order = walk(roots)
    found, hidden = _NO_WINDOWS
    if not whole and Op.SHRINK in [node.op for node in order]:
        found, hidden = find_windows(order, roots)
    slots: dict[Window, UOp] = {}
    for node in order:
        if node.op is Op.UNIQUE or node in hidden:
            continue
        is_index = node.dtype is dtypes.index
        if node.src and not is_index and node.op not in _TAKEN_OUT and node not in found:
            below = tuple([done[source] for source in node.src])
            made = UOp(node.op, node.dtype, below, node.arg, node.tag)
        elif node in found:
            window = found[node]
            if window not in slots:
                slots[window] = UOp(Op.PARAM, node.dtype, (), (len(slots), window.length))
            made = shaped(slots[window], node.shape)
        elif node.op is Op.BUFFER:
            made = UOp(Op.PARAM, node.dtype, (), (len(slots), node.arg[1]))
            slots[Window(node, 0, node.arg[1])] = made
            if node.arg[0] == "DISK":
                # No kernel can read a file: a copy step of its own brings it into memory.
                made = UOp(Op.COPY, node.dtype, (made,), "CPU")
        elif node.op is Op.COPY:
            source = done[node.src[0]]
            made = source
            if host_value(source) is None:
                made = UOp(Op.CONTIGUOUS, node.dtype, (source,), ())
        elif node.op is Op.BIND:
            done[node] = node.src[0]
            note_binding(node, variables)
            continue
        elif node.op in (Op.DETACH, Op.GRADIENT):
            done[node] = done[node.src[0]]
            continue
        elif node.src:
            # The order of terms may have followed from the values that are gone.
            made = symbolic_rules.build(node.op, node.dtype, tuple([done[s] for s in node.src]))
        else:
            made = node
            if node.op is Op.VARIABLE:
                seen.append(node)
        done[node] = made
    for root in found.keys() & set(roots) if found else ():
        # A result is never a part of other memory.
        done[root] = UOp(Op.CONTIGUOUS, root.dtype, (done[root],), ())
    sink = UOp(Op.SINK, dtypes.void, _plain_roots([done[root] for root in roots]))
    if seen:
        _check_bound(seen, variables)
    return Normalized(sink, tuple(slots), variables, done)


def _plain_roots(roots: list[UOp]) -> tuple[UOp, ...]:
    """Roots, of which a reshaped copy or custom value is that value itself.

        before   SINK(RESHAPE(COPY(PARAM 0)))          after   SINK(COPY(PARAM 0))

    But no two roots are the same memory: further ones are computed from the first.
    """
    values = [host_value(root) for root in roots]
    if not any(values):
        return tuple(roots)
    taken = set(roots)
    plain = []
    for root, value in zip(roots, values, strict=True):
        if value is not None and value not in taken:
            taken.add(value)
            root = value
        plain.append(root)
    return tuple(plain)


def _check_bound(seen: list[UOp], variables: dict[str, int]) -> None:
    """Every variable has a value, and no two variables share a name."""
    named: dict[str, UOp] = {}
    for node in seen:
        note_variable(node, named)
        if node.arg[0] not in variables:
            raise VariableError(
                f"variable {node.arg[0]!r} has no value; bind it with .bind(...)"
            )
