"""Random index expressions, and three ways to say what a node means: Python, z3 and NumPy."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy
import z3

from ogive.compiler.ir.dtype import DType, bool_, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.FLOORDIV, Op.MOD, Op.MAXIMUM, Op.MINIMUM)
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)


def number(value: int) -> UOp:
    return UOp.const(index, value)


def counter(position: int, extent: UOp | int) -> UOp:
    size = extent if isinstance(extent, UOp) else number(extent)
    return UOp(Op.RANGE, index, (size,), (position, None))


def variable(name: str, low: int, high: int) -> UOp:
    return UOp(Op.VARIABLE, index, (), (name, low, high))


def raw(op: Op, *sources: UOp) -> UOp:
    """A node as it is written, not simplified."""
    comparison = op in (Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE)
    return UOp(op, bool_ if comparison else sources[-1].dtype, sources)


SYMBOL = variable("n", 1, 6)
LEAVES = (
    counter(0, 4), counter(1, 8), counter(2, 3), counter(3, 6), counter(4, SYMBOL), SYMBOL,
    variable("a", 0, 40), variable("b", -9, 9), variable("c", 5, 7),
)  # fmt: skip


class Generator:
    """Draws index expressions and conditions, sharing parts so that rules find what to join."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.drawn: list[UOp] = []

    def constant(self) -> UOp:
        return number(self.random.choice(SIZES) * self.random.choice((1, 1, 1, -1)))

    def expression(self, depth: int = 2) -> UOp:
        made = self._expression(depth)
        self.drawn.append(made)
        return made

    def _expression(self, depth: int) -> UOp:
        choose = self.random.random()
        if self.drawn and choose < 0.2:
            again = self.random.choice(self.drawn[-6:])
            return self.random.choice([node for node in again.walk() if node.dtype is index])
        if depth == 0 or choose < 0.3:
            return self.random.choice(LEAVES) if choose < 0.9 else self.constant()
        if choose < 0.55:
            return self._weighted_sum(depth)
        if choose < 0.6:
            return self._divided(depth)
        op = self.random.choice(ARITHMETIC)
        left = self.expression(depth - 1)
        if op in (Op.FLOORDIV, Op.MOD):
            return raw(op, left, number(self.random.choice(SIZES)))
        if self.random.random() < 0.08:
            return raw(Op.WHERE, self.condition(0), left, self.expression(depth - 1))
        return raw(op, left, self.expression(depth - 1))

    def _weighted_sum(self, depth: int) -> UOp:
        total = self.expression(depth - 1)
        for _ in range(self.random.randint(1, 3)):
            scaled = raw(Op.MUL, self.expression(depth - 1), self.constant())
            pair = (total, scaled) if self.random.random() < 0.5 else (scaled, total)
            total = raw(Op.ADD, *pair)
        return total

    def _divided(self, depth: int) -> UOp:
        """A quotient and the remainder of the same dividend, side by side."""
        x, size = self.expression(depth - 1), number(self.random.choice(SIZES))
        quotient = raw(Op.MUL, raw(Op.FLOORDIV, x, size), size)
        return raw(Op.ADD, quotient, raw(Op.MOD, x, size))

    def condition(self, depth: int = 1) -> UOp:
        made = self._condition(depth)
        self.drawn.append(made)
        return made

    def _condition(self, depth: int) -> UOp:
        choose = self.random.random()
        again = [node for node in self.drawn[-6:] if node.dtype is bool_]
        if again and choose < 0.2:
            return self.random.choice(again)
        if depth and choose < 0.6:
            op = self.random.choice((Op.AND, Op.OR, Op.NOT))
            if op is Op.NOT:
                return raw(op, self.condition(depth - 1))
            return raw(op, self.condition(depth - 1), self.condition(depth - 1))
        op = self.random.choice((Op.CMPLT, Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE))
        left = self.expression(1)
        right = self.constant() if self.random.random() < 0.6 else self.expression(1)
        return raw(op, left, right)


def leaves(*roots: UOp) -> list[UOp]:
    """The counters and variables below, an extent before its counter."""
    found: dict[UOp, None] = {}
    for root in roots:
        for node in root.walk():
            if node.op in (Op.RANGE, Op.VARIABLE):
                found[node] = None
    return list(found)


def evaluate(root: UOp, values: Mapping[UOp, int]) -> int | bool | None:
    """The value of an index expression or condition; None where it divides by zero."""
    done: dict[UOp, Any] = dict(values)
    for node in root.walk():
        if node in done:
            continue
        sources = [done[source] for source in node.src]
        if any(source is None for source in sources):
            done[node] = None
        else:
            done[node] = node.arg if node.op is Op.CONST else _PYTHON[node.op](*sources)
    result: int | bool | None = done[root]
    return result


