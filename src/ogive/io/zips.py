"""Zip archives: the directory is checked, and uncompressed members are read in place.

    member ...  member       each: a local header, then the bytes
    directory entry ...      name, method, sizes, offset of the local header
    end record               offset of the directory (twice if large, first in 64 bits)
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from ogive.io.checked_files import Source, shorten
from ogive.named import NamedTuple

STORED, DEFLATED = 0, 8
PIECE = 1 << 21
"""How much of a member is decompressed at a time, in bytes."""
_END_SIZE, _ENTRY_SIZE, _LOCAL_SIZE = 22, 46, 30
_COMMENT_LIMIT = 0xFFFF
_IN_64_BITS = 0xFFFFFFFF
_GREATEST_RATIO = 1032  # the greatest compression ratio of deflate
_ENCRYPTED = 1
_UTF8 = 1 << 11
_MEMBER = 1024
"""The memory of a `Member` besides its name, while the directory is read, in bytes."""


class Member(NamedTuple):
    """A file in an archive: `size` bytes, stored as `packed` bytes from `begin` on."""

    name: str
    method: int
    checksum: int
    packed: int
    size: int
    begin: int

    @property
    def end(self) -> int:
        """The offset in the archive after its bytes."""
        return self.begin + self.packed


def read_directory(source: Source) -> dict[str, Member]:
    """Return the members by name, each checked to be inside the file. Raises `FileError`."""
    count, size, start = _find_directory(source)
    if count * _ENTRY_SIZE > size:
        source.refuse(f"its directory of {size} bytes cannot hold {count} entries")
    source.charge(4 * size)
    data = source.read(start, size, "the directory")
    members: dict[str, Member] = {}
    spans: list[tuple[int, int, str]] = []
    position = 0
    for _ in range(count):
        source.charge(_MEMBER)
        member, local, position = _read_entry(source, data, position)
        if member.name in members:
            source.refuse(f"the name {shorten(member.name)!r} is there twice")
        members[member.name] = member
        spans.append((local, member.end, member.name))
    before = 0
    for local, end, name in sorted(spans):
        if local < before or end > start:
            source.refuse(f"member {shorten(name)!r} overlaps another, or the directory")
        before = end
    return members


def read_member(source: Source, member: Member) -> bytes:
    """Return the content of a member, charged to the file. Raises `FileError`."""
    source.charge(2 * member.size)
    return b"".join(unpack_member(source, member))


def unpack_member(source: Source, member: Member) -> Iterator[bytes]:
    """Yield the content of a member in pieces of `PIECE` bytes, the last perhaps shorter.

    Raises `FileError`; at the last piece, if the checksum is wrong. Memory is allocated for the
    bytes that come, and not by the sizes in the directory, which are only compared.
    """
    quoted = f"member {shorten(member.name)!r}"
    size, checksum = 0, 0
    for piece in _join(_unpack(source, member, quoted)):
        size += len(piece)
        if size > member.size:
            break
        checksum = zlib.crc32(piece, checksum)
        yield piece
    if size != member.size:
        source.refuse(f"{quoted} does not have the {member.size} bytes that it should")
    if checksum != member.checksum:
        source.refuse(f"{quoted} does not have the checksum that it should")


def _unpack(source: Source, member: Member, quoted: str) -> Iterator[bytes]:
    """Yield the content of a member in pieces of up to `PIECE` bytes."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for begin in range(member.begin, member.end, PIECE):
        packed = source.read(begin, min(PIECE, member.end - begin), quoted)
        if member.method == STORED:
            yield packed
            continue
        try:
            while piece := inflater.decompress(packed, PIECE):
                yield piece
                packed = inflater.unconsumed_tail
        except zlib.error as error:
            source.refuse(f"{quoted} cannot be unpacked: {error}")


