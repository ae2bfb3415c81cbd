"""The symbols and relocations of an object file, ELF or Mach-O, of 64 bits."""

from __future__ import annotations

import struct
from typing import NamedTuple


class ObjectFacts(NamedTuple):
    """What an object defines for others, what it wants of others, and its kinds of relocation."""

    defined: set[str]
    undefined: set[str]
    relocations: set[int]


def read_object(data: bytes) -> ObjectFacts:
    """The facts of an object file."""
    return _read_elf(data) if data.startswith(b"\x7fELF") else _read_mach_o(data)


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def _read_elf(data: bytes) -> ObjectFacts:
    facts = ObjectFacts(set(), set(), set())
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * i) for i in range(count)]
    for _, kind, _, _, start, length, link, _, _, _ in sections:
        if kind == 4:  # relocations
            for at in range(start, start + length, 24):
                facts.relocations.add(struct.unpack_from("<QII", data, at)[1])
        if kind == 2:  # symbols
            for at in range(start + 24, start + length, 24):
                name, info, _, section = struct.unpack_from("<IBBH", data, at)
                if info >> 4:  # not local
                    text = _text(data, sections[link][4] + name)
                    (facts.defined if section else facts.undefined).add(text)
    return facts


def _read_mach_o(data: bytes) -> ObjectFacts:
    facts = ObjectFacts(set(), set(), set())
    magic, _, _, _, commands = struct.unpack_from("<IIIII", data)
    assert magic == 0xFEEDFACF
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x19:  # a segment, with its sections
            (sections,) = struct.unpack_from("<I", data, at + 64)
            for number in range(sections):
                start, count = struct.unpack_from("<II", data, at + 72 + 80 * number + 56)
                for entry in range(start, start + 8 * count, 8):
                    facts.relocations.add(struct.unpack_from("<II", data, entry)[1] >> 28)
        if command == 2:  # symbols
            first, count, texts, _ = struct.unpack_from("<IIII", data, at + 8)
            for entry in range(first, first + 16 * count, 16):
                name, kind, section = struct.unpack_from("<IBB", data, entry)
                if kind & 1:  # not local
                    text = _text(data, texts + name).removeprefix("_")
                    (facts.defined if section else facts.undefined).add(text)
        at += size
    return facts