_PYTHON: dict[Op, Any] = {
    Op.ADD: lambda x, y: x + y,
    Op.SUB: lambda x, y: x - y,
    Op.MUL: lambda x, y: x * y,
    Op.NEG: lambda x: -x,
    Op.ABS: abs,
    Op.FLOORDIV: lambda x, y: x // y if y else None,
    Op.MOD: lambda x, y: x % y if y else None,
    Op.MAXIMUM: max,
    Op.MINIMUM: min,
    Op.CMPLT: lambda x, y: x < y,
    Op.CMPLE: lambda x, y: x <= y,
    Op.CMPEQ: lambda x, y: x == y,
    Op.CMPNE: lambda x, y: x != y,
    Op.AND: lambda x, y: x & y,
    Op.OR: lambda x, y: x | y,
    Op.XOR: lambda x, y: x ^ y,
    Op.NOT: lambda x: not x,
    Op.SHL: lambda x, y: x << y,
    Op.SHR: lambda x, y: x >> y,
    Op.WHERE: lambda c, x, y: x if c else y,
    Op.CAST: lambda x: x,
}


def assignments(nodes: list[UOp], limit: int, seed: int = 0) -> Iterator[dict[UOp, int]]:
    """All values of the leaves if they are at most `limit`, else that many at random."""
    choices = [range(int(node.vmin), int(node.vmax) + 1) for node in nodes]
    count = 1
    for choice in choices:
        count *= len(choice)
    draw = random.Random(seed)
    combinations = (
        itertools.product(*choices)
        if count <= limit
        else ([draw.choice(choice) for choice in choices] for _ in range(limit))
    )
    for combination in combinations:
        values = dict(zip(nodes, combination, strict=True))
        extents = [(node, evaluate(node.src[0], values)) for node in nodes if node.op is Op.RANGE]
        if all(extent is not None and values[node] < extent for node, extent in extents):
            yield values


class Meaning:
    """Nodes as z3 terms over integers, with what is known of their leaves."""

    def __init__(self) -> None:
        self.terms: dict[UOp, Any] = {}
        self.known: list[Any] = []
        self.divisors: list[Any] = []

    def __call__(self, root: UOp) -> Any:
        for node in root.walk():
            if node not in self.terms:
                self.terms[node] = self._term(node, [self.terms[source] for source in node.src])
        return self.terms[root]

    def _term(self, node: UOp, sources: list[Any]) -> Any:
        op = node.op
        if op is Op.CONST:
            return z3.BoolVal(node.arg) if node.dtype is bool_ else z3.IntVal(node.arg)
        if op is Op.RANGE:
            term = z3.Int(f"range{node.id}")
            self.known += [term >= 0, term < sources[0]]
            return term
        if op is Op.VARIABLE:
            term = z3.Int(node.arg[0])
            self.known += [term >= node.arg[1], term <= node.arg[2]]
            return term
        if op in (Op.FLOORDIV, Op.MOD):
            x, y = sources
            self.divisors.append(y)
            # z3 rounds so that the remainder is not negative: down only for a positive divisor.
            quotient = (
                z3.If(y > 0, x / y, (-x) / (-y))
                if not z3.is_int_value(y)
                else (x / y if y.as_long() > 0 else (-x) / z3.IntVal(-y.as_long()))
            )
            return quotient if op is Op.FLOORDIV else x - y * quotient
        return _Z3[op](*sources)


_Z3: dict[Op, Any] = {
    **{op: _PYTHON[op] for op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.CMPLT, Op.CMPLE)},
    **{op: _PYTHON[op] for op in (Op.CMPEQ, Op.CMPNE, Op.CAST)},
    Op.MAXIMUM: lambda x, y: z3.If(x < y, y, x),
    Op.MINIMUM: lambda x, y: z3.If(x < y, x, y),
    Op.AND: z3.And,
    Op.OR: z3.Or,
    Op.NOT: z3.Not,
    Op.WHERE: z3.If,
}


def prove_equal(before: UOp, after: UOp, patience: int = 200) -> str | None:
    """None if equal wherever `before` does not divide by zero; else where they differ.

    z3 proves it; where it runs out of `patience` (milliseconds), all or many values are tried.
    """
    meaning = Meaning()
    left = meaning(before)
    allowed = [divisor != 0 for divisor in meaning.divisors]
    meaning.divisors = []
    right = meaning(after)
    invented = [divisor == 0 for divisor in meaning.divisors]
    solver = z3.Solver()
    solver.set("timeout", patience)
    solver.add(*meaning.known, *allowed, z3.Or(left != right, *invented))
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer == z3.sat:
        return str(solver.model())
    for values in assignments(leaves(before, after), 4000):
        expected = evaluate(before, values)
        if expected is not None and evaluate(after, values) != expected:
            return str({repr(node): value for node, value in values.items()})
    return None


