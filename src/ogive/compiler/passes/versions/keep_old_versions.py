"""Values of an old version are kept where they are combined with values of a newer one.

    before   ADD(MUL(x, 2), AFTER(x, ASSIGN))      after   ADD(CONTIGUOUS(MUL(x, 2)), AFTER(...))

The kept value has a kernel of its own, which runs before the store, like any other reader.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.versions.storage import gather_bits, keep_sources, storage


def keep_old_versions(sink: UOp) -> UOp:
    """The graph with values of old versions kept where newer ones are read, too."""
    order = sink.walk()
    stores = [node for node in order if node.op is Op.ASSIGN]
    if not stores:
        return sink
    bits = {store: 1 << number for number, store in enumerate(stores)}
    overwriting: dict[UOp, int] = {}
    for store in stores:
        version = storage(store.target)
        overwriting[version] = overwriting.get(version, 0) | bits[store]
    # For each node, the stores before it, and then the stores that overwrite what its kernel reads.
    after: dict[UOp, int] = {}
    for node in order:
        passed = 0
        for source in node.src:
            passed |= after[source] | bits.get(source, 0)
        after[node] = passed
    endangered = gather_bits(order, overwriting)

    def is_overtaken(node: UOp, source: UOp) -> bool:
        if node.op in (Op.AFTER, Op.SINK) or (node.op is Op.ASSIGN and source is node.target):
            return False
        return bool(after[node] & ~after[source] & endangered[source])

    return keep_sources(order, is_overtaken)
