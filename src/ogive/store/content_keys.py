"""Keys of cached things: digests of all that they depend on.

A key is two 128-bit digests of one text that holds everything the thing depends on. The first is
where it is looked for; the second, made independently, is compared before what was found is
believed, so that two texts with the same first digest are still told apart.
"""

from __future__ import annotations

import struct

from ogive.digest import blake2b
from ogive.ir.node import UOp
from ogive.ir.node_parts.node_table import exact_argument
from ogive.ir.ops import Op
from ogive.named import NamedTuple

DIGEST_BYTES = 16
_LEAVES = (Op.PARAM, Op.VARIABLE)
_OP_NAMES = {op: op.name for op in Op}


class Key(NamedTuple):
    """Where a thing is looked for, and what it must say when found."""

    address: bytes
    check: bytes


def make_key(*parts: bytes) -> Key:
    """The key of what depends on all of `parts`, and on where one ends and the next begins."""
    text = b"".join([struct.pack("<Q", len(part)) + part for part in parts])
    return Key(_address(text), _check(text))


def _address(text: bytes) -> bytes:
    return blake2b(text, digest_size=DIGEST_BYTES, person=b"ogive address").digest()


def _check(text: bytes) -> bytes:
    return blake2b(text, digest_size=DIGEST_BYTES, person=b"ogive check").digest()


class Encoded(NamedTuple):
    """A graph as bytes, and its parameters and variables."""

    text: bytes
    leaves: list[UOp]


def encode_graph(root: UOp) -> Encoded:
    """A graph as bytes that are equal exactly for equal structure, in every process.

    One line a node, sources first and named by line number, so that shared nodes stay shared. Tags
    and metadata are left out, as in content keys.
    """
    numbers: dict[UOp, int] = {}
    lines: list[str] = []
    leaves: list[UOp] = []
    for number, node in enumerate(root.walk()):
        numbers[node] = number
        op = node.op
        if op in _LEAVES:
            leaves.append(node)
        argument = exact_argument(op, node.arg)
        sources = [numbers[source] for source in node.src]
        lines.append(f"{_OP_NAMES[op]} {node.dtype.name} {argument!r} {sources}")
    return Encoded("\n".join(lines).encode(), leaves)
