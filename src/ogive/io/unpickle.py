"""A machine for pickles that can only build data.

A pickle is a program for a stack machine, and Python's own machine calls whatever the program
names. This one has no way to import or call anything: a name is looked up in a table that the
caller gives, and only the `Function`s of that table can be applied. Everything else that it makes
is a number, text, bytes, a tuple, list, set or dictionary.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ogive.named import NamedTuple

SCALARS = (str, bytes, int, float, bool, type(None))
LONG_LIMIT = 255
"""The most bytes of an integer."""

NEWEST = 5


class Function(NamedTuple):
    """A name that a pickle may apply to arguments."""

    name: str
    apply: Callable[[tuple[Any, ...]], Any]


def as_key(value: Any) -> Any:
    """`value` if it is cheap and safe to hash: text, a number, or a tuple of them.

    Raises `ValueError`. A tuple of tuples of tuples can take longer to hash than there is time.
    """
    entries = value if type(value) is tuple else (value,)
    if all(type(entry) in SCALARS for entry in entries):
        return value
    raise ValueError(f"a {type(value).__name__} as a key")


class Machine:
    """Runs one pickle: `Machine(data, names, persistent, refuse).run()`.

    `names` has what `module.name` stands for; `persistent` makes what a persistent id stands for.
    `persistent` and functions raise `ValueError` for what they do not take, and `refuse` gets to
    say so.
    """

    def __init__(
        self,
        data: bytes,
        names: Mapping[str, Any],
        persistent: Callable[[Any], Any],
        refuse: Callable[[str], NoReturn],
    ) -> None:
        self.data = data
        self.names = names
        self.persistent = persistent
        self.refuse = refuse
        self.position = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """What the pickle makes. Raises `FileError`."""
        while True:
            at = self.position
            try:
                code = self.take(1)[0]
                if code == _STOP:
                    return self.pop()
                if code not in _OPERATIONS:
                    raise ValueError(f"unknown operation {code:#04x}")
                _OPERATIONS[code](self)
            except ValueError as error:
                self.refuse(f"its pickle goes wrong at byte {at}: {error}")

    # The program

    def take(self, count: int) -> bytes:
        """The next bytes of the program."""
        end = self.position + count
        if end > len(self.data):
            raise ValueError(f"it ends where {count} more bytes are needed")
        taken = self.data[self.position : end]
        self.position = end
        return taken

    def number(self, layout: str) -> Any:
        """The next number of the program, in a `struct` layout."""
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def counted(self, layout: str) -> bytes:
        """The next bytes of the program, after how many they are."""
        return self.take(self.number(layout))

    def line(self) -> str:
        """The next line of the program."""
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

    def pop(self) -> Any:
        """Take the top value off the stack; a mark is not to be passed."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise ValueError("it takes from an empty stack")
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        """Take everything above the last mark off the stack, and the mark."""
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
        """The top value, which must be of one of these kinds."""
        value = self.pop()
        self.push(value)
        if type(value) not in kinds:
            raise ValueError(f"it adds to a {type(value).__name__}")
        return value

    # What operations do

    def remember(self, key: int) -> None:
        """Keep the top value under a number."""
        value = self.pop()
        self.push(value)
        self.memo[key] = value

    def recall(self, key: int) -> None:
        """Push what was kept under a number."""
        if key not in self.memo:
            raise ValueError(f"nothing was kept under {key}")
        self.push(self.memo[key])

    def push_name(self, module: Any, name: Any) -> None:
        """Push what a name stands for."""
        if type(module) is not str or type(name) is not str:
            raise ValueError("a name that is not text")
        full = f"{module}.{name}"
        if full not in self.names:
            self.refuse(
                f"it needs {full!r}, which is not among the names that make tensors and plain "
                "data, and nothing in a file is run; save its tensors alone (a state dict)"
            )
        self.push(self.names[full])

    def apply(self) -> None:
        """Apply a function to arguments."""
        function, arguments = self.pop_tuple(2)
        if not isinstance(function, Function) or type(arguments) is not tuple:
            raise ValueError(f"it calls a {type(function).__name__}")
        self.push(function.apply(arguments))

    def add_items(self, items: list[Any]) -> None:
        """Add keys and values, one after the other, to the dictionary on top."""
        target = self.top(dict, OrderedDict)
        if len(items) % 2:
            raise ValueError("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[as_key(key)] = value

    def set_state(self) -> None:
        """Leave out the attributes of a dictionary: state dicts carry versions of modules there."""
        state = self.pop()
        target = self.top(OrderedDict)
        if type(state) is not dict:
            raise ValueError(f"the state of a {type(target).__name__} is a {type(state).__name__}")

    def integer(self, size: int) -> None:
        """Push an integer of so many bytes."""
        if size > LONG_LIMIT:
            raise ValueError(f"an integer of {size} bytes")
        self.push(int.from_bytes(self.take(size), "little", signed=True))


def _protocol(machine: Machine) -> None:
    version = machine.number("<B")
    if version > NEWEST:
        raise ValueError(f"its protocol is {version}; known are up to {NEWEST}")


def _set_item(machine: Machine) -> None:
    machine.add_items(list(machine.pop_tuple(2)))


def _append(machine: Machine) -> None:
    value = machine.pop()
    machine.top(list).append(value)


def _extend(machine: Machine) -> None:
    values = machine.pop_to_mark()
    machine.top(list).extend(values)


def _add(machine: Machine) -> None:
    values = [as_key(value) for value in machine.pop_to_mark()]
    machine.top(set).update(values)


def _dictionary(machine: Machine) -> None:
    items = machine.pop_to_mark()
    machine.push({})
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
    ord("J"): lambda m: m.push(m.number("<i")),
    ord("K"): lambda m: m.push(m.number("<B")),
    ord("M"): lambda m: m.push(m.number("<H")),
    0x8A: lambda m: m.integer(m.number("<B")),
    0x8B: lambda m: m.integer(m.number("<I")),
    ord("G"): lambda m: m.push(m.number(">d")),
    # Text and bytes
    ord("X"): lambda m: m.push(m.counted("<I").decode()),
    0x8C: lambda m: m.push(m.counted("<B").decode()),
    0x8D: lambda m: m.push(m.counted("<Q").decode()),
    ord("T"): lambda m: m.push(m.counted("<I").decode()),
    ord("U"): lambda m: m.push(m.counted("<B").decode()),
    ord("B"): lambda m: m.push(m.counted("<I")),
    ord("C"): lambda m: m.push(m.counted("<B")),
    0x8E: lambda m: m.push(m.counted("<Q")),
    # Containers
    ord(")"): lambda m: m.push(()),
    0x85: lambda m: m.push(m.pop_tuple(1)),
    0x86: lambda m: m.push(m.pop_tuple(2)),
    0x87: lambda m: m.push(m.pop_tuple(3)),
    ord("t"): lambda m: m.push(tuple(m.pop_to_mark())),
    ord("]"): lambda m: m.push([]),
    ord("l"): lambda m: m.push(m.pop_to_mark()),
    ord("a"): _append,
    ord("e"): _extend,
    ord("}"): lambda m: m.push({}),
    ord("d"): _dictionary,
    ord("s"): _set_item,
    ord("u"): lambda m: m.add_items(m.pop_to_mark()),
    0x8F: lambda m: m.push(set()),
    0x90: _add,
    0x91: lambda m: m.push(frozenset([as_key(value) for value in m.pop_to_mark()])),
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
