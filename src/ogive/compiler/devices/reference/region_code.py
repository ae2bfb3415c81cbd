"""Regions as text and as bytes, which the reference device has in place of machine code.

The text is a listing of the graph for people, and in its last line the graph in hexadecimal. The
bytes are in the encoding of the store. So kernels of the reference device are stored, counted and
shown like those of other devices.
"""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.dialects.verify import DIALECTS, verify
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.printer import format_tree
from ogive.compiler.store.encoding import DamagedRecord, Reader, Writer
from ogive.compiler.store.graph_encoding import read_graph, write_graph
from ogive.errors import LoadError, VerifyError


def write_region(region: UOp) -> str:
    """The text of a region."""
    writer = Writer()
    write_graph(writer, region)
    return f"{format_tree(region)}\n{writer.finish().hex()}"


def assemble_region(text: str) -> bytes:
    """The bytes of a region, from its text."""
    return bytes.fromhex(text.rpartition("\n")[2])


def load_region(code: bytes) -> UOp:
    """The region from its bytes. Raises `LoadError` if they are damaged."""
    try:
        region = read_graph(Reader(code), _check)
        verify(region, "region")
    except (DamagedRecord, VerifyError) as error:
        raise LoadError(f"this is no region: {error}") from None
    return region


def _check(op: Op, dtype: DType, sources: tuple[UOp, ...], argument: Any) -> None:
    if op not in DIALECTS["region"]:
        raise DamagedRecord(f"{op.name} is in no region")
