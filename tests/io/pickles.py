"""Pickles put together by hand, operation by operation: what no pickler would write."""

from __future__ import annotations

import random
import struct
import zipfile
from io import BytesIO

ENCODE = b"c_codecs\nencode\n"
ORDERED = b"ccollections\nOrderedDict\n"
SET, FROZENSET = b"cbuiltins\nset\n", b"cbuiltins\nfrozenset\n"
SIZE, DEVICE = b"ctorch\nSize\n", b"ctorch\ndevice\n"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
REBUILD_TYPED = b"ctorch._utils\n_rebuild_tensor_v3\n"
PARAMETER = b"ctorch._utils\n_rebuild_parameter\n"


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def integer(value: int) -> bytes:
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def listed(*entries: bytes) -> bytes:
    return b"](" + b"".join(entries) + b"e"


def tupled(*entries: bytes) -> bytes:
    return b"(" + b"".join(entries) + b"t"


def keep(number: int, value: bytes) -> bytes:
    """Keep a value under a number, and take it off the stack."""
    return value + b"r" + struct.pack("<I", number) + b"0"


def recall(number: int) -> bytes:
    return b"j" + struct.pack("<I", number)


def storage(kind: str = "FloatStorage", key: str = "0", count: bytes = b"K\x02") -> bytes:
    typed = f"ctorch\n{kind}\n".encode()
    return tupled(text("storage"), typed, text(key), text("cpu"), count) + b"Q"


def tensor(place: bytes, offset: bytes, size: bytes, stride: bytes) -> bytes:
    return REBUILD + tupled(place, offset, size, stride, b"\x89", b"N") + b"R"


def repeated(function: bytes, arguments: bytes, times: int) -> bytes:
    """A list of what a function gives, applied to the same arguments again and again."""
    head = keep(0, function) + keep(1, arguments)
    return head + listed((recall(0) + recall(1) + b"R") * times) + b"."


def checkpoint(
    program: bytes, storages: dict[str, bytes] | None = None, packed: bool = False,
    byte_order: bytes = b"little",
) -> bytes:  # fmt: skip
    """The bytes of a `.pt` whose pickle this is; `packed` for all but the storages."""
    made = BytesIO()
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("x/data.pkl", program)
        archive.writestr("x/byteorder", byte_order)
        for key, content in (storages or {"0": bytes(8)}).items():
            archive.writestr(zipfile.ZipInfo(f"x/data/{key}"), content)
    return made.getvalue()


_VALUES = (
    b"N", b"\x88", b"K\x00", b"K\x07", b"M\xff\xff", b"J\xff\xff\xff\xff", integer(1 << 62),
    integer(-(1 << 63)), integer(1 << 2000), b"G" + bytes(8), text(""), text("storage"), text("0"),
    text("a" * 1000), b"C\x03abc", b")", b"]", b"}", b"\x8f", ENCODE, ORDERED, SET, FROZENSET, SIZE,
    DEVICE, REBUILD, REBUILD_TYPED, PARAMETER, b"ctorch\nFloatStorage\n", b"ctorch\nfloat16\n",
    storage(), storage("UntypedStorage", count=b"K\x08"), storage("LongStorage", count=b"K\x01"),
    text("latin1"), text("cpu"),
    tensor(storage(), b"K\x00", b"K\x02\x85", b"K\x01\x85"),
)  # fmt: skip
_STEPS = (
    b"(", b"(", b"t", b"l", b"d", b"e", b"a", b"s", b"u", b"\x90", b"\x91", b"\x85", b"\x86",
    b"\x87", b"R", b"R", b"\x81", b"b", b"Q", b"0", b"1", b"\x93", b"\x94", b"\x94", b"2",
)  # fmt: skip


def random_program(dice: random.Random) -> bytes:
    """A program of values and operations, in an order that often makes sense."""
    parts: list[bytes] = []
    for _ in range(dice.choice([3, 10, 30, 100, 1000])):
        kind = dice.random()
        if kind < 0.5:
            parts.append(dice.choice(_VALUES))
        elif kind < 0.65:
            parts.append(b"h" + bytes([dice.choice([0, 1, 2, 3, 9])]))
        else:
            parts.append(dice.choice(_STEPS))
        if dice.random() < 0.05:
            parts.append(dice.choice([tupled, listed])(*dice.choices(_VALUES, k=4)))
    return b"".join(parts) + b"."
