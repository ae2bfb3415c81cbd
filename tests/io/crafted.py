"""Files that describe far more than they hold, or that take far longer than their size."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from io import BytesIO

import numpy

from tests.io import pickles
from tests.io.pickles import checkpoint, integer, keep, listed, recall, repeated, text, tupled

NUMBERS = listed(*[b"M" + struct.pack("<H", number) for number in range(10_000)])
PAIRS = listed(*[b"M" + struct.pack("<H", number) + b"N\x86" for number in range(10_000)])
LONG = text("a" * 1_000_000)
NESTED = b"K\x00\x85" + b"q\x05h\x05\x86" * 200
PRIME = (1 << 61) - 1
"""What Python's hashes of integers are remainders of."""


def _overlapping() -> bytes:
    """Views of 12 axes that all step by one: each of them takes 70 KB of nodes."""
    shape, strides = tupled(b"K\x02" * 12), tupled(b"K\x01" * 12)
    head = keep(0, pickles.storage(count=b"M\xe8\x03")) + keep(1, shape) + keep(2, strides)
    views = [
        pickles.tensor(recall(0), b"M" + struct.pack("<H", begin), recall(1), recall(2))
        for begin in range(980)
    ]
    return checkpoint(head + listed(*views) + b".", {"0": bytes(4000)})


def _colliding_tuples() -> bytes:
    """Keys of one hash: Python mixes those of a tuple's entries, and mixing can be undone."""
    first, second, start, word = 11400714785074694791, 14029467366897019727, 2870177450012600261, 64
    items: list[bytes] = []
    left = 0
    while len(items) < 40_000:
        left += 1
        mixed = (start + left * second) % (1 << word)
        mixed = (mixed << 31 | mixed >> 33) % (1 << word) * first
        right = (12345 - mixed) * pow(second, -1, 1 << word) % (1 << word)
        right -= (right >> 63) << 64
        if abs(right) < PRIME:
            items.append(integer(left) + integer(right) + b"\x86N")
    return checkpoint(b"}(" + b"".join(items) + b"u.")


def _npz_of_zeros(count: int) -> bytes:
    """A packed array of float32."""
    made = BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (count,)}
    archive = zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("a.npy", "w", force_zip64=True) as member:
        numpy.lib.format.write_array_header_1_0(member, header)
        member.write(bytes(4 * count))
    return made.getvalue()


def _npz_with_size(size: int) -> bytes:
    """An archive whose directory says that a packed array has `size` bytes."""
    raw = bytearray(_npz_of_zeros(1000))
    struct.pack_into("<I", raw, raw.rindex(b"PK\x01\x02") + 24, size)
    return bytes(raw)


def _many_entries_of_one_member() -> bytes:
    """A directory of which each entry names the same bytes."""
    raw = _npz_of_zeros(1 << 20)
    at, end = raw.rindex(b"PK\x01\x02"), raw.rindex(b"PK\x05\x06")
    entries = [
        raw[at:end].replace(b"a.npy", str(number).zfill(5).encode()) for number in range(1000)
    ]
    record = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1000, 1000, 1000 * (end - at), at, 0)
    return raw[:at] + b"".join(entries) + record


def _safetensors(header: str) -> bytes:
    return struct.pack("<Q", len(header.encode())) + header.encode()


def _gguf(body: bytes, tensors: int = 0, entries: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, entries) + body


def _named(name: str) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode()


def _array(kind: int, count: int, content: bytes) -> bytes:
    return _gguf(_named("a") + struct.pack("<IIQ", 9, kind, count) + content, entries=1)


def _quantized() -> bytes:
    """Tensors of one block each: the graph that dequantizes one takes 60 KB."""
    infos = [
        _named(str(number)) + struct.pack("<IQIQ", 1, 256, 13, 176 * number)
        for number in range(3000)
    ]
    alignment = _named("general.alignment") + struct.pack("<II", 4, 1)
    return _gguf(alignment + b"".join(infos) + bytes(176 * 3000), 3000, 1)


OUT_OF_PROPORTION: dict[str, Callable[[], bytes]] = {
    "a text encoded again and again.pt": lambda: checkpoint(
        repeated(pickles.ENCODE, LONG + text("latin1") + b"\x86", 3000), packed=True
    ),
    "sets of one list.pt": lambda: checkpoint(
        repeated(pickles.SET, NUMBERS + b"\x85", 3000), packed=True
    ),
    "frozen sets of one list.pt": lambda: checkpoint(
        repeated(pickles.FROZENSET, NUMBERS + b"\x85", 3000), packed=True
    ),
    "ordered dictionaries of one list.pt": lambda: checkpoint(
        repeated(pickles.ORDERED, PAIRS + b"\x85", 3000), packed=True
    ),
    "sizes of one list.pt": lambda: checkpoint(
        repeated(pickles.SIZE, NUMBERS + b"\x85", 3000), packed=True
    ),
    "empty sets.pt": lambda: checkpoint(listed(b"\x8f" * 3_000_000) + b".", packed=True),
    "values that are thrown away.pt": lambda: checkpoint(b"N0" * 10_000_000 + b"N.", packed=True),
    "marks.pt": lambda: checkpoint(b"(" * 3_000_000, packed=True),
    "what is kept.pt": lambda: checkpoint(
        b"N" + b"".join([b"r" + struct.pack("<I", number) for number in range(1_000_000)]) + b".",
        packed=True,
    ),
    "one tensor again and again.pt": lambda: checkpoint(
        keep(9, pickles.storage())
        + repeated(
            pickles.REBUILD, tupled(recall(9), b"K\x00", b"K\x02\x85", b"K\x01\x85", b"\x89N"),
            60_000,
        ),
        packed=True,
    ),
    "overlapping views.pt": _overlapping,
    "a long tuple as a key.pt": lambda: checkpoint(
        keep(0, tupled(b"K\x01" * 250_000)) + b"}(" + (recall(0) + b"N") * 80_000 + b"u."
    ),
    "one long text as a key, twice.pt": lambda: checkpoint(
        keep(0, LONG) + keep(1, LONG) + b"}(" + (recall(0) + b"N" + recall(1) + b"N") * 999 + b"u."
    ),
    "lists.safetensors": lambda: _safetensors('{"a":[' + "[]," * 2_000_000 + "[]]}"),
    "dictionaries.safetensors": lambda: _safetensors('{"a":[' + "{}," * 2_000_000 + "{}]}"),
    "bytes.gguf": lambda: _array(0, 5_000_000, bytes(5_000_000)),
    "quantized.gguf": _quantized,
}  # fmt: skip
"""Files by name that cannot be anybody's data: the objects in them are more than a file has."""

