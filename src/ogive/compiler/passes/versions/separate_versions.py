"""Each further assignment to the same version of a buffer gets a copy to write to.

    before   ADD(AFTER(x, ASSIGN(x, 1)), AFTER(x, ASSIGN(x, 2)))
    after    ADD(AFTER(x, ASSIGN(x, 1)), AFTER(CONTIGUOUS(x), ASSIGN(CONTIGUOUS(x), 2)))
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.versions.storage import STORAGE, storage


def separate_versions(sink: UOp) -> UOp:
    """The graph with a copy for each further assignment to the same version."""
    order = sink.walk()
    writers: dict[UOp, list[UOp]] = {}
    for node in order:
        if node.op is Op.AFTER:
            writers.setdefault(storage(node.operand), []).append(node)
    if all(len(nodes) == 1 for nodes in writers.values()):
        return sink
    done: dict[UOp, UOp] = {}
    for node in order:
        sources = tuple([done[source] for source in node.src])
        number = writers[storage(node.operand)].index(node) if node.op is Op.AFTER else 0
        if number:
            version = done[storage(node.operand)]
            # The number makes several copies of one version different nodes.
            copy = UOp(Op.CONTIGUOUS, version.dtype, (version,), ("version", number))
            target, *value_and_indices = sources[1].src
            store = sources[1].replace(src=(_rebase(target, copy), *value_and_indices))
            sources = (_rebase(sources[0], copy), store)
        done[node] = node.with_sources(sources)
    return done[sink]


def _rebase(view: UOp, base: UOp) -> UOp:
    """A chain of movement ops over another version."""
    chain = []
    while view.op not in STORAGE:
        chain.append(view)
        view = view.operand
    for node in reversed(chain):
        base = node.replace(src=(base, *node.src[1:]))
    return base
