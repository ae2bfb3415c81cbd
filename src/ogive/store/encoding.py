"""Numbers, texts, keys and index expressions as bytes, and back, with each of them checked.

The format is little-endian and plain: a text is its length and its UTF-8, a list its length and its
items. An index expression is a list of nodes, sources first and named by position. What does not
read back as something that could have been written raises `DamagedRecord`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.variable import OWN
from ogive.store.keys import DIGEST_BYTES, Key

MOST = 1 << 24
"""No list in a record is longer."""

MOST_BYTES = 1 << 56
"""No buffer is larger, so that address arithmetic cannot wrap."""

MOST_TEXT = 1 << 28

Bounds = Mapping[str, tuple[int, int]]
"""The least and the greatest value of each variable, by name."""


class DamagedRecord(ValueError):
    """Bytes that are no record."""


class UnknownExpression(ValueError):
    """An expression that records have no form for; what contains it is not kept."""


_NUMBERS = {
    Op.ADD: 2, Op.SUB: 2, Op.MUL: 2, Op.FLOORDIV: 2, Op.MOD: 2, Op.NEG: 1, Op.MAXIMUM: 2,
    Op.MINIMUM: 2,
}  # fmt: skip
_COMPARISONS = (Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE)
_LOGIC = {Op.AND: 2, Op.OR: 2, Op.NOT: 1}
_FORMS: tuple[tuple[Op, DType, tuple[DType, ...]], ...] = (
    *[(op, dtypes.index, (dtypes.index,) * arity) for op, arity in _NUMBERS.items()],
    *[(op, dtypes.bool_, (dtypes.index,) * 2) for op in _COMPARISONS],
    *[(op, dtypes.bool_, (dtypes.bool_,) * arity) for op, arity in _LOGIC.items()],
    (Op.WHERE, dtypes.index, (dtypes.bool_, dtypes.index, dtypes.index)),
)
"""What an expression may consist of: (operation, its dtype, its sources' dtypes), by number."""

_FORM_NUMBERS = {form: number for number, form in enumerate(_FORMS)}
_NUMBER, _TRUTH, _VARIABLE = 253, 254, 255


class Writer:
    """Appends fields to bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def number(self, value: int) -> None:
        self.parts.append(struct.pack("<q", value))

    def numbers(self, values: Sequence[int]) -> None:
        self.parts.append(struct.pack(f"<q{len(values)}q", len(values), *values))

    def data(self, value: bytes) -> None:
        self.number(len(value))
        self.parts.append(value)

    def text(self, value: str) -> None:
        self.data(value.encode())

    def key(self, value: Key) -> None:
        self.parts += value

    def variables(self, variables: Bounds) -> None:
        self.number(len(variables))
        for name, bounds in variables.items():
            self.text(name)
            self.parts.append(struct.pack("<2q", *bounds))

    def expression(self, value: int | UOp, variables: Bounds) -> None:
        """An index expression over `variables`; an integer is one of a single node."""
        if isinstance(value, int):
            self.number(1)
            self.parts.append(struct.pack("<Bq", _NUMBER, value))
            return
        names = list(variables)
        nodes = value.walk()
        positions = {node: position for position, node in enumerate(nodes)}
        self.number(len(nodes))
        for node in nodes:
            if node.op is Op.CONST and node.dtype in (dtypes.index, dtypes.bool_):
                form = _NUMBER if node.dtype is dtypes.index else _TRUTH
                self.parts.append(struct.pack("<Bq", form, node.arg))
            elif node.op is Op.VARIABLE and variables.get(node.arg[0]) == node.arg[1:]:
                self.parts.append(struct.pack("<Bq", _VARIABLE, names.index(node.arg[0])))
            else:
                sources = tuple([source.dtype for source in node.src])
                number = _FORM_NUMBERS.get((node.op, node.dtype, sources))
                if number is None:
                    raise UnknownExpression(node.op.name)
                operands = [positions[source] for source in node.src]
                self.parts.append(struct.pack(f"<B{len(operands)}q", number, *operands))

    def finish(self) -> bytes:
        return b"".join(self.parts)


class Reader:
    """Takes fields from bytes, in order, and trusts none of them."""

    def __init__(self, data: bytes) -> None:
        self.bytes = data
        self.position = 0

    def take(self, size: int) -> bytes:
        end = self.position + size
        if size < 0 or end > len(self.bytes):
            raise DamagedRecord("it ends too early")
        found = self.bytes[self.position : end]
        self.position = end
        return found

    def number(self, low: int = 0, high: int = MOST) -> int:
        value: int = struct.unpack("<q", self.take(8))[0]
        return within(value, low, high)

    def numbers(self, low: int, high: int) -> tuple[int, ...]:
        count = self.number()
        values: tuple[int, ...] = struct.unpack(f"<{count}q", self.take(8 * count))
        if values and not (low <= min(values) and max(values) <= high):
            raise DamagedRecord("a number is out of range")
        return values

    def data(self, most: int = MOST_TEXT) -> bytes:
        return self.take(self.number(0, most))

    def text(self, most: int = 1 << 16) -> str:
        try:
            return self.data(most).decode()
        except UnicodeDecodeError:
            raise DamagedRecord("a text is not UTF-8") from None

    def name(self) -> str:
        name = self.text()
        if not name.isidentifier():
            raise DamagedRecord("a name is none")
        return name

    def variable(self) -> str:
        name = self.text()
        if not (name.isidentifier() or name.removeprefix(OWN).isalnum()):
            raise DamagedRecord("a name is none")
        return name

    def key(self) -> Key:
        return Key(self.take(DIGEST_BYTES), self.take(DIGEST_BYTES))

    def variables(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for _ in range(self.number()):
            name = self.variable()
            low, high = struct.unpack("<2q", self.take(16))
            if name in found or not 0 <= low <= high:
                raise DamagedRecord("a variable makes no sense")
            found[name] = (low, high)
        return found

    def expression(self, variables: Bounds) -> int | UOp:
        """A count: an expression over `variables` that is never negative and never faults."""
        names = list(variables)
        nodes: list[UOp] = []
        for _ in range(self.number(1, 1 << 16)):
            nodes.append(self._node(nodes, names, variables))
        root = nodes[-1]
        if root.dtype is not dtypes.index:
            raise DamagedRecord("an expression is not a number")
        if not (root.vmin >= 0 and root.vmax <= MOST_BYTES):
            raise DamagedRecord("a count is out of range")
        return int(root.arg) if root.op is Op.CONST else root

    def _node(self, nodes: Sequence[UOp], names: Sequence[str], variables: Bounds) -> UOp:
        form = self.take(1)[0]
        if form == _NUMBER:
            return UOp.const(dtypes.index, self.number(-MOST_BYTES, MOST_BYTES))
        if form == _TRUTH:
            return UOp.const(dtypes.bool_, bool(self.number(0, 1)))
        if form == _VARIABLE:
            name = names[self.number(0, len(names) - 1)]
            return UOp(Op.VARIABLE, dtypes.index, (), (name, *variables[name]))
        if form >= len(_FORMS):
            raise DamagedRecord("an operation is unknown")
        op, dtype, expected = _FORMS[form]
        sources = tuple([nodes[self.number(0, len(nodes) - 1)] for _ in expected])
        if tuple([source.dtype for source in sources]) != expected:
            raise DamagedRecord("an operation has sources of another type")
        if op in (Op.FLOORDIV, Op.MOD) and sources[1].vmin <= 0 <= sources[1].vmax:
            raise DamagedRecord("a divisor may be zero")
        return UOp(op, dtype, sources)

    def finish(self) -> None:
        if self.position != len(self.bytes):
            raise DamagedRecord("something follows it")


def within(value: int, low: int, high: int) -> int:
    """A number that is to lie between two others. Raises `DamagedRecord`."""
    if not low <= value <= high:
        raise DamagedRecord("a number is out of range")
    return value
