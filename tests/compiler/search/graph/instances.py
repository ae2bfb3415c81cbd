"""For each rule of graph search, graphs in which it applies."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from tests.compiler.search.graph.graphs import (
    apply,
    computed,
    given,
    move,
    number,
    product,
    reduce,
    spread,
)

Maker = Callable[[Random], UOp]


def _length(random: Random) -> int:
    return random.choice([1, 2, 3, 5, 8])


def _long(random: Random) -> int:
    return random.choice([2, 3, 5, 8])


def reshaped(random: Random) -> UOp:
    a, b = _length(random), _length(random)
    return move(Op.RESHAPE, move(Op.RESHAPE, given(0, a, b, 4), (a * b, 4)), (4, a, b))


def reshaped_to_itself(random: Random) -> UOp:
    a = _length(random)
    return move(Op.RESHAPE, move(Op.PERMUTE, given(0, a, 3), (1, 0)), (3, a))


def permuted(random: Random) -> UOp:
    orders = [random.sample(range(3), 3) for _ in range(2)]
    value = given(0, _length(random), 3, 4)
    for order in orders:
        value = move(Op.PERMUTE, value, tuple(order))
    return value


def expanded(random: Random) -> UOp:
    a, b = _long(random), _long(random)
    return move(Op.EXPAND, move(Op.EXPAND, given(0, 3, 1, 1), (3, a, 1)), (3, a, b))


def flipped(random: Random) -> UOp:
    return move(Op.FLIP, move(Op.FLIP, given(0, _length(random), 3, 4), (1, 2)), (2, 1))


def shrunk(random: Random) -> UOp:
    first = move(Op.SHRINK, given(0, 9, 7), ((2, 8), (1, 7)))
    begin = random.randrange(3)
    return move(Op.SHRINK, first, ((begin, 5), (0, random.randrange(1, 6))))


def shrunk_padding(random: Random) -> UOp:
    low, high = random.randrange(4), random.randrange(4)
    padded = move(Op.PAD, given(0, 6, 5), (((low, high), (1, 0)), 0.0))
    return move(Op.SHRINK, padded, ((low, low + random.randrange(1, 7)), (1, 6)))


def slice_of_joined(random: Random) -> UOp:
    first, second = _length(random), _length(random)
    total = first + second
    position = UOp(Op.IOTA, dtypes.int64, (), total)
    before = apply(
        Op.CMPLT, move(Op.RESHAPE, position, (1, total)), number(first, dtypes.int64)
    )
    left = move(Op.PAD, given(0, 3, first), (((0, 0), (0, second)), 0.0))
    right = move(Op.PAD, given(1, 3, second), (((0, 0), (first, 0)), 0.0))
    joined = UOp(
        Op.WHERE, dtypes.float32, (move(Op.EXPAND, before, (3, total)), left, right)
    )
    span = random.choice([(0, first), (first, total), (total - 1, total)])
    return move(Op.SHRINK, joined, ((1, 3), span))


def function_of_spread(random: Random) -> UOp:
    op = random.choice([Op.EXP, Op.NEG, Op.SQRT, Op.ABS])
    return apply(op, spread(given(0, 1, 4), _long(random), 4))


def function_of_two_spread(random: Random) -> UOp:
    op = random.choice([Op.ADD, Op.SUB, Op.DIV, Op.MAXIMUM])
    b = _long(random)
    return apply(op, spread(given(0, 1, 1, 4), 3, b, 4), spread(given(1, 3, 1, 1), 3, b, 4))


def function_of_spread_and_number(random: Random) -> UOp:
    value, two = spread(given(0, 1, 4), _long(random), 4), number(2.5)
    return apply(Op.SUB, *random.choice([(value, two), (two, value)]))


def greatest_of_spread(random: Random) -> UOp:
    value = spread(given(0, 4, 1, 3), 4, _long(random), 3)
    return reduce(value, *random.choice([(1,), (1, 2), (0, 1)]), combine=Op.MAXIMUM)


def chain(dtype: DType) -> Maker:
    def make(random: Random) -> UOp:
        rows, depth, inner = 8 + _length(random), 7, 9
        a, b = given(0, rows, depth, dtype=dtype), given(1, depth, inner, dtype=dtype)
        c = given(2, inner, 1, dtype=dtype)
        if random.random() < 0.5:
            return product(product(a, b), c).operand
        turned = move(Op.PERMUTE, product(a, b), (1, 0))
        return product(move(Op.PERMUTE, c, (1, 0)), turned).operand

    return make


def scaled_terms(dtype: DType, op: Op = Op.MUL) -> Maker:
    def make(random: Random) -> UOp:
        rows, depth = _long(random), 5
        scale = spread(given(2, rows, 1, dtype=dtype), rows, depth)
        left = apply(op, given(0, rows, depth, dtype=dtype), scale)
        return product(left, given(1, depth, 1, dtype=dtype)).operand

    return make


def scaled_product(dtype: DType) -> Maker:
    def make(random: Random) -> UOp:
        rows, depth, columns = 4 + _long(random), 5, _long(random)
        value = computed(0, rows, depth, dtype=dtype)
        total = product(value, given(1, depth, columns, dtype=dtype))
        scale = spread(given(2, 1, columns, dtype=dtype), rows, columns)
        return apply(Op.MUL, *random.sample([total, scale], 2))

    return make


def added_products(dtype: DType) -> Maker:
    def make(random: Random) -> UOp:
        rows, depth, columns = _long(random), 5, _long(random)
        a = given(0, rows, depth, dtype=dtype)
        b, c = [given(slot, depth, columns, dtype=dtype) for slot in (1, 2)]
        if random.random() < 0.5:
            return apply(Op.ADD, product(a, b), product(a, c))
        d = given(3, rows, depth, dtype=dtype)
        return apply(Op.SUB, product(a, b), product(d, b))

    return make


def added_multiples(dtype: DType) -> Maker:
    def make(random: Random) -> UOp:
        x, a, b = [given(slot, 4, 3, dtype=dtype) for slot in range(3)]
        op = random.choice([Op.ADD, Op.SUB])
        return apply(op, apply(Op.MUL, x, a), apply(Op.MUL, x, b))

    return make


def _few(slot: int, random: Random) -> UOp:
    return random.choice([number(1.5), spread(given(slot, 1, 3), 16, 3)])


def shifted_and_scaled(random: Random) -> UOp:
    op = random.choice([Op.ADD, Op.SUB])
    return apply(Op.MUL, apply(op, computed(0, 16, 3), _few(1, random)), _few(2, random))


def shifted_twice(random: Random) -> UOp:
    first, second = [random.choice([Op.ADD, Op.SUB]) for _ in range(2)]
    return apply(second, apply(first, computed(0, 16, 3), _few(1, random)), _few(2, random))


def scaled_twice(random: Random) -> UOp:
    return apply(Op.MUL, apply(Op.MUL, computed(0, 16, 3), _few(1, random)), _few(2, random))


def divided_by_spread(random: Random) -> UOp:
    return apply(Op.DIV, given(0, 16, 5), spread(given(1, 16, 1), 16, 5))


def divided_by_number(random: Random) -> UOp:
    return apply(Op.DIV, given(0, 16, 5), number(random.choice([3.0, 1.4142135, 0.125])))


def reciprocal_of_root(random: Random) -> UOp:
    return apply(Op.RECIPROCAL, apply(Op.SQRT, apply(Op.ABS, given(0, 16))))


def small_power(random: Random) -> UOp:
    exponent = number(random.choice([0.5, -0.5, 2.0, 3.0, 4.0]))
    return apply(Op.POW, apply(Op.ABS, given(0, 4, 4)), exponent)


def products_of(dtype: DType) -> dict[str, Maker]:
    """The instances of rules about products."""
    return {
        "(a · b) · c → a · (b · c), where that is less work": chain(dtype),
        "(a * s) · b → (a · b) * s, where s is the same for all terms": scaled_terms(dtype),
        "(a · b) * s → a · (b * s), where s goes along b": scaled_product(dtype),
        "a · b + a · c → a · (b + c)": added_products(dtype),
        "x * a + x * b → x * (a + b)": added_multiples(dtype),
    }


EXACT: dict[str, Maker] = {
    "reshape (reshape x) → reshape x": reshaped,
    "reshape x to its own shape → x": reshaped_to_itself,
    "permute (permute x) → permute x": permuted,
    "expand (expand x) → expand x": expanded,
    "flip (flip x) → x": flipped,
    "shrink (shrink x) → shrink x": shrunk,
    "shrink (pad x) → shrink x, where nothing padded is left": shrunk_padding,
    "(a ++ b)[i:j] → a[i:j], where all is in a": slice_of_joined,
    "f(expand x) → expand f(x)": function_of_spread,
    "f(expand a, expand b) → expand f(a, b), along the axes that both are spread over":
        function_of_two_spread,
    "f(expand a, constant) → expand f(a, constant)": function_of_spread_and_number,
    "max over axes of expand x → max over the others": greatest_of_spread,
    **products_of(dtypes.int32),
}  # fmt: skip
ROUNDING: dict[str, Maker] = {
    **products_of(dtypes.float32),
    "(x ± c) * d → x * d ± c * d, of few c and d": shifted_and_scaled,
    "(x ± c) ± d → x ± (c ± d), of few c and d": shifted_twice,
    "(x * c) * d → x * (c * d), of few c and d": scaled_twice,
    "x / expand d → x * expand (1 / d)": divided_by_spread,
    "x / c → x * (1 / c)": divided_by_number,
    "1 / sqrt(x) → rsqrt(x)": reciprocal_of_root,
    "x to the power of 2 → x * x, and the like": small_power,
}
