"""Encoding of the code of a kernel: object code, and the IR from which it was made."""

from __future__ import annotations

from ogive.compiler.store.encoding import MOST_TEXT, DamagedRecord, Reader, Writer
from ogive.named import NamedTuple


class CodeRecord(NamedTuple):
    """The object code of a kernel, and the IR from which it was made."""

    ir: bytes  # compressed
    object_code: bytes


def pack_code(ir: str, object_code: bytes) -> bytes:
    """A kernel's code as bytes."""
    import zlib

    writer = Writer()
    writer.data(zlib.compress(ir.encode(), 1))
    writer.data(object_code)
    return writer.finish()


def unpack_code(data: bytes) -> CodeRecord:
    """A kernel's code from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    record = CodeRecord(reader.data(), reader.data())
    reader.finish()
    if not record.object_code:
        raise DamagedRecord("there is no code")
    return record


def unpack_ir(compressed: bytes) -> str:
    """The text of a kernel. Raises `DamagedRecord`."""
    import zlib

    try:
        inflater = zlib.decompressobj()
        text = inflater.decompress(compressed, MOST_TEXT)
        if inflater.unconsumed_tail or not inflater.eof:
            raise DamagedRecord("a text is cut off")
        return text.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedRecord(f"a text cannot be read: {error}") from None
