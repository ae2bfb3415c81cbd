"""A machine for pickles that can only build data.

A pickle is a program for a stack machine. Python's machine imports and calls whatever the program
names. This one cannot: names are looked up in a table of the caller, and only the `Function`s of
that table can be applied. All other objects it makes are numbers, texts, bytes, tuples, lists, sets
and dictionaries.

A short program can also build large objects: a text that is encoded again and again, a list that
becomes a thousand sets. So the size of each object is charged to the file before the object is
made; or right after, if its bytes are in the pickle.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from sys import getsizeof
from typing import Any, NoReturn

from ogive.io.checked_files import shorten
from ogive.named import NamedTuple

SCALARS = (str, bytes, int, float, bool, type(None))
LONG_LIMIT = 255
"""The most bytes of an integer."""

NEWEST = 5


# The greatest memory of objects, in bytes, measured with CPython 3.11, growing tables included.
PROGRAM = 4
"""A byte of the program: itself, and an allowance for the time of its operation."""
SLOT = 16
"""An entry of a list."""
STACKED = 48
"""An entry of the stack, or a mark."""
ENTRY = 128
"""An entry of a dictionary, of a set, or of the memo."""

WIDEST_KEY = 1 << 64
"""Integers beyond it cannot be keys, since any number of them can have the same hash."""
MOST_COLLISIONS = 100
"""How many different tuples with one hash may be keys. By chance there are none."""


class Function(NamedTuple):
    """A function that a pickle may apply. It charges the machine for the objects that it makes."""

    name: str
    apply: Callable[[Machine, tuple[Any, ...]], Any]


class Machine:
    """A machine that runs one pickle: `Machine(data, names, persistent, charge, refuse).run()`.

    `names` maps `module.name` to objects, and `persistent` maps persistent ids to objects. `charge`
    is called with the memory of objects, in bytes. `persistent` and functions raise `ValueError`
    for arguments that they do not take; `refuse` is called with its text.
    """

    def __init__(
        self,
        data: bytes,
        names: Mapping[str, Any],
        persistent: Callable[[Any], Any],
        charge: Callable[[int], None],
        refuse: Callable[[str], NoReturn],
    ) -> None:
        self.data = data
        self.names = names
        self.persistent = persistent
        self.charge = charge
        self.refuse = refuse
        self.position = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self._room = 64  # entries of the stack, and marks, that are charged for
        self._tuples: dict[int, tuple[Any, ...]] = {}  # for each hash, the first key that had it
        self._collisions = 0

    def run(self) -> Any:
        """Return the object that the pickle builds. Raises `FileError`."""
        self.charge(PROGRAM * len(self.data))
        while True:
            at = self.position
            try:
                code = self.take(1)[0]
                if code == _STOP:
                    return self.pop()
                if code not in _OPERATIONS:
                    raise ValueError(f"unknown operation {code:#04x}")
                _OPERATIONS[code](self)
                if len(self.stack) + len(self.marks) > self._room:
                    self.charge(STACKED * self._room)
                    self._room *= 2
            except ValueError as error:
                self.refuse(f"its pickle goes wrong at byte {at}: {error}")

    # The program

    def take(self, count: int) -> bytes:
        """Read the next bytes of the program."""
        end = self.position + count
        if end > len(self.data):
            raise ValueError(f"it ends where {count} more bytes are needed")
        taken = self.data[self.position : end]
        self.position = end
        return taken

    def number(self, layout: str) -> Any:
        """Read the next number of the program, in a `struct` layout."""
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def counted(self, layout: str) -> bytes:
        """Read the next bytes of the program, which follow their number."""
        return self.take(self.number(layout))

    def line(self) -> str:
        """Read the next line of the program."""
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise ValueError("it ends inside a name")
        taken = self.take(end - self.position).decode()
        self.position += 1
        return taken

    # The stack

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self.stack.append(value)

    def push_new(self, value: Any) -> None:
        """Put a new value on the stack, whose bytes are in the program."""
        self.charge(getsizeof(value))
        self.stack.append(value)

    def push_text(self, raw: bytes) -> None:
        """Put a text on the stack. As in Python's own pickles, it may hold lone surrogates."""
        self.push_new(raw.decode("utf-8", "surrogatepass"))

    def pop(self) -> Any:
        """Take the top value off the stack, which must not be a mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise ValueError("it takes from an empty stack")
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        """Take all values above the last mark off the stack, and the mark."""
        if not self.marks:
            raise ValueError("it looks for a mark that is not there")
        begin = self.marks.pop()
        taken = self.stack[begin:]
        del self.stack[begin:]
        return taken

    def pop_tuple(self, count: int) -> tuple[Any, ...]:
        """Take `count` values off the stack, the deepest first."""
        return tuple([self.pop() for _ in range(count)][::-1])

    def top(self, *kinds: type) -> Any:
        """Return the top value, which must be of one of these kinds."""
        value = self.pop()
        self.push(value)
        if type(value) not in kinds:
            raise ValueError(f"it adds to a {type(value).__name__}")
        return value

    # Operations

    def remember(self, key: int) -> None:
        """Store the top value in the memo under a number."""
        value = self.pop()
        self.push(value)
        self.charge(ENTRY)
        self.memo[key] = value

    def recall(self, key: int) -> None:
        """Push the value that is in the memo under a number."""
        if key not in self.memo:
            raise ValueError(f"nothing was kept under {key}")
        self.push(self.memo[key])

    def push_name(self, module: Any, name: Any) -> None:
        """Push the object of a name."""
        if type(module) is not str or type(name) is not str:
            raise ValueError("a name that is not text")
        full = f"{module}.{name}"
        if full not in self.names:
            self.refuse(
                f"it needs {shorten(full)!r}, which is not among the names that make tensors and "
                "plain data, and nothing in a file is run; save its tensors alone (a state dict)"
            )
        self.push(self.names[full])

    def apply(self) -> None:
        """Apply a function to arguments."""
        function, arguments = self.pop_tuple(2)
        if not isinstance(function, Function) or type(arguments) is not tuple:
            raise ValueError(f"it calls a {type(function).__name__}")
        self.push(function.apply(self, arguments))

    def key(self, value: Any) -> Any:
        """Return `value` if it is cheap and safe to hash: text, a number, or a tuple of them.

        Raises `ValueError` for others. Hashing deeply nested tuples could take forever. So could
        finding one of many keys with the same hash.
        """
        entries = value if type(value) is tuple else (value,)
        self.charge(ENTRY + sum(map(getsizeof, entries)))
        for entry in entries:
            if type(entry) not in SCALARS:
                raise ValueError(f"a {type(value).__name__} as a key")
            if type(entry) is int and not -WIDEST_KEY < entry < WIDEST_KEY:
                raise ValueError("an integer of more than 64 bits as a key")
        if entries is value:
            self._compare_hash(value)
        return value

    def _compare_hash(self, value: tuple[Any, ...]) -> None:
        """Raise `ValueError` if too many different tuples have the same hash."""
        self.charge(ENTRY)
        if self._tuples.setdefault(hash(value), value) != value:
            self._collisions += 1
            if self._collisions > MOST_COLLISIONS:
                raise ValueError(f"{MOST_COLLISIONS} keys that are different and hash alike")

    def keys(self, values: Iterable[Any]) -> list[Any]:
        """Return `values`, each checked to be a key."""
        return [self.key(value) for value in values]

    def add_items(self, items: list[Any]) -> None:
        """Add alternating keys and values to the dictionary on top."""
        target = self.top(dict, OrderedDict)
        if len(items) % 2:
            raise ValueError("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[self.key(key)] = value

    def set_state(self) -> None:
        """Set attributes of an object. Only module versions of a state dictionary are kept."""
        state = self.pop()
        target: Any = self.top(OrderedDict)
        if type(state) is not dict:
            raise ValueError(f"the state of a {type(target).__name__} is a {type(state).__name__}")
        versions = state.get("_metadata")
        if isinstance(versions, dict):
            target._metadata = versions

    def integer(self, size: int) -> None:
        """Push an integer of `size` bytes."""
        if size > LONG_LIMIT:
            raise ValueError(f"an integer of {size} bytes")
        self.push_new(int.from_bytes(self.take(size), "little", signed=True))


def _protocol(machine: Machine) -> None:
    version = machine.number("<B")
    if version > NEWEST:
        raise ValueError(f"its protocol is {version}; known are up to {NEWEST}")


def _set_item(machine: Machine) -> None:
    machine.add_items(list(machine.pop_tuple(2)))


def _append(machine: Machine) -> None:
    value = machine.pop()
    machine.charge(3 * SLOT)  # the first entry makes room for four
    machine.top(list).append(value)


def _extend(machine: Machine) -> None:
    values = machine.pop_to_mark()
    machine.charge(SLOT * (2 + len(values)))
    machine.top(list).extend(values)


def _add(machine: Machine) -> None:
    values = machine.keys(machine.pop_to_mark())
    machine.top(set).update(values)


def _dictionary(machine: Machine) -> None:
    items = machine.pop_to_mark()
    machine.push_new({})
    machine.add_items(items)


_STOP = ord(".")

_OPERATIONS: dict[int, Callable[[Machine], object]] = {
    0x80: _protocol,
    0x95: lambda m: m.number("<Q"),  # how long a frame is
    ord("("): lambda m: m.marks.append(len(m.stack)),
    ord("0"): lambda m: m.pop(),
    ord("1"): lambda m: m.pop_to_mark(),
    # Numbers and truth
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("J"): lambda m: m.push_new(m.number("<i")),
    ord("K"): lambda m: m.push_new(m.number("<B")),
    ord("M"): lambda m: m.push_new(m.number("<H")),
    0x8A: lambda m: m.integer(m.number("<B")),
    0x8B: lambda m: m.integer(m.number("<I")),
    ord("G"): lambda m: m.push_new(m.number(">d")),
    # Text and bytes
    ord("X"): lambda m: m.push_text(m.counted("<I")),
    0x8C: lambda m: m.push_text(m.counted("<B")),
    0x8D: lambda m: m.push_text(m.counted("<Q")),
    ord("T"): lambda m: m.push_text(m.counted("<I")),
    ord("U"): lambda m: m.push_text(m.counted("<B")),
    ord("B"): lambda m: m.push_new(m.counted("<I")),
    ord("C"): lambda m: m.push_new(m.counted("<B")),
    0x8E: lambda m: m.push_new(m.counted("<Q")),
    # Containers
    ord(")"): lambda m: m.push(()),
    0x85: lambda m: m.push_new(m.pop_tuple(1)),
    0x86: lambda m: m.push_new(m.pop_tuple(2)),
    0x87: lambda m: m.push_new(m.pop_tuple(3)),
    ord("t"): lambda m: m.push_new(tuple(m.pop_to_mark())),
    ord("]"): lambda m: m.push_new([]),
    ord("l"): lambda m: m.push_new(m.pop_to_mark()),
    ord("a"): _append,
    ord("e"): _extend,
    ord("}"): lambda m: m.push_new({}),
    ord("d"): _dictionary,
    ord("s"): _set_item,
    ord("u"): lambda m: m.add_items(m.pop_to_mark()),
    0x8F: lambda m: m.push_new(set()),
    0x90: _add,
    0x91: lambda m: m.push_new(frozenset(m.keys(m.pop_to_mark()))),
    # Names, and what is made with them
    ord("c"): lambda m: m.push_name(m.line(), m.line()),
    0x93: lambda m: m.push_name(*m.pop_tuple(2)),
    ord("R"): lambda m: m.apply(),
    0x81: lambda m: m.apply(),  # cls.__new__(cls, *arguments)
    ord("b"): lambda m: m.set_state(),
    ord("Q"): lambda m: m.push(m.persistent(m.pop())),
    # What is mentioned again
    ord("h"): lambda m: m.recall(m.number("<B")),
    ord("j"): lambda m: m.recall(m.number("<I")),
    ord("q"): lambda m: m.remember(m.number("<B")),
    ord("r"): lambda m: m.remember(m.number("<I")),
    0x94: lambda m: m.remember(len(m.memo)),
}
"""The operations by their codes, as Python's `pickletools` documents them."""
