"""Keys of cached entries: digests of everything on which they depend.

A key is two independent 128-bit digests of one text with all these dependencies. The first is the
address under which the entry is looked up. The second is compared before an entry is used, so that
two texts with equal first digests are still distinguished.
"""

from __future__ import annotations

import struct

from ogive.compiler.digest import blake2b
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.node_table import exact_argument
from ogive.compiler.ir.ops import Op
from ogive.named import NamedTuple

DIGEST_BYTES = 16
_LEAVES = (Op.PARAM, Op.VARIABLE)
_OP_NAMES = {op: op.name for op in Op}


class Key(NamedTuple):
    """The address of an entry, and the check that it must have."""

    address: bytes
    check: bytes


def make_key(*parts: bytes) -> Key:
    """The key of an entry that depends on `parts` and on the borders between them."""
    text = b"".join([struct.pack("<Q", len(part)) + part for part in parts])
    return Key(_address(text), _check(text))


def _address(text: bytes) -> bytes:
    return blake2b(text, digest_size=DIGEST_BYTES, person=b"ogive address").digest()


def _check(text: bytes) -> bytes:
    return blake2b(text, digest_size=DIGEST_BYTES, person=b"ogive check").digest()


class Encoded(NamedTuple):
    """A graph as bytes, with its parameters and variables, and whether it calls library functions.
    """

    text: bytes
    leaves: list[UOp]
    has_calls: bool


def encode_graph(root: UOp) -> Encoded:
    """A graph as bytes, which are equal exactly for graphs of equal structure, in every process.

    There is one line per node, sources first and referred to by line number, so that shared nodes
    stay shared. Tags and metadata are left out, as in content keys.
    """
    numbers: dict[UOp, int] = {}
    lines: list[str] = []
    leaves: list[UOp] = []
    has_calls = False
    for number, node in enumerate(root.walk()):
        numbers[node] = number
        op = node.op
        if op in _LEAVES:
            leaves.append(node)
        elif op is Op.CALL:
            has_calls = True
        argument = exact_argument(op, node.arg)
        sources = [numbers[source] for source in node.src]
        lines.append(f"{_OP_NAMES[op]} {node.dtype.name} {argument!r} {sources}")
    return Encoded("\n".join(lines).encode(), leaves, has_calls)