def _join(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join short pieces to pieces of `PIECE` bytes, the last perhaps shorter."""
    waiting = b""
    for piece in pieces:
        waiting += piece
        if len(waiting) >= PIECE:
            yield waiting[:PIECE]
            waiting = waiting[PIECE:]
    if waiting:
        yield waiting


def _find_directory(source: Source) -> tuple[int, int, int]:
    """Return the number of entries of the directory, its size in bytes, and its offset."""
    length = min(source.size, _END_SIZE + _COMMENT_LIMIT)
    tail = source.read(source.size - length, length, "the end")
    record_at = tail.rfind(b"PK\x05\x06")
    while record_at >= 0 and not _is_end(tail, record_at):
        record_at = tail.rfind(b"PK\x05\x06", 0, record_at)
    if record_at < 0:
        source.refuse("it has no zip directory at its end, so it is not a zip archive or cut off")
    disk, first, here, count, size, start, _ = struct.unpack_from("<HHHHIIH", tail, record_at + 4)
    end = source.size - length + record_at
    if (count == 0xFFFF or _IN_64_BITS in (size, start)) and end >= 20:
        signature, _, record, _ = source.unpack(end - 20, "<4sIQI", "the place of the end record")
        if signature == b"PK\x06\x07":
            fields = source.unpack(record, "<4sQHHIIQQQQ", "the end record in 64 bits")
            signature, _, _, _, disk, first, here, count, size, start = fields
            if signature != b"PK\x06\x06":
                source.refuse("its end record in 64 bits is not where it should be")
            end = record
    if disk or first or here != count:
        source.refuse("it is one part of several")
    if start + size > end:
        source.refuse(f"its directory would be bytes {start} to {start + size}, beyond {end}")
    return count, size, start


def _is_end(tail: bytes, at: int) -> bool:
    """Whether there is an end record at `at`, followed by its comment only."""
    if at + _END_SIZE > len(tail):
        return False
    (comment,) = struct.unpack_from("<H", tail, at + 20)
    return bool(at + _END_SIZE + comment == len(tail))


def _read_entry(source: Source, data: bytes, at: int) -> tuple[Member, int, int]:
    """Return a member, the offset of its local header, and that of the next entry."""
    if at + _ENTRY_SIZE > len(data) or data[at : at + 4] != b"PK\x01\x02":
        source.refuse(f"there is no entry at byte {at} of its directory")
    flags, method, _, checksum, packed, size, name_size, extra_size, comment_size = (
        struct.unpack_from("<HHIIIIHHH", data, at + 8)
    )
    (local,) = struct.unpack_from("<I", data, at + 42)
    begin = at + _ENTRY_SIZE
    after = begin + name_size + extra_size + comment_size
    if after > len(data):
        source.refuse(f"the entry at byte {at} of its directory is cut off")
    raw_name = data[begin : begin + name_size]
    name = raw_name.decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    extra = data[begin + name_size : begin + name_size + extra_size]
    size, packed, local = _in_64_bits(source, extra, [size, packed, local], name)
    if flags & _ENCRYPTED or method not in (STORED, DEFLATED):
        what = "encrypted" if flags & _ENCRYPTED else f"packed by method {method}"
        source.refuse(f"member {shorten(name)!r} is {what}; expected stored or deflated")
    if size > packed * _GREATEST_RATIO or (method == STORED and size != packed):
        source.refuse(f"member {shorten(name)!r} cannot be {size} bytes in {packed}")
    start = _after_local_header(source, local, raw_name, name)
    member = Member(name, method, checksum, packed, size, start)
    if member.end > source.size:
        source.refuse(f"member {shorten(name)!r} would end at {member.end}, beyond {source.size}")
    return member, local, after


def _in_64_bits(source: Source, extra: bytes, fields: list[int], name: str) -> list[int]:
    """Return the sizes and the offset of a member. Those beyond 32 bits are read from `extra`."""
    if _IN_64_BITS not in fields:
        return fields
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<HH", extra, at)
        at += 4
        if tag == 1 and at + length <= len(extra):
            words = extra[at : at + length // 8 * 8]
            values = iter([value for (value,) in struct.iter_unpack("<Q", words)])
            fields = [next(values, field) if field == _IN_64_BITS else field for field in fields]
        at += length
    if max(fields) >= 1 << 63:
        source.refuse(f"member {shorten(name)!r} is said to be beyond any file")
    return fields


def _after_local_header(source: Source, local: int, raw_name: bytes, name: str) -> int:
    """Return the offset of the bytes of a member."""
    what = f"the header of member {shorten(name)!r}"
    header = source.read(local, _LOCAL_SIZE, what)
    name_size, extra_size = struct.unpack_from("<HH", header, 26)
    begin = local + _LOCAL_SIZE
    if header[:4] != b"PK\x03\x04" or source.read(begin, name_size, what) != raw_name:
        source.refuse(f"{what} is not at {local}, where the directory has it")
    return int(begin + name_size + extra_size)