MALFORMED: dict[str, Callable[[], bytes]] = {
    "a view whose windows overlap too often.pt": lambda: checkpoint(
        pickles.tensor(
            pickles.storage(count=b"K\x7f"), b"K\x00", tupled(b"K\x02" * 62),
            tupled(b"K\x01" * 62),
        )
        + b".",
        {"0": bytes(508)},
    ),
    "a nested device.pt": lambda: checkpoint(pickles.DEVICE + NESTED + b"\x85R."),
    "a long device.pt": lambda: checkpoint(pickles.DEVICE + LONG + b"\x85R.", packed=True),
    "a long name.pt": lambda: checkpoint(b"c" + b"a" * 1_000_000 + b"\nb\n.", packed=True),
    "a long byte order.pt": lambda: checkpoint(
        b"N.", packed=True, byte_order=b"\xff" * 100_000_000
    ),
    "integers of one hash.pt": lambda: checkpoint(
        b"}(" + b"".join([integer(PRIME * number) + b"N" for number in range(40_000)]) + b"u."
    ),
    "tuples of one hash.pt": _colliding_tuples,
    "many entries of one member.npz": _many_entries_of_one_member,
    "a size that is too large.npz": lambda: _npz_with_size(60_000),
    "a size that is too small.npz": lambda: _npz_with_size(1000),
    "deep dictionaries.safetensors": lambda: _safetensors('{"a":' * 200_000),
}
"""Files by name that are refused for what they are, without taking memory or time for it."""

PLAIN: dict[str, Callable[[], bytes]] = {
    "integers.pt": lambda: checkpoint(
        listed(*[b"J" + struct.pack("<i", 7919 * number) for number in range(200_000)]) + b"."
    ),
    "words.pt": lambda: checkpoint(
        b"}("
        + b"".join(
            [
                text(f"token {number}") + b"r" + struct.pack("<I", number) + b"M\x01\x02"
                for number in range(100_000)
            ]
        )
        + b"u."
    ),
    "shorts.gguf": lambda: _array(2, 1_000_000, b"\x01\x07" * 1_000_000),
    "words.gguf": lambda: _array(8, 200_000, _named("token") * 200_000),
    "arrays.gguf": lambda: _array(9, 200_000, struct.pack("<IQ", 0, 0) * 200_000),
    "empty tensors.safetensors": lambda: _safetensors(
        "{"
        + ",".join(
            f'"{number}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
            for number in range(5000)
        )
        + "}"
    ),
    "zeros.npz": lambda: _npz_of_zeros(1 << 24),
}
"""Large files that anybody might have, for which there must be memory enough."""


def _doubled(start: bytes, pair: Callable[[bytes], bytes]) -> bytes:
    """Containers in containers, each of which holds the one before it twice."""
    program = keep(0, start)
    for number in range(60):
        program += keep(number + 1, pair(recall(number)))
    return checkpoint(program + recall(60) + b".")


def view(begin: int, count: int) -> bytes:
    storage = pickles.storage(count=integer(begin + count))
    return pickles.tensor(storage, integer(begin), tupled(integer(count)), tupled(b"K\x01"))


MENTIONED_AGAIN: dict[str, Callable[[], bytes]] = {
    "doubled tuples.pt": lambda: _doubled(b")", lambda inner: inner + inner + b"\x86"),
    "doubled lists.pt": lambda: _doubled(b"]", lambda inner: listed(inner, inner)),
    "doubled dictionaries.pt": lambda: _doubled(
        b"}", lambda inner: b"}(K\x01" + inner + b"K\x02" + inner + b"u"
    ),
    "a list in itself.pt": lambda: checkpoint(b"]q\x00h\x00a."),
    "deep tuples.pt": lambda: checkpoint(b"N" + b"\x85" * 5000 + b"."),
    "one tensor at 5000 places.pt": lambda: checkpoint(
        keep(0, view(0, 1 << 18)) + listed(recall(0) * 5000) + b".", {"0": bytes(4 << 18)}
    ),
    "1000 views of one storage.pt": lambda: checkpoint(
        listed(*[view(number, (1 << 18) - 1000) for number in range(1000)]) + b".",
        {"0": bytes(4 << 18)},
    ),
}
"""Files that hold little, which they show in many places."""