def special_values(dtype: DType, count: int, seed: int) -> numpy.ndarray[Any, Any]:
    """Edge cases and random values of `dtype`, mixed."""
    draw = numpy.random.default_rng(seed)
    if dtype is bool_:
        return draw.integers(0, 2, count).astype(bool)
    if dtype.is_float:
        edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, numpy.inf, -numpy.inf, numpy.nan, 1e-40, 3e38]
        values = numpy.where(
            draw.random(count) < 0.6, draw.choice(edges, count), draw.normal(0, 100, count)
        )
        with numpy.errstate(all="ignore"):
            return values.astype(dtype.numpy)
    low, high = (int(limit) for limit in dtype.limits)
    edges_whole = [low, low + 1, 0, 1, 2, 3, high - 1, high]
    picked = [int(draw.choice(len(edges_whole))) for _ in range(count)]
    whole = [edges_whole[i] for i in picked]
    for i in range(0, count, 3):
        whole[i] = max(low, int(draw.integers(-9 if low else 0, 9)))
    return numpy.array(whole, dtype=dtype.numpy)


def evaluate_values(
    root: UOp, values: Mapping[UOp, numpy.ndarray[Any, Any]]
) -> tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
    """What NumPy makes of a value graph, and where that is not defined (a fault, or the target's).

    All leaves are vectors of one length.
    """
    length = len(next(iter(values.values()))) if values else 1
    done = dict(values)
    undefined = numpy.zeros(length, dtype=bool)
    with numpy.errstate(all="ignore"):
        for node in root.walk():
            if node not in done:
                sources = [done[source] for source in node.src]
                done[node] = _numpy_value(node, sources, length)
                undefined |= _undefined(node, sources, length)
    return done[root], undefined


def _numpy_value(node: UOp, sources: list[Any], length: int) -> Any:
    if node.op is Op.CONST:
        return numpy.full(length, node.arg, dtype=node.dtype.numpy)
    if node.op in (Op.RESHAPE, Op.EXPAND):
        return sources[0]
    if node.op is Op.BITCAST:
        return sources[0].view(node.dtype.numpy)
    result = sources[0] if node.op is Op.CAST else _NUMPY[node.op](*sources)
    return result.astype(node.dtype.numpy)


def _undefined(node: UOp, sources: list[Any], length: int) -> Any:
    nowhere = numpy.zeros(length, dtype=bool)
    if node.op in (Op.FLOORDIV, Op.MOD) and not node.dtype.is_float:
        least = node.dtype.limits[0]
        overflows = (sources[0] == least) & (sources[1] == -1) if least else nowhere
        return (sources[1] == 0) | overflows
    if node.op in (Op.SHL, Op.SHR):
        return (sources[1] < 0) | (sources[1] >= node.dtype.bits)
    if node.op is Op.CAST and node.src[0].dtype.is_float and node.dtype.is_integer:
        low, high = (float(limit) for limit in node.dtype.limits)
        wide = sources[0].astype(numpy.float64)
        return ~((wide > low - 1) & (wide < high))
    return nowhere


_NUMPY: dict[Op, Any] = {
    Op.ADD: numpy.add, Op.SUB: numpy.subtract, Op.MUL: numpy.multiply, Op.DIV: numpy.divide,
    Op.FLOORDIV: numpy.floor_divide, Op.MOD: numpy.mod, Op.MAXIMUM: numpy.maximum,
    Op.MINIMUM: numpy.minimum, Op.NEG: numpy.negative, Op.ABS: numpy.abs, Op.NOT: numpy.invert,
    Op.AND: numpy.bitwise_and, Op.OR: numpy.bitwise_or, Op.XOR: numpy.bitwise_xor,
    Op.SHL: numpy.left_shift, Op.SHR: numpy.right_shift, Op.CMPLT: numpy.less,
    Op.CMPLE: numpy.less_equal, Op.CMPEQ: numpy.equal, Op.CMPNE: numpy.not_equal,
    Op.WHERE: numpy.where, Op.EXP: numpy.exp,
}  # fmt: skip


def same_bits(left: numpy.ndarray[Any, Any], right: numpy.ndarray[Any, Any]) -> Any:
    """Where two vectors agree to the bit; any NaN agrees with any NaN."""
    width = f"V{left.dtype.itemsize}"
    return (left.view(width) == right.view(width)) | ((left != left) & (right != right))
