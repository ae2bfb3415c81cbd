"""Links object files without LLVM: those that LLVM writes for x86-64 on ELF.

Otherwise a process that finds all its kernels on disk would load 100 MB of LLVM only to link them.
A kernel needs little: its text, its constants, distances between them, and jumps to functions of
the process.

    .text .rodata.cst4, call memcpy  →  text | constants | jump *address of memcpy

Objects with anything else are left to LLVM, and so are damaged ones.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from ogive.named import NamedTuple

_HEADER = struct.Struct("<7s9xHH20xQ10xHH2x")
_SECTION = struct.Struct("<IIQ8xQQIIQ8x")
_SYMBOL = struct.Struct("<I2xHQ8x")
_RELOCATION = struct.Struct("<QIIq")
_DISTANCE = struct.Struct("<i")

_MAGIC = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian
_RELOCATABLE, _X86_64 = 1, 62
_CONTENT, _SYMBOLS, _RELOCATIONS = 1, 2, 4  # types of sections
_WRITABLE, _IN_MEMORY, _THREAD_LOCAL = 1, 2, 0x400  # flags of sections
_PC32, _PLT32 = 2, 4  # the distance to a place, and to a function, which may be far away

_FAR_JUMP = b"\xff\x25\x00\x00\x00\x00"  # jmp *(%rip): to the address in the next 8 bytes
_PAGE = 4096


class Image(NamedTuple):
    """Code for any page-aligned address, and the offsets of its functions."""

    code: bytearray
    offsets: dict[str, int]


class _Section(NamedTuple):
    kind: int
    flags: int
    content: bytes
    link: int
    info: int
    alignment: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


def lay_out(object_bytes: bytes, find: Callable[[str], int | None]) -> Image | None:
    """The image of an object. `find` gives the addresses of symbols that it does not define.

    None for an object of another kind, or one that only LLVM can link.
    """
    try:
        sections = _sections(object_bytes)
        return None if sections is None else _Layout(sections, find).image()
    except (_Unsupported, struct.error, IndexError, ValueError):
        return None


class _Unsupported(Exception):
    """An object has something that only LLVM can link."""


def _sections(data: bytes) -> list[_Section] | None:
    """The sections of an object; None if it is of another kind."""
    magic, kind, machine, at, size, count = _HEADER.unpack_from(data)
    if (magic, kind, machine, size) != (_MAGIC, _RELOCATABLE, _X86_64, _SECTION.size):
        return None
    table = data[at : at + size * count]
    if len(table) != size * count:
        raise ValueError("the table of sections ends after its file")
    return [_section(data, *fields) for fields in _SECTION.iter_unpack(table)]


def _section(
    data: bytes, _: int, kind: int, flags: int, at: int, size: int, link: int, info: int, align: int
) -> _Section:
    content = data[at : at + size]
    if kind and len(content) != size:
        raise ValueError("a section ends after its file")
    return _Section(kind, flags, content, link, info, align or 1)


class _Layout:
    """The layout of an image: its sections, then the jumps to functions of the process."""

    def __init__(self, sections: list[_Section], find: Callable[[str], int | None]) -> None:
        self.sections = sections
        self.find = find
        self.code = bytearray()
        self.starts: dict[int, int] = {}
        self.jumps: dict[str, int] = {}
        for number, section in enumerate(sections):
            if section.flags & _IN_MEMORY:
                self._append(number, section)
        self.symbols = self._symbols()

    def _append(self, number: int, section: _Section) -> None:
        if section.kind != _CONTENT or section.flags & (_WRITABLE | _THREAD_LOCAL):
            raise _Unsupported
        if section.alignment > _PAGE:
            raise _Unsupported
        self._align(section.alignment)
        self.starts[number] = len(self.code)
        self.code += section.content

    def _align(self, alignment: int) -> None:
        self.code += bytes(-len(self.code) % alignment)

    def _symbols(self) -> list[_Symbol]:
        symbols: list[_Symbol] = []
        for section in self.sections:
            if section.kind == _SYMBOLS:
                if symbols:
                    raise _Unsupported
                names = self.sections[section.link].content
                for at, number, value in _SYMBOL.iter_unpack(section.content):
                    name = names[at : names.index(0, at)].decode()
                    symbols.append(_Symbol(name, number, value))
        return symbols

    def image(self) -> Image:
        """The sections with all distances filled in."""
        for section in self.sections:
            if section.kind == _RELOCATIONS and section.info in self.starts:
                self._relocate(self.starts[section.info], section)
        offsets = {
            symbol.name: self._place(symbol)
            for symbol in self.symbols
            if symbol.name and symbol.section in self.starts
        }
        return Image(self.code, offsets)

    def _relocate(self, start: int, relocations: _Section) -> None:
        end = len(self.sections[relocations.info].content) - _DISTANCE.size
        for at, kind, number, addend in _RELOCATION.iter_unpack(relocations.content):
            if kind not in (_PC32, _PLT32) or at > end:
                raise _Unsupported
            symbol = self.symbols[number]
            if symbol.section or kind == _PC32:
                target = self._place(symbol)
            else:
                target = self._jump_to(symbol.name)
            _DISTANCE.pack_into(self.code, start + at, target + addend - (start + at))

    def _place(self, symbol: _Symbol) -> int:
        """The offset of a symbol of the object itself."""
        if symbol.section not in self.starts:
            raise _Unsupported
        if symbol.value > len(self.sections[symbol.section].content):
            raise ValueError("a symbol lies behind its section")
        return self.starts[symbol.section] + symbol.value

    def _jump_to(self, name: str) -> int:
        """The offset of the jump to a function of the process, which may be too far for a call."""
        if name not in self.jumps:
            address = self.find(name)
            if address is None:
                raise _Unsupported
            self._align(16)
            self.jumps[name] = len(self.code)
            self.code += _FAR_JUMP + struct.pack("<Q", address)
        return self.jumps[name]
